// An actor lives in a static, so it borrows from nothing shorter.
use flockwork::actor;

struct View<'a>(&'a [u8]);

#[actor]
impl<'a> View<'a> {
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

fn main() {}
