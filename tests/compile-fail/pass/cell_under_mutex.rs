// Under a monitor that runs one letter at a time, the state needs no `Sync`.
use std::cell::Cell;

use flockwork::{Actor, Mutex, actor};
use flockwork_host_sim as _;

struct Counter(Cell<u32>);

#[actor]
impl Counter {
    pub fn increment(&self) {
        self.0.set(self.0.get() + 1);
    }
}

#[actor]
static COUNTER: Actor<Counter, Mutex, 8> = Counter(Cell::new(0));

fn main() {
    let _ = COUNTER.increment();
}
