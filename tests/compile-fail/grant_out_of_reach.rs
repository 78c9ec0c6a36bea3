// Only the kernel makes grants, so `Methods::run` cannot be called by others.
use flockwork::Grant;

struct Counter(u32);

#[flockwork::actor]
impl Counter {
    pub fn increment(&mut self) {
        self.0 += 1;
    }
}

fn main() {
    let mut counter = Counter(0);
    let _ = Grant::new(&mut counter, &mut (), flockwork::Claims::NONE, true);
}
