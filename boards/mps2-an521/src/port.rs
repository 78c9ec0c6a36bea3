//! The board as the kernel needs it: core numbers from the subsystem, events for kicks, native compare-and-swap.
#![expect(unsafe_code, reason = "implements the kernel's port, and masks interrupts")]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering};

use flockwork::port::{LockWord, Port};

use crate::registers::{CLOCK_100_HZ, COUNTER, CPU_IDENTITY};

pub(crate) const CORES: usize = 2;

/// How often each core went idle. Written by that core alone.
static IDLE_CALLS: [AtomicU32; CORES] = [const { AtomicU32::new(0) }; CORES];

struct Mps2An521;

flockwork::port!(Mps2An521);

// SAFETY: core numbers: the subsystem answers each core with its own. Test-and-set is a compare-and-swap. Mask: PRIMASK holds
// off everything but faults. Kicks: SEV sets the event register of both cores, and WFE returns at once while it is set, so a
// kick is latched; an interrupt sets it as well when it returns. (QEMU's WFE does not sleep at all, which is allowed: idle may
// return without a kick.)
unsafe impl Port for Mps2An521 {
    #[inline(always)]
    fn core() -> u8 {
        core()
    }

    #[inline(always)]
    fn cores() -> u8 {
        CORES as u8
    }

    #[inline(always)]
    fn kick(_: u8) {
        // One event for both: whoever has nothing to do sleeps again.
        // SAFETY: a barrier and a hint.
        unsafe { asm!("dsb", "sev", options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    fn idle() {
        let calls = &IDLE_CALLS[usize::from(core()) % CORES];
        // No read-modify-write: on some Cortex-M33 an exclusive access is itself an event.
        calls.store(calls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        // SAFETY: a barrier and a hint.
        unsafe { asm!("dsb", "wfe", options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    fn test_and_set(word: &LockWord) -> bool {
        word.test_and_set()
    }

    #[inline(always)]
    fn mask() -> u32 {
        mask()
    }

    #[inline(always)]
    fn unmask(previous: u32) {
        unmask(previous);
    }

    fn now() -> u64 {
        now()
    }
}

/// Microseconds since the board started. It never goes back, and both cores agree.
///
/// It is made of two counters that never stop: microseconds, which wrap after an hour, and hundredths of a second, which wrap
/// after a year. The slow one says in which hour the fast one is, so they may differ by half an hour.
pub fn now() -> u64 {
    let coarse = u64::from(CLOCK_100_HZ.read()) * 10_000;
    let ahead = COUNTER.read().wrapping_sub(coarse as u32).cast_signed();
    coarse.saturating_add_signed(i64::from(ahead))
}

/// The core this runs on.
#[inline(always)]
pub fn core() -> u8 {
    CPU_IDENTITY.read() as u8
}

/// How often a core went idle so far; it wraps around. `None` if there is no such core.
pub fn idle_calls(core: u8) -> Option<u32> {
    IDLE_CALLS.get(usize::from(core)).map(|calls| calls.load(Ordering::Relaxed))
}

/// Masks this core's interrupts; what [`unmask`] needs to restore them.
#[inline(always)]
pub(crate) fn mask() -> u32 {
    let previous;
    // SAFETY: reads and sets PRIMASK. Memory accesses are not moved across, because the assembly may access memory.
    unsafe { asm!("mrs {}, PRIMASK", "cpsid i", out(reg) previous, options(nostack, preserves_flags)) };
    previous
}

/// Restores what [`mask`] found.
#[inline(always)]
pub(crate) fn unmask(previous: u32) {
    // SAFETY: restores PRIMASK as `mask` found it; the same about memory accesses.
    unsafe { asm!("msr PRIMASK, {}", in(reg) previous, options(nostack, preserves_flags)) };
}
