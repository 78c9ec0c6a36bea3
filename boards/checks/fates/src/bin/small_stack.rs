//! Core 1 with a stack that no turn fits into: this must not compile.
#![no_std]
#![no_main]

use flockwork_check_fates::boot;
use flockwork_rp2040::{Core1Stack, entry, run};

static CORE1_STACK: Core1Stack<512> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let (core1, _line) = boot();
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
