//! A turn on core 0 overflows its stack, which is where the linker says.
#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "names the end of the stack, which the linker defines")]

use flockwork::{Actor, Pinned, actor};
use flockwork_check_fates::{Diver, boot};
use flockwork_rp2040::{Core1Stack, entry, run};

unsafe extern "C" {
    static _stack_end: u32;
}

#[actor]
static DIVER: Actor<Diver, Pinned<0>, 2> = Diver { bottom: (&raw const _stack_end).cast() };

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let (core1, _line) = boot();
    DIVER.dive().tell().expect("its mailbox is empty");
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
