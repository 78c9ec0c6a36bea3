//! Flockwork on QEMU's `mps2-an521`: two Cortex-M33 cores with compare-and-swap, for tests without hardware.
//!
//! ```ignore
//! static CORE1_STACK: Core1Stack<8192> = Core1Stack::new();
//!
//! #[entry]
//! fn main() -> ! {
//!     run(&CORE1_STACK, |core0| core0.spawn(greet().unwrap()), |_core1| {})
//! }
//! ```
//!
//! The [`Port`](flockwork::port::Port) of the board is registered by linking this crate, and so is a `critical-section` that
//! holds off both cores. Interrupt handlers may send letters; tasks and actors on either core may. An image talks to its
//! host by semihosting ([`log`], [`arguments`], [`finish`]), so it runs under QEMU or a debugger only.
//!
//! Core 0 of this board has no floating-point unit: images are built for `thumbv8m.main-none-eabi`.
#![no_std]

mod critical;
mod death;
mod host;
mod interleave;
mod port;
mod registers;
mod start;
pub mod tick;

pub use cortex_m_rt::{entry, exception};
pub use flockwork_board_support::stack;
pub use host::{Arguments, Outcome, arguments, finish, log};
pub use interleave::interleave;
pub use port::{core, idle_calls, now};
pub use start::{Core1Stack, run};
