// A method that takes a token cannot end without using it.
use flockwork::{Answered, Token, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn value<'t>(&self, _token: Token<'t, u32>) -> Answered<'t> {}
}

fn main() {}
