// The actor goes on while the caller reads the reply, so a reply cannot borrow from it.
use flockwork::actor;

struct Log(String);

#[actor]
impl Log {
    pub fn all(&self) -> &str {
        &self.0
    }

    pub fn first(&self) -> Option<&str> {
        self.0.lines().next()
    }
}

fn main() {}
