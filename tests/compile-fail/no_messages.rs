// An actor without a message could do nothing.
use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    fn increment(&mut self) {
        self.0 += 1;
    }
}

fn main() {}
