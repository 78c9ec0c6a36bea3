//! defmt over any serial line, for boards without a debug probe.
//!
//! A program has one defmt logger, and picks it by linking it: `use flockwork_defmt_uart as _;` here, `use defmt_rtt as _;`
//! with a probe. To link both is an error of the linker (`_defmt_acquire` is defined twice), not a matter of luck.
//!
//! Frames wait in memory until [`drain`] has sent them, so whoever logs never waits for the line:
//!
//! ```ignore
//! let line = BufferedUartTx::new(p.UART0, Irqs, p.PIN_0, BUFFER.take(), Config::default());
//! spawner.spawn(log(line).unwrap());
//!
//! #[embassy_executor::task]
//! async fn log(line: BufferedUartTx) { flockwork_defmt_uart::drain(line).await }
//! ```
//!
//! A frame that finds no room is left out as a whole, and counted ([`lost`]); the stream stays decodable. Read it with
//! `defmt-print`: `cat /dev/ttyACM0 | defmt-print -e IMAGE`.
#![no_std]
// A test has no use for a logger, and on a host nobody defines the symbols defmt's macros want.
#![cfg_attr(test, allow(dead_code, reason = "only the frames are tested"))]

mod frames;
#[cfg(not(test))]
mod logger;

#[cfg(not(test))]
pub use logger::{drain, lost, take_waiting};
