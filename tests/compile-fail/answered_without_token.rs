// Only a token makes an `Answered`.
use flockwork::{Answered, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn value<'t>(&self) -> Answered<'t> {
        unreachable!("{}", self.0)
    }
}

fn main() {}
