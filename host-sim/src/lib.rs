//! Runs Flockwork actors on a host.
//!
//! On **threads** a core is an OS thread, so races are real:
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

#[cfg(feature = "stepped")]
mod costs;
#[cfg(feature = "stepped")]
mod device;
#[cfg(feature = "stepped")]
mod explore;
#[cfg(feature = "stepped")]
mod faults;
#[cfg(feature = "stepped")]
mod options;
#[cfg(feature = "stepped")]
mod recording;
#[cfg(feature = "stepped")]
mod run;
#[cfg(feature = "stepped")]
mod seed;
#[cfg(feature = "stepped")]
mod stepped;
mod threads;
#[cfg(feature = "time")]
mod timers;

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
#[cfg(feature = "stepped")]
pub use run::{ActorFigures, CoreFigures, CoreSnapshot, Event, Run, Snapshot};
#[cfg(feature = "stepped")]
pub use stepped::{Deadlock, Wait};
pub use threads::{ThreadPort, interrupt, run, run_until, run_with_interrupts};
