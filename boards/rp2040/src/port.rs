//! The chip as the kernel needs it: what it shares with the RP2350, and one SIO spinlock for lock words.
#![expect(unsafe_code, reason = "implements the kernel's port, and waits for a hardware lock")]

use core::arch::asm;
use core::sync::atomic::{Ordering, compiler_fence};

use embassy_rp::pac::{self, timer::Timer};
use flockwork::port::LockWord;
use flockwork_board_support::death::Fault;
use flockwork_rp::{Chip, Rp, mask, unmask};

/// The SIO spinlock under which lock words are set. 31 is critical-section's; the others are the program's.
const LOCK_WORDS: usize = 30;

pub(crate) struct Rp2040;

flockwork::port!(Rp<Rp2040>);

// SAFETY: lock words are set under a hardware lock, with interrupts masked.
unsafe impl Chip for Rp2040 {
    const TIMER: Timer = pac::TIMER;

    #[inline(always)]
    fn test_and_set(word: &LockWord) -> bool {
        let previous = mask();
        let mut lock = pac::SIO.spinlock(LOCK_WORDS).as_ptr();
        // Reading claims it; the other core holds it for some five instructions. A loop of the compiler's would be unrolled, and
        // would jump when it claims the lock at once, as it usually does.
        // SAFETY: reads a register of SIO, which is there, until it has the lock.
        unsafe {
            asm!(
                "2: ldr {claimed}, [{lock}]",
                "cmp {claimed}, #0",
                "beq 2b",
                // In and out, so that the compiler keeps the address instead of making it again.
                lock = inout(reg) lock,
                claimed = out(reg) _,
                options(nostack)
            );
        }
        // SAFETY: the hardware lock keeps the other core away, the mask this core's interrupts.
        let was_clear = unsafe { word.test_and_set_exclusive() };
        compiler_fence(Ordering::Release);
        // SAFETY: the register of the lock that was claimed; whatever is written frees it.
        unsafe { lock.write_volatile(1) };
        unmask(previous);
        was_clear
    }

    fn fault() -> Fault {
        // A Cortex-M0+ does not say why.
        Fault::default()
    }
}
