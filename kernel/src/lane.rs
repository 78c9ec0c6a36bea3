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
//! then a sender only compares, and a mailbox of zeros is full until its actor gets its number. **Invariant (places):** between `freed` and
//! `sent` every place names a different slot. Places hold the slot XOR the place, so that a lane of zeros is in order.
//!
//! Letters of an actor without a monitor leave in order: the slot of the `p`-th letter is `p % N`, for good, and there is no `order`.
//!
//! # Two parts
//!
//! [`LaneHead`] is what the kernel works with, whatever the actor; [`Slots`] is what depends on its type. So everything that
//! is not written into a slot or read from it exists once in an image, not once per actor.
#![expect(unsafe_code, reason = "moves messages in and out of slots")]

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::body::SMALL;
use crate::inbox::ListsOf;
use crate::letter::{Access, Head, HeadOf, Label, Link, Top};
use crate::methods::Methods;
use crate::objects::{Claims, Objects, PerLetter};
use crate::port::{self, LockWord, MAX_CORES};
use crate::promise::{Fresh, ReplySlot, Ticket};
use crate::sync::{Byte, Count16, Count32, Flag, Guarded, Mutant, array_of, const_unless_loom, removed};

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
        only_letter(sent, received)
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

    /// What was received and sent through the two lanes of a chip. Called by the holder of the lock. Both counts of sent letters are read at
    /// once: a consistent cut.
    #[inline(always)]
    pub(crate) fn span(&self) -> Span {
        let (sent, received) = self.sent_and_received();
        let lanes = |word: u32| [word as u16, (word >> 16) as u16];
        Span { from: lanes(received), until: lanes(sent) }
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

/// The letters in all lanes of a mailbox at one moment: those of each lane from one place up to another.
pub(crate) struct Span {
    pub(crate) from: [u16; MAX_CORES],
    pub(crate) until: [u16; MAX_CORES],
}

impl Span {
    /// How many there are of a lane.
    #[inline(always)]
    pub(crate) fn letters(&self, lane: usize) -> u16 {
        self.until[lane].wrapping_sub(self.from[lane])
    }
}

/// The only letter, from what was sent and received through two lanes, each in half a word. None also for a letter
/// that is the 65536th of the first lane.
#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
#[inline(always)]
fn only_letter(sent: u32, received: u32) -> Option<PlaceInHalves> {
    let waiting = sent.wrapping_sub(received);
    if waiting != 1 {
        // Sooner than from the other core a letter comes from this one, most often the first.
        core::hint::cold_path();
        if waiting != 1 << 16 {
            return None;
        }
    } else if sent as u16 == 0 {
        core::hint::cold_path();
        // The lower half went over, and has borrowed from the upper one, which may have a letter then.
        return None;
    }
    Some(PlaceInHalves { lane: waiting, received })
}

/// The oldest letter, if one of the two lanes has letters and the other one has none.
#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
#[inline(always)]
pub(crate) fn in_one_lane(sent: u32, received: u32) -> Option<PlaceInHalves> {
    let differ = sent ^ received;
    let mut lane = 1;
    if differ >> 16 != 0 {
        core::hint::cold_path();
        if differ as u16 != 0 {
            return None;
        }
        lane = 1 << 16;
    } else if differ == 0 {
        core::hint::cold_path();
        return None;
    }
    Some(PlaceInHalves { lane, received })
}

/// Whether the letters between two counts of two lanes, each in half a word, include one whose place is a multiple of a power of two.
#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
#[inline(always)]
pub(crate) fn has_gone_over(sent: u32, received: u32, power: u16) -> bool {
    let parts = !(u32::from(power - 1) * 0x1_0001);
    (sent ^ received) & parts != 0
}

/// Where a letter is: in which lane, and at which place of it.
#[cfg(not(all(target_os = "none", target_arch = "arm")))]
#[derive(Clone, Copy)]
pub(crate) struct Place {
    lane: usize,
    place: u16,
}

#[cfg(not(all(target_os = "none", target_arch = "arm")))]
impl Place {
    #[inline(always)]
    pub(crate) fn new(lane: usize, place: u16) -> Self {
        Self { lane, place }
    }

    /// The place after it.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self { place: self.place.wrapping_add(1), ..self }
    }

    #[inline(always)]
    pub(crate) fn lane(self) -> usize {
        self.lane
    }

    #[inline(always)]
    pub(crate) fn place(self) -> u16 {
        self.place
    }
}

