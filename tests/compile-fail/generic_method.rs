// A letter holds values of known types, so its method is not generic.
use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    pub fn add<N: Into<u32> + Send + 'static>(&mut self, amount: N) {
        self.0 += amount.into();
    }
}

fn main() {}
