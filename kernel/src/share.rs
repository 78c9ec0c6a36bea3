//! Shares: letters of one actor that a core took at once, to run one after the other without the actor's lock.
//!
//! Letters that share the state cost two tenures of the lock each, if they are taken one by one. A core takes several instead, and
//! they leave together. Nobody is kept waiting by that. What a core has taken and not begun, others can take back, also while its
//! turn is a long one, or waits for one of those very letters. What has ended leaves at once if that may matter to anybody: if letters
//! wait that the monitor did not grant, or a letter finds no room.
//!
//! # Who may do what
//!
//! A core has one share. The holder of the actor's lock writes down which letters are in it; from then on the core counts how many it
//! has run. Any holder of the lock lets those leave that were run, and takes back those that were not begun:
//!
//! ```text
//!  core:    run letter i;  run = i + 1;  fence;  if wanted: stop, else run letter i + 1
//!  holder:  wanted = 1;  fence;  i = run: letter i has begun, or will not;  letters i + 1 … are the holder's
//! ```
//!
//! No letter is run twice. Say the holder reads `i`, and the core goes on to letter `i + 1` or further: then it has stored `i + 1`, fenced,
//! and found nothing wanted. With a fence between store and load on either side, one of the two sees the other's store; the holder did
//! not, so the core does, and stops. None is lost: if the core stops before a letter that the holder left to it, it says so
//! ([`STOPPED`]), and the next holder takes that one back, too.
//!
//! A core that stops has said all it has to say by its count, so its share may be given up by anybody who holds the lock; the core takes
//! no other share before that, but single letters.
#![expect(
    unsafe_code,
    reason = "per-core records in one static table, each written as its owner's lock or core allows"
)]

use core::ptr::NonNull;

use crate::cores;
use crate::letter::{Access, Head, Link};
use crate::lists::{Lists, deref};
use crate::port::{self, MAX_CORES};
use crate::ready::ActorId;
use crate::slots::Places;
use crate::sync::{Byte, Count32, Flag, Guarded, Mutant, array_of, const_unless_loom, fence, kernel_static, removed};

/// The fewest letters that are worth a share.
const LEAST: u16 = if cfg!(loom) { 2 } else { 4 };
/// So many there must be that a core takes a share of them: with less to do, each leaves as soon as it has ended.
const ENOUGH: u16 = if cfg!(loom) { 3 } else { 8 };
/// The most letters of a share.
const MOST: usize = if cfg!(loom) { 2 } else { 16 };
/// Beside the count of letters that were run: the core runs no more of them.
const STOPPED: u8 = 0x80;

/// The letters that a core has taken.
///
/// | field | written by | read by |
/// |---|---|---|
/// | `of` | its core, under the actor's lock, to take letters and after the last; else a holder of that lock, when the core has stopped | everybody |
/// | `letters`, `lane`, `place` | its core, under the lock, with `of` | its core; holders of the lock |
/// | `count`, `left` | holders of the lock | holders of the lock |
/// | `run` | its core | holders of the lock |
/// | `wanted` | raised by holders and its core, lowered with `of` | its core; holders of the lock |
#[repr(C)]
pub(crate) struct Share {
    /// The number of the actor whose letters they are; 0 if there are none.
    of: Count32,
    /// How many letters are the core's.
    count: Guarded<u8>,
    /// How many of them have left.
    left: Guarded<u8>,
    /// How many the core has run, and whether it has stopped.
    run: Byte,
    /// Whether somebody wants those that the core has not begun.
    wanted: Flag,
    letters: [Guarded<Link>; MOST],
    /// The lane of all letters, if they were received there one after the other; otherwise [`NO_LANE`].
    lane: Guarded<u8>,
    /// The place of the first of them there.
    place: Guarded<u16>,
}

/// The lane of letters that do not follow one another in one lane.
const NO_LANE: u8 = u8::MAX;

// SAFETY: the table above. What is guarded belongs to the holder of the lock of the actor `of`; its core reads `letters` without it,
// which nobody writes while it has them.
unsafe impl Sync for Share {}

impl Share {
    const_unless_loom! {
        fn new() -> Self {
            Self {
                of: Count32::new(),
                count: Guarded::new(0),
                left: Guarded::new(0),
                run: Byte::new(),
                wanted: Flag::new(),
                letters: array_of!(Guarded::new(None)),
                lane: Guarded::new(NO_LANE),
                place: Guarded::new(0),
            }
        }
    }

