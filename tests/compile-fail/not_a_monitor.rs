// The second argument of `Actor` must be a monitor.
use flockwork::{Actor, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn increment(&mut self) {
        self.0 += 1;
    }
}

struct Whenever;

#[actor]
static COUNTER: Actor<Counter, Whenever, 8> = Counter(0);

fn main() {}
