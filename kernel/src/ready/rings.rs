//! Ready sets and invitations as rings of actor numbers, for programs with more actors than a word has bits.
//!
//! Each actor is marked while it is in a set (in the lane of that core, or in `member` where lanes are shared), so a ring is first
//! in, first out, holds each actor once, and is never too small. Pinned and unpinned actors have a ring each, and are taken in turn.

use core::num::NonZeroU16;

use super::{Next, Unseen};
use crate::cores::{MAX_ACTORS, OTHERS};
use crate::sync::{Count16, Flag, Guarded, Half, Mutant, array_of, const_unless_loom};

/// An actor's number in the kernel's table, plus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActorId(NonZeroU16);

impl ActorId {
    /// That of the actor which is the `number`-th to get one, counted from 0: fewer than [`MAX_ACTORS`] have one already.
    pub(crate) fn nth(number: u16) -> Self {
        Self(NonZeroU16::MIN.saturating_add(number))
    }

    /// How many actors had a number before this one.
    #[inline(always)]
    pub(crate) fn number(self) -> u16 {
        self.0.get() - 1
    }

    /// As it is kept in words that are 0 where there is none.
    #[inline(always)]
    pub(crate) fn raw(self) -> u32 {
        u32::from(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn from_raw(raw: u32) -> Option<Self> {
        NonZeroU16::new(raw as u16).map(Self)
    }

    /// Its place in a table of [`MAX_ACTORS`].
    #[inline(always)]
    pub(crate) fn place(self) -> usize {
        usize::from(self.number()) % MAX_ACTORS
    }

    #[inline(always)]
    fn plus_one(self) -> u16 {
        self.0.get()
    }

    #[inline(always)]
    fn from_plus_one(plus_one: u16) -> Option<Self> {
        NonZeroU16::new(plus_one).map(Self)
    }
}

/// An actor that gets its number now is pinned to a core: it goes into another ring than the others.
pub(crate) fn pin(_: ActorId) {}

#[cfg(loom)]
pub(crate) fn begin() {}

/// A ring of actor numbers that its core fills and empties, and others may read.
pub(crate) struct Ring {
    head: Count16,
    tail: Count16,
    entries: [Half; MAX_ACTORS],
}

impl Ring {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { head: Count16::new(), tail: Count16::new(), entries: array_of!(Half::new()) }
        }
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.head.own() == self.tail.own()
    }

    /// As any core sees it.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) fn seems_empty(&self) -> bool {
        self.head.glance() == self.tail.glance()
    }

    #[inline(always)]
    pub(crate) fn push(&self, id: ActorId) {
        let tail = self.tail.own();
        self.entries[usize::from(tail) % MAX_ACTORS].publish(id.plus_one(), None);
        self.tail.publish(tail.wrapping_add(1), Mutant::NotedRelaxed);
    }

    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<ActorId> {
        let head = self.head.own();
        if head == self.tail.own() {
            return None;
        }
        let id = ActorId::from_plus_one(self.entries[usize::from(head) % MAX_ACTORS].read(None));
        self.head.hint(head.wrapping_add(1));
        id
    }
}

/// Whether an actor is marked as one of a core's ready set.
#[derive(Clone, Copy)]
pub(crate) struct Mark(bool);

impl Mark {
    pub(crate) const SET: Self = Self(true);
    pub(crate) const NONE: Self = Self(false);

    #[inline(always)]
    pub(crate) fn is_set(self) -> bool {
        self.0
    }
}

/// The ready set of a core.
pub(crate) struct Ready {
    /// How many actors are in the two rings.
    noted: Count16,
    unpinned: Ring,
    pinned: Ring,
    /// Marks of actors whose lanes are shared.
    member: [Guarded<u32>; MAX_ACTORS.div_ceil(32)],
    /// How often this core offered what is in its set.
    offered: Count16,
    /// The others' tails when this core last looked.
    looked: [Guarded<u16>; OTHERS],
    /// The others' `offered` then.
    heard: [Guarded<u16>; OTHERS],
    /// Whether pinned actors are next.
    turn: Guarded<bool>,
}

