//! What every board shares, and what therefore knows no board: last words of a core that died, how deep its stack was,
//! and what is checked before the first letter.
//!
//! - [`epitaph`]: a panic or a fault leaves who died, in which turn, where and why, in memory that survives the reset. The
//!   next boot reports it.
//! - `death`: the handlers of panics and faults that write it, for chips with Cortex-M cores.
//! - [`stack`]: stacks are painted at boot; how much of them was ever used can be asked for at any time.
//! - [`boot`]: what would go wrong silently is refused with a message.
//!
//! Logging is the choice of the image, because a program has one defmt logger: `use defmt_rtt as _;` with a debug probe,
//! `use flockwork_defmt_uart as _;` (in `defmt-uart`) without one.
#![no_std]

pub mod boot;
#[cfg(target_os = "none")]
pub mod death;
pub mod epitaph;
pub mod stack;
mod text;

pub use text::Text;

/// The most cores a board has. Each has a place for its epitaph, and its stack is watched.
pub const CORES: usize = 2;
