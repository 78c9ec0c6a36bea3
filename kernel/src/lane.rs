//! A lane: the letters of one core to one actor, in a bounded ring with one sender and one receiver.
//!
//! Sending needs no read-modify-write: the sender (a core with its interrupts masked) is the only writer of `sent`, the
//! receiver (whoever holds the actor's lock) the only writer of `allowed`. So a send is wait-free on any chip, and a sender
//! that is preempted blocks nobody.
//!
//! # Slots and places
//!
//! A letter keeps its slot until it has left, and letters leave in any order. `order[p % N]` therefore names the slot of the
//! `p`-th letter, and is used three times:
//!
//! ```text
//!   sender:   send p      reads order[p]                   needs  p − freed < N, which is p ≠ allowed
//!   receiver: receive p   reads order[p]                   needs  p < sent
//!   receiver: free (the q-th to be freed)  writes order[q] the slot that letter p + N will use
//! ```
//!
//! `q < received` always holds (a letter is received before it is freed), so the place `q` is read no more when it is
//! written, and the sender reads it again only after it acquired `freed > q`. What is kept is `allowed`, the sum of `freed` and N:
//! then a sender only compares, and a mailbox of zeros is full until its actor gets its number. **Invariant (places):** from `received` up to
//! `allowed` every place names a different slot, and none that of a letter that was received and not freed. Places hold the slot XOR the place, so that a lane of zeros is in order.
//!
//! Letters of an actor without a monitor leave in order: the slot of the `p`-th letter is `p % N`, for good, and there is no `order`.
//!
//! # Two parts
//!
//! [`Lane`] is what the kernel works with, whatever the actor; [`Slots`](crate::slots::Slots) is what depends on its type. So everything
//! that is not written into a slot or read from it exists once in an image, not once per actor.
#![expect(unsafe_code, reason = "counts shared between cores, each with one writer")]

mod place;

pub(crate) use place::Place;
#[cfg(all(target_os = "none", target_arch = "arm"))]
pub(crate) use place::{has_gone_over, in_one_lane};

#[cfg(any(target_os = "none", loom))]
use crate::port::MAX_CORES;
use crate::port::{self, LockWord};
#[cfg(any(target_os = "none", loom))]
use crate::sync::array_of;
use crate::sync::{Byte, Count16, Flag, Guarded, Mutant, const_unless_loom, removed};

/// What belongs to one lane besides its letters. On a chip the counts of all lanes lie together, in [`Counts`].
#[repr(C)]
pub(crate) struct LaneHead {
    sender: SenderSide,
    receiver: ReceiverSide,
}

/// What the sender writes and the receiver reads.
#[cfg_attr(not(target_os = "none"), repr(align(64)))]
struct SenderSide {
    #[cfg(not(any(target_os = "none", loom)))]
    sent: Count16,
    /// Whether the actor is in the sender's core's ready set on account of this lane. Its core's own. (On a chip the set says it.)
    #[cfg(not(target_os = "none"))]
    noted: Byte,
    /// Whether a letter found no room.
    was_full: Flag,
    /// The core that waits for room, plus one.
    wants_room: Byte,
    /// Taken by senders where several share the lane. (A chip has it on the desk.)
    #[cfg(not(target_os = "none"))]
    shared: LockWord,
}

/// What the receiver writes and the sender reads. On its own cache line where there are caches.
#[cfg_attr(not(target_os = "none"), repr(align(64)))]
struct ReceiverSide {
    #[cfg(not(any(target_os = "none", loom)))]
    allowed: Count16,
    #[cfg(not(any(target_os = "none", loom)))]
    received: Guarded<u16>,
    /// The least room that was left here, plus one; 0 before it was looked at. A sender that finds no room says so in
    /// `SenderSide::was_full` instead.
    least_room: Count16,
}

// SAFETY: the sender's fields are written by one core under its interrupt mask (or under `shared`), the receiver's by the
// holder of the actor's lock, who alone reads `received` (the module's argument, checked by loom).
unsafe impl Sync for LaneHead {}

impl LaneHead {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                sender: SenderSide {
                    #[cfg(not(any(target_os = "none", loom)))]
                    sent: Count16::new(),
                    #[cfg(not(target_os = "none"))]
                    noted: Byte::new(),
                    was_full: Flag::new(),
                    wants_room: Byte::new(),
                    #[cfg(not(target_os = "none"))]
                    shared: LockWord::new(),
                },
                receiver: ReceiverSide {
                    #[cfg(not(any(target_os = "none", loom)))]
                    allowed: Count16::new(),
                    #[cfg(not(any(target_os = "none", loom)))]
                    received: Guarded::new(0),
                    least_room: Count16::new(),
                },
            }
        }
    }
}

