//! The chip as the kernel needs it: what it shares with the RP2040, and lock words by compare-and-swap.
#![expect(unsafe_code, reason = "implements a part of the kernel's port")]

use embassy_rp::pac::{self, timer::Timer};
use flockwork::port::LockWord;
use flockwork_rp::{Chip, Rp};

struct Rp2350;

flockwork::port!(Rp<Rp2350>);

// SAFETY: an exclusive access, which the chip's global monitor arbitrates between the cores: embassy-rp makes every access of
// both cores go through it. An exclusive access also sets the event register of both cores; what the kernel does between its
// last look and `idle` has none, and neither has `idle`, so a core that sleeps stays asleep.
unsafe impl Chip for Rp2350 {
    const TIMER: Timer = pac::TIMER0;

    #[inline(always)]
    fn test_and_set(word: &LockWord) -> bool {
        word.test_and_set()
    }
}
