//! Actors that differ in their mailboxes only: what a letter and a promise take, and what is left beside them.
#![no_std]
#![no_main]

use flockwork::{Actor, Serial, actor};

/// A number that is changed.
pub struct Adder(u32);

#[actor]
impl Adder {
    /// Changes it.
    pub fn add(&mut self, by: u32) -> u32 {
        self.0 = self.0.wrapping_add(by);
        self.0
    }
}

#[actor]
static PLAIN: Actor<Adder, Serial, 4, 4> = Adder(0);
#[actor]
static MORE_LETTERS: Actor<Adder, Serial, 8, 4> = Adder(0);
#[actor]
static MORE_PROMISES: Actor<Adder, Serial, 4, 8> = Adder(0);

flockwork_size_probe::kernel_main!(PLAIN.add(1), MORE_LETTERS.add(2), MORE_PROMISES.add(3));
