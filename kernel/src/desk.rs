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
//! The straight line of a visit looks at the bell only after it has unlocked: whoever rang before or during it is served by the
//! round that follows then.
//!
//! Nothing is lost. Say a worker's second test-and-set fails too: it read the lock word before the holder's clearing store.
//! Either the bell it rang is still set when the holder looks at it after unlocking: with a fence on each side (bell, fence,
//! lock word / lock word, fence, bell) one of the two sees the other's store, and the worker did not, so the holder does. Or a
//! holder has cleared it at the start of a round: then that store came after the worker's, so the worker's first fence came
//! before the holder's, and the round that follows sees the worker's event. Anybody may ring and only the holder clears, all
//! with plain stores. Exactly one holds the lock, so letters are granted once.
#![expect(unsafe_code, reason = "what is behind the desk is written once, before its number is given out")]

use core::ptr::NonNull;

use crate::cores::Core;
#[cfg(target_os = "none")]
use crate::lane::LaneHead;
use crate::lane::Place;
use crate::letter::{Descriptor, Head};
use crate::lists::Lists;
use crate::mailbox::Office;
#[cfg(target_os = "none")]
use crate::port::MAX_CORES;
use crate::ready::{ActorId, Mark};
use crate::share::Share;
use crate::slots::SlotsOf;
#[cfg(all(target_os = "none", target_arch = "arm"))]
use crate::sync::Raised;
use crate::sync::{Count32, Flag, Guarded, LockChoice, LockWord, Mutant, TryLock, const_unless_loom, fence, removed};
use crate::trace;

