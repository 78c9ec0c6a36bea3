//! The timer that each core has for itself: it interrupts its core, and the image's `#[exception] fn SysTick()` is called.
#![expect(unsafe_code, reason = "writes the timer's registers")]

use crate::registers::{CLOCK_HZ, TICK_CONTROL, TICK_RELOAD, TICK_VALUE};

/// The timer runs, interrupts, and counts the board's clock.
const RUNNING: u32 = 0b111;
/// The timer counts 24 bits.
const MOST_CYCLES: u32 = (1 << 24) - 1;

/// Starts the timer of the core this is called on: `SysTick` is called there every so many microseconds.
///
/// # Panics
/// If that is none, or more than the timer can count: 838 860 µs.
pub fn start(micros: u32) {
    let cycles = micros.checked_mul(CLOCK_HZ / 1_000_000).filter(|cycles| (2..=MOST_CYCLES).contains(cycles));
    let cycles = cycles.expect("the timer of a core counts from 1 to 838 860 microseconds");
    // SAFETY: the timer interrupts; that is what the caller asks for.
    unsafe {
        TICK_RELOAD.write(cycles - 1);
        TICK_VALUE.write(0);
        TICK_CONTROL.write(RUNNING);
    }
}

/// Stops the timer of the core this is called on.
pub fn stop() {
    // SAFETY: the timer does nothing more.
    unsafe { TICK_CONTROL.write(0) };
    // An interrupt that is pending already comes before this returns.
    cortex_m::asm::dsb();
    cortex_m::asm::isb();
}
