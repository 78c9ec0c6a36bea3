//! Loom models of the kernel: small programs of which every interleaving is run, with the memory orderings as they are.
//!
//! They run the kernel itself, not copies of its protocols. Each prints whether it was exhaustive or bounded in the
//! number of preemptions, and each step it rests on is taken away in turn (`mutants`): then it must fail. What loom
//! cannot see is written in `docs/notes/2026-11-16-loom.md`.
//!
//! `cargo xtask loom`, or `cargo xtask loom --long` for the larger bounds.
#![cfg(loom)]

mod age;
mod borrowing;
mod harness;
mod lanes;
mod latch;
mod monitor;
mod mutants;
mod port;
mod probe;
mod promises;