/// How many letters were sent, received, and may be sent, in all lanes of a mailbox: side by side, so that a look at one or two places says
/// where letters are. On a host, where a cache line would go to and fro, each lane has its own.
#[repr(C, align(4))]
pub(crate) struct Counts {
    #[cfg(any(target_os = "none", loom))]
    sent: [Count16; MAX_CORES],
    #[cfg(any(target_os = "none", loom))]
    received: [Guarded<u16>; MAX_CORES],
    #[cfg(any(target_os = "none", loom))]
    allowed: [Count16; MAX_CORES],
}

// SAFETY: as for `LaneHead`.
unsafe impl Sync for Counts {}

impl Counts {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                #[cfg(any(target_os = "none", loom))]
                sent: array_of!(Count16::new()),
                #[cfg(any(target_os = "none", loom))]
                received: array_of!(Guarded::new(0)),
                #[cfg(any(target_os = "none", loom))]
                allowed: array_of!(Count16::new()),
            }
        }
    }
}

#[cfg(all(target_os = "none", target_arch = "arm"))]
impl Counts {
    /// The only letter in both lanes of a chip; none also once in a while when there is just one. Called by
    /// the holder of the lock. Both counts of sent letters are read at once: a consistent cut.
    #[inline(always)]
    pub(crate) fn only_letter(&self) -> Option<Place> {
        let (sent, received) = self.sent_and_received();
        place::only_letter(sent, received)
    }

    /// What was sent and received through the two lanes of a chip, in the halves of words. Called by the holder of the lock.
    #[inline(always)]
    pub(crate) fn counts(&self) -> (u32, u32) {
        self.sent_and_received()
    }

    /// Whether there is a letter in any of the two lanes of a chip. Called by the holder of the lock.
    #[inline(always)]
    pub(crate) fn has_letters(&self) -> bool {
        let (sent, received) = self.sent_and_received();
        sent != received
    }

    /// What was sent through the two lanes of a chip, in the halves of a word, without synchronising.
    #[inline(always)]
    pub(crate) fn sent(&self) -> u32 {
        // SAFETY: the counts are aligned as a word, and these are the first.
        unsafe { Count16::glance_at_both(&self.sent) }
    }

    /// What was received through the two lanes of a chip, in the halves of a word. Called by the holder of the lock.
    #[inline(always)]
    pub(crate) fn received(&self) -> u32 {
        // SAFETY: both halves are the holder's own, the caller's; they are aligned as a word.
        unsafe { (&raw const self.received).cast::<u32>().read() }
    }

    /// How many letters were ever sent through both lanes of a chip, as any core sees it without synchronising.
    #[inline(always)]
    pub(crate) fn sum_of_tails(&self) -> u16 {
        const { assert!(MAX_CORES == 2) };
        // SAFETY: the counts are aligned as a word, and these are the first.
        let both = unsafe { Count16::glance_at_both(&self.sent) };
        (both as u16).wrapping_add((both >> 16) as u16)
    }

    /// The counts of both lanes, in the halves of a word. Called by the holder of the lock.
    #[inline(always)]
    fn sent_and_received(&self) -> (u32, u32) {
        const { assert!(MAX_CORES == 2) };
        // SAFETY: the counts are aligned as a word, and these are the first.
        let sent = unsafe { Count16::read_both(&self.sent) };
        (sent, self.received())
    }
}

/// A lane of a mailbox: its counts and its head.
#[derive(Clone, Copy)]
pub(crate) struct Lane<'a> {
    #[cfg_attr(not(any(target_os = "none", loom)), expect(dead_code, reason = "the counts are in the head"))]
    counts: &'a Counts,
    head: &'a LaneHead,
    #[cfg_attr(not(any(target_os = "none", loom)), expect(dead_code, reason = "the counts are in the head"))]
    index: usize,
}

#[cfg(any(target_os = "none", loom))]
impl<'a> Lane<'a> {
    #[inline(always)]
    fn sent(self) -> &'a Count16 {
        // SAFETY: the promise of `Lane::new`.
        unsafe { self.counts.sent.get_unchecked(self.index) }
    }

    #[inline(always)]
    fn received_count(self) -> &'a Guarded<u16> {
        // SAFETY: the same.
        unsafe { self.counts.received.get_unchecked(self.index) }
    }

    #[inline(always)]
    pub(crate) fn allowed(self) -> &'a Count16 {
        // SAFETY: the same.
        unsafe { self.counts.allowed.get_unchecked(self.index) }
    }
}

