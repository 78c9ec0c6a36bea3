//! What is logged, and by whom, until somebody dies of it. The images are the examples of `boards/rp/logging`, which pick the
//! logger; this is the crate they know as `logging`.
#![no_std]

use embassy_executor::task;
use embassy_time::Timer;
use flockwork::{Actor, Pinned, Report, actor};

/// Logs what it is told, from the core it is on.
pub struct Scribe {
    core: u8,
}

#[actor]
impl Scribe {
    /// Logs a number.
    pub fn note(&mut self, number: u32) -> u32 {
        defmt::info!("core {} notes {}", self.core, number);
        number + 1
    }

    /// Dies of it.
    pub fn despair(&mut self) {
        panic!("no more words");
    }
}

#[actor]
static HERE: Actor<Scribe, Pinned<0>, 2> = Scribe { core: 0 };

#[actor]
static THERE: Actor<Scribe, Pinned<1>, 2> = Scribe { core: 1 };

/// Lets both cores log in turn, and logs what the kernel counted. Then core 1 dies; that is logged at the next boot.
#[task]
pub async fn something_to_log() {
    let mut number = 0;
    for _ in 0..2 {
        number = HERE.note(number).await.expect("a scribe answers");
        number = THERE.note(number).await.expect("a scribe answers");
    }
    defmt::info!("{}", Report::of(&HERE));
    // Until all of it is sent.
    Timer::after_millis(100).await;
    THERE.despair().tell().expect("its mailbox is empty");
}
