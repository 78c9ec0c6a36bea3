//! The kernel's port to both chips: what they share, around the little in which they differ.
#![expect(unsafe_code, reason = "implements the kernel's port")]

use core::marker::PhantomData;

use embassy_rp::pac::timer::Timer;
use flockwork::port::{LockRegister, LockWord, Port};
use flockwork_board_support::death::Fault;

use crate::processor::{idle, kick, mask, number, unmask};

/// In what the chips differ.
///
/// # Safety
/// `test_and_set` and `hardware_lock` keep the rules that [`Port`] has for them.
pub unsafe trait Chip {
    /// The timer that counts microseconds.
    const TIMER: Timer;

    /// Sets the lock word; true if it was clear.
    fn test_and_set(word: &LockWord) -> bool;

    /// What this core says about the fault it just took.
    fn fault() -> Fault;

    /// A lock of the hardware's, as [`Port::hardware_lock`] says.
    fn hardware_lock(number: u16) -> Option<LockRegister> {
        let _ = number;
        None
    }
}

/// The port to a chip: `flockwork::port!(Rp<Rp2040>);`.
#[derive(Debug)]
pub struct Rp<C>(PhantomData<C>);

// SAFETY: core numbers, mask, kicks and idle are as `processor` argues; locks are as `Chip` demands.
unsafe impl<C: Chip> Port for Rp<C> {
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
        C::test_and_set(word)
    }

    #[inline(always)]
    fn hardware_lock(number: u16) -> Option<LockRegister> {
        C::hardware_lock(number)
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
            let high = C::TIMER.timerawh().read();
            let low = C::TIMER.timerawl().read();
            if C::TIMER.timerawh().read() == high {
                return u64::from(high) << 32 | u64::from(low);
            }
        }
    }
}
