//! The body of an actor: its mailbox, its monitor and its state; all of an actor that depends on its type.
//!
//! Sending writes a letter into its lane here; running one, in [`running`], takes it out and borrows the state for its method, as the
//! gate admitted. When, and on which core, is decided in [`visit`](crate::visit).
#![expect(unsafe_code, reason = "borrows the state as the gate admitted")]

mod running;

use core::any::TypeId;
use core::cell::UnsafeCell;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use crate::call::{Post, Refused, Report};
use crate::cores::{self, MAX_METHODS, Unnoted};
#[cfg(target_os = "none")]
use crate::desk::Straight;
use crate::desk::{Resident, Tenant};
use crate::gate::Sharing;
use crate::lane::Lane;
use crate::letter::{Access, Descriptor, Head, Letter, Method};
use crate::lists::{Lists, ListsOf};
use crate::mailbox::{Mail, Office};
use crate::methods::Methods;
use crate::monitor::{Affinity, Discipline, Monitor, Permits};
use crate::objects::{Claims, Objects, Unrunnable};
use crate::overflow::{self, DeadLetter, Death, Overflow};
use crate::port::{self, FOREIGN};
use crate::promise::{Fresh, Ticket};
use crate::ready::{ActorId, Ready};
use crate::slots::{Envelope, Slot, Slots, SlotsOf};
use crate::sync::{Mutant, const_unless_loom, fence, removed};
use crate::trace;
use crate::visit::{self, ANYBODY, OnPanic, monitored};

/// What is kept of letters under a monitor.
type ListsIn<M> = <<M as Monitor>::Discipline as Discipline>::Lists;
/// The head of a slot under a monitor.
type HeadIn<M> = <ListsIn<M> as ListsOf>::Head;

/// Unanswered asks per lane unless the declaration says otherwise.
pub const DEFAULT_PROMISES: usize = 4;

/// Messages up to this size, in bytes, are kept in registers while they are sent.
pub(crate) const SMALL: usize = 16;

/// An actor's mailbox, monitor and state. Declared by `#[actor] static`.
pub struct Body<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> {
    mail: &'static Mail<A, M, N, P, L>,
    /// Under the lock.
    monitor: UnsafeCell<M>,
    /// As the gate admits.
    whole: UnsafeCell<<A::Objects as Objects>::Whole<A>>,
}

// SAFETY: the monitor is used under the lock only, on any core (`Monitor: Send`). The state is borrowed as the gate admits,
// and `Permits` says that this is sound for the pair: one at a time on changing cores needs `Send`, several readers at once
// need `Sync`, a pinned actor's state is touched on one core only (`visit` checks the core, `new` that `OnOneCore` is pinned).
unsafe impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Sync for Body<A, M, N, P, L> where
    M::Discipline: Permits<<A::Objects as Objects>::Whole<A>>
{
}

/// Fails to compile, with the reason, if the state may not be used under the monitor. Called by `#[actor] static`.
#[doc(hidden)]
pub const fn assert_fits<A: Methods, M: Monitor>()
where
    M::Discipline: Permits<<A::Objects as Objects>::Whole<A>>,
{
}

impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Body<A, M, N, P, L> {
    const DESCRIPTOR: Descriptor = Descriptor {
        methods: A::METHODS,
        actor_type: TypeId::of::<A>,
        message_offset: Slot::<A, HeadIn<M>>::MESSAGE_OFFSET,
        claims_offset: Slot::<A, HeadIn<M>>::CLAIMS_OFFSET,
        sharing: Self::SHARING,
        standing_grant: Self::STANDING_GRANT,
        pinned: Self::PINNED_TO.is_some(),
        layout: Slots::<A, ListsIn<M>, N, P>::LAYOUT,
    };
    const SHARING: Sharing = <M::Discipline as Discipline>::SHARING.0;
    /// Letters run straight from the lanes, in order.
    const IN_ORDER: bool = <M::Discipline as Discipline>::UNMONITORED;
    /// Letters are run without asking the monitor where there is nothing to decide. (Which objects are taken is always to be decided.)
    const STANDING_GRANT: bool = M::STANDING_GRANT && !Self::IN_ORDER && Slot::<A, HeadIn<M>>::CLAIMS_OFFSET.is_none();

    const_unless_loom! {
        /// An actor with this mailbox and initial state. A mailbox belongs to one actor.
        pub fn new(mail: &'static Mail<A, M, N, P, L>, whole: <A::Objects as Objects>::Whole<A>) -> Self {
            const {
                assert!(
                    !<M::Discipline as Discipline>::STAYS || matches!(M::AFFINITY, Affinity::Pinned(_)),
                    "a monitor with the discipline `OnOneCore` must pin its actor: give it `const AFFINITY: Affinity = Affinity::Pinned(..)`"
                )
            };
            const { assert!(A::METHODS.len() <= MAX_METHODS, "an actor has at most 254 methods") };
            Self { mail, monitor: UnsafeCell::new(M::NEW), whole: UnsafeCell::new(whole) }
        }
    }

    /// What happened to this actor's letters so far.
    pub fn report(&self) -> Report {
        let office = self.mail.office();
        Report {
            refused_grants: self.mail.lists.lists().map_or(0, Lists::refused),
            dropped: (0..L).fold(0, |sum: u32, lane| sum.wrapping_add(self.mail.slots(lane).dropped())),
            letters: office.occupied(N),
            high_water: office.high_water(N),
            capacity: N,
        }
    }

    const PINNED_TO: Option<u8> = match M::AFFINITY {
        Affinity::Any => None,
        Affinity::Pinned(core) => Some(core),
    };

    /// The mailbox as workers know it.
    #[inline(always)]
    pub(crate) fn office(&self) -> &'static Office {
        self.mail.office()
    }

    // ---- sending ----

    /// Whether a simulator says that there is no room.
    #[inline(always)]
    fn is_denied_room() -> bool {
        M::OVERFLOW == Overflow::Reject && trace::denies(trace::Denial::Room)
    }

    /// Its number, if letters are let in already.
    fn known_id(&self) -> Option<ActorId> {
        let office = self.office();
        office.lane(0).is_open().then(|| office.desk.known_id())
    }

    /// Its number; the first letter of an actor gets it one.
    pub(crate) fn id(&'static self) -> ActorId
    where
        Self: Resident,
    {
        self.known_id().unwrap_or_else(|| {
            let letters = self.mail.lists.lists().map(|lists| (lists, const { &Self::DESCRIPTOR }));
            let slots =
                SlotsOf { layout: Slots::<A, ListsIn<M>, N, P>::LAYOUT, lanes: self.mail.all_slots(), count: L };
            cores::register(&Tenant {
                resident: self,
                letters,
                slots,
                pinned_to: Self::PINNED_TO,
                capacity: N as u16,
                #[cfg(target_os = "none")]
                straight: self
                    .mail
                    .straight_office()
                    .filter(|_| Self::IN_ORDER || Self::STANDING_GRANT)
                    .map(Straight::new::<Self>),
            })
        })
    }

    /// Writes the letter into its lane and notes the receiver: the straight line for a letter that can run, to an actor that
    /// has its number, through a lane of the core's own that has room. All else is
    /// [`put_otherwise`](Self::put_otherwise).
    ///
    /// `VISITED`: the sender visits the next ready actor right away. If that would be the receiver, it is not noted but given back.
    ///
    /// # Safety
    /// The pointer leads to a message that is the caller's to give away; it was moved out if and only if the result is `Ok`.
    // Where code is small change, once per place that sends; on a chip, where the optimiser finds it worth the flash.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    #[cfg_attr(target_os = "none", inline)]
    unsafe fn put_straight<const VISITED: bool>(
        &'static self,
        message: *mut A::Message,
    ) -> Result<Option<Unnoted>, Refused>
    where
        Self: Resident,
    {
        // SAFETY: the caller's message is there.
        let address = Self::address(unsafe { &*message });
        let masked = port::mask();
        let here = port::core();
        let mail = self.mail;
        let office = mail.office();
        let own = office.lane_of(here);
        if !own.shared
            && let lane = office.lane(own.index)
            && let Ok(address) = address
            && let Some(place) = lane.room()
        {
            // SAFETY: the caller gives it away, and hears that it is gone.
            unsafe { Self::write(mail, (own.index, lane), place, address, message) };
            let id = office.desk.known_id();
            // As the compiler knows it, if this is the core it is pinned to.
            let mut here = here;
            if let Some(there) = Self::PINNED_TO {
                if there != here {
                    core::hint::cold_path();
                    if cores::invite(here, there, id) {
                        return Ok(None);
                    }
                } else {
                    here = there;
                }
            }
            if VISITED && cores::would_be_next(here) {
                return Ok(Some(Unnoted::new(id)));
            }
            let first = (!Ready::KEEPS_MARKS || lane.mark()) && cores::enqueue(here, id, Self::PINNED_TO.is_some());
            if !first && matches!(Self::SHARING, Sharing::Parallel) {
                cores::offer_letter(here);
            }
            return Ok(None);
        }
        drop(masked);
        if const { size_of::<A::Message>() > SMALL } {
            // SAFETY: the message was not moved out.
            return unsafe { self.put_otherwise(message) }.map(|()| None);
        }
        // A small message is in registers, as long as nobody takes its address: so that of a copy is taken.
        // SAFETY: the message was not moved out; it is put back where it was unless the copy was moved out.
        unsafe {
            let mut copy = ManuallyDrop::new(message.read());
            let put = self.put_otherwise(&raw mut *copy);
            if put.is_err() {
                message.write(ManuallyDrop::into_inner(copy));
            }
            put.map(|()| None)
        }
    }

    /// The same for every letter, also the first one of an actor, through a lane that others share, and one without room.
    ///
    /// # Safety
    /// As [`put_straight`](Self::put_straight).
    #[cold]
    #[inline(never)]
    unsafe fn put_otherwise(&'static self, message: *mut A::Message) -> Result<(), Refused>
    where
        Self: Resident,
    {
        // SAFETY: the caller's message is there.
        let address = Self::address(unsafe { &*message }).map_err(Refused::Unrunnable)?;
        self.id();
        let send = || {
            self.office().send(&mut |lane, place| {
                // SAFETY: the caller gives it away, and hears that it is gone.
                unsafe { Self::write(self.mail, (lane, self.office().lane(lane)), place, address, message) };
            })
        };
        let sent = send() || (self.make_room(port::core()) && send());
        match M::OVERFLOW {
            _ if sent => Ok(()),
            Overflow::Reject => Err(Refused::Full),
            // SAFETY: the message was not moved out.
            _ => unsafe { self.put_without_room(message) },
        }
    }

    /// A letter found no room: what has ended leaves. Whether there may be room now.
    fn make_room(&'static self, here: u8) -> bool
    where
        Self: Resident,
    {
        match self.mail.lists.lists() {
            Some(lists) if matches!(Self::SHARING, Sharing::Parallel) => {
                monitored::make_room(self.office(), visit::anybody(self), lists, here)
            }
            _ => false,
        }
    }

    /// What the kernel writes on a letter before it sends it, or why it could never run. Whoever runs letters straight from
    /// the lanes does not look at the method.
    #[inline(always)]
    fn address(message: &A::Message) -> Result<Address, Unrunnable> {
        let claims = A::claims(message)?;
        if Self::IN_ORDER && !trace::IS_ON {
            return Ok(Address { method: 0, access: Access::Writer, claims });
        }
        let method = A::method(message);
        match A::METHODS.get(usize::from(method)) {
            Some(entry) => Ok(Address { method, access: entry.access(), claims }),
            None => Err(Unrunnable::NoSuchMethod { method, methods: A::METHODS.len() as u8 }),
        }
    }

    /// Writes the letter and publishes it.
    ///
    /// # Safety
    /// The message behind the pointer is moved out.
    #[inline(always)]
    unsafe fn write(
        mail: &Mail<A, M, N, P, L>,
        (lane, head): (usize, Lane<'_>),
        place: u16,
        address: Address,
        message: *mut A::Message,
    ) {
        let office = mail.office();
        let Address { method, access, claims } = address;
        let envelope = Envelope { stamp: office.stamp(lane, place), method, access, claims };
        // SAFETY: the caller's promise.
        let letter = unsafe { mail.slots(lane).write(place, envelope, Self::IN_ORDER, message) };
        trace::sent(|| office.desk.id(), trace::name(letter));
        // Whoever takes readers out of another lane must know of a writer in this one.
        if let Some(lists) = mail.lists.lists()
            && matches!(Self::SHARING, Sharing::Parallel)
            && access != Access::Reader
        {
            lists.note_writer(lane, place);
        }
        head.publish(place);
    }

    /// What the declared policy does with a letter for which there is no room. What it drops is buried after all locks
    /// are free: the hook and the message's own `drop` are the user's code.
    ///
    /// # Safety
    /// As [`put_straight`](Self::put_straight).
    unsafe fn put_without_room(&'static self, message: *mut A::Message) -> Result<(), Refused>
    where
        Self: Resident,
    {
        let replaced = if M::OVERFLOW == Overflow::DropNewest {
            None
        } else {
            // SAFETY: the caller's message is there.
            let key = A::key(unsafe { &*message });
            self.discard_waiting(|waiting| M::OVERFLOW == Overflow::DropOldest || A::key(waiting) == key)
        };
        match replaced {
            Some(old) => {
                // There is room now, unless an interrupt has taken it: then another letter is replaced.
                // SAFETY: the message was not moved out.
                let put = unsafe { self.put_otherwise(message) };
                self.bury(old, Death::Replaced);
                put
            }
            None if M::OVERFLOW == Overflow::Coalesce => Err(Refused::Full),
            None => {
                // SAFETY: the caller gives it away, and hears that it is gone.
                self.bury(unsafe { message.read() }, Death::NoRoom);
                Ok(())
            }
        }
    }

    fn bury(&'static self, message: A::Message, death: Death) {
        {
            let _masked = port::mask();
            self.office().as_sender(port::core(), |own, _| self.mail.slots(own.index).count_dropped());
        }
        trace::dropped(|| self.office().desk.id());
        let method = A::METHODS.get(usize::from(A::method(&message))).map_or("?", Method::name);
        overflow::bury(&DeadLetter { actor: core::any::type_name::<A>(), method, death, message: &message });
    }

    /// Takes the oldest letter of this sender's lane that waits and passes out of the mailbox, if the receiver's lock is free.
    fn discard_waiting(&'static self, mut passes: impl FnMut(&A::Message) -> bool) -> Option<A::Message>
    where
        Self: Resident,
    {
        let here = port::core();
        let office = self.office();
        let own = office.lane_of(here).index;
        let (lane, slots) = (office.lane(own), self.mail.slots(own));
        if !office.desk.try_enter() {
            return None;
        }
        // The key is the user's code. Nothing was taken out before it was asked.
        let on_panic = OnPanic(|| visit::abandon(office, here));
        let discarded = match self.mail.lists.lists() {
            None => {
                // Letters of an actor without a monitor leave in order, so only the next one can be taken out.
                let next = lane.has_letter().then(|| slots.peek_in_order(lane.received()));
                // SAFETY: published and not received, so its message is there, and ours to look at under the lock.
                next.filter(|&letter| passes(unsafe { Slot::<A, HeadIn<M>>::message(letter) })).map(|letter| {
                    // SAFETY: the same; it is received right away, so it is taken once.
                    let message = unsafe { Slot::<A, HeadIn<M>>::take(letter) };
                    lane.receive_and_free(lane.received(), N as u16);
                    message
                })
            }
            Some(lists) => {
                office.drain(lists, own);
                let found = lists.find_waiting(|letter| {
                    // SAFETY: a waiting letter's message is there, and ours to look at under the lock.
                    Self::view(letter).head().label.get().lane() == own
                        && passes(unsafe { Slot::<A, HeadIn<M>>::message(letter) })
                });
                found.map(|letter| {
                    lists.discard(letter);
                    // SAFETY: the same; it is out of the inbox, so nobody else takes it.
                    let message = unsafe { Slot::<A, HeadIn<M>>::take(letter) };
                    slots.free(lane, Self::view(letter).head().label.get().slot());
                    message
                })
            }
        };
        core::mem::forget(on_panic);
        // Whoever rang, and what was drained, is served by a visit of this core.
        let _ = visit::exit(office);
        visit::note_here(office, here);
        discarded
    }

    /// A promise slot other than the first of this core's own lane.
    #[inline(never)]
    fn issue_otherwise(&'static self) -> Option<Ticket> {
        let fresh = {
            let _masked = port::mask();
            let here = port::core();
            self.office().as_sender(here, |own, _| {
                let home = if own.shared { FOREIGN } else { here };
                self.mail.slots(own.index).issue(home)
            })
        };
        fresh.map(Fresh::into_ticket)
    }

    #[inline(always)]
    fn view(letter: NonNull<Head>) -> Letter<'static> {
        Letter { head: letter, descriptor: const { &Self::DESCRIPTOR } }
    }
}

/// Which method a letter calls, and with which objects.
#[derive(Clone, Copy)]
struct Address {
    method: u8,
    access: Access,
    claims: Claims,
}

impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Post<A> for Body<A, M, N, P, L>
where
    M::Discipline: Permits<<A::Objects as Objects>::Whole<A>>,
{
    #[inline(always)]
    unsafe fn put(&'static self, message: *mut A::Message) -> Result<(), Refused> {
        if Self::is_denied_room() {
            return Err(Refused::Full);
        }
        // SAFETY: the caller's promise.
        unsafe { self.put_straight::<false>(message) }.map(|_| ())
    }

    #[inline(always)]
    unsafe fn put_and_visit(&'static self, message: *mut A::Message) -> Result<Option<Unnoted>, Refused> {
        if Self::is_denied_room() {
            return Err(Refused::Full);
        }
        // SAFETY: the caller's promise.
        unsafe { self.put_straight::<true>(message) }
    }

    #[inline(always)]
    fn issue(&'static self) -> Option<Ticket> {
        let masked = port::mask();
        let here = port::core();
        let own = self.office().lane_of(here);
        if !own.shared
            && let Some(ticket) = self.mail.slots(own.index).issue_first(here)
        {
            return Some(ticket);
        }
        drop(masked);
        self.issue_otherwise()
    }

    fn want_promise(&'static self, here: u8) {
        let own = self.office().lane_of(here);
        self.mail.slots(own.index).want_promise((!own.shared).then_some(here));
        fence(Mutant::PromiseWantedFence);
    }

    fn wait_for_room(&'static self, here: u8) -> bool {
        // A letter may have been refused before its actor had its number; until then there is no room.
        self.id();
        let office = self.office();
        let own = office.lane_of(here);
        office.lane(own.index).want_room(if own.shared { ANYBODY } else { here + 1 });
        fence(Mutant::RoomWantedFence);
        office.desk.want_room();
        cores::want_room(here);
        fence(Mutant::RoomFence);
        let is_full = || {
            let _masked = port::mask();
            office.as_sender(here, |_, lane| lane.room().is_none())
        };
        removed(Mutant::RoomNotRechecked) || (is_full() && (!self.make_room(here) || is_full()))
    }

    fn report(&'static self) -> Report {
        Body::report(self)
    }
}
