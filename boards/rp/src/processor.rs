//! A core as the kernel's port needs it, where both chips agree.
//!
//! What the safety of a port rests on: SIO answers each core with its own number. PRIMASK holds off everything but faults. SEV
//! sets the event register of both cores, and WFE returns at once while it is set, so a kick is latched. An interrupt also sets
//! it when it returns, so what a handler of this core noted between the last look and the WFE is seen, too.
#![expect(unsafe_code, reason = "masks interrupts, and waits for events")]

use core::arch::asm;

/// The core this runs on.
#[inline(always)]
pub(crate) fn number() -> u8 {
    let number: u32;
    // SIO is at 0xd000_0000 on both chips, and the number is its first word. The address is made here: the compiler would keep it all along a
    // function. It may keep the number, which is the same
    // as long as a function runs, because code does not move from core to core.
    // SAFETY: reads a register of SIO; nothing else can be told from it, and reading it changes nothing.
    unsafe {
        asm!("movs {0}, #13", "lsls {0}, {0}, #28", "ldr {0}, [{0}]", out(reg) number, options(nostack, nomem, pure));
    }
    // SAFETY: both chips have two cores, 0 and 1.
    unsafe { core::hint::assert_unchecked(number < 2) };
    number as u8
}

/// Publishes what was written, and makes the present or next [`idle`] of both cores return.
#[inline(always)]
pub(crate) fn kick() {
    // One event for both: whoever has nothing to do sleeps again.
    // SAFETY: a barrier and a hint.
    unsafe { asm!("dmb", "sev", options(nostack, preserves_flags)) };
}

/// Sleeps until there is an event or an interrupt. There is no read-modify-write here: on the RP2350 it would be an event.
#[inline(always)]
pub(crate) fn idle() {
    // SAFETY: a barrier and a hint.
    unsafe { asm!("dsb", "wfe", options(nostack, preserves_flags)) };
}

/// Masks this core's interrupts; what [`unmask`] needs to restore them.
#[inline(always)]
pub fn mask() -> u32 {
    let previous;
    // SAFETY: reads and sets PRIMASK. Memory accesses are not moved across, because the assembly may access memory.
    unsafe { asm!("mrs {}, PRIMASK", "cpsid i", out(reg) previous, options(nostack, preserves_flags)) };
    previous
}

/// Restores what [`mask`] found.
#[inline(always)]
pub fn unmask(previous: u32) {
    // SAFETY: restores PRIMASK; the same about memory accesses.
    unsafe { asm!("msr PRIMASK, {}", in(reg) previous, options(nostack, preserves_flags)) };
}