    /// Whether its core, which asks, may take letters.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.of.read(None) == 0
    }

    /// Whether it holds letters of an actor, whose lock is held.
    #[inline(always)]
    pub(crate) fn is_of(&self, id: ActorId) -> bool {
        self.of.glance() == id.raw()
    }

    /// A turn of its core waits: the core lets go of what it has taken. The actor whose letters they are, if there are any.
    pub(crate) fn let_go(&self) -> Option<ActorId> {
        let id = ActorId::from_raw(self.of.glance());
        if id.is_some() {
            self.wanted.raise(None);
        }
        id
    }

    /// Its core takes the first letters that are granted, so many at most; how many it got. It is free, and the lock is held.
    #[inline(always)]
    pub(crate) fn take(&self, id: ActorId, lists: &Lists, most: u16) -> u8 {
        let mut next = lists.first_granted();
        let mut count = 0;
        for place in &self.letters[..usize::from(most).min(MOST)] {
            let Some(letter) = next else { break };
            place.set(Some(letter));
            next = lists.start_granted(letter);
            count += 1;
        }
        lists.set_first_granted(next);
        self.set_scattered();
        self.begin(id, lists, count);
        count
    }

    /// Its core keeps the next letters of a lane here before it takes them, as long as they are readers, so many at most; how many. It is free, and
    /// the lock is held.
    #[inline(always)]
    pub(crate) fn keep_readers(&self, lane: Places, place: u16, most: u16) -> u8 {
        let mut count = 0;
        while count < most.min(MOST as u16) {
            let letter = lane.peek(place.wrapping_add(count));
            if deref(letter).access.get() != Access::Reader {
                break;
            }
            self.letters[usize::from(count)].set(Some(letter));
            count += 1;
        }
        count as u8
    }

    /// The letters that are kept here were received one after the other in this lane, from this place on. The lock is held.
    #[inline(always)]
    pub(crate) fn set_row(&self, lane: usize, place: u16) {
        self.lane.set(lane as u8);
        self.place.set(place);
    }

    /// They were not.
    #[inline(always)]
    pub(crate) fn set_scattered(&self) {
        self.lane.set(NO_LANE);
    }

    /// The lane and the place of one of its letters, if all were received one after the other in one lane. The lock is held.
    #[inline(always)]
    pub(crate) fn row(&self, from: u8) -> Option<(usize, u16)> {
        let lane = self.lane.get();
        (lane != NO_LANE).then(|| (usize::from(lane), self.place.get().wrapping_add(u16::from(from))))
    }

    /// The first letters that are kept here. The lock is held.
    pub(crate) fn letters(&self, count: u8) -> impl Iterator<Item = NonNull<Head>> {
        self.letters[..usize::from(count).min(MOST)].iter().filter_map(Guarded::get)
    }

    /// Those from one place up to another, where they are kept. The lock is held.
    #[inline(always)]
    pub(crate) fn kept(&self, from: u8, until: u8) -> &[Guarded<Link>] {
        self.letters.get(usize::from(from)..usize::from(until)).unwrap_or_default()
    }

    /// The first letters that are kept here are its core's: they are in the gate, and in no list. The lock is held.
    #[inline(always)]
    pub(crate) fn begin(&self, id: ActorId, lists: &Lists, count: u8) {
        self.count.set(count);
        self.left.set(0);
        self.run.hint(0);
        self.wanted.lower();
        lists.begin_share(count);
        self.of.publish(id.raw(), None);
    }

    /// One of its letters, below the count that [`take`](Self::take) said, or holds.
    #[inline(always)]
    pub(crate) fn letter(&self, place: u8) -> NonNull<Head> {
        debug_assert!(usize::from(place) < MOST);
        // SAFETY: below the most; and those below the count were written when they were taken.
        unsafe { self.letters.get_unchecked(usize::from(place)).get().unwrap_unchecked() }
    }

    /// Its core has run so many; whether it may begin the next.
    #[inline(always)]
    pub(crate) fn goes_on(&self, run: u8) -> bool {
        self.run.publish_unless(run, Mutant::ShareRunRelaxed);
        fence(Mutant::ShareRunFence);
        !self.wanted.is_raised()
    }

    /// Its core has run so many, and runs no more of them.
    #[inline(always)]
    pub(crate) fn stop(&self, run: u8) {
        self.run.publish_unless(run | STOPPED, Mutant::ShareRunRelaxed);
    }

    /// How many of its letters have left. The lock is held.
    #[inline(always)]
    pub(crate) fn left(&self) -> u8 {
        self.left.get()
    }

    /// So many of its letters have left. The lock is held.
    #[inline(always)]
    pub(crate) fn set_left(&self, left: u8) {
        self.left.set(left);
    }

    /// All that were run have left, and its core runs no more: it is free, and what was not begun is granted again. The lock is held.
    #[inline(always)]
    pub(crate) fn give_up(&self, lists: &Lists, run: u8) {
        if self.count.get() != run {
            self.give_back(lists, run);
        }
        lists.end_share(self.count.get());
        self.of.publish(0, None);
    }

    /// Those from a place on are granted again. The lock is held.
    #[cold]
    fn give_back(&self, lists: &Lists, from: u8) {
        // The last first: each comes before those that are granted.
        for place in (from..self.count.get()).rev() {
            lists.grant_again(self.letter(place));
        }
        lists.lessen_share(self.count.get() - from);
        self.count.set(from);
    }

    /// What its core has said: how many it has run, and whether it has stopped. The lock is held.
    #[inline(always)]
    fn said(&self) -> (u8, bool) {
        let said = self.run.read();
        (said & !STOPPED, said & STOPPED != 0)
    }

    /// Its core is to stop. What it has said after this is what it will do, but for the letter that it may have begun. The lock is held.
    fn want(&self) {
        self.wanted.raise(None);
        fence(Mutant::ShareWantedFence);
    }

    /// Takes back what its core has not begun; whether there was anything. The lock is held.
    fn take_back(&self, lists: &Lists) -> bool {
        let is_rest = |run: u8| self.count.get() > run + 1;
        if !is_rest(self.said().0) {
            return false;
        }
        self.want();
        let (run, _) = self.said();
        let rest = is_rest(run);
        if rest {
            // Not the next one: it may have begun.
            self.give_back(lists, run + u8::from(!removed(Mutant::ShareBegunTaken)));
        }
        rest
    }
}

