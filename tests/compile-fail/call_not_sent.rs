// A call that is not sent does nothing; the compiler says so.
#![deny(unused_must_use)]

use flockwork::{Actor, Serial, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn increment(&mut self) {
        self.0 += 1;
    }
}

#[actor]
static COUNTER: Actor<Counter, Serial, 8> = Counter(0);

fn main() {
    COUNTER.increment();
}
