// The state stays in the actor.
use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    pub fn finish(self) -> u32 {
        self.0
    }
}

fn main() {}
