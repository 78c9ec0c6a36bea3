// `#[actor]` is for a type's own methods.
use flockwork::actor;

struct Counter(u32);

#[actor]
impl Default for Counter {
    fn default() -> Self {
        Self(0)
    }
}

fn main() {}
