//! A turn on core 1 overflows its stack, which is a static of the image.
#![no_std]
#![no_main]

use flockwork::{Actor, Pinned, actor};
use flockwork_check_fates::{Diver, boot};
use flockwork_rp2040::{Core1Stack, entry, run};

#[actor]
static DIVER: Actor<Diver, Pinned<1>, 2> = Diver { bottom: (&raw const CORE1_STACK).cast() };

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let (core1, _line) = boot();
    DIVER.dive().tell().expect("its mailbox is empty");
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
