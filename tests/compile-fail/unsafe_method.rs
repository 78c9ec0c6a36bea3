// Who sends a letter cannot promise anything for the turn that runs it.
use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    pub unsafe fn poke(&mut self, value: u32) {
        self.0 = value;
    }
}

fn main() {}
