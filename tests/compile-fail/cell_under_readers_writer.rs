// Readers run at once on several cores, so the state must be `Sync`.
use std::cell::Cell;

use flockwork::{Actor, ReadersWriter, actor};

struct Counter(Cell<u32>);

#[actor]
impl Counter {
    pub fn increment(&self) {
        self.0.set(self.0.get() + 1);
    }
}

#[actor]
static COUNTER: Actor<Counter, ReadersWriter, 8> = Counter(Cell::new(0));

fn main() {}
