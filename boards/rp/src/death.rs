//! The end of a core: it leaves an epitaph and resets the chip. The next boot reports it.
#![expect(unsafe_code, reason = "takes the watchdog from whoever has it")]

use embassy_rp::{peripherals::WATCHDOG, watchdog::Watchdog};
use embedded_io::Write;
use flockwork::worker::{self, in_turn};
use flockwork_board_support::death::{Fault, Mortal};
use flockwork_board_support::epitaph::{self, Epitaph, Turn};

use crate::outcome::{Outcome, finish};
use crate::port::{Chip, Rp};
use crate::processor;

/// Where a core reads its own number, in SIO of both chips.
pub const CORE_NUMBER: u32 = 0xd000_0000;

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

impl<C: Chip> Mortal for Rp<C> {
    fn core() -> u8 {
        processor::number()
    }

    fn mask() {
        processor::mask();
    }

    fn turn(core: u8) -> Option<Turn> {
        in_turn(core).map(|worker::Turn { actor, method }| Turn::new(actor, method))
    }

    fn fault() -> Fault {
        C::fault()
    }

    /// Leaves the epitaph and resets the chip, and with it the other core.
    fn bury(last_words: &Epitaph) -> ! {
        epitaph::leave(last_words);
        // A test ends here, with the epitaph in memory.
        finish(Outcome::Failed);
        // SAFETY: nothing else of the program goes on.
        Watchdog::new(unsafe { WATCHDOG::steal() }).trigger_reset();
        loop {
            processor::idle();
        }
    }
}
