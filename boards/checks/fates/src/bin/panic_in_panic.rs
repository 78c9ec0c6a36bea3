//! A panic whose message panics while it is written.
#![no_std]
#![no_main]

use core::fmt;

use flockwork_check_fates::boot;
use flockwork_rp2040::entry;

/// Cannot be written.
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("words fail");
    }
}

#[entry]
fn main() -> ! {
    boot();
    panic!("{Unspeakable}");
}
