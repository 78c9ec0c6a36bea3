//! The smallest program: one actor, told and asked.

use flockwork::{Actor, Failure, Serial, actor};

/// Counts.
pub struct Counter {
    total: u32,
}

#[actor]
impl Counter {
    /// Adds to the total.
    pub fn add(&mut self, n: u32) {
        self.total += n;
    }

    /// The total so far.
    pub fn total(&self) -> u32 {
        self.total
    }
}

// No monitor, room for 8 letters from each core.
#[actor]
static COUNTER: Actor<Counter, Serial, 8> = Counter { total: 0 };

pub(crate) fn main() -> Result<(), Failure> {
    flockwork_host_sim::program(2, || {
        for n in 1..=4 {
            COUNTER.add(n).tell().map_err(|rejected| rejected.why())?;
        }
        println!("1 + 2 + 3 + 4 = {}", COUNTER.total().get()?);
        Ok(())
    })
}
