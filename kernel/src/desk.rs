//! The desk of an actor: its name in the kernel's tables, its lock, and its lists of letters.
//!
//! # The turnstile
//!
//! `schedule` and `leave` run under a try-lock that nobody waits for (PAM-13). A worker that finds it taken leaves its event
//! with the holder: the event itself is published already (a lane's tail, a done flag), and the worker only rings the *bell*
//! of its lane, so that the holder looks again before it goes.
//!
//! ```text
//!  enter(w):  if !tas(lock) { bell[w] += 1;  fence;  if !tas(lock) return }        ── the holder will see the bell
//!  holder:    seen = bells;  … drain, leave, schedule …
//!  exit:      lock = 0;  fence;  if bells != seen and tas(lock): once more
//! ```
//!
//! Nothing is lost: if the second test-and-set fails too, it read the lock word before the holder's clearing store in that
//! word's order. With a fence on each side (bell, fence, lock word / lock word, fence, bells) one of the two must see the
//! other's store: not the worker, so the holder sees the bell. Exactly one holds the lock, so letters are granted once.
#![expect(unsafe_code, reason = "shares the lists between cores, under the lock")]

use crate::cores::ActorId;
use crate::inbox::Lists;
use crate::port::{self, LockWord};
use crate::sync::{Mutant, const_unless_loom, fence, removed};

/// What is not generic in an actor's mailbox.
pub(crate) struct Desk {
    lock: LockWord,
    /// Under the lock, but for the actor's number.
    pub(crate) lists: Lists,
}

// SAFETY: `lists` is used under the lock only (its number and the count of refusals apart, which are atomic).
unsafe impl Sync for Desk {}

impl Desk {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { lock: LockWord::new(), lists: Lists::new() }
        }
    }

    /// The actor's number, if it has one already.
    #[inline(always)]
    pub(crate) fn id(&self) -> Option<ActorId> {
        self.lists.actor()
    }

    pub(crate) fn name(&self, id: ActorId) {
        self.lists.name(id);
    }

    /// Tries for the lock; `ring` rings the bell of the caller's lane if it is taken.
    #[inline(always)]
    pub(crate) fn enter(&self, ring: impl FnOnce()) -> bool {
        port::test_and_set(&self.lock) || self.enter_again(ring)
    }

    #[cold]
    fn enter_again(&self, ring: impl FnOnce()) -> bool {
        if !removed(Mutant::BellNotRung) {
            ring();
        }
        fence(Mutant::RingFence);
        !removed(Mutant::NoSecondTry) && port::test_and_set(&self.lock)
    }

    /// Tries for the lock without ringing: for a caller that will come back, or was rung for.
    #[inline(always)]
    pub(crate) fn try_enter(&self) -> bool {
        port::test_and_set(&self.lock)
    }

    /// Releases the lock; true if a bell rang since `seen`.
    #[inline(always)]
    #[must_use = "whoever rang relies on it"]
    pub(crate) fn exit(&self, seen: u32, bells: impl FnOnce() -> u32) -> bool {
        self.lock.clear();
        fence(Mutant::ExitFence);
        bells() != seen && !removed(Mutant::BellsNotSeen)
    }

    /// Releases the lock without looking at the bells: for a caller that comes back anyway.
    pub(crate) fn abandon(&self) {
        self.lock.clear();
    }
}
