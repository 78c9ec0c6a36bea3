//! Runs Flockwork actors on a host. A core is an OS thread, so races are real.
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

mod threads;

pub use threads::{ThreadPort, interrupt, run, run_until, run_with_interrupts};