#[cfg(not(any(target_os = "none", loom)))]
impl<'a> Lane<'a> {
    #[inline(always)]
    fn sent(self) -> &'a Count16 {
        &self.head.sender.sent
    }

    #[inline(always)]
    fn received_count(self) -> &'a Guarded<u16> {
        &self.head.receiver.received
    }

    #[inline(always)]
    pub(crate) fn allowed(self) -> &'a Count16 {
        &self.head.receiver.allowed
    }
}

impl<'a> Lane<'a> {
    /// # Safety
    /// The head is that of the lane with this index, which is below [`MAX_CORES`](crate::port::MAX_CORES) where `Counts` has any, in the mailbox with these
    /// counts.
    #[inline(always)]
    pub(crate) unsafe fn new(counts: &'a Counts, head: &'a LaneHead, index: usize) -> Self {
        Self { counts, head, index }
    }

    // ---- the sender's side: its core, interrupts masked (and `shared` held where the lane is shared) ----

    /// How many letters were ever sent, as any core sees it without synchronising.
    #[inline(always)]
    pub(crate) fn tail(self) -> u16 {
        self.sent().glance()
    }

    /// The place for the next letter, if there is room.
    #[inline(always)]
    pub(crate) fn room(self) -> Option<u16> {
        let sent = self.sent().own();
        let mut allowed = self.allowed().read(Mutant::LaneFreedReadRelaxed);
        if removed(Mutant::LaneOneTooMany) {
            allowed = allowed.wrapping_add(1);
        }
        (sent != allowed).then_some(sent)
    }

    /// Lets letters in: the actor got its number. Nobody has sent one yet.
    pub(crate) fn open(self, capacity: u16) {
        self.allowed().publish(capacity, Mutant::NumberRelaxed);
    }

    /// Whether letters were let in; seldom false although they were.
    pub(crate) fn is_open(self) -> bool {
        self.allowed().read(Mutant::NumberReadRelaxed) != 0
    }

    /// Publishes the letter that was written into the place of [`room`](Self::room).
    #[inline(always)]
    pub(crate) fn publish(self, place: u16) {
        self.sent().publish(place.wrapping_add(1), Mutant::LaneSentRelaxed);
    }

    /// A letter found no room.
    pub(crate) fn was_full(self) {
        self.head.sender.was_full.raise(None);
    }

    /// Marks the actor as noted by the lane's core; true if it was not.
    #[cfg(not(target_os = "none"))]
    #[inline(always)]
    pub(crate) fn mark(self) -> bool {
        let unmarked = !self.is_marked();
        if unmarked {
            self.head.sender.noted.hint(1);
        }
        unmarked
    }

    #[cfg(not(target_os = "none"))]
    #[inline(always)]
    pub(crate) fn is_marked(self) -> bool {
        self.head.sender.noted.glance() != 0
    }

    /// The actor is out of the core's ready set.
    #[cfg(not(target_os = "none"))]
    #[inline(always)]
    pub(crate) fn unmark(self) {
        self.head.sender.noted.hint(0);
    }

    /// On a chip a ready set keeps no marks: it says itself who is in.
    #[cfg(target_os = "none")]
    #[inline(always)]
    pub(crate) fn mark(self) -> bool {
        true
    }

    #[cfg(target_os = "none")]
    #[inline(always)]
    pub(crate) fn is_marked(self) -> bool {
        false
    }

    #[cfg(target_os = "none")]
    #[inline(always)]
    pub(crate) fn unmark(self) {}

    /// Says that this core (or, where the lane is shared, some core) waits for room. The receiver takes it back (0) before
    /// it tells that core.
    pub(crate) fn want_room(self, core_plus_one: u8) {
        self.head.sender.wants_room.publish(core_plus_one);
    }

    pub(crate) fn who_wants_room(self) -> u8 {
        self.head.sender.wants_room.read()
    }