impl Ready {
    /// Whoever puts an actor in has marked it.
    pub(crate) const KEEPS_MARKS: bool = true;

    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                noted: Count16::new(),
                unpinned: Ring::new(),
                pinned: Ring::new(),
                member: array_of!(Guarded::new(0)),
                offered: Count16::new(),
                looked: array_of!(Guarded::new(0)),
                heard: array_of!(Guarded::new(0)),
                turn: Guarded::new(false),
            }
        }
    }

    /// Whether the actor was not in the set and is now: for actors without a lane of this core's own.
    pub(crate) fn join(&self, id: ActorId) -> bool {
        let (word, bit) = membership(&self.member, id);
        let members = word.get();
        if members >> bit & 1 != 0 {
            return false;
        }
        word.set(members | 1 << bit);
        true
    }

    pub(crate) fn part(&self, id: ActorId) {
        let (word, bit) = membership(&self.member, id);
        word.set(word.get() & !(1 << bit));
    }

    /// Puts in an actor that was just marked, so it was not in: true. Interrupts are masked.
    #[inline(always)]
    pub(crate) fn note(&self, id: ActorId, pinned: bool) -> bool {
        self.noted.hint(self.noted.own() + 1);
        if pinned {
            self.pinned.push(id)
        } else {
            self.unpinned.push(id)
        }
        true
    }

    /// Takes the next one out, pinned and unpinned ones in turn. Interrupts are masked.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<Next> {
        let noted = self.noted.own();
        if noted == 0 {
            return None;
        }
        self.noted.hint(noted - 1);
        let id = if self.pinned.is_empty() { self.unpinned.pop() } else { self.next_in_turn() };
        Some(Next { id: id?, is_last: noted == 1 })
    }

    #[cold]
    fn next_in_turn(&self) -> Option<ActorId> {
        let pinned_first = self.turn.get() || self.unpinned.is_empty();
        self.turn.set(!pinned_first);
        if pinned_first { self.pinned.pop() } else { self.unpinned.pop() }
    }

    /// Whether an actor is known to be in. (A mark says it, where it is noted.)
    #[inline(always)]
    pub(crate) fn has(&self, _: ActorId) -> bool {
        false
    }

    /// An actor comes out in its turn only.
    #[inline(always)]
    pub(crate) fn take_out(&self, _: ActorId) -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.noted.own() == 0
    }

    /// Whether an actor but this one is in; `marked` says whether this one is.
    #[inline(always)]
    pub(crate) fn has_others(&self, _than: impl FnOnce() -> ActorId, marked: impl FnOnce() -> bool) -> bool {
        self.noted.own() != u16::from(marked())
    }

    /// Whether an actor is in that other cores could visit.
    #[inline(always)]
    pub(crate) fn has_surplus(&self) -> bool {
        !self.unpinned.is_empty()
    }

    /// Others are to look again: they see it by a count.
    #[inline(always)]
    pub(crate) fn offer<'a>(&self, _others: impl Iterator<Item = &'a Flag>) {
        let _masked = crate::port::mask();
        // Either this or the tail has to be released, so it is one mutant.
        self.offered.publish(self.offered.own().wrapping_add(1), Mutant::NotedRelaxed);
    }

    /// Whoever offers something again says so by a count.
    pub(crate) fn look_again(&self) {}

    /// Forgets what this core has heard of others: it has seen something there, and left it for later.
    pub(crate) fn look_later(&self) {
        self.heard.iter().for_each(|heard| heard.set(heard.get().wrapping_sub(1)));
    }

    /// Whether core `other` has something that this core has not looked at.
    pub(crate) fn missed(&self, other: usize, theirs: &Self) -> bool {
        theirs.unpinned.tail.read(Mutant::NotedReadRelaxed) != self.looked[other].get()
            || theirs.offered.read(Mutant::NotedReadRelaxed) != self.heard[other].get()
    }

    /// Forgets whose turn it is, and whatever came and went in the set of core `other`.
    #[cfg(all(feature = "trace", not(loom)))]
    pub(crate) fn begin_anew(&self, other: usize, theirs: &Self) {
        self.turn.set(false);
        if theirs.unpinned.seems_empty() {
            self.looked[other].set(theirs.unpinned.tail.glance());
            self.heard[other].set(theirs.offered.glance());
        }
    }

    /// What core `other` has that this core has not looked at: all if it was offered again, otherwise what is new.
    pub(crate) fn look<'a>(&self, other: usize, theirs: &'a Self) -> Places<'a> {
        let ring = &theirs.unpinned;
        // The head first: then it is not past the tail.
        let head = ring.head.glance();
        let tail = ring.tail.read(Mutant::NotedReadRelaxed);
        let (looked, heard) = (&self.looked[other], &self.heard[other]);
        let offered = theirs.offered.read(Mutant::NotedReadRelaxed);
        let new = if offered == heard.get() { tail.wrapping_sub(looked.get()) } else { u16::MAX };
        let unseen = tail.wrapping_sub(head).min(new);
        looked.set(tail);
        heard.set(offered);
        Places { ring, place: tail.wrapping_sub(unseen.min(MAX_ACTORS as u16)), tail }
    }
}

