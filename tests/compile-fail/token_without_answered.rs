// A method that takes a token must say that it answers.
use flockwork::{Token, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn value(&self, _token: Token<'_, u32>) {}
}

fn main() {}
