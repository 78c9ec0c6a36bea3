//! The chip as the kernel needs it: core numbers from SIO, events for kicks and sleep, one SIO spinlock for lock words.
#![expect(unsafe_code, reason = "implements the kernel's port, and waits for a hardware lock")]

use core::arch::asm;

use embassy_rp::pac;
use flockwork::port::{LockWord, Port};
use flockwork_rp::{idle, kick, mask, number, unmask};

/// The SIO spinlock under which lock words are set. 31 is critical-section's; the others are the program's.
const LOCK_WORDS: usize = 30;

struct Rp2040;

flockwork::port!(Rp2040);

// SAFETY: core numbers, mask, kicks and idle are as `flockwork_rp` argues. Test-and-set: lock words are set under a hardware
// lock, with interrupts masked.
unsafe impl Port for Rp2040 {
    #[inline(always)]
    fn core() -> u8 {
        number()
    }

    #[inline(always)]
    fn cores() -> u8 {
        2
    }

    #[inline(always)]
    fn kick(_: u8) {
        kick();
    }

    #[inline(always)]
    fn idle() {
        idle();
    }

    #[inline(always)]
    fn test_and_set(word: &LockWord) -> bool {
        let previous = Self::mask();
        let lock = pac::SIO.spinlock(LOCK_WORDS);
        // Reading claims it; the other core holds it for some five instructions. A loop of the compiler's would be unrolled, and
        // would jump when it claims the lock at once, as it usually does.
        // SAFETY: reads a register of SIO, which is there, until it has the lock.
        unsafe {
            asm!(
                "2: ldr {claimed}, [{lock}]",
                "cmp {claimed}, #0",
                "beq 2b",
                lock = in(reg) lock.as_ptr(),
                claimed = out(reg) _,
                options(nostack)
            );
        }
        // SAFETY: the hardware lock keeps the other core away, the mask this core's interrupts.
        let was_clear = unsafe { word.test_and_set_exclusive() };
        lock.write_value(1);
        Self::unmask(previous);
        was_clear
    }

    #[inline(always)]
    fn mask() -> u32 {
        mask()
    }

    #[inline(always)]
    fn unmask(previous: u32) {
        unmask(previous);
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
