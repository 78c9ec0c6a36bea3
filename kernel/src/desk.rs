//! The desk of an actor: its name in the kernel's tables, its lock, and its lists of letters.
//!
//! # The turnstile
//!
//! `schedule` and `leave` run under a try-lock that nobody waits for (PAM-13). A worker that finds it taken leaves its event
//! with the holder: the event itself is published already (a lane's tail, a done flag), and the worker only rings the *bell*,
//! so that the holder looks again before it goes.
//!
//! ```text
//!  enter:   if !tas(lock) { fence;  bell = 1;  fence;  if !tas(lock) return }      ── the holder will see the bell
//!  holder:  if bell { bell = 0;  fence }   … drain, leave, schedule …
//!  exit:    lock = 0;  fence;  if bell and tas(lock): once more
//! ```
//!
//! Nothing is lost. Say a worker's second test-and-set fails too: it read the lock word before the holder's clearing store.
//! Either the bell it rang is still set when the holder looks at it after unlocking: with a fence on each side (bell, fence,
//! lock word / lock word, fence, bell) one of the two sees the other's store, and the worker did not, so the holder does. Or a
//! holder has cleared it at the start of a round: then that store came after the worker's, so the worker's first fence came
//! before the holder's, and the round that follows sees the worker's event. Anybody may ring and only the holder clears, all
//! with plain stores. Exactly one holds the lock, so letters are granted once.
#![expect(unsafe_code, reason = "shares the lists between cores, under the lock")]

use crate::cores::ActorId;
use crate::inbox::Lists;
use crate::port::{self, LockWord};
use crate::sync::{Flag, Mutant, const_unless_loom, fence, removed};

/// What is not generic in an actor's mailbox.
pub(crate) struct Desk {
    lock: LockWord,
    /// Raised by anybody who found the lock taken, lowered by the holder.
    bell: Flag,
    /// Raised by anybody who waits for room in some lane, lowered by the holder.
    pub(crate) room_wanted: Flag,
    /// Under the lock, but for the actor's number.
    pub(crate) lists: Lists,
}

// SAFETY: `lists` is used under the lock only (its number and the count of refusals apart, which are atomic).
unsafe impl Sync for Desk {}

impl Desk {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { lock: LockWord::new(), bell: Flag::new(), room_wanted: Flag::new(), lists: Lists::new() }
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

    /// Tries for the lock, and rings the bell if it is taken.
    #[inline(always)]
    pub(crate) fn enter(&self) -> bool {
        port::test_and_set(&self.lock) || self.enter_again()
    }

    #[cold]
    #[inline(never)]
    fn enter_again(&self) -> bool {
        fence(Mutant::BellFence);
        if !removed(Mutant::BellNotRung) {
            self.bell.raise(None);
        }
        fence(Mutant::RingFence);
        !removed(Mutant::NoSecondTry) && port::test_and_set(&self.lock)
    }

    /// The holder begins a round: whoever rang before this is served by it.
    #[inline(always)]
    pub(crate) fn begin_round(&self) {
        if self.bell.is_raised() {
            self.hear_bell();
        }
    }

    #[cold]
    fn hear_bell(&self) {
        self.bell.lower();
        fence(Mutant::BellLookFence);
    }

    /// Tries for the lock without ringing: for a caller that will come back, or was rung for.
    #[inline(always)]
    pub(crate) fn try_enter(&self) -> bool {
        port::test_and_set(&self.lock)
    }

    /// Whether the bell was rung, as the holder sees it before a round.
    #[inline(always)]
    pub(crate) fn has_bell(&self) -> bool {
        self.bell.is_raised()
    }

    /// Releases the lock. The bell and who wants room are looked at after this.
    #[inline(always)]
    pub(crate) fn release(&self) {
        self.lock.clear();
        fence(Mutant::ExitFence);
    }

    /// Whether the bell rang since the round began, asked after the release.
    #[inline(always)]
    pub(crate) fn rang(&self) -> bool {
        self.bell.is_raised() && !removed(Mutant::BellNotSeen)
    }

    /// Whether somebody rang or wants room, asked after the release.
    #[inline(always)]
    pub(crate) fn calls(&self) -> bool {
        self.rang() | self.room_wanted.is_raised()
    }

    /// Releases the lock; true if the bell rang since the round began.
    #[inline(always)]
    #[must_use = "whoever rang relies on it"]
    pub(crate) fn exit(&self) -> bool {
        self.release();
        self.rang()
    }

    /// Releases the lock without looking at the bell: for a caller that comes back anyway.
    pub(crate) fn abandon(&self) {
        self.lock.clear();
    }
}
