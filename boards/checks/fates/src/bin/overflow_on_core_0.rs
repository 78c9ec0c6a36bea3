//! A turn on core 0 has used up its stack to the last byte when it faults. (The emulator has no guard that would make it fault.)
#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "names the end of the stack, which the linker defines")]

use flockwork::{Actor, Pinned, actor};
use flockwork_check_fates::{boot, fault_with_stack_pointer_at};
use flockwork_rp2040::{Core1Stack, entry, run};

/// Goes too deep.
pub struct Diver;

#[actor]
impl Diver {
    /// To the bottom.
    pub fn dive(&mut self) {
        unsafe extern "C" {
            static _stack_end: u32;
        }
        fault_with_stack_pointer_at((&raw const _stack_end).cast())
    }
}

#[actor]
static DIVER: Actor<Diver, Pinned<0>, 2> = Diver;

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let (core1, _line) = boot();
    DIVER.dive().tell().expect("its mailbox is empty");
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
