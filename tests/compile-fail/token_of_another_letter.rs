// Using another letter's token does not answer this one.
use flockwork::{Answered, Reply, Token, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn value<'t>(&mut self, other: Reply<u32>, token: Token<'t, u32>) -> Answered<'t> {
        let mut answered = None;
        other.through(|others_token| {
            answered = Some(token.done(self.0));
            others_token.done(self.0)
        });
        let mut swapped = None;
        Reply::<u32>::nobody().through(|others_token| {
            swapped = Some(others_token.done(self.0));
            answered.take().unwrap()
        });
        swapped.unwrap()
    }
}

fn main() {}
