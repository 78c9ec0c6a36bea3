//! One asker, one server, one request at a time.

use flockwork::{Actor, Serial, actor};
use workloads::Answer;

/// Room in a mailbox that never holds more than one letter.
const SMALL: usize = 4;

struct Server {
    served: u32,
}

#[actor]
impl Server {
    /// How many requests there were, this one included.
    pub fn serve(&mut self) -> u32 {
        self.served += 1;
        self.served
    }
}

#[actor]
static SERVER: Actor<Server, Serial, SMALL> = Server { served: 0 };

pub(crate) fn run(requests: u64) -> Answer {
    let mut right = 0;
    for number in 1..=requests {
        right += u64::from(SERVER.serve().get().map(u64::from) == Ok(number));
    }
    Answer::Replies(right)
}
