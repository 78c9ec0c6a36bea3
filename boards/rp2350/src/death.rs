//! The handlers of panics and faults: each leaves an epitaph, and the chip is reset. Other faults than hard ones become hard
//! faults, because nobody enables them.

use flockwork_rp::{CORE_NUMBER, Rp};

use crate::port::Rp2350;

flockwork_board_support::last_words!(
    Rp<Rp2350>,
    core_number_at: CORE_NUMBER,
    lift_stack_limit: ["movs r2, #0", "msr MSPLIM, r2"]
);
