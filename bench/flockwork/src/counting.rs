//! One sender, one counter behind a mailbox of 1024 letters.

use flockwork::{Actor, Serial, actor, worker};
use workloads::{Answer, workload::MAILBOX};

struct Counter(u64);

#[actor]
impl Counter {
    /// Counts one up.
    pub fn increment(&mut self) {
        self.0 += 1;
    }

    /// The count.
    pub fn retrieve(&self) -> u64 {
        self.0
    }
}

#[actor]
static COUNTER: Actor<Counter, Serial, MAILBOX> = Counter(0);

pub(crate) fn run(increments: u64) -> Answer {
    for _ in 0..increments {
        let mut sent = COUNTER.increment().tell();
        // A full mailbox hands the letter back: this core works until there is room.
        while let Err(rejected) = sent {
            worker::step_once();
            sent = rejected.retry();
        }
    }
    Answer::Total(COUNTER.retrieve().get().expect("the counter answers"))
}
