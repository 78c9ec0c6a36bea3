//! What every benchmarked system runs, and how a run is asked for, checked and reported.
//!
//! A run goes through this crate twice. On the way in, [`main`] reads the command line into a [`Command`]: a
//! [`Workload`], a number of workers and a number of messages. The system's binary does the work and hands back
//! a [`Measured`] time with an [`Answer`]. On the way out the answer is compared with the one the command calls
//! for, and a [`Record`] is printed as one line of JSON. A wrong answer is a failed run, whatever its speed.
//!
//! - [`command`]: the command line, the same for every system
//! - [`workload`]: the workloads, their default sizes and their right answers
//! - [`dictionary`]: the association list, its clients and their requests
//! - [`pseudo_random`]: the generator that the requests come from
//! - [`record`]: the line of JSON
//! - `on_tokio`, a feature: what the systems on a tokio runtime share

pub mod command;
pub mod dictionary;
#[cfg(feature = "on_tokio")]
pub mod on_tokio;
pub mod pseudo_random;
pub mod record;
pub mod workload;

pub use command::{Command, main};
pub use record::Record;
pub use workload::{Answer, Measured, Workload};
