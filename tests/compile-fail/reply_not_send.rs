// A reply comes from another core, so it must be `Send`.
use std::rc::Rc;

use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    pub fn value(&self) -> Rc<u32> {
        Rc::new(self.0)
    }
}

fn main() {}
