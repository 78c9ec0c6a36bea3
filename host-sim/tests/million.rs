//! A million letters: all arrive, and how long it takes is printed beside what threads take.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use std::time::Instant;

use flockwork::{Actor, Serial, actor};
use flockwork_host_sim::{Device, run_until};

const LETTERS: u32 = 1_000_000;

pub struct Counter(u32);

#[actor]
impl Counter {
    pub fn count(&mut self) {
        self.0 += 1;
    }

    pub fn read(&mut self) -> u32 {
        std::mem::take(&mut self.0)
    }
}

#[actor]
static COUNTER: Actor<Counter, Serial, 1024> = Counter(0);

/// Sends all letters, as fast as the mailbox takes them; gives the letters per second of the host's time.
fn letters_per_second(device: Device) -> f64 {
    let start = Instant::now();
    let run = device.run(|| {
        for _ in 0..LETTERS {
            while COUNTER.count().tell().is_err() {
                let mut looked = false;
                run_until(|| std::mem::replace(&mut looked, true));
            }
        }
        COUNTER.read().get()
    });
    assert_eq!(run.returned, Ok(LETTERS), "every letter was run");
    f64::from(LETTERS) / start.elapsed().as_secs_f64()
}

#[test]
fn a_million_letters() {
    let threads = letters_per_second(Device::threads(1).keep_events(false));
    println!("threads, one core:         {threads:>12.0} letters/s");
    for (name, device) in [
        ("stepped, figures only", Device::stepped(1).keep_events(false)),
        ("stepped, events kept", Device::stepped(1)),
        ("stepped, two cores", Device::stepped(2).keep_events(false)),
    ] {
        let stepped = letters_per_second(device);
        println!("{name:<26} {stepped:>12.0} letters/s, {:.2} of threads", stepped / threads);
    }
}
