// A method is one turn of the actor, so it cannot await.
use flockwork::actor;

struct Counter(u32);

#[actor]
impl Counter {
    pub async fn increment(&mut self) {
        self.0 += 1;
    }
}

fn main() {}
