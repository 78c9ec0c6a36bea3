// The capacity of a mailbox is a power of two.
use flockwork::{Actor, Serial, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn increment(&mut self) {
        self.0 += 1;
    }
}

#[actor]
static COUNTER: Actor<Counter, Serial, 12> = Counter(0);

fn main() {}
