//! An actor panics on core 1, whose stack is the smallest there may be, and has much to say about it.
#![no_std]
#![no_main]

use flockwork::{Actor, Pinned, actor};
use flockwork_check_fates::boot;
use flockwork_rp2040::{Core1Stack, entry, run};

/// Knows what it is about.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    degrees: i32,
    hours_of_sun: Option<u64>,
}

/// Complains.
pub struct Grumbler;

#[actor]
impl Grumbler {
    /// Cannot stand it.
    pub fn bear(&mut self, weather: Weather) {
        let Weather { degrees, hours_of_sun } = weather;
        assert!(degrees > 0 && hours_of_sun > Some(9), "who could bear {weather:?}?");
    }
}

#[actor]
static GRUMBLER: Actor<Grumbler, Pinned<1>, 2> = Grumbler;

static CORE1_STACK: Core1Stack<1024> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let (core1, _line) = boot();
    GRUMBLER.bear(Weather { degrees: -7, hours_of_sun: Some(0) }).tell().expect("its mailbox is empty");
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
