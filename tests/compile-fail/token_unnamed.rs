// Left to elision, `Answered<'_>` would borrow from `self`: the letter is named.
use flockwork::{Answered, Token, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn value(&self, token: Token<'_, u32>) -> Answered<'_> {
        token.done(self.0)
    }
}

fn main() {}
