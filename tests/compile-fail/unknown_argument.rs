// `#[actor]` knows one argument.
use flockwork::actor;

struct Counter(u32);

#[actor(monitor = Serial)]
impl Counter {
    pub fn increment(&mut self) {
        self.0 += 1;
    }
}

fn main() {}
