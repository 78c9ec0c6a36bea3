//! An actor with a known mailbox: four letters and four promises in each of two lanes, each of one word.
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
static ADDER: Actor<Adder, Serial, 4, 4, 2> = Adder(0);

flockwork_size_probe::kernel_main!(ADDER.add(1));
