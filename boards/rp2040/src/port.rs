//! The chip as the kernel needs it: core numbers from SIO, events for kicks and sleep, one SIO spinlock for lock words.
#![expect(unsafe_code, reason = "implements the kernel's port, and masks interrupts")]

use core::arch::asm;

use embassy_rp::pac;
use flockwork::port::{LockWord, Port};

/// The SIO spinlock under which lock words are set. 31 is critical-section's; the others are the program's.
const LOCK_WORDS: usize = 30;

struct Rp2040;

flockwork::port!(Rp2040);

// SAFETY: core numbers: SIO answers each core with its own. Test-and-set: lock words are set under a hardware lock, with
// interrupts masked. Mask: PRIMASK holds off everything but faults. Kicks: SEV sets the event register of both cores, and WFE
// returns at once while it is set, so a kick is latched. An interrupt also sets it when it returns, so what a handler of this
// core noted between the last look and the WFE is seen, too.
unsafe impl Port for Rp2040 {
    #[inline(always)]
    fn core() -> u8 {
        pac::SIO.cpuid().read() as u8
    }

    #[inline(always)]
    fn cores() -> u8 {
        2
    }

    #[inline(always)]
    fn kick(_: u8) {
        // One event for both: whoever has nothing to do sleeps again.
        // SAFETY: a barrier and a hint.
        unsafe { asm!("dmb", "sev", options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    fn idle() {
        // SAFETY: a barrier and a hint.
        unsafe { asm!("dsb", "wfe", options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    fn test_and_set(word: &LockWord) -> bool {
        let previous = Self::mask();
        let lock = pac::SIO.spinlock(LOCK_WORDS);
        // Reading claims it. The other core holds it for some five instructions.
        while lock.read() == 0 {}
        // SAFETY: the hardware lock keeps the other core away, the mask this core's interrupts.
        let was_clear = unsafe { word.test_and_set_exclusive() };
        lock.write_value(1);
        Self::unmask(previous);
        was_clear
    }

    #[inline(always)]
    fn mask() -> u32 {
        let previous;
        // SAFETY: reads and sets PRIMASK. Memory accesses are not moved across, because the assembly may access memory.
        unsafe { asm!("mrs {}, PRIMASK", "cpsid i", out(reg) previous, options(nostack, preserves_flags)) };
        previous
    }

    #[inline(always)]
    fn unmask(previous: u32) {
        // SAFETY: restores PRIMASK as `mask` found it; the same about memory accesses.
        unsafe { asm!("msr PRIMASK, {}", in(reg) previous, options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    fn now() -> u64 {
        // The raw registers: the latching ones are one pair for both cores.
        loop {
            let high = pac::TIMER.timerawh().read();
            let low = pac::TIMER.timerawl().read();
            if pac::TIMER.timerawh().read() == high {
                return u64::from(high) << 32 | u64::from(low);
            }
        }
    }
}
