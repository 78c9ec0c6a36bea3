//! Core 1 without a stack: this must not compile.
#![no_std]
#![no_main]

use flockwork_check_fates::boot;
use flockwork_rp2040::{entry, run};

#[entry]
fn main() -> ! {
    let (core1, _line) = boot();
    run(core1, |_core0| {}, |_core1| {})
}