struct Shares([Share; MAX_CORES]);

impl Shares {
    const_unless_loom! {
        fn new() -> Self { Self(array_of!(Share::new())) }
    }
}

kernel_static! { static SHARES: Shares = Shares::new(); }

/// Makes the table, so that no thread of a model is the one that makes it.
#[cfg(loom)]
pub(crate) fn begin() {
    let _ = &*SHARES;
}

/// How many of so many letters a core takes at once, none if they are not worth a share.
#[inline(always)]
pub(crate) fn part_of(here: u8, letters: u16, most: u16) -> u16 {
    // Where there are many cores, smaller shares are sooner in their hands.
    let limit = if port::cores() > 2 { MOST as u16 / 2 } else { MOST as u16 };
    let part = cores::part_of(here, letters).min(most).min(limit.max(LEAST));
    if letters < ENOUGH || part < LEAST { 0 } else { part }
}

/// Whether there are enough letters that cores take shares of them.
#[inline(always)]
pub(crate) fn is_enough(letters: u16) -> bool {
    letters >= ENOUGH
}

/// The share of a core.
#[inline(always)]
pub(crate) fn of_core(core: u8) -> &'static Share {
    debug_assert!(usize::from(core) < MAX_CORES);
    // SAFETY: the number of a core, which the port's rules keep below the limit.
    unsafe { SHARES.0.get_unchecked(usize::from(core)) }
}

/// The shares that are letters of an actor, also of a core that runs no worker any more. Its lock is held.
fn shares_of(id: ActorId, lists: &Lists) -> impl Iterator<Item = &'static Share> {
    SHARES.0.iter().filter(move |share| share.is_of(id)).take(usize::from(lists.shares()))
}

/// Lets letters of an actor leave that were run as parts of shares. If somebody waits for that (`at_once`), that is all of them, and the
/// cores stop: so those that end from now on leave at once, too. Otherwise it is those of cores that have stopped, or let go. One letter leaves
/// after the other, or, where nothing waits that the monitor would have to decide about after each, all of a share at once. The lock is held.
#[inline(never)]
pub(crate) fn settle(
    id: ActorId,
    lists: &Lists,
    at_once: bool,
    leave: &mut dyn FnMut(NonNull<Head>),
    leave_all: &dyn Fn(&Share, u8),
) {
    for share in shares_of(id, lists) {
        if at_once {
            share.want();
        }
        let (run, stopped) = share.said();
        if !stopped && !share.wanted.is_raised() {
            continue;
        }
        if stopped && share.left() == 0 && lists.is_empty() {
            leave_all(share, run);
            continue;
        }
        while share.left() != run {
            let letter = share.letter(share.left());
            // First: it leaves once, also if the monitor panics.
            share.set_left(share.left() + 1);
            lists.gate.release_readers(1);
            leave(letter);
        }
        if stopped {
            share.give_up(lists, run);
        }
    }
}

/// Whether letters of an actor have ended as parts of shares, and not left. The lock is held.
pub(crate) fn has_ended(id: ActorId, lists: &Lists) -> bool {
    shares_of(id, lists).any(|share| share.said().0 != share.left())
}

/// Whether a core has let go of letters of an actor that it has not begun. The lock is held.
#[cold]
#[inline(never)]
pub(crate) fn is_let_go(id: ActorId, lists: &Lists) -> bool {
    shares_of(id, lists).any(|share| share.wanted.is_raised() && share.count.get() > share.said().0 + 1)
}

/// Whether a core has stopped with a share of an actor's letters. The lock is held.
pub(crate) fn has_stopped(id: ActorId, lists: &Lists) -> bool {
    shares_of(id, lists).any(|share| share.said().1)
}

/// Takes back what cores have taken of an actor's letters and not begun; whether there was anything. The lock is held.
#[cold]
#[inline(never)]
pub(crate) fn take_back(id: ActorId, lists: &Lists) -> bool {
    shares_of(id, lists).fold(false, |found, share| share.take_back(lists) | found)
}
