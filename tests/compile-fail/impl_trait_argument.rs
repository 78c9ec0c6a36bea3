// A letter holds values of known types: `impl Trait` is not one.
use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    pub fn add(&mut self, amount: impl Into<u32>) {
        self.0 += amount.into();
    }
}

fn main() {}
