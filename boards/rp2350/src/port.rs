//! The chip as the kernel needs it: what it shares with the RP2040, and lock words by compare-and-swap.
#![expect(unsafe_code, reason = "implements the kernel's port")]

use embassy_rp::pac;
use flockwork::port::{LockWord, Port};
use flockwork_rp::{idle, kick, mask, number, unmask};

struct Rp2350;

flockwork::port!(Rp2350);

// SAFETY: core numbers, mask, kicks and idle are as `flockwork_rp` argues. Test-and-set is an exclusive access, which the
// chip's global monitor arbitrates between the cores: embassy-rp makes every access of both cores go through it. An exclusive
// access also sets the event register of both cores; `idle` has none, and neither has what the kernel does between its last
// look and `idle`, so a core that sleeps stays asleep.
unsafe impl Port for Rp2350 {
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

    #[inline(always)]
    fn now() -> u64 {
        // The raw registers: the latching ones are one pair for both cores.
        loop {
            let high = pac::TIMER0.timerawh().read();
            let low = pac::TIMER0.timerawl().read();
            if pac::TIMER0.timerawh().read() == high {
                return u64::from(high) << 32 | u64::from(low);
            }
        }
    }
}
