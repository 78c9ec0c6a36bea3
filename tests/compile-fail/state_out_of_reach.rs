// The state of a declared actor is reached by letters alone.
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
    Counter::increment(&mut COUNTER);
    let _ = COUNTER.0;
    let _ = &COUNTER.body.whole;
}