#[cfg(all(target_os = "none", target_arch = "arm"))]
pub(crate) type Place = PlaceInHalves;

/// The same on a chip, as it is found without a branch: what it means is worked out where it is used.
#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlaceInHalves {
    /// 1 in one of the halves: that of the lane.
    lane: u32,
    /// In the half of the lane, the place; anything in the other one.
    received: u32,
}

#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
impl PlaceInHalves {
    #[inline(always)]
    pub(crate) fn new(lane: usize, place: u16) -> Self {
        let shift = Self::shift(lane);
        Self { lane: 1 << shift, received: u32::from(place) << shift }
    }

    /// The place after it.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self { received: self.received.wrapping_add(self.lane), ..self }
    }

    #[inline(always)]
    pub(crate) fn lane(self) -> usize {
        let lane = self.lane >> 16;
        // SAFETY: the 1 is in one of the halves.
        unsafe { core::hint::assert_unchecked(lane < 2) };
        lane as usize
    }

    #[inline(always)]
    pub(crate) fn place(self) -> u16 {
        (self.received >> Self::shift(self.lane())) as u16
    }

    /// The oldest letter of the same lane, when so many were received.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn after(self, received: u32) -> Self {
        Self { received, ..self }
    }

    /// How many letters of its lane were sent from it on.
    #[inline(always)]
    pub(crate) fn waiting(self, sent: u32) -> u16 {
        (sent.wrapping_sub(self.received) >> Self::shift(self.lane())) as u16
    }

    #[inline(always)]
    fn shift(lane: usize) -> u32 {
        (lane as u32 & 1) * 16
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
    fn allowed(self) -> &'a Count16 {
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
    fn allowed(self) -> &'a Count16 {
        &self.head.receiver.allowed
    }
}

impl<'a> Lane<'a> {
    /// # Safety
    /// The head is that of the lane with this index, which is below [`MAX_CORES`] where `Counts` has any, in the mailbox with these
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

    /// Keeps the high-water mark, at a moment when `published` letters were ever sent. Only the receiver frees slots, so a
    /// lane is at its fullest just before it does. (One letter alone need not be noted: see [`high_water`](Self::high_water).)
    #[inline(always)]
    pub(crate) fn note_depth(self, published: u16) {
        let room = self.allowed().own().wrapping_sub(published);
        if room < self.head.receiver.least_room.own().wrapping_sub(1) {
            self.head.receiver.least_room.hint(room + 1);
        }
    }

    /// Receives the letter at `place`, the oldest not received yet; its slot stays taken until [`Places::free`].
    #[inline(always)]
    pub(crate) fn receive(self, place: u16) {
        self.receive_until(place.wrapping_add(1));
    }

    /// Receives all letters before `place`, which are published.
    #[inline(always)]
    pub(crate) fn receive_until(self, place: u16) {
        self.received_count().set(place);
    }