/// What a worker asks of an actor whose type it does not know. What looks at letters or at the monitor is asked by the holder of the
/// actor's lock.
pub(crate) trait Resident: Sync {
    /// Visits the actor: runs letters of it on this core, as many as is fair; true if there is more to do here. The mark is set if it
    /// was just taken out of this core's ready set. An actor that is pinned to another core has more to do, always.
    ///
    /// The straight line of a visit to an actor with a monitor exists once per type; all else, on a chip, once for actors with and once
    /// for actors without a monitor.
    fn visit(&'static self, here: u8, mark: Mark) -> bool;

    /// Its mailbox.
    fn office(&self) -> &'static Office;

    /// The core it is pinned to.
    fn pinned_to(&self) -> Option<u8>;

    /// The letter at a place of a lane: published, and not received yet.
    fn letter(&self, lane: usize, place: u16) -> NonNull<Head>;

    /// The names of the actor and of one of its methods.
    fn names(&self, method: u8) -> (&'static str, Option<&'static str>);

    /// Its lists, if it has a monitor.
    fn lists(&self) -> Option<&'static Lists>;

    /// Of an actor without a monitor, or by the standing grant of one: runs the letter at a place, on this core. It is received, and its
    /// slot freed, before it is run, under the lock, which stands for the borrow; but a reader is run without it, as a guest of the gate. If
    /// the method panics, the lock is released, and the actor noted.
    ///
    /// # Safety
    /// The caller holds the lock; the letter is published, and the oldest of its lane not received yet, and no other one is older. Or, on a chip,
    /// it was granted ([`Place::of_granted`](crate::lane::Place)), and as [`run`](Self::run).
    unsafe fn run_in_order(&'static self, here: &'static Core, at: Place) -> InOrder;

    /// Of an actor with a monitor: lets it decide. The inbox is not empty.
    fn schedule(&'static self);

    /// Tells the monitor of a letter that has left the gate; then its slot is free, also if the monitor panics.
    fn leave(&'static self, letter: NonNull<Head>);

    /// The same for the first so many letters of a share, all that were run, none of which has left; the share is given up. Nothing waits, and the
    /// share's core has stopped.
    fn leave_share(&'static self, share: &Share, run: u8);

    /// Of an actor with a monitor: runs a letter that was granted.
    ///
    /// # Safety
    /// The caller has started the letter, under the lock, which it holds until the letter has ended, and runs it once. It is alone in the gate if
    /// and only if `alone`.
    unsafe fn run(&'static self, here: u8, letter: NonNull<Head>, alone: bool);

    /// Of an actor with a monitor: offers the oldest letters in the lanes to it, one after the other, and runs those that it grants, as long as
    /// they must be alone, and after the first only while no other actor waits for the core. What is left of the budget: as much as there
    /// was, if the next letter needs not be alone, or there is none. The lists may have letters after this.
    ///
    /// # Safety
    /// The caller holds the lock; no letter waits, and none is granted or running. The budget is one at least.
    unsafe fn run_oldest(&'static self, here: u8, budget: u16) -> u16;

    /// Of an actor whose letters share its state, and have no claims: offers readers in the lanes to the monitor, one after the other, or several
    /// at a time, and runs those that it grants, without the lock; after the first only while nobody else waits for the core. It ends before
    /// letters that must not be passed.
    ///
    /// # Safety
    /// The caller holds the lock; no letter waits, none is granted, and none runs that must be alone. The budget is one at least.
    unsafe fn run_readers(&'static self, here: u8, budget: u16) -> Ran;

    /// Of an actor with a monitor: goes on with a visit that is not about one letter alone, or has others beside it. The lock is held.
    fn visit_several(&'static self, here: u8) -> bool;

    /// The same after the lock was released at the end of a straight line: somebody rang, or waits for room.
    fn answer(&'static self, here: u8) -> bool;

    /// After so many letters of this core's share were run: they leave, the monitor decides about what waits, and the share is given up. The lock
    /// is held.
    fn end_share(&'static self, here: u8, run: u8) -> Left;
}

/// Whether a letter, or a share of letters, that was run without the lock has left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// The lock was not had, at once or, after a share, at all.
    NotYet,
    /// It has, and no letter waited.
    Alone,
    /// It has, and the monitor was asked about those that wait.
    BeforeOthers,
}

/// What became of a letter that was to be run in order.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum InOrder {
    /// It was run. The lock is held.
    Run,
    /// It was run as a guest, and the lock was released before.
    RunUnlocked,
    /// It was not, because its monitor has to decide about it. The lock is held.
    ToBeDecided,
}

/// How far [`Resident::run_readers`] came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    /// All letters in the lanes were run, and have left; so much of the budget is left. The lock is held.
    All(u16),
    /// So much of the budget is left, and there is something else to do. The lock is held.
    Some(u16),
    /// The lock was not had again. Whoever has it does the rest.
    Gone,
}

/// What is not generic in an actor's mailbox, besides its lanes.
#[repr(C)]
pub(crate) struct Desk {
    lock_choice: LockChoice,
    lock_word: LockWord,
    /// The core the actor is pinned to, plus one. Written before its number. (A chip asks the actor: that is seldom.)
    #[cfg(not(target_os = "none"))]
    pinned: Guarded<u8>,
    /// Taken by senders that share the actor's only lane. (A host has it where only they touch it.)
    #[cfg(target_os = "none")]
    lane_word: LockWord,
    calls: Flags,
    /// The actor's number in the kernel's table; 0 until its first letter.
    id: Count32,
}

/// What the holder of the lock is called for.
#[repr(C, align(2))]
struct Flags {
    /// Raised by anybody who found the lock taken, lowered by the holder.
    bell: Flag,
    /// Raised by anybody who waits for room in some lane, lowered by the holder.
    room_wanted: Flag,
}

impl Flags {
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    fn any(&self) -> bool {
        // SAFETY: two flags side by side, aligned as a half word.
        unsafe { Raised::behind::<0>((&raw const *self).cast()) }.any()
    }

    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    fn any(&self) -> bool {
        (self.bell.is_raised() && !removed(Mutant::BellNotSeen)) | self.room_wanted.is_raised()
    }
}

// SAFETY: all but the number, which is atomic, is written once, under the lock of the kernel's table, before the number is
// published, and read by those who know the number.
unsafe impl Sync for Desk {}

/// Who moves in behind a desk.
pub(crate) struct Tenant {
    pub(crate) resident: &'static dyn Resident,
    /// Of an actor with a monitor: its lists, and what its letters are.
    pub(crate) letters: Option<(&'static Lists, &'static Descriptor)>,
    pub(crate) slots: SlotsOf,
    pub(crate) pinned_to: Option<u8>,
    /// Letters that one lane holds.
    pub(crate) capacity: u16,
    /// If the workers of a chip visit it by the straight line that all such actors share.
    #[cfg(target_os = "none")]
    pub(crate) straight: Option<Straight>,
}

/// How the straight line of a chip's worker runs a letter of an actor: without a monitor, or by its standing grant, and with a lane for each core.
#[cfg(target_os = "none")]
#[derive(Clone, Copy)]
pub(crate) struct Straight {
    office: &'static Office<[LaneHead; MAX_CORES]>,
    run: RunInOrder,
}

/// [`Resident::run_in_order`] of some type, whose body it is given.
#[cfg(target_os = "none")]
type RunInOrder = unsafe fn(NonNull<()>, &'static Core, Place) -> InOrder;

#[cfg(target_os = "none")]
impl Straight {
    pub(crate) fn new<R: Resident + 'static>(office: &'static Office<[LaneHead; MAX_CORES]>) -> Self {
        let run: unsafe fn(&'static R, &'static Core, Place) -> InOrder = R::run_in_order;
        // SAFETY: a reference is passed as a pointer is; `run` is called with that of a resident of this very type.
        let run =
            unsafe { core::mem::transmute::<unsafe fn(&'static R, &'static Core, Place) -> InOrder, RunInOrder>(run) };
        Self { office, run }
    }
}

/// An actor in the kernel's table. Each part is read when it is needed, because registers are few.
#[repr(C)]
pub(crate) struct Entry {
    #[cfg(target_os = "none")]
    office: Guarded<Option<&'static Office<[LaneHead; MAX_CORES]>>>,
    #[cfg(target_os = "none")]
    run: Guarded<Option<RunInOrder>>,
    resident: Guarded<Option<&'static dyn Resident>>,
}

impl Entry {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                #[cfg(target_os = "none")]
                office: Guarded::new(None),
                #[cfg(target_os = "none")]
                run: Guarded::new(None),
                resident: Guarded::new(None),
            }
        }
    }

    pub(crate) fn set(&self, resident: &'static dyn Resident) {
        self.resident.set(Some(resident));
    }

    /// The actor, if this entry is in use.
    #[inline(always)]
    pub(crate) fn resident(&self) -> Option<&'static dyn Resident> {
        self.resident.get()
    }
}

#[cfg(target_os = "none")]
impl Entry {
    /// There is a straight line to this actor.
    pub(crate) fn set_straight(&self, Straight { office, run }: Straight) {
        self.run.set(Some(run));
        self.office.set(Some(office));
    }

    /// Its mailbox, if there is a straight line to this actor.
    #[inline(always)]
    pub(crate) fn straight(&self) -> Option<&'static Office<[LaneHead; MAX_CORES]>> {
        self.office.get()
    }

    /// Runs a letter.
    ///
    /// # Safety
    /// There is a straight line to this actor, and as [`Resident::run_in_order`].
    #[inline(always)]
    pub(crate) unsafe fn run(&self, here: &'static Core, at: Place) -> InOrder {
        // SAFETY: the caller's promise: `run` is that of the resident's type.
        unsafe {
            let body = NonNull::from(self.resident.get().unwrap_unchecked()).cast();
            (self.run.get().unwrap_unchecked())(body, here, at)
        }
    }
}

impl Desk {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                lock_choice: LockChoice::new(),
                lock_word: LockWord::new(),
                calls: Flags { bell: Flag::new(), room_wanted: Flag::new() },
                #[cfg(not(target_os = "none"))]
                pinned: Guarded::new(0),
                #[cfg(target_os = "none")]
                lane_word: LockWord::new(),
                id: Count32::new(),
            }
        }
    }

    #[inline(always)]
    fn lock(&self) -> TryLock<'_> {
        TryLock { word: &self.lock_word, choice: &self.lock_choice }
    }

    /// The actor's number, if it has one already.
    #[inline(always)]
    pub(crate) fn id(&self) -> Option<ActorId> {
        ActorId::from_raw(self.id.glance())
    }

    /// The actor's number, once a lane of it is open.
    #[inline(always)]
    pub(crate) fn known_id(&self) -> ActorId {
        // SAFETY: the number was stored before the lanes were opened, and whoever finds one open has acquired that; so has whoever came
        // here by the number, from a ready set.
        unsafe { ActorId::from_raw(self.id.glance()).unwrap_unchecked() }
    }

    /// Gives the actor its number. Called once, under the lock of the kernel's table.
    pub(crate) fn move_in(&self, tenant: &Tenant, id: ActorId) {
        self.lock().choose(id.number());
        #[cfg(not(target_os = "none"))]
        self.pinned.set(tenant.pinned_to.map_or(0, |core| core + 1));
        if tenant.letters.is_some() || trace::IS_ON {
            // SAFETY: the slots are the tenant's, and nobody has sent a letter yet.
            unsafe { tenant.slots.label() };
        }
        if let Some((lists, descriptor)) = tenant.letters {
            lists.owner.set(id);
            // SAFETY: the slots are the tenant's, static, with their layout.
            unsafe { lists.move_in(descriptor, tenant.slots.lanes) };
        }
        self.id.publish(id.raw(), None);
    }

    /// The core the actor is pinned to, which has this number.
    #[cfg(not(target_os = "none"))]
    #[inline(always)]
    pub(crate) fn pinned_to(&self, _: ActorId) -> Option<u8> {
        self.pinned.get().checked_sub(1)
    }

    #[cfg(target_os = "none")]
    pub(crate) fn pinned_to(&self, id: ActorId) -> Option<u8> {
        crate::cores::pinned_to(id)
    }

    /// What senders take that share a lane.
    #[cfg(target_os = "none")]
    pub(crate) fn lane_word(&self) -> &LockWord {
        &self.lane_word
    }

    /// Tries for the lock, and rings the bell if it is taken.
    #[inline(always)]
    pub(crate) fn enter(&self) -> bool {
        self.lock().try_take() || self.enter_again()
    }

    #[cold]
    #[inline(never)]
    fn enter_again(&self) -> bool {
        fence(Mutant::BellFence);
        if !removed(Mutant::BellNotRung) {
            self.calls.bell.raise(None);
        }
        fence(Mutant::RingFence);
        !removed(Mutant::NoSecondTry) && self.lock().try_take()
    }

    /// The holder begins a round: whoever rang before this is served by it.
    #[inline(always)]
    pub(crate) fn begin_round(&self) {
        if self.calls.bell.is_raised() {
            self.hear_bell();
        }
    }

    #[cold]
    fn hear_bell(&self) {
        self.calls.bell.lower();
        fence(Mutant::BellLookFence);
    }

    /// Tries for the lock without ringing: for a caller that will come back, or was rung for.
    #[inline(always)]
    pub(crate) fn try_enter(&self) -> bool {
        self.lock().try_take()
    }

    /// Whether the bell was rung, as the holder sees it before a round.
    #[inline(always)]
    pub(crate) fn has_bell(&self) -> bool {
        self.calls.bell.is_raised()
    }

    /// Releases the lock. The bell and who wants room are looked at after this.
    #[inline(always)]
    pub(crate) fn release(&self) {
        self.lock().free();
        fence(Mutant::ExitFence);
    }

    /// The same where the lock has what it chooses first.
    #[inline(always)]
    pub(crate) fn release_chosen(&self) {
        self.lock().free_chosen();
        fence(Mutant::ExitFence);
    }

    /// Whether the lock has what it chooses first, on this processor.
    #[cfg(target_os = "none")]
    pub(crate) fn has_chosen_lock(&self) -> bool {
        self.lock().has_chosen()
    }

    /// Whether the bell rang since the round began, asked after the release.
    #[inline(always)]
    pub(crate) fn rang(&self) -> bool {
        self.calls.bell.is_raised() && !removed(Mutant::BellNotSeen)
    }

    /// Somebody waits for room in some lane.
    pub(crate) fn want_room(&self) {
        self.calls.room_wanted.raise(None);
    }

    /// Whether somebody waits for room.
    #[inline(always)]
    pub(crate) fn is_room_wanted(&self) -> bool {
        self.calls.room_wanted.is_raised()
    }

    /// Whoever waits for room is told. The caller fences, and looks who it is.
    pub(crate) fn forget_room_wanted(&self) {
        self.calls.room_wanted.lower();
    }

    /// Whether somebody rang or wants room, asked after the release.
    #[inline(always)]
    pub(crate) fn calls(&self) -> bool {
        self.calls.any()
    }

    /// Where the flags are that [`calls`](Self::calls) looks at.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    pub(crate) const CALLS: usize = core::mem::offset_of!(Self, calls);

    /// Releases the lock; true if the bell rang since the round began.
    #[inline(always)]
    #[must_use = "whoever rang relies on it"]
    pub(crate) fn exit(&self) -> bool {
        self.release();
        self.rang()
    }

    /// Releases the lock without looking at the bell: for a caller that comes back anyway.
    pub(crate) fn abandon(&self) {
        self.lock().free();
    }
}
