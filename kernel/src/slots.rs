//! The slots of a lane: where its letters lie, and the promises of their answers.
//!
//! Which slot a letter gets, and when it is free again, is the business of the [`lane`](crate::lane).
#![expect(unsafe_code, reason = "moves messages in and out of slots")]

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::body::SMALL;
use crate::lane::Lane;
use crate::letter::{Access, Head, HeadOf, Label, Top};
use crate::lists::ListsOf;
use crate::methods::Methods;
use crate::objects::{Claims, Objects, PerLetter};
use crate::promise::{Fresh, ReplySlot, Ticket};
use crate::sync::{Count32, Guarded, Mutant, array_of, const_unless_loom};

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
}

impl Layout {
    /// That of no lane at all, for letters that are in none.
    pub(crate) const NONE: Self = Self { lane_size: 0, letters: 0, letter_size: 0, mask: 0 };

    /// One less than the number of letters a lane has room for, which is a power of two.
    #[inline(always)]
    pub(crate) fn mask(&self) -> u16 {
        self.mask
    }

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

    /// Whether a place names this slot. If the slot is that of the letter that was received at this place, and is not freed, nothing was freed
    /// at this place since: nowhere else is it named, and what is freed there is another one.
    #[inline(always)]
    pub(crate) fn names(self, place: u16, slot: u16) -> bool {
        let place = place & self.mask;
        self.order(place).get() ^ place == slot
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
        lane.note_depth_before_freeing();
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