    /// Receives and frees at once the letter at `place`, the oldest not received yet, for an actor whose letters leave in
    /// order: its places never change.
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
        self.allowed().publish(self.allowed().own().wrapping_add(1), Mutant::LaneFreedRelaxed);
    }

    /// Frees the slots of so many letters that were received at `place` and after it, if they are the next to be freed; whether they are. Their
    /// places name their slots already: only what is freed is written there.
    #[inline(always)]
    pub(crate) fn free_if_next(self, place: u16, count: u16, capacity: u16) -> bool {
        let allowed = self.allowed().own();
        let is_next = allowed == place.wrapping_add(capacity);
        if is_next {
            self.allowed().publish(allowed.wrapping_add(count), Mutant::LaneFreedRelaxed);
        }
        is_next
    }

    /// Whether letters have come after the one that is about to be freed, while no other one is received and not freed.
    #[inline(always)]
    pub(crate) fn has_more(self, capacity: u16) -> bool {
        self.allowed().own().wrapping_sub(self.tail()) != capacity - 1
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

/// The head of a slot without a letter, natively in a constant.
macro_rules! new_head {
    () => {{
        #[cfg(not(loom))]
        let head = HeadOf::NEW;
        #[cfg(loom)]
        let head = HeadOf::new();
        head
    }};
}

/// Places that name their own slots, natively in a constant.
macro_rules! new_order {
    () => {{
        #[cfg(not(loom))]
        let order = OrderOf::IN_ORDER;
        #[cfg(loom)]
        let order = OrderOf::in_order();
        order
    }};
}

/// One letter's slot.
#[repr(C)]
pub(crate) struct Slot<A: Methods, H: HeadOf> {
    head: H,
    claims: <A::Objects as Objects>::PerLetter,
    message: UnsafeCell<MaybeUninit<A::Message>>,
}

impl<A: Methods, H: HeadOf> Slot<A, H> {
    pub(crate) const MESSAGE_OFFSET: usize = core::mem::offset_of!(Self, message);
    pub(crate) const CLAIMS_OFFSET: Option<usize> =
        if <A::Objects as Objects>::PerLetter::KEPT { Some(core::mem::offset_of!(Self, claims)) } else { None };

    const_unless_loom! {
        fn new() -> Self {
            Self { head: new_head!(), claims: PerLetter::EMPTY, message: UnsafeCell::new(MaybeUninit::uninit()) }
        }
    }

    /// Moves the message out.
    ///
    /// # Safety
    /// The slot holds a message that is moved out once, by the worker that was granted the letter.
    #[inline(always)]
    pub(crate) unsafe fn take(this: NonNull<Head>) -> A::Message {
        // SAFETY: `this` is the head of a `Slot<A>` with its provenance, and the caller's promise holds.
        unsafe { Top::of(this) }.content.with_mut(|_| ());
        // SAFETY: the same.
        unsafe { this.byte_add(Self::MESSAGE_OFFSET).cast::<A::Message>().read() }
    }

    /// Where the message lies that is moved out.
    ///
    /// # Safety
    /// As [`take`](Self::take).
    #[inline(always)]
    pub(crate) unsafe fn take_at(this: NonNull<Head>) -> *const A::Message {
        // SAFETY: `this` is the head of a `Slot<A>` with its provenance, and the caller's promise holds.
        unsafe { Top::of(this) }.content.with_mut(|_| ());
        // SAFETY: the same.
        unsafe { this.byte_add(Self::MESSAGE_OFFSET).cast::<A::Message>().as_ptr() }
    }

    /// The message where it lies.
    ///
    /// # Safety
    /// `this` is the head of a `Slot<A>` that holds a letter, which nobody else touches during `'a`.
    pub(crate) unsafe fn message<'a>(this: NonNull<Head>) -> &'a A::Message {
        // SAFETY: the caller's promise.
        unsafe { this.byte_add(Self::MESSAGE_OFFSET).cast::<A::Message>().as_ref() }
    }

    /// The claims of the letter in this slot.
    ///
    /// # Safety
    /// `this` is the head of a `Slot<A>` that holds a letter.
    #[inline(always)]
    pub(crate) unsafe fn claims(this: NonNull<Head>) -> Claims {
        // SAFETY: the caller's promise.
        unsafe { (*this.cast::<Self>().as_ptr()).claims.kept() }
    }
}

/// The letters of one core to one actor, and the promises of their answers. The places come first, so that [`Layout`] need not
/// say where they are.
#[repr(C)]
pub(crate) struct Slots<A: Methods, K: ListsOf, const N: usize, const P: usize> {
    order: K::Order<N>,
    letters: [Slot<A, K::Head>; N],
    replies: [ReplySlot<A::Replies>; P],
    /// The promise slot after the one issued last beside the first: asks are answered in about their order, so it is the one
    /// free longest.
    next_reply: Guarded<u16>,
    /// The place after the last letter that was no reader. Written by the lane's sender ([`is_writer_ahead`]).
    after_writer: Count16,
    /// Letters dropped by the overflow policy. Written by the lane's sender.
    dropped: Count32,
}

// SAFETY: a slot belongs to the sender until `publish` and to the receiver until it is freed, and `order` likewise (the
// module's argument, checked by loom). Messages move between cores, which `Methods::Message: Send` allows; replies are `Send`
// because `Reply` and `Promise` demand it to cross cores.
unsafe impl<A: Methods, K: ListsOf, const N: usize, const P: usize> Sync for Slots<A, K, N, P> {}

impl<A: Methods, K: ListsOf, const N: usize, const P: usize> Slots<A, K, N, P> {
    pub(crate) const LAYOUT: Layout = Layout {
        lane_size: size_of::<Self>(),
        letters: core::mem::offset_of!(Self, letters),
        letter_size: size_of::<Slot<A, K::Head>>(),
        mask: Self::MASK,
        after_writer: core::mem::offset_of!(Self, after_writer),
    };

    const MASK: u16 = {
        assert!(
            N.is_power_of_two() && N <= 4096,
            "the capacity of an actor's mailbox must be a power of two, from 1 to 4096"
        );
        N as u16 - 1
    };

    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                order: new_order!(),
                letters: array_of!(Slot::new()),
                replies: array_of!(ReplySlot::new()),
                next_reply: Guarded::new(0),
                after_writer: Count16::new(),
                dropped: Count32::new(),
            }
        }
    }

    /// Writes a letter into the place of [`Lane::room`]; it is published after this.
    ///
    /// `in_order` is for an actor whose letters leave in order: its places never change.
    ///
    /// # Safety
    /// The message behind the pointer is moved out.
    #[inline(always)]
    pub(crate) unsafe fn write(
        &self,
        place: u16,
        envelope: Envelope,
        in_order: bool,
        message: *mut A::Message,
    ) -> NonNull<Head> {
        let Envelope { stamp, method, access, claims } = envelope;
        let index = if in_order { place & Self::MASK } else { self.slot_at(place) };
        let slot = &self.letters[usize::from(index)];
        slot.head.content.with_mut(|_| ());
        let write_envelope = || {
            slot.claims.keep(claims);
            slot.head.stamp.set(stamp);
            if !in_order || cfg!(feature = "trace") {
                slot.head.address(method, access);
            }
        };
        // What is in registers by now is in the way of a large message; a small one is in the way itself.
        let is_large = const { size_of::<A::Message>() > SMALL };
        if is_large {
            write_envelope();
        }
        // SAFETY: by the places invariant the slot is free, so it is the sender's until it is published; the caller gives
        // the message away.
        unsafe { slot.message.get().cast::<A::Message>().copy_from_nonoverlapping(message, 1) };
        if !is_large {
            write_envelope();
        }
        NonNull::from(slot).cast()
    }

    /// The letter that is about to be published at `place` is no reader. Called by the lane's sender.
    #[inline(always)]
    pub(crate) fn note_writer(&self, place: u16) {
        self.after_writer.hint(place.wrapping_add(1));
    }

    /// Counts a letter that the overflow policy dropped. Called by the lane's sender.
    pub(crate) fn count_dropped(&self) {
        self.dropped.publish(self.dropped.own().wrapping_add(1), None);
    }

    pub(crate) fn dropped(&self) -> u32 {
        self.dropped.read(None)
    }

    /// The first promise slot, if its answer was taken: whoever asks and waits, one question at a time, needs no other. Called by
    /// the lane's sender.
    #[inline(always)]
    pub(crate) fn issue_first(&'static self, home: u8) -> Option<Ticket> {
        self.replies.first()?.issue(home)
    }

    /// A promise slot that is free. Called by the lane's sender.
    #[inline(always)]
    pub(crate) fn issue(&'static self, home: u8) -> Option<Fresh> {
        let next = usize::from(self.next_reply.get());
        if let Some(ticket) = self.replies.get(next)?.issue(home) {
            self.issued(next);
            return Some(ticket.into());
        }
        // It is still in use, or nobody took its answer: any will do.
        let (index, fresh) =
            self.replies.iter().enumerate().find_map(|(index, slot)| Some((index, slot.issue_again(home)?)))?;
        self.issued(index);
        Some(fresh)
    }

    #[inline(always)]
    fn issued(&self, index: usize) {
        self.next_reply.set(if index + 1 == P { 0 } else { index as u16 + 1 });
    }

    /// Says that core `here` (some core, if there is none) waits for a promise slot. The caller fences, and tries again.
    pub(crate) fn want_promise(&self, here: Option<u8>) {
        self.replies.iter().for_each(|slot| slot.want(here));
    }

    /// The letter at a place that is published and not received yet.
    #[inline(always)]
    pub(crate) fn peek(&self, place: u16) -> NonNull<Head> {
        self.places().peek(place)
    }

    /// Keeps the letters from a place on, which are published and not received, as many as there is room for.
    #[inline(always)]
    pub(crate) fn keep(&self, mut place: u16, room: &[Guarded<Link>]) {
        for kept in room {
            kept.set(Some(self.peek(place)));
            place = place.wrapping_add(1);
        }
    }

    /// The same for an actor whose letters leave in order.
    #[inline(always)]
    pub(crate) fn peek_in_order(&self, place: u16) -> NonNull<Head> {
        NonNull::from(&self.letters[usize::from(place & Self::MASK)]).cast()
    }

    /// Gives a slot back to the sender of the lane. Called by the holder of the actor's lock.
    #[inline(always)]
    pub(crate) fn free(&self, lane: Lane<'_>, slot: u16) {
        self.places().free(lane, slot);
    }

    /// The same slots for whoever does not know their type.
    #[inline(always)]
    fn places(&self) -> Places {
        // SAFETY: these are the slots of one lane with this layout, the first counted from themselves; the reference has the
        // provenance of all of them, and what `Places` writes are cells.
        unsafe { Self::LAYOUT.lane(NonNull::from(self).cast(), 0) }
    }

    #[inline(always)]
    fn slot_at(&self, place: u16) -> u16 {
        let place = place & Self::MASK;
        // The XOR of two numbers below a power of two stays below it; the mask says so to the compiler.
        (self.order.at(place) ^ place) & Self::MASK
    }
}

