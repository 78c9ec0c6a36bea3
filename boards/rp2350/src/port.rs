//! The chip as the kernel needs it: what it shares with the RP2040, and lock words by compare-and-swap.
#![expect(unsafe_code, reason = "implements a part of the kernel's port, and reads registers")]

use cortex_m::peripheral::SCB;
use embassy_rp::pac::{self, timer::Timer};
use flockwork::port::LockWord;
use flockwork_board_support::death::Fault;
use flockwork_rp::{Chip, Rp};

/// In the fault status: the address of a memory management fault, or of a bus fault, is known.
const MEMORY_ADDRESS: u32 = 1 << 7;
const BUS_ADDRESS: u32 = 1 << 15;

pub(crate) struct Rp2350;

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

    fn fault() -> Fault {
        // SAFETY: reads registers of this core, which nobody writes.
        let (status, memory, bus) = unsafe {
            let registers = &*SCB::PTR;
            (registers.cfsr.read(), registers.mmfar.read(), registers.bfar.read())
        };
        let address = match status {
            status if status & MEMORY_ADDRESS != 0 => memory,
            status if status & BUS_ADDRESS != 0 => bus,
            _ => 0,
        };
        Fault { status, address }
    }
}
