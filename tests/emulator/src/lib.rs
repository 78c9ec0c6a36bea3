//! Runs firmware images on an emulated dual-core RP2040: the ELF that is flashed, unchanged, and always the same way.
//!
//! [`Image`] is what cargo built; [`Machine`] runs it, one instruction at a time, on whichever core is behind. What happened can be
//! asked: the text that UART0 sent, what was logged with defmt ([`log`]), memory by the names of statics, last words, cycles and
//! awake cycles of each core, critical sections taken.
//! [`spans`] measures between marks that the image carries, and [`profile`] says in which functions the cycles went. [`couples`] reads
//! the table of the showcase.
//!
//! Cycles are relative costs, not silicon truth: flash is always in the cache, the cores never meet at a bank of memory, a taken
//! branch costs 3 and a barrier 1.

pub mod couples;
mod image;
pub mod log;
mod machine;
pub mod profile;
pub mod spans;

pub use image::{Image, Mark, MarkKind, Unreadable};
pub use machine::{Ended, Machine, Step};
