//! A monitor of your own: at most two lookups at once, and no lookup while an update waits.

use flockwork::{Actor, Inbox, Letter, Monitor, Parallel, Readers, Writers, actor, dispatch};

/// At most `MOST` readers at once; writers go first.
pub struct AtMost<const MOST: usize> {
    readers: usize,
    writing: bool,
}

impl<const MOST: usize> Monitor for AtMost<MOST> {
    type Discipline = Parallel;
    const NEW: Self = Self { readers: 0, writing: false };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        if self.writing {
            return;
        }
        if inbox.contains(Writers) {
            if self.readers == 0 {
                self.writing = inbox.execute_oldest(Writers);
            }
            return;
        }
        while self.readers < MOST && inbox.execute_oldest(Readers) {
            self.readers += 1;
        }
    }

    fn leave(&mut self, letter: Letter<'_>) {
        dispatch!(letter;
            Readers => self.readers -= 1,
            Writers => self.writing = false,
        );
    }
}

/// A table of temperatures.
pub struct Climate {
    tenths: [i16; 12],
}

#[actor]
impl Climate {
    /// The mean over the year.
    pub fn mean(&self) -> i16 {
        self.tenths.iter().sum::<i16>() / 12
    }

    /// A new figure for one month.
    pub fn measured(&mut self, month: usize, tenths: i16) {
        self.tenths[month % 12] = tenths;
    }
}

#[actor]
static CLIMATE: Actor<Climate, AtMost<2>, 8> = Climate { tenths: [0; 12] };

pub(crate) fn main() {
    flockwork_host_sim::program(2, || {
        for month in 0..8 {
            CLIMATE.measured(month, 120).tell().expect("eight letters fit");
        }
        println!("the mean is {:?} tenths of a degree", CLIMATE.mean().get());
    });
}
