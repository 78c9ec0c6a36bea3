// The messages of an actor do not depend on `cfg` one by one.
use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    #[cfg(debug_assertions)]
    pub fn reset(&mut self) {
        self.0 = 0;
    }
}

fn main() {}
