//! Runs Flockwork actors on a host, in one of two modes.
//!
//! On **threads** a core is an OS thread: races are real, time is the host's.
//!
//! ```
//! use flockwork::{Actor, Serial, actor};
//!
//! pub struct Counter(u32);
//!
//! #[actor]
//! impl Counter {
//!     pub fn add(&mut self, n: u32) -> u32 { self.0 += n; self.0 }
//! }
//!
//! #[actor]
//! static COUNTER: Actor<Counter, Serial, 8> = Counter(0);
//!
//! let total = flockwork_host_sim::run(2, || {
//!     COUNTER.add(1).tell().unwrap();
//!     COUNTER.add(2).get().unwrap()
//! });
//! assert_eq!(total, 3);
//! ```
//!
//! **Stepped** (feature `stepped`), from 1 to 64 virtual cores take turns on one thread, in virtual time: the same seed gives the same
//! run, byte for byte, on every machine. `Device` has both modes, and the record of what happened (`Run`); `Options` reads them from
//! a command line; `Exploration` runs a program with many seeds. A `main` that calls [`program`] has that command line:
//! `--mode stepped --cores 8 --seed 3`. What calls [`run`] is stepped by its environment:
//! `FLOCKWORK_MODE=stepped FLOCKWORK_CORES=8 FLOCKWORK_SEED=3`.
//!
//! With feature `show` a run can be looked at: `perfetto` writes it as a trace for Perfetto's viewer, `report` as one web page, and
//! `top` shows it in the terminal while it runs.
//!
//! Simulated time passes at the hops of letters, as the table of costs says, and where code says that it works ([`charge`]). What it
//! cannot do: preempt. A loop in a method that waits for another core has to call [`run_until`], `get`, `charge` or
//! [`ThreadPort`]'s `pause`, or it waits for ever; a lock of the host, or a critical section, must not be held over a send or a `charge`;
//! and threads that are no core cannot send to a stepped device.

#[cfg(feature = "stepped")]
mod costs;
#[cfg(feature = "stepped")]
mod device;
#[cfg(feature = "stepped")]
mod explore;
#[cfg(feature = "stepped")]
mod faults;
#[cfg(feature = "show")]
mod figures;
#[cfg(feature = "stepped")]
mod journal;
#[cfg(feature = "stepped")]
mod options;
#[cfg(feature = "show")]
pub mod perfetto;
mod program;
#[cfg(feature = "stepped")]
mod recording;
#[cfg(feature = "show")]
pub mod report;
#[cfg(feature = "stepped")]
mod run;
#[cfg(feature = "stepped")]
mod seed;
#[cfg(feature = "stepped")]
mod stepped;
mod threads;
#[cfg(feature = "time")]
mod timers;
#[cfg(feature = "show")]
pub mod top;
#[cfg(feature = "show")]
mod turns;

#[cfg(feature = "stepped")]
pub use costs::{BadCosts, Costs};
#[cfg(feature = "stepped")]
pub use device::{Device, Mode};
#[cfg(feature = "stepped")]
pub use explore::{Exploration, Failure};
#[cfg(feature = "stepped")]
pub use faults::{BadFaults, Faults, OnceIn};
pub use flockwork::trace::charge;
#[cfg(feature = "stepped")]
pub use options::{Misuse, Options};
pub use program::program;
#[cfg(feature = "stepped")]
pub use program::with_command_line;
#[cfg(feature = "stepped")]
pub use recording::{Watched, record_from_here};
#[cfg(feature = "stepped")]
pub use run::{ActorFigures, CoreFigures, CoreSnapshot, Event, Run, Snapshot};
#[cfg(feature = "stepped")]
pub use stepped::{Deadlock, Wait};
pub use threads::{ThreadPort, interrupt, run, run_until, run_with_interrupts};
