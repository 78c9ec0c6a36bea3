//! Embassy tasks and actors side by side: a task awaits answers, and room in a mailbox.

use embassy_executor::task;
use flockwork::{Actor, Refused, Serial, actor, worker};

/// Adds up what it is told.
pub struct Ledger {
    sum: u64,
    entries: u32,
}

#[actor]
impl Ledger {
    /// Enters one figure.
    pub fn enter(&mut self, figure: u64) {
        self.sum += figure;
        self.entries += 1;
    }

    /// The sum, and of how many figures.
    pub fn sum(&self) -> (u64, u32) {
        (self.sum, self.entries)
    }
}

// Room for two letters from each core: the task below has to wait for room again and again.
#[actor]
static LEDGER: Actor<Ledger, Serial, 2> = Ledger { sum: 0, entries: 0 };

/// Told when the bookkeeper is done.
pub struct Office {
    closed: bool,
}

#[actor]
impl Office {
    /// The books are closed.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the books are closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }
}

#[actor]
static OFFICE: Actor<Office, Serial, 2> = Office { closed: false };

#[task]
async fn bookkeeper() {
    for figure in 1..=1000 {
        LEDGER.enter(figure).send().await.expect("a letter that can run");
    }
    let (sum, entries) = LEDGER.sum().await.expect("the ledger answers");
    println!("{entries} entries, {sum} in all");
    let closed: Result<(), Refused> = OFFICE.close().send().await;
    closed.expect("a letter that can run");
}

pub(crate) fn main() {
    flockwork_host_sim::program(2, || {
        worker::spawner().spawn(bookkeeper().expect("the task is spawned once"));
        while !OFFICE.is_closed().get().expect("the office answers") {}
    });
}
