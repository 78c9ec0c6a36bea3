// The type of a declared actor is spelled `Actor<…>`.
use flockwork::{Serial, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn increment(&mut self) {
        self.0 += 1;
    }
}

#[actor]
static COUNTER: Counter = Counter(0);

#[actor]
static SECOND: flockwork::Actor<Counter, Serial> = Counter(0);

fn main() {}