/// Places of another core's ring.
pub(crate) struct Places<'a> {
    ring: &'a Ring,
    place: u16,
    tail: u16,
}

impl Iterator for Places<'_> {
    type Item = ActorId;

    fn next(&mut self) -> Option<ActorId> {
        if self.place == self.tail {
            return None;
        }
        let entry = self.ring.entries[usize::from(self.place) % MAX_ACTORS].read(None);
        self.place = self.place.wrapping_add(1);
        ActorId::from_plus_one(entry)
    }
}

impl Unseen for Places<'_> {
    fn has_more(&self) -> bool {
        self.place != self.tail
    }
}

/// The word and bit of an actor in a set.
#[inline(always)]
pub(crate) fn membership(members: &[Guarded<u32>; MAX_ACTORS.div_ceil(32)], id: ActorId) -> (&Guarded<u32>, u32) {
    // An index is below the limit; the remainder says so to the compiler.
    (&members[id.place() / 32], (id.place() % 32) as u32)
}

const INVITATIONS: usize = if cfg!(loom) { 2 } else { 8 };

/// Actors that one core asks another to visit: those pinned there. One writer, one reader.
pub(crate) struct Invitations {
    sent: Count16,
    taken: Count16,
    entries: [Half; INVITATIONS],
}

impl Invitations {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { sent: Count16::new(), taken: Count16::new(), entries: array_of!(Half::new()) }
        }
    }

    /// Invites; false if there are too many invitations. The letter was published before.
    pub(crate) fn push(&self, id: ActorId) -> bool {
        let sent = self.sent.own();
        if usize::from(sent.wrapping_sub(self.taken.read(Mutant::InviteTakenReadRelaxed))) == INVITATIONS {
            return false;
        }
        self.entries[usize::from(sent) % INVITATIONS].publish(id.plus_one(), None);
        self.sent.publish(sent.wrapping_add(1), Mutant::InviteRelaxed);
        true
    }

    /// Has those invited put into the set of the invited core, which calls this: all of them.
    pub(crate) fn take(&self, _: &Ready, mut note: impl FnMut(ActorId), _next: impl FnOnce(ActorId)) {
        loop {
            let taken = self.taken.own();
            if taken == self.sent.read(Mutant::InviteReadRelaxed) {
                return;
            }
            let id = ActorId::from_plus_one(self.entries[usize::from(taken) % INVITATIONS].read(None));
            self.taken.publish(taken.wrapping_add(1), Mutant::InviteTakenRelaxed);
            id.into_iter().for_each(&mut note);
        }
    }
}