/// Which slots the places of a lane name.
#[doc(hidden)]
pub trait OrderOf {
    /// Each place its own.
    #[cfg(not(loom))]
    const IN_ORDER: Self;
    /// The same: loom's cells cannot be made in a constant.
    #[cfg(loom)]
    fn in_order() -> Self;
    /// What is kept at a place.
    fn at(&self, place: u16) -> u16;
}

impl OrderOf for () {
    #[cfg(not(loom))]
    const IN_ORDER: Self = ();
    #[cfg(loom)]
    fn in_order() -> Self {}
    #[inline(always)]
    fn at(&self, _: u16) -> u16 {
        0
    }
}

/// For each place its slot XOR the place.
#[doc(hidden)]
#[repr(transparent)]
pub struct Order<const N: usize>([Guarded<u16>; N]);

impl<const N: usize> OrderOf for Order<N> {
    #[cfg(not(loom))]
    const IN_ORDER: Self = Self([const { Guarded::new(0) }; N]);
    #[cfg(loom)]
    fn in_order() -> Self {
        Self(core::array::from_fn(|_| Guarded::new(0)))
    }
    #[inline(always)]
    fn at(&self, place: u16) -> u16 {
        self.0[usize::from(place)].get()
    }
}

/// Where the letters of a mailbox lie, for whoever does not know its type: then taking letters out of their lanes and freeing
/// their slots exists once in an image, and costs no call of the actor.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    /// From one lane's slots to the next lane's.
    lane_size: usize,
    /// From the start of a lane's slots to its first letter.
    letters: usize,
    letter_size: usize,
    mask: u16,
    /// From the start of a lane's slots to where its sender says which was its last writer.
    after_writer: usize,
}

