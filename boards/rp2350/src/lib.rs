//! Flockwork on the RP2350: both Cortex-M33 cores, embassy's drivers, a worker on each core.
//!
//! ```ignore
//! static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();
//!
//! #[entry]
//! fn main() -> ! {
//!     let p = embassy_rp::init(Default::default());
//!     let mut uart = UartTx::new_blocking(p.UART0, p.PIN_0, Config::default());
//!     report_epitaphs(&mut uart);
//!     run(p.CORE1, &CORE1_STACK, |core0| core0.spawn(blink(p.PIN_25).unwrap()), |_core1| {})
//! }
//! ```
//!
//! The [`Port`](flockwork::port::Port) of the chip is registered by linking this crate. Interrupt handlers may send letters; tasks
//! and actors on either core may. `critical-section` is embassy-rp's, which holds off both cores.
#![no_std]

#[cfg(feature = "epitaph")]
mod death;
mod port;
mod start;

pub use cortex_m_rt::entry;
pub use flockwork_board_support::{epitaph, stack};
pub use flockwork_rp::{Core1Stack, Outcome, finish, report_epitaphs};
pub use start::{SAFE_SPINLOCKS, run};
