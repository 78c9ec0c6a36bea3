//! Readers together, writers alone; three answers to the question who goes first.
//!
//! A letter is a reader if its method takes `&self` and a writer if it takes `&mut self`, so these monitors need no
//! labels. Letters that name objects count as readers: actors with several objects are better served by
//! [`Resources`](crate::Resources), which knows that two of them may need the same object.

use crate::dispatch;
use crate::inbox::{Inbox, Readers, Writers};
use crate::letter::Letter;
use crate::monitor::{Monitor, Parallel};

/// What is running, as all three count it.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Running {
    readers: usize,
    writing: bool,
}

impl Running {
    const NOTHING: Self = Self { readers: 0, writing: false };

    #[inline(always)]
    fn leave(&mut self, letter: Letter<'_>) {
        dispatch!(letter;
            Readers => self.readers -= 1,
            Writers => self.writing = false,
        );
    }
}

/// Readers together, writers alone, in the order they came (PAM-L3).
///
/// Readers pass no writer that is older, and a writer waits only for what is older: neither starves.
///
/// ```
/// # use flockwork::{Access, Method, ReadersWriter, Rehearsal};
/// static METHODS: [Method; 2] = [Method::new("get", Access::Reader), Method::new("put", Access::Writer)];
///
/// let actor = Rehearsal::<ReadersWriter, 8>::new(&METHODS);
/// let [r0, r1, w2, r3, w4, r5, r6] =
///     actor.post_each(["get", "get", "put", "get", "put", "get", "get"]);
///
/// assert_eq!(actor.schedule(), [r0, r1]);
/// assert_eq!(actor.finish(r0), []);
/// assert_eq!(actor.finish(r1), [w2]);
/// assert_eq!(actor.finish(w2), [r3]);
/// assert_eq!(actor.finish(r3), [w4]);
/// assert_eq!(actor.finish(w4), [r5, r6]);
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReadersWriter(Running);

impl Monitor for ReadersWriter {
    type Discipline = Parallel;
    const NEW: Self = Self(Running::NOTHING);
    const STANDING_GRANT: bool = true;

    #[inline(always)]
    fn schedule(&mut self, inbox: Inbox<'_>) {
        let Self(running) = self;
        if !running.writing {
            running.readers += inbox.execute_older_than(Readers, Writers);
            if running.readers == 0 {
                running.writing = inbox.execute_oldest(Writers);
            }
        }
    }

    #[inline(always)]
    fn leave(&mut self, letter: Letter<'_>) {
        self.0.leave(letter);
    }
}

/// Readers together, writers alone, and readers pass waiting writers.
///
/// A steady stream of readers starves writers: for state that is seldom written and where a late write does no harm.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReadersFirst(Running);

impl Monitor for ReadersFirst {
    type Discipline = Parallel;
    const NEW: Self = Self(Running::NOTHING);
    const STANDING_GRANT: bool = true;

    #[inline(always)]
    fn schedule(&mut self, inbox: Inbox<'_>) {
        let Self(running) = self;
        if !running.writing {
            running.readers += inbox.execute_all(Readers);
            if running.readers == 0 {
                running.writing = inbox.execute_oldest(Writers);
            }
        }
    }

    #[inline(always)]
    fn leave(&mut self, letter: Letter<'_>) {
        self.0.leave(letter);
    }
}

/// Readers together, writers alone, and writers pass waiting readers.
///
/// A steady stream of writers starves readers: for state whose readers want the latest value and can wait for it.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WritersFirst(Running);

impl Monitor for WritersFirst {
    type Discipline = Parallel;
    const NEW: Self = Self(Running::NOTHING);
    const STANDING_GRANT: bool = true;

    #[inline(always)]
    fn schedule(&mut self, inbox: Inbox<'_>) {
        let Self(running) = self;
        if running.writing {
            return;
        }
        if !inbox.contains(Writers) {
            running.readers += inbox.execute_all(Readers);
        } else if running.readers == 0 {
            running.writing = inbox.execute_oldest(Writers);
        }
    }

    #[inline(always)]
    fn leave(&mut self, letter: Letter<'_>) {
        self.0.leave(letter);
    }
}
