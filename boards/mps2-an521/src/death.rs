//! The end of a core: its last words go to the host, and the run has failed.

use flockwork::worker::{self, in_turn};
use flockwork_board_support::death::{Fault, Mortal};
use flockwork_board_support::epitaph::{Epitaph, Turn};

use crate::host::{Outcome, finish, log};
use crate::port::{core, mask};
use crate::registers::{CPU_IDENTITY, FAULT_ADDRESS, FAULT_STATUS};

flockwork_board_support::last_words!(
    Board,
    core_number_at: CPU_IDENTITY.address(),
    lift_stack_limit: ["movs r2, #0", "msr MSPLIM, r2"]
);

struct Board;

impl Mortal for Board {
    fn core() -> u8 {
        core()
    }

    fn mask() {
        mask();
    }

    fn turn(core: u8) -> Option<Turn> {
        in_turn(core).map(|worker::Turn { actor, method }| Turn::new(actor, method))
    }

    fn fault() -> Fault {
        Fault { status: FAULT_STATUS.read(), address: FAULT_ADDRESS.read() }
    }

    /// There is no reset to survive: whoever started the run sees its end.
    fn bury(last_words: &Epitaph) -> ! {
        log(format_args!("{last_words}"));
        finish(Outcome::Failed)
    }
}