    /// What senders take that share the lane.
    #[cfg(not(target_os = "none"))]
    pub(crate) fn word_of_senders(self) -> &'a LockWord {
        &self.head.sender.shared
    }

    // ---- the receiver's side: the holder of the actor's lock ----

    /// How many letters were ever sent, with their contents.
    #[inline(always)]
    pub(crate) fn published(self) -> u16 {
        self.sent().read(Mutant::LaneSentReadRelaxed)
    }

    #[inline(always)]
    pub(crate) fn received(self) -> u16 {
        self.received_count().get()
    }

    #[inline(always)]
    pub(crate) fn has_letter(self) -> bool {
        self.published() != self.received()
    }

    /// How many letters wait to be received.
    #[inline(always)]
    pub(crate) fn waiting(self) -> u16 {
        self.published().wrapping_sub(self.received())
    }

    /// Keeps the high-water mark just before a slot is freed: only the receiver frees slots, so then a lane is at its fullest.
    #[inline(always)]
    pub(crate) fn note_depth_before_freeing(self) {
        self.note_depth(self.tail());
    }

    /// The same at a moment when so many letters were ever sent. (One letter alone need not be noted: see
    /// [`high_water`](Self::high_water).)
    #[inline(always)]
    pub(crate) fn note_depth(self, published: u16) {
        let room = self.allowed().own().wrapping_sub(published);
        if room < self.head.receiver.least_room.own().wrapping_sub(1) {
            self.head.receiver.least_room.hint(room + 1);
        }
    }

    /// Receives the letter at `place`, the oldest not received yet; its slot stays taken until [`Places::free`](crate::slots::Places::free).
    #[inline(always)]
    pub(crate) fn receive(self, place: u16) {
        self.receive_until(place.wrapping_add(1));
    }

    /// Receives all letters before `place`, which are published.
    #[inline(always)]
    pub(crate) fn receive_until(self, place: u16) {
        self.received_count().set(place);
    }

    /// Receives and frees at once the letter at `place`, the oldest not received yet, while all that were received before it are freed: so its
    /// place is the next that is freed, and names its slot already.
    #[inline(always)]
    pub(crate) fn receive_and_free(self, place: u16, capacity: u16) {
        let received = place.wrapping_add(1);
        self.received_count().set(received);
        self.allowed().publish(received.wrapping_add(capacity), Mutant::LaneFreedRelaxed);
    }

    /// Frees the slot of a letter that was received last, while no other one is received and not freed: its place is the next that is
    /// freed, and names its slot already.
    #[inline(always)]
    pub(crate) fn free_next(self) {
        self.note_depth_before_freeing();
        self.allowed().publish(self.allowed().own().wrapping_add(1), Mutant::LaneFreedRelaxed);
    }

    /// Puts the letter back that was received last and is not freed.
    pub(crate) fn put_back(self) {
        self.receive_until(self.received().wrapping_sub(1));
    }

    /// Frees the slots of so many letters that were received at `place` and after it, if they are the next to be freed; whether they are. Their
    /// places name their slots already: only what is freed is written there.
    ///
    /// `place` still names the slot of its letter ([`Places::names`](crate::slots::Places::names)). Otherwise it could be one of 65536 letters ago,
    /// of a letter that all those have overtaken.
    #[inline(always)]
    pub(crate) fn free_if_next(self, place: u16, count: u16, capacity: u16) -> bool {
        let allowed = self.allowed().own();
        let is_next = allowed == place.wrapping_add(capacity);
        if is_next {
            self.note_depth_before_freeing();
            self.allowed().publish(allowed.wrapping_add(count), Mutant::LaneFreedRelaxed);
        }
        is_next
    }

    /// Letters sent and not freed yet, in a lane of this capacity that is open.
    pub(crate) fn occupied(self, capacity: usize) -> usize {
        // What may be sent first: it is never more than what was sent later and the capacity.
        let allowed = self.allowed().glance();
        usize::from(self.tail().wrapping_add(capacity as u16).wrapping_sub(allowed)).min(capacity)
    }

    /// The most letters that were here at once, in a lane of this capacity.
    pub(crate) fn high_water(self, capacity: usize) -> usize {
        if self.head.sender.was_full.is_raised() {
            return capacity;
        }
        // Once in 65536 letters the sender's count is 0 again: then the mark is that of the others.
        let least_room = self.head.receiver.least_room.glance();
        let noted = if least_room == 0 { 0 } else { capacity.saturating_sub(usize::from(least_room - 1)) };
        noted.max(usize::from(self.tail() != 0)).max(self.occupied(capacity))
    }
}

/// A shared lane, held by one sender.
pub(crate) struct Shared<'a>(&'a LockWord);

impl<'a> Shared<'a> {
    /// Holds the lane for one of several senders. Interrupts are masked by the caller.
    pub(crate) fn take(word: &'a LockWord) -> Self {
        while !port::test_and_set(word) {
            port::pause();
        }
        Self(word)
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        self.0.clear();
    }
}
