//! The chip as the kernel needs it: what it shares with the RP2350, SIO spinlocks as the locks of actors, and one for lock words.
#![expect(unsafe_code, reason = "implements the kernel's port, and waits for a hardware lock")]

use core::arch::asm;
use core::ptr::NonNull;
use core::sync::atomic::{Ordering, compiler_fence};

use embassy_rp::pac::{self, timer::Timer};
use flockwork::port::{LockRegister, LockWord};
use flockwork_board_support::death::Fault;
use flockwork_rp::{Chip, Rp, mask, unmask};

/// The SIO spinlock under which lock words are set. 31 is critical-section's.
const LOCK_WORDS: usize = 30;

/// The SIO spinlocks that are locks of actors, one each. Those below are the program's.
const ACTORS: core::ops::Range<usize> = 4..LOCK_WORDS;

pub(crate) struct Rp2040;

flockwork::port!(Rp<Rp2040>);

// SAFETY: lock words are set under a hardware lock, with interrupts masked. Reading a spinlock claims it, writing frees it; those of
// actors are not the program's, and each is given out once.
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

    fn hardware_lock(number: u16) -> Option<LockRegister> {
        let lock = ACTORS.clone().nth(usize::from(number))?;
        let register = NonNull::new(pac::SIO.spinlock(lock).as_ptr().cast())?;
        // SAFETY: a spinlock of SIO, and nobody else's: free since embassy-rp reset all of them before `main`.
        Some(unsafe { LockRegister::at(register) })
    }
}