impl Layout {
    /// That of no lane at all, for letters that are in none.
    pub(crate) const NONE: Self = Self { lane_size: 0, letters: 0, letter_size: 0, mask: 0, after_writer: 0 };

    /// How many letters a lane has room for.
    #[inline(always)]
    pub(crate) fn capacity(&self) -> u16 {
        self.mask + 1
    }

    /// The slots of one lane.
    ///
    /// # Safety
    /// `lanes` points to the slots of all lanes of a mailbox with this layout, with the provenance of all of them, and `lane` is one
    /// of them. The mailbox outlives the result.
    #[inline(always)]
    pub(crate) unsafe fn lane(&self, lanes: NonNull<()>, lane: usize) -> Places {
        // SAFETY: the caller's promise; lanes are as far apart as one is large.
        let slots = unsafe { lanes.byte_add(lane * self.lane_size) };
        // SAFETY: the letters lie within the slots.
        let letters = unsafe { slots.byte_add(self.letters) };
        Places { slots, letters, letter_size: self.letter_size, mask: self.mask }
    }

    /// Whether a lane may have a letter that is no reader, of those from the place `received` on that are published. Called by the holder of
    /// the actor's lock, who has read how many are.
    ///
    /// # Safety
    /// As [`lane`](Self::lane).
    #[inline(always)]
    pub(crate) unsafe fn has_writer(&self, lanes: NonNull<()>, lane: usize, received: u16) -> bool {
        // SAFETY: the caller's promise: it lies within the slots of the lane.
        let after_writer =
            unsafe { lanes.byte_add(lane * self.lane_size + self.after_writer).cast::<Count16>().as_ref() };
        is_writer_ahead(after_writer.glance(), received, self.mask)
    }
}

