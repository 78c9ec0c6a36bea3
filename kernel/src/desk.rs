//! The desk of an actor: its number in the kernel's table, its lock, and who is behind it.
//!
//! # The turnstile
//!
//! `schedule` and `leave` run under a try-lock that nobody waits for (PAM-13). A worker that finds it taken leaves its event
//! with the holder: the event itself is published already (a lane's tail, the end of a letter), and the worker only rings the *bell*,
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
#![expect(unsafe_code, reason = "what is behind the desk is written once, before its number is given out")]

use core::ptr::NonNull;

use crate::cores::ActorId;
use crate::inbox::Lists;
use crate::letter::{Descriptor, Head};
use crate::port::{self, LockWord};
use crate::sync::{Flag, Guarded, Half, Mutant, const_unless_loom, fence, removed};

/// What a worker asks of an actor whose type it does not know. What looks at letters or at the monitor is asked by the holder of the
/// actor's lock.
pub(crate) trait Resident: Sync {
    /// Visits the actor ([`visit`](crate::visit::visit)). Where code is small change, what a visit does is made once per type,
    /// with all calls below inlined; on a chip, once for actors with and once for actors without a monitor.
    fn visit(&'static self, here: u8, from_ready: bool) -> bool;

    /// The core it is pinned to, where the type is known; otherwise see [`Desk::pinned_to`].
    fn pinned_to(&self) -> Option<u8>;

    /// The letter at a place of a lane: published, and not received yet.
    fn letter(&self, lane: usize, place: u16) -> NonNull<Head>;

    /// The names of the actor and of one of its methods.
    fn names(&self, method: u8) -> (&'static str, Option<&'static str>);

    /// Of an actor without a monitor: receives the letter at `place` of a lane, frees its slot and runs it, under the lock.
    ///
    /// # Safety
    /// The caller holds the lock; the letter is published and the oldest of its lane not received yet.
    unsafe fn run_oldest(&'static self, here: u8, lane: usize, place: u16);

    /// Of an actor with a monitor: lets it decide. The inbox is not empty.
    fn schedule(&'static self);

    /// Tells the monitor of a letter that has left the gate.
    fn leave(&'static self, letter: NonNull<Head>);

    /// Runs a letter that was granted, with or without the lock.
    ///
    /// # Safety
    /// The caller started the letter under the lock, and runs it once; it is alone in the gate if and only if `alone`, and stays
    /// in the gate until it has ended.
    unsafe fn run_granted(&'static self, here: u8, letter: NonNull<Head>, alone: bool);
}

/// What is not generic in an actor's mailbox, besides its lanes.
pub(crate) struct Desk {
    lock: LockWord,
    /// Raised by anybody who found the lock taken, lowered by the holder.
    bell: Flag,
    /// Raised by anybody who waits for room in some lane, lowered by the holder.
    pub(crate) room_wanted: Flag,
    /// The core the actor is pinned to, plus one. Written with its number, like what follows.
    pinned: Guarded<u8>,
    monitored: Guarded<bool>,
    /// The actor's number in the kernel's table plus one; 0 until its first letter.
    id: Half,
    resident: Guarded<Option<&'static dyn Resident>>,
}

// SAFETY: all but the number, which is atomic, is written once, under the lock of the kernel's table, before the number is
// published, and read by those who know the number.
unsafe impl Sync for Desk {}

/// Who moves in behind a desk.
pub(crate) struct Tenant {
    pub(crate) resident: &'static dyn Resident,
    /// Of an actor with a monitor: its lists, what its letters are, and the slots of all its lanes, as
    /// [`Lists::move_in`] demands.
    pub(crate) letters: Option<(&'static Lists, &'static Descriptor, NonNull<()>)>,
    pub(crate) pinned_to: Option<u8>,
}

impl Desk {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                lock: LockWord::new(),
                bell: Flag::new(),
                room_wanted: Flag::new(),
                pinned: Guarded::new(0),
                monitored: Guarded::new(false),
                id: Half::new(),
                resident: Guarded::new(None),
            }
        }
    }

    /// The actor's number, if it has one already.
    #[inline(always)]
    pub(crate) fn id(&self) -> Option<ActorId> {
        ActorId::from_plus_one(self.id.read(Some(Mutant::NumberReadRelaxed)))
    }

    /// Gives the actor its number. Called once, under the lock of the kernel's table.
    pub(crate) fn move_in(&self, tenant: &Tenant, id: ActorId) {
        self.resident.set(Some(tenant.resident));
        self.pinned.set(tenant.pinned_to.map_or(0, |core| core + 1));
        self.monitored.set(tenant.letters.is_some());
        if let Some((lists, descriptor, lanes)) = tenant.letters {
            lists.owner.set(id);
            // SAFETY: the tenant's promise.
            unsafe { lists.move_in(descriptor, lanes) };
        }
        self.id.publish(id.plus_one(), Some(Mutant::NumberRelaxed));
    }

    /// Who is behind the desk. The actor has its number.
    #[inline(always)]
    pub(crate) fn resident(&self) -> &'static dyn Resident {
        let resident = self.resident.get();
        // SAFETY: written before the number was published, and the caller came here by the number.
        unsafe { resident.unwrap_unchecked() }
    }

    /// The core the actor is pinned to. The actor has its number.
    #[inline(always)]
    pub(crate) fn pinned_to(&self) -> Option<u8> {
        self.pinned.get().checked_sub(1)
    }

    /// Whether a monitor decides. The actor has its number.
    #[inline(always)]
    pub(crate) fn is_monitored(&self) -> bool {
        self.monitored.get()
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
