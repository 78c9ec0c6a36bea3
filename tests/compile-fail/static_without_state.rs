// A declared actor has an initial state.
use flockwork::{Actor, Serial, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn increment(&mut self) {
        self.0 += 1;
    }
}

#[actor]
static COUNTER: Actor<Counter, Serial, 8>;

fn main() {}