/// Whether a lane may have a writer that was not received, from the place after the last one that was sent, and the next place that is
/// received.
///
/// The sender writes down the place of a writer before it publishes it. So whoever has seen a writer published finds its place here, or that
/// of a later one; and what was not received is no further ahead than the lane has slots. Places come again after 65536 letters, and then a
/// writer of old may seem to be ahead: it is looked for in vain.
#[inline(always)]
fn is_writer_ahead(after_writer: u16, received: u16, mask: u16) -> bool {
    after_writer.wrapping_sub(received).wrapping_sub(1) <= mask
}

/// The slots of all lanes of a mailbox, for whoever does not know its type.
#[derive(Clone, Copy)]
pub(crate) struct SlotsOf {
    pub(crate) layout: Layout,
    /// Points to them, with the provenance of all.
    pub(crate) lanes: NonNull<()>,
    /// How many lanes there are.
    pub(crate) count: usize,
}

impl SlotsOf {
    /// Writes into each slot which one it is.
    ///
    /// # Safety
    /// This is a static mailbox with this layout, and nobody else uses its slots meanwhile.
    pub(crate) unsafe fn label(&self) {
        for lane in 0..self.count {
            // SAFETY: the caller's promise.
            let places = unsafe { self.layout.lane(self.lanes, lane) };
            for slot in 0..=places.mask {
                // SAFETY: the slot is one of the lane's.
                let top = unsafe { Top::of(places.letter(slot)) };
                top.label.set(Label::new(lane, slot));
            }
        }
    }
}

/// The slots of one lane, whatever its type.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// The slots of a lane, and its first letter (the promise of [`Layout::lane`], as for the rest).
    slots: NonNull<()>,
    letters: NonNull<()>,
    letter_size: usize,
    mask: u16,
}

impl Places {
    /// The letter at a place that is published and not received yet.
    #[inline(always)]
    pub(crate) fn peek(self, place: u16) -> NonNull<Head> {
        let place = place & self.mask;
        let slot = (self.order(place).get() ^ place) & self.mask;
        // SAFETY: the slot's number is below the number of slots, as the mask is one less than that.
        unsafe { self.letter(slot) }
    }

    /// The letter in a slot.
    ///
    /// # Safety
    /// The slot's number is below the number of slots.
    #[inline(always)]
    unsafe fn letter(self, slot: u16) -> NonNull<Head> {
        // SAFETY: the caller's promise; letters are as far apart as one is large, and each begins with its head.
        unsafe { self.letters.byte_add(usize::from(slot) * self.letter_size).cast() }
    }

    /// Gives a slot back to the sender of the lane. Called by the holder of the actor's lock.
    #[inline(always)]
    pub(crate) fn free(self, lane: Lane<'_>, slot: u16) {
        // The capacity is a power of two, so this place is that of the count of freed letters.
        let allowed = lane.allowed().own();
        let place = allowed & self.mask;
        self.order(place).set(slot ^ place);
        lane.allowed().publish(allowed.wrapping_add(1), Mutant::LaneFreedRelaxed);
    }

    #[inline(always)]
    fn order(&self, place: u16) -> &Guarded<u16> {
        // SAFETY: `order` is the first field of `Slots`, and the place is masked, so below its length.
        unsafe { self.slots.cast::<Guarded<u16>>().add(usize::from(place)).as_ref() }
    }
}

