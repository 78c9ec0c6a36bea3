// A token belongs to one turn: to answer later, keep its reply with `later`.
use flockwork::{Answered, Token, actor};

struct Counter(Option<Token<'static, u32>>);

#[actor]
impl Counter {
    pub fn value<'t>(&mut self, token: Token<'t, u32>) -> Answered<'t> {
        self.0 = Some(token);
        unreachable!()
    }
}

fn main() {}
