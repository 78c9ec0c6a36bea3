// A monitor sees a letter during one call only.
use flockwork::{Inbox, Letter, Monitor, OneAtATime};

struct Hoarder {
    last: Option<Letter<'static>>,
}

impl Monitor for Hoarder {
    type Discipline = OneAtATime;
    const NEW: Self = Self { last: None };

    fn schedule(&mut self, _: Inbox<'_>) {}

    fn leave(&mut self, letter: Letter<'_>) {
        self.last = Some(letter);
    }
}

fn main() {}