/// Wrap-safe comparison of stamps of one mailbox.
#[inline(always)]
pub(crate) fn is_older(stamp: u16, than: u16) -> bool {
    (stamp.wrapping_sub(than) as i16) < 0
}

/// What is written on a letter besides its message.
pub(crate) struct Envelope {
    pub(crate) stamp: u16,
    pub(crate) method: u8,
    pub(crate) access: Access,
    pub(crate) claims: Claims,
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

#[cfg(test)]
mod tests {
    use super::{PlaceInHalves, has_gone_over, in_one_lane, is_writer_ahead, only_letter};

    /// Wherever the counts are: a writer that was not received is never overlooked, and seldom is there one for no reason.
    #[test]
    fn writers_that_were_not_received_are_ahead() {
        const SLOTS: u16 = 8;
        for received in [0, 1, 5, 0x7FFF, 0x8000, 0xFFF9, 0xFFFF_u16] {
            for place in 0..SLOTS {
                let after = received.wrapping_add(place).wrapping_add(1);
                assert!(is_writer_ahead(after, received, SLOTS - 1), "the letter {place} places after {received}");
            }
            for place in 0..u16::MAX - SLOTS {
                let after = received.wrapping_sub(place);
                assert!(!is_writer_ahead(after, received, SLOTS - 1), "received {place} letters before {received}");
            }
        }
        assert!(!is_writer_ahead(0, 0, SLOTS - 1), "there was no letter at all");
    }

    /// Whatever was counted before, also where counts go over: one letter is found, and nothing else is taken for one.
    #[test]
    fn one_letter_is_found_in_two_lanes() {
        let counts = [0, 1, 2, 5, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF_u16];
        let word = |lanes: [u16; 2]| u32::from(lanes[0]) | u32::from(lanes[1]) << 16;
        for (first, second) in counts.into_iter().flat_map(|first| counts.map(|second| (first, second))) {
            for (in_first, in_second) in counts.into_iter().flat_map(|first| counts.map(|second| (first, second))) {
                let sent = word([first.wrapping_add(in_first), second.wrapping_add(in_second)]);
                let found = only_letter(sent, word([first, second])).map(|found| (found.lane(), found.place()));
                let expected = match (in_first, in_second) {
                    (1, 0) if first != u16::MAX => Some((0, first)),
                    (0, 1) => Some((1, second)),
                    _ => None,
                };
                assert_eq!(found, expected, "{in_first} and {in_second} letters after {first} and {second}");
                let found = in_one_lane(sent, word([first, second]));
                let found = found.map(|found| (found.lane(), found.place(), found.waiting(sent)));
                let expected = match (in_first, in_second) {
                    (1.., 0) => Some((0, first, in_first)),
                    (0, 1..) => Some((1, second, in_second)),
                    _ => None,
                };
                assert_eq!(found, expected, "{in_first} and {in_second} letters after {first} and {second}");
            }
        }
    }

    /// Each lane by itself, whatever the other one has.
    #[test]
    fn a_lane_goes_over_at_multiples_of_a_power() {
        let counts = [0, 1, 126, 127, 128, 129, 255, 256, 0x7FFF, 0x8000, 0xFF7F, 0xFF80, 0xFFFF_u16];
        for (before, after) in counts.into_iter().flat_map(|before| counts.map(|after| (before, after))) {
            let differs = before / 128 != after / 128;
            for other in counts {
                let word = |first: u16, second: u16| u32::from(first) | u32::from(second) << 16;
                assert_eq!(has_gone_over(word(after, other), word(before, other), 128), differs, "{before} to {after}");
                assert_eq!(has_gone_over(word(other, after), word(other, before), 128), differs, "{before} to {after}");
            }
        }
    }

    /// What is put into halves comes out of them.
    #[test]
    fn a_place_is_kept_in_halves() {
        for (lane, place) in (0..2).flat_map(|lane| (0..=u16::MAX).map(move |place| (lane, place))) {
            let kept = PlaceInHalves::new(lane, place);
            assert_eq!((kept.lane(), kept.place()), (lane, place));
            assert_eq!((kept.next().lane(), kept.next().place()), (lane, place.wrapping_add(1)));
        }
    }
}
