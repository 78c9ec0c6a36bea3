//! The handlers of panics and faults: each leaves an epitaph, and the chip is reset.

use flockwork_rp::{CORE_NUMBER, Rp};

use crate::port::Rp2040;

// A Cortex-M0+ has no limit to its stack; the guard is a region of the memory protection unit, which a fault handler may pass.
flockwork_board_support::last_words!(Rp<Rp2040>, core_number_at: CORE_NUMBER, lift_stack_limit: []);
