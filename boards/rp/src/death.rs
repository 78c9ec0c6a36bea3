//! The end of a core: it leaves an epitaph and resets the chip. The next boot reports it.
#![expect(unsafe_code, reason = "takes the watchdog from whoever has it")]

use cortex_m_rt::ExceptionFrame;
use embassy_rp::{peripherals::WATCHDOG, watchdog::Watchdog};
use embedded_io::Write;
use flockwork::worker::{self, in_turn};
use flockwork_board_support::epitaph::{self, Epitaph, Registers, Turn};

use crate::outcome::{Outcome, finish};
use crate::processor;

/// Reports what cores left before the last reset: as text over a serial line, and over defmt if that is on. What it has
/// reported is gone; how many there were is returned.
///
/// An image that logs with defmt over its only line needs no call: [`run`](crate::run) reports over defmt whatever is left.
pub fn report_epitaphs(line: &mut impl Write) -> usize {
    let mut count = 0;
    while let Some(epitaph) = epitaph::take() {
        count += 1;
        log(&epitaph);
        // Without a line there is nobody to tell that the line failed.
        let _ = writeln!(line, "{epitaph}");
    }
    count
}

/// Reports over defmt alone.
pub(crate) fn log_epitaphs() {
    // Without defmt they are left for a debugger, or for whoever asks later.
    while cfg!(feature = "defmt")
        && let Some(epitaph) = epitaph::take()
    {
        log(&epitaph);
    }
}

fn log(_epitaph: &Epitaph) {
    #[cfg(feature = "defmt")]
    defmt::error!("{}", _epitaph);
}

/// For the board's handler of hard faults: `status` and `address` are what its processor says about the fault.
pub fn die_of_fault(frame: &ExceptionFrame, status: u32, address: u32) -> ! {
    processor::mask();
    let registers = Registers {
        pc: frame.pc(),
        lr: frame.lr(),
        // The frame was put below what was there.
        sp: core::ptr::from_ref(frame).addr() as u32 + size_of::<ExceptionFrame>() as u32,
        xpsr: frame.xpsr(),
        r: [frame.r0(), frame.r1(), frame.r2(), frame.r3()],
        r12: frame.r12(),
        status,
        address,
    };
    die(|core, turn| Epitaph::of_fault(core, turn, registers))
}

/// Leaves an epitaph and resets the chip, and with it the other core. Interrupts are off.
pub(crate) fn die(last_words: impl FnOnce(u8, Option<Turn>) -> Epitaph) -> ! {
    let core = processor::number();
    let turn = in_turn(core).map(|worker::Turn { actor, method }| Turn::new(actor, method));
    epitaph::leave(&last_words(core, turn));
    // A test ends here, with the epitaph in memory.
    finish(Outcome::Failed);
    // SAFETY: nothing else of the program goes on.
    Watchdog::new(unsafe { WATCHDOG::steal() }).trigger_reset();
    loop {
        processor::idle();
    }
}
