//! What the loom models look into: thin handles on the parts of the kernel that are private otherwise.
#![expect(unsafe_code, reason = "takes messages out of slots, as a worker does")]

pub use crate::mutant::Mutant;

use crate::body::Body;
use crate::call::Post;
use crate::cores;
use crate::lane::{Counts, Lane, LaneHead};
use crate::letter::Head;
use crate::lists::Lists;
use crate::methods::Methods;
use crate::monitor::{Monitor, Permits};
use crate::objects::{Claims, Objects};
use crate::promise::{Promise, Reply, halves};
use crate::slots::{Envelope, Slot, Slots, SlotsOf};

/// A lane by itself: one thread sends, one receives. `IN_ORDER` if its letters leave in order (no monitor).
pub struct LaneAlone<A: Methods, const N: usize, const IN_ORDER: bool> {
    counts: Counts,
    head: LaneHead,
    slots: Slots<A, Lists, N, 1>,
}

impl<A: Methods, const N: usize, const IN_ORDER: bool> core::fmt::Debug for LaneAlone<A, N, IN_ORDER> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("LaneAlone")
    }
}

/// A letter that was received and whose slot is still taken.
#[derive(Debug)]
#[must_use = "its slot stays taken until it is freed"]
pub struct Received<M> {
    /// Its message.
    pub message: M,
    slot: u16,
}

impl<A: Methods, const N: usize, const IN_ORDER: bool> LaneAlone<A, N, IN_ORDER> {
    /// An empty lane.
    #[expect(clippy::new_without_default, reason = "as the lane itself")]
    pub fn new() -> Self {
        let alone = Self { counts: Counts::new(), head: LaneHead::new(), slots: Slots::new() };
        let lanes = core::ptr::NonNull::from(&alone.slots).cast();
        // SAFETY: one lane, which nobody uses yet.
        unsafe { SlotsOf { layout: Slots::<A, Lists, N, 1>::LAYOUT, lanes, count: 1 }.label() };
        alone.lane().open(N as u16);
        alone
    }

    fn lane(&self) -> Lane<'_> {
        // SAFETY: the first and only lane of these counts.
        unsafe { Lane::new(&self.counts, &self.head, 0) }
    }

    /// Sends, or gives the message back.
    pub fn send(&self, message: A::Message) -> Result<(), A::Message> {
        let Some(place) = self.lane().room() else { return Err(message) };
        let envelope =
            Envelope { stamp: place, method: A::method(&message), access: crate::Access::Writer, claims: Claims::NONE };
        let mut message = core::mem::ManuallyDrop::new(message);
        // SAFETY: the message is given away and not touched again.
        unsafe { self.slots.write(place, envelope, IN_ORDER, &raw mut *message) };
        self.lane().publish(place);
        Ok(())
    }
}

impl<A: Methods, const N: usize> LaneAlone<A, N, false> {
    /// Receives the next letter.
    pub fn receive(&self) -> Option<Received<A::Message>> {
        if !self.lane().has_letter() {
            return None;
        }
        let letter = self.slots.peek(self.lane().received());
        self.lane().receive(self.lane().received());
        // SAFETY: a published letter of this lane, received once.
        let (head, message): (&Head, _) = unsafe { (letter.as_ref(), Slot::<A, Head>::take(letter)) };
        Some(Received { message, slot: head.label.get().slot() })
    }

    /// Frees the slot of a letter; in any order.
    pub fn free<M>(&self, letter: Received<M>) -> M {
        self.slots.free(self.lane(), letter.slot);
        letter.message
    }
}

impl<A: Methods, const N: usize> LaneAlone<A, N, true> {
    /// Receives and frees the next letter.
    pub fn receive_in_order(&self) -> Option<A::Message> {
        if !self.lane().has_letter() {
            return None;
        }
        let letter = self.slots.peek_in_order(self.lane().received());
        // SAFETY: a published letter of this lane, received once.
        let message = unsafe { Slot::<A, Head>::take(letter) };
        self.lane().receive_and_free(self.lane().received(), N as u16);
        Some(message)
    }
}

/// Gives an actor its number, as its first letter would.
pub fn enrol<A, M, const N: usize, const P: usize, const L: usize>(body: &'static Body<A, M, N, P, L>)
where
    A: Methods,
    M: Monitor,
    M::Discipline: Permits<<A::Objects as Objects>::Whole<A>>,
{
    body.id();
}

/// Visits an actor that need not be ready; true if there is more to do.
pub fn visit<A, M, const N: usize, const P: usize, const L: usize>(body: &'static Body<A, M, N, P, L>, core: u8) -> bool
where
    A: Methods,
    M: Monitor,
    M::Discipline: Permits<<A::Objects as Objects>::Whole<A>>,
{
    body.visit_here(core, crate::ready::Mark::NONE)
}

/// Both halves of a promise from the pool of this core's lane, without a letter.
pub fn promise<A: Methods, T, E>(body: &'static dyn Post<A>) -> Option<(Promise<T, E>, Reply<T, E>)> {
    body.issue().map(halves)
}

/// Visits the next ready actor of a core.
pub fn visit_next(core: u8) -> bool {
    cores::visit_next(core)
}

/// Takes a core's notice.
pub fn look(core: u8) -> bool {
    let calls = cores::calls(core);
    calls.into_iter().for_each(|calls| cores::answer(core, calls, |_| ()));
    calls.is_some()
}

/// Visits what other cores have in surplus.
pub fn help_others(core: u8) -> bool {
    cores::help_others(core)
}

/// A core's way to sleep.
pub fn idle(core: u8, done: &mut dyn FnMut() -> bool) {
    cores::idle(core, done);
}

/// Makes the kernel's statics, before the model's threads start.
pub fn begin() {
    cores::begin();
}

/// Sends a message, or says why not.
pub fn put<A: Methods, B: ?Sized + Post<A>>(body: &'static B, message: A::Message) -> Result<(), crate::Refused> {
    crate::call::put(body, message).map_err(|(_, why)| why)
}
