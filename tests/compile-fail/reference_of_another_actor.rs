// A reference knows which actor it is for.
use flockwork::{Actor, Ref, Serial, actor};

struct Counter(u32);

#[actor]
impl Counter {
    pub fn increment(&mut self) {
        self.0 += 1;
    }
}

struct Lamp(bool);

#[actor]
impl Lamp {
    pub fn toggle(&mut self) {
        self.0 = !self.0;
    }
}

#[actor]
static LAMP: Actor<Lamp, Serial, 8> = Lamp(false);

fn main() {
    let _counter: Ref<Counter> = &LAMP;
}
