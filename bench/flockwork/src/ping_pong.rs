//! Two actors that tell each other.

use flockwork::{Actor, Answered, Reply, Serial, Token, actor};
use workloads::Answer;

/// Room in a mailbox that never holds more than one letter.
const SMALL: usize = 4;

struct Ping {
    round_trips: u64,
    served: u64,
    pongs: u64,
    over: Option<Reply<u64>>,
}

#[actor]
impl Ping {
    /// Serves the first ball; the answer is the number of balls that came back, after the last.
    pub fn play<'t>(&mut self, round_trips: u64, over: Token<'t, u64>) -> Answered<'t> {
        self.round_trips = round_trips;
        self.serve();
        over.later(|reply| self.over = Some(reply))
    }

    /// A ball comes back.
    pub fn returned(&mut self, ball: u64) {
        self.pongs += u64::from(ball == self.served);
        self.served += 1;
        if self.served < self.round_trips {
            self.serve();
        } else if let Some(over) = self.over.take() {
            over.answer(self.pongs);
        }
    }
}

impl Ping {
    fn serve(&self) {
        PONG.ball(self.served).tell().expect("one ball always has room");
    }
}

struct Pong;

#[actor]
impl Pong {
    /// A ball comes.
    pub fn ball(&mut self, ball: u64) {
        PING.returned(ball).tell().expect("one ball always has room");
    }
}

#[actor]
static PING: Actor<Ping, Serial, SMALL> = Ping { round_trips: 0, served: 0, pongs: 0, over: None };

#[actor]
static PONG: Actor<Pong, Serial, SMALL> = Pong;

pub(crate) fn run(round_trips: u64) -> Answer {
    Answer::Pongs(PING.play(round_trips).get().expect("ping answers"))
}
