// An argument goes to another core, so it must be `Send`.
use std::rc::Rc;

use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    pub fn add(&mut self, amount: Rc<u32>) {
        self.0 += *amount;
    }
}

fn main() {}
