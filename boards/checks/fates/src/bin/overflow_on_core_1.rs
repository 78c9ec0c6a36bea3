//! A turn on core 1 has used up its stack to the last byte when it faults. (The emulator has no guard that would make it fault.)
#![no_std]
#![no_main]

use flockwork::{Actor, Pinned, actor};
use flockwork_check_fates::{boot, fault_with_stack_pointer_at};
use flockwork_rp2040::{Core1Stack, entry, run};

/// Goes too deep.
pub struct Diver;

#[actor]
impl Diver {
    /// To the bottom.
    pub fn dive(&mut self) {
        fault_with_stack_pointer_at((&raw const CORE1_STACK).cast())
    }
}

#[actor]
static DIVER: Actor<Diver, Pinned<1>, 2> = Diver;

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let (core1, _line) = boot();
    DIVER.dive().tell().expect("its mailbox is empty");
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
