// An actor changes through its letters, not through `static mut`.
use flockwork::{Actor, Serial, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn increment(&mut self) {
        self.0 += 1;
    }
}

#[actor]
static mut COUNTER: Actor<Counter, Serial, 8> = Counter(0);

fn main() {}
