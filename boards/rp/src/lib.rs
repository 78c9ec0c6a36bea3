//! What the RP2040 and the RP2350 share: how both cores are started and watched, how one dies, and the parts of the port that
//! do not depend on how a chip sets a lock word.
//!
//! Firmware depends on the crate of its board, which offers all of this again.
#![no_std]

mod death;
mod outcome;
mod port;
mod processor;
mod start;

pub use death::{CORE_NUMBER, report_epitaphs};
pub use outcome::{Outcome, finish};
pub use port::{Chip, Rp};
pub use processor::{mask, unmask};
pub use start::{Core1Stack, run};
