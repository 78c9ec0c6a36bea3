//! An actor panics on core 1.
#![no_std]
#![no_main]

use flockwork::{Actor, Pinned, actor};
use flockwork_check_fates::boot;
use flockwork_rp2040::{Core1Stack, entry, run};

/// Knows three words.
pub struct Words([u8; 3]);

#[actor]
impl Words {
    /// Looks one up.
    pub fn get(&mut self, index: usize) -> u8 {
        self.0[index]
    }
}

#[actor]
static WORDS: Actor<Words, Pinned<1>, 2> = Words([1, 2, 3]);

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let (core1, _line) = boot();
    WORDS.get(7).tell().expect("its mailbox is empty");
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
