// Senders see an argument's name, so it has one.
use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    pub fn add(&mut self, (one, other): (u32, u32)) {
        self.0 += one + other;
    }
}

fn main() {}
