// A letter is answered once: using the token takes it.
use flockwork::{Answered, Token, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn value<'t>(&self, token: Token<'t, u32>) -> Answered<'t> {
        let _ = token.done(self.0);
        token.done(self.0)
    }
}

fn main() {}
