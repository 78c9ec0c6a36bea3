//! Both cores in turn under QEMU's `-icount`.
//!
//! With `-icount` QEMU runs the cores one after the other, in an order that is the same in every run. A core has its turn until
//! it waits or a timer is due; then the timer's interrupt is raised, and *core 0* has the next turn. So a core 0 that never
//! waits would have them all. Here a timer interrupts core 0, and every second time the handler passes its turn on.
#![expect(unsafe_code, reason = "writes a timer's registers, and lets its interrupt through")]

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use cortex_m_rt::exception;

use crate::registers::{
    CLOCK_HZ, INTERRUPT_ENABLE, TIMER_0_CONTROL, TIMER_0_INTERRUPT, TIMER_0_INTERRUPT_CLEAR, TIMER_0_RELOAD,
};

/// Lets QEMU with `-icount` change between the cores every so many microseconds. Call it on core 0. Elsewhere the cores run
/// at the same time anyway, and this only costs.
///
/// # Panics
/// On core 1.
pub fn interleave(micros: u32) {
    const RUNNING_AND_INTERRUPTING: u32 = 0b1001;
    assert!(crate::core() == 0, "turns are passed on by core 0");
    // SAFETY: nobody else uses this timer. Its handler is below, and core 0 alone lets it through.
    unsafe {
        TIMER_0_RELOAD.write(micros.max(1) * (CLOCK_HZ / 1_000_000));
        TIMER_0_CONTROL.write(RUNNING_AND_INTERRUPTING);
        INTERRUPT_ENABLE.write(1 << TIMER_0_INTERRUPT);
    }
}

/// Whether core 1 has the next turn. Used by core 0 alone.
static PASS_ON: AtomicBool = AtomicBool::new(false);

/// The handler of all interrupts of the board's devices.
#[exception]
unsafe fn DefaultHandler(interrupt: i16) {
    assert!(interrupt == TIMER_0_INTERRUPT, "interrupt {interrupt} has no handler on this board");
    // SAFETY: acknowledges the interrupt.
    unsafe { TIMER_0_INTERRUPT_CLEAR.write(1) };
    let pass_on = PASS_ON.load(Relaxed);
    PASS_ON.store(!pass_on, Relaxed);
    if pass_on {
        cortex_m::asm::wfe();
    }
}
