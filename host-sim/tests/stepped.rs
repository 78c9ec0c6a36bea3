//! Virtual cores in virtual time.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use flockwork::{Actor, Serial, actor};
use flockwork_host_sim::Device;

pub struct Counter(u32);

#[actor]
impl Counter {
    pub fn add(&mut self, n: u32) -> u32 {
        self.0 += n;
        self.0
    }
}

#[test]
fn one_letter() {
    #[actor]
    static COUNTER: Actor<Counter, Serial, 8> = Counter(0);
    let run = Device::stepped(2).run(|| COUNTER.add(3).get().unwrap());
    run.write_trace(std::io::stdout()).unwrap();
    println!("{run:?}");
    assert_eq!(run.returned, 3);
    let run = Device::threads(2).run(|| COUNTER.add(3).get().unwrap());
    run.write_trace(std::io::stdout()).unwrap();
    println!("{run:?}");
}
