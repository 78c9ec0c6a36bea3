//! Mutual exclusion: one letter at a time, oldest first.

use crate::inbox::{Any, Inbox};
use crate::letter::Letter;
use crate::monitor::{Monitor, OneAtATime};

/// One letter at a time, oldest first (PAM-L1).
///
/// It does what [`Serial`](crate::Serial), no monitor at all, does at a lower price. It is here because it is the
/// smallest complete monitor: copy it to start your own.
///
/// ```
/// # use flockwork::{Access, Method, Mutex, Rehearsal};
/// # static METHODS: [Method; 1] = [Method::new("put", Access::Writer)];
/// let actor = Rehearsal::<Mutex, 4>::new(&METHODS);
/// let [first, second] = actor.post_each(["put", "put"]);
/// assert_eq!(actor.schedule(), [first]);
/// assert_eq!(actor.finish(first), [second]);
/// assert_eq!(actor.finish(second), []);
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Mutex {
    working: bool,
}

impl Monitor for Mutex {
    type Discipline = OneAtATime;
    const NEW: Self = Self { working: false };
    const STANDING_GRANT: bool = true;

    #[inline(always)]
    fn schedule(&mut self, inbox: Inbox<'_>) {
        if !self.working {
            self.working = inbox.execute_oldest(Any);
        }
    }

    #[inline(always)]
    fn leave(&mut self, _: Letter<'_>) {
        self.working = false;
    }
}
