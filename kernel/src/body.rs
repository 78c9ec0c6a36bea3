//! The body of an actor: its mailbox, its monitor and its state; all of an actor that depends on its type.
//!
//! Sending writes a letter into its lane here; running one takes it out and borrows the state for its method, as the gate
//! admitted. When, and on which core, is decided in [`visit`](crate::visit).
#![expect(unsafe_code, reason = "borrows the state as the gate admitted")]

use core::any::TypeId;
use core::cell::UnsafeCell;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;

use crate::call::{Post, Refused, Report};
use crate::cores::{self, MAX_METHODS, MonitorTurn};
use crate::desk::{Desk, Left, Resident, Tenant};
use crate::gate::Sharing;
use crate::inbox::{Inbox, Lists, ListsOf};
use crate::lane::{Envelope, Lane, Slot, Slots, SlotsOf};
use crate::letter::{Access, Descriptor, Head, Letter, Method, Stage};
use crate::mailbox::{Mail, Office};
use crate::methods::{Grant, Methods};
use crate::monitor::{Affinity, Discipline, Monitor, Permits};
use crate::objects::{Claims, Objects, Unrunnable};
use crate::overflow::{self, DeadLetter, Death, Overflow};
use crate::port::{self, FOREIGN};
use crate::promise::{Fresh, Ticket};
use crate::ready::{ActorId, Mark, Ready};
use crate::sync::{Ended, Mutant, const_unless_loom, fence, removed};
use crate::trace;
use crate::visit::{self, ANYBODY, OnPanic, monitored};

/// Unanswered asks per lane unless the declaration says otherwise.
pub const DEFAULT_PROMISES: usize = 4;

/// Messages up to this size, in bytes, are kept in registers while they are sent.
const SMALL: usize = 16;

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
        message_offset: Slot::<A>::MESSAGE_OFFSET,
        claims_offset: Slot::<A>::CLAIMS_OFFSET,
        sharing: Self::SHARING,
        layout: Slots::<A, N, P>::LAYOUT,
    };
    const SHARING: Sharing = <M::Discipline as Discipline>::SHARING.0;
    /// Letters run straight from the lanes, in order.
    const IN_ORDER: bool = <M::Discipline as Discipline>::UNMONITORED;

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
            let slots = SlotsOf { layout: Slots::<A, N, P>::LAYOUT, lanes: self.mail.all_slots(), count: L };
            cores::register(&Tenant { resident: self, letters, slots, pinned_to: Self::PINNED_TO, capacity: N as u16 })
        })
    }

    /// Writes the letter into its lane and notes the receiver: the straight line for a letter that can run, to an actor that
    /// has its number, through a lane of the core's own that has room. All else is
    /// [`put_otherwise`](Self::put_otherwise).
    ///
    /// # Safety
    /// The pointer leads to a message that is the caller's to give away; it was moved out if and only if the result is `Ok`.
    // Where code is small change, once per place that sends; on a chip, where the optimiser finds it worth the flash.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    #[cfg_attr(target_os = "none", inline)]
    unsafe fn put_straight(&'static self, message: *mut A::Message) -> Result<(), Refused>
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
            if Self::PINNED_TO.is_some_and(|there| there != here && cores::invite(here, there, id)) {
                return Ok(());
            }
            let first = (!Ready::KEEPS_MARKS || lane.mark()) && cores::enqueue(here, id, Self::PINNED_TO.is_some());
            if !first && matches!(Self::SHARING, Sharing::Parallel) {
                cores::offer_letter(here);
            }
            return Ok(());
        }
        drop(masked);
        if const { size_of::<A::Message>() > SMALL } {
            // SAFETY: the message was not moved out.
            return unsafe { self.put_otherwise(message) };
        }
        // A small message is in registers, as long as nobody takes its address: so that of a copy is taken.
        // SAFETY: the message was not moved out; it is put back where it was unless the copy was moved out.
        unsafe {
            let mut copy = ManuallyDrop::new(message.read());
            let put = self.put_otherwise(&raw mut *copy);
            if put.is_err() {
                message.write(ManuallyDrop::into_inner(copy));
            }
            put
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
        let sent = self.office().send(&mut |lane, place| {
            // SAFETY: the caller gives it away, and hears that it is gone.
            unsafe { Self::write(self.mail, (lane, self.office().lane(lane)), place, address, message) };
        });
        match M::OVERFLOW {
            _ if sent => Ok(()),
            Overflow::Reject => Err(Refused::Full),
            // SAFETY: the message was not moved out.
            _ => unsafe { self.put_without_room(message) },
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
        let discarded = match self.mail.lists.lists() {
            None => {
                // Letters of an actor without a monitor leave in order, so only the next one can be taken out.
                let next = lane.has_letter().then(|| slots.peek_in_order(lane.received()));
                // SAFETY: published and not received, so its message is there, and ours to look at under the lock.
                next.filter(|&letter| passes(unsafe { Slot::<A>::message(letter) })).map(|letter| {
                    // SAFETY: the same; it is received right away, so it is taken once.
                    let message = unsafe { Slot::<A>::take(letter) };
                    lane.receive_and_free(lane.received(), N as u16);
                    message
                })
            }
            Some(lists) => {
                office.drain(lists, own);
                let found = lists.find_waiting(|letter| {
                    // SAFETY: a waiting letter's message is there, and ours to look at under the lock.
                    Self::view(letter).head().label.get().lane() == own && passes(unsafe { Slot::<A>::message(letter) })
                });
                found.map(|letter| {
                    lists.discard(letter);
                    // SAFETY: the same; it is out of the inbox, so nobody else takes it.
                    let message = unsafe { Slot::<A>::take(letter) };
                    slots.free(lane, Self::view(letter).head().label.get().slot());
                    message
                })
            }
        };
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

    // ---- running ----

    /// Only workers of the core that the actor is pinned to take its lock; senders that replace letters would, too.
    const LOCK_IS_PRIVATE: bool = Self::PINNED_TO.is_some() && matches!(M::OVERFLOW, Overflow::Reject);

    #[inline(always)]
    fn enter(desk: &Desk) -> bool {
        if Self::LOCK_IS_PRIVATE { desk.enter_alone() } else { desk.enter() }
    }

    /// A visit.
    #[inline(always)]
    pub(crate) fn visit_here(&'static self, here: u8, mark: Mark) -> bool
    where
        Self: Resident,
    {
        let (mail, office) = (self.mail, self.mail.office());
        // Before it looks for letters.
        if mark.is_set() {
            office.unmark(here, office.lane_of(here));
        }
        if Self::PINNED_TO.is_some_and(|core| core != here) {
            return true;
        }
        match mail.lists.lists() {
            None => self.visit_in_order(mail, here),
            Some(lists) => self.visit_monitored(mail, lists, here),
        }
    }

    /// A visit to an actor without a monitor: the straight line for exactly one letter, and nobody
    /// at the bell after it. Everything else is left by a call in the last place, so that it costs the straight line nothing.
    #[inline(always)]
    fn visit_in_order(&'static self, mail: &'static Mail<A, M, N, P, L>, here: u8) -> bool
    where
        Self: Resident,
    {
        let office = mail.office();
        let desk = &office.desk;
        if !Self::enter(desk) {
            return false;
        }
        let Some(letter) = office.only_letter_at_hand(here) else {
            return visit::visit_otherwise(office, visit::anybody(self), here);
        };
        let on_panic = OnPanic(|| visit::abandon(office, here));
        // SAFETY: the lock is held, and the letter is published and the next of its lane.
        unsafe { self.run_in_order(mail, here, letter) };
        core::mem::forget(on_panic);
        // Whoever sent a letter since then has noted the actor, or will ring.
        // (The core is asked for again, so that its number is not kept during the method.)
        desk.release();
        if desk.calls() { visit::answer_calls(office, visit::anybody(self), port::core()) } else { false }
    }

    /// A visit to an actor with a monitor: the straight line for exactly one letter that is granted at once, and
    /// nobody else about. Everything else is left by a call in the last place.
    #[inline(always)]
    fn visit_monitored(&'static self, mail: &'static Mail<A, M, N, P, L>, lists: &'static Lists, here: u8) -> bool
    where
        Self: Resident,
    {
        let office = mail.office();
        let desk = &office.desk;
        if !Self::enter(desk) {
            return false;
        }
        if !lists.is_quiet() {
            return monitored::visit_otherwise(office, visit::anybody(self), lists, here);
        }
        let Some((lane, place)) = office.only_letter_at_hand(here) else {
            return monitored::visit_otherwise(office, visit::anybody(self), lists, here);
        };
        let letter = mail.slots(lane).peek(place);
        office.lane(lane).receive(place);
        if !self.schedule_only(office, lists, here, letter) {
            return monitored::keep_waiting(office, visit::anybody(self), lists, here, letter);
        }
        if matches!(Self::SHARING, Sharing::OneAtATime) || Self::view(letter).access() == Access::Writer {
            let on_panic = OnPanic(|| {
                lists.end_only_later(letter);
                visit::abandon(office, here);
            });
            Self::view(letter).head().stage.set(Stage::Running);
            // SAFETY: granted, alone, under the lock, which is held until it has ended.
            unsafe { self.run_granted(here, letter, true) };
            core::mem::forget(on_panic);
            // The core is asked for again: kept during the method, it and all that was made of it would cost more.
            let here = port::core();
            // It was received last and leaves first, so the places are in order.
            let _turn = MonitorTurn::begin(here);
            let on_panic = monitored::on_monitors_panic(office, lists, here);
            self.hear(letter, || {
                let lane = Self::view(letter).head().label.get().lane();
                if office.lane(lane).has_more(N as u16) {
                    office.note_depth(lane);
                }
                office.lane(lane).free_next();
            });
            core::mem::forget(on_panic);
        } else {
            lists.start_only(Self::view(letter));
            desk.release();
            if desk.calls() {
                monitored::answer_and_offer(office, visit::anybody(self), lists, here, letter);
            }
            // SAFETY: started above, under the lock, which was released.
            let left = unsafe { self.run_sharing(here, letter) };
            if left != Left::Alone || !lists.is_quiet() {
                return monitored::go_on_among_others(office, visit::anybody(self), lists, letter, left);
            }
        }
        // Whoever sent a letter since then has noted the actor, or will ring.
        desk.release();
        if desk.calls() { monitored::answer(office, visit::anybody(self), lists, port::core()) } else { false }
    }

    /// The monitor decides about the only letter there is; whether it was granted.
    #[inline(always)]
    fn schedule_only(
        &'static self,
        office: &'static Office,
        lists: &'static Lists,
        here: u8,
        letter: NonNull<Head>,
    ) -> bool {
        let stage = &Self::view(letter).head().stage;
        stage.set(Stage::Waiting);
        let turn = MonitorTurn::begin(here);
        let on_panic = OnPanic(|| {
            lists.take_in(letter);
            visit::abandon(office, here);
        });
        let inbox =
            Inbox { lists, descriptor: const { &Self::DESCRIPTOR }, only: Some(letter), sharing: Self::SHARING };
        // SAFETY: under the lock, and `schedule` cannot reach this again: it has no way to visit the actor.
        unsafe { &mut *self.monitor.get() }.schedule(inbox);
        core::mem::forget(on_panic);
        let granted = stage.get() == Stage::Granted;
        if granted {
            turn.before_method();
        }
        granted
    }

    /// Under the lock, after a method: the monitor hears that its letter has ended, and decides about those that wait, if any do.
    #[inline]
    fn leave_and_schedule(&'static self, lists: &'static Lists, letter: NonNull<Head>) -> bool {
        let (office, here) = (self.mail.office(), port::core());
        let _turn = MonitorTurn::begin(here);
        let on_panic = monitored::on_monitors_panic(office, lists, here);
        // First, while the letter has its slot: lanes are at their fullest now.
        office.drain_seldom(lists, office.lane_of(here).index);
        self.hear(letter, || self.free(letter));
        let others_wait = !lists.is_empty();
        if others_wait {
            lists.seen();
            // SAFETY: as in `schedule`.
            schedule(unsafe { &mut *self.monitor.get() }, lists);
            lists.publish();
        }
        core::mem::forget(on_panic);
        others_wait
    }

    /// The monitor hears that a letter has ended; then its slot is free, also if the monitor panics. Under the lock.
    #[inline(always)]
    fn hear(&'static self, letter: NonNull<Head>, free: impl Fn()) {
        let on_panic = OnPanic(&free);
        // SAFETY: under the lock, and `leave` cannot reach this again: it has no way to visit the actor.
        unsafe { &mut *self.monitor.get() }.leave(Self::view(letter));
        trace::left(|| self.office().desk.id(), trace::name(letter));
        core::mem::forget(on_panic);
        free();
    }

    /// Frees the slot of a letter that has left.
    #[inline(always)]
    fn free(&self, letter: NonNull<Head>) {
        let (mail, label) = (self.mail, Self::view(letter).head().label.get());
        mail.slots(label.lane()).free(mail.office().lane(label.lane()), label.slot());
    }

    /// Runs a letter that was granted, with or without the lock.
    ///
    /// # Safety
    /// The caller started the letter under the lock, and runs it once; it is alone in the gate if and only if `alone`, and stays
    /// in the gate until it has ended.
    #[inline(always)]
    unsafe fn run_granted(&'static self, here: u8, letter: NonNull<Head>, alone: bool) {
        let id = || self.office().desk.id();
        cores::set_method(here, || Self::view(letter).head().method.get());
        trace::started(id, trace::name(letter));
        let _ended = Finally(|| trace::ended(id, trace::name(letter)));
        // SAFETY: the letter was granted, and `start` gave it to this worker alone, so its message is taken once, and its slot is its
        // own until it has left. The gate admitted it alone, or as one that shares, with its claims, as the caller says; and it is
        // inside the gate until its end is heard (the gate's invariant).
        unsafe {
            let claims = Slot::<A>::claims(letter);
            if is_small::<A>() {
                self.call_with(claims, alone, Slot::<A>::take(letter));
            } else {
                self.call_with_that_at(claims, alone, Slot::<A>::take_at(letter));
            }
        }
    }

    /// Receives a letter, frees its slot and runs it, under the lock, which stands for the borrow.
    ///
    /// # Safety
    /// The caller holds the lock; the letter is published and the oldest of its lane not received yet.
    #[inline(always)]
    unsafe fn run_in_order(&'static self, mail: &Mail<A, M, N, P, L>, here: u8, (lane, place): (usize, u16)) {
        let letter = mail.slots(lane).peek_in_order(place);
        let name = trace::name(letter);
        let id = || self.office().desk.id();
        trace::started(id, name);
        // SAFETY: the letter is published and not received, and keeps its claims until it is freed.
        let claims = unsafe { Slot::<A>::claims(letter) };
        let lane = mail.office().lane(lane);
        let left = || trace::ended_and_left(id, name);
        // SAFETY: only the holder of the lock receives, so the message is taken once. Letters of this actor are run only here, under
        // the lock, one at a time.
        unsafe {
            if is_small::<A>() {
                let message = Slot::<A>::take(letter);
                lane.receive_and_free(place, N as u16);
                cores::set_method(here, || A::method(&message));
                let _left = Finally(left);
                self.call_with(claims, true, message);
            } else {
                let mut message = MaybeUninit::<A::Message>::uninit();
                message.as_mut_ptr().copy_from_nonoverlapping(Slot::<A>::take_at(letter), 1);
                lane.receive_and_free(place, N as u16);
                cores::set_method(here, || A::method(message.assume_init_ref()));
                let _left = Finally(left);
                self.call_with_that_at(claims, true, message.as_ptr());
            }
        }
    }

    /// Calls the method. By itself on a chip: what a visit needs after it would be spilled all over the method, and it is there once.
    ///
    /// # Safety
    /// As [`Grant::new`].
    #[cfg_attr(not(target_os = "none"), inline(always))]
    #[cfg_attr(target_os = "none", inline(never))]
    unsafe fn call_with(&'static self, claims: Claims, alone: bool, message: A::Message) {
        let (state, objects) = A::Objects::split::<A>(self.whole.get());
        // SAFETY: the caller's promise.
        A::run(unsafe { Grant::new(state, objects, claims, alone) }, message);
    }

    /// The same with a larger message: taken apart into what a method needs and what it does not, copies of it would be copies of
    /// bytes.
    ///
    /// # Safety
    /// As [`Grant::new`]; the message is moved out.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    #[cfg_attr(target_os = "none", inline(never))]
    unsafe fn call_with_that_at(&'static self, claims: Claims, alone: bool, message: *const A::Message) {
        let (state, objects) = A::Objects::split::<A>(self.whole.get());
        // SAFETY: the caller's promise.
        A::run(unsafe { Grant::new(state, objects, claims, alone) }, unsafe { message.read() });
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
        if M::OVERFLOW == Overflow::Reject && trace::denies(trace::Denial::Room) {
            return Err(Refused::Full);
        }
        // SAFETY: the caller's promise.
        unsafe { self.put_straight(message) }
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
        let _masked = port::mask();
        removed(Mutant::RoomNotRechecked) || office.as_sender(here, |_, lane| lane.room().is_none())
    }

    fn report(&'static self) -> Report {
        Body::report(self)
    }
}

impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Resident for Body<A, M, N, P, L>
where
    M::Discipline: Permits<<A::Objects as Objects>::Whole<A>>,
{
    fn visit(&'static self, here: u8, mark: Mark) -> bool {
        self.visit_here(here, mark)
    }

    #[inline(always)]
    fn office(&self) -> &'static Office {
        self.mail.office()
    }

    #[inline(always)]
    fn pinned_to(&self) -> Option<u8> {
        Self::PINNED_TO
    }

    #[inline(always)]
    fn letter(&self, lane: usize, place: u16) -> NonNull<Head> {
        let slots = self.mail.slots(lane);
        if Self::IN_ORDER { slots.peek_in_order(place) } else { slots.peek(place) }
    }

    fn names(&self, method: u8) -> (&'static str, Option<&'static str>) {
        (core::any::type_name::<A>(), A::METHODS.get(usize::from(method)).map(Method::name))
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    unsafe fn run_several(&'static self, here: u8, lane: usize, mut place: u16, until: u16) -> u16 {
        if !Self::IN_ORDER {
            return until;
        }
        loop {
            // SAFETY: the caller's promise: this letter is the next.
            unsafe { self.run_in_order(self.mail, here, (lane, place)) };
            place = place.wrapping_add(1);
            if place == until || cores::others_wait(here) {
                return place;
            }
        }
    }

    #[inline(always)]
    fn schedule(&'static self) {
        let Some(lists) = self.mail.lists.lists() else { return };
        // SAFETY: under the lock, and `schedule` cannot reach this again: it has no way to visit the actor.
        schedule(unsafe { &mut *self.monitor.get() }, lists);
    }

    fn leave(&'static self, letter: NonNull<Head>) {
        if !Self::IN_ORDER {
            self.hear(letter, || self.free(letter));
        }
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    unsafe fn run_locked(&'static self, here: u8, letter: NonNull<Head>, alone: bool) {
        // As the compiler knows where letters never share.
        let alone = alone || matches!(Self::SHARING, Sharing::OneAtATime);
        let Some(lists) = self.mail.lists.lists() else { return };
        let on_panic = OnPanic(|| {
            lists.end_later(letter);
            visit::abandon(self.mail.office(), here);
        });
        // SAFETY: the caller's promise; the lock is held until the letter has ended.
        unsafe { self.run_granted(here, letter, alone) };
        core::mem::forget(on_panic);
        lists.end_locked(Self::view(letter), alone);
        let _ = self.leave_and_schedule(lists, letter);
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    #[cfg_attr(target_os = "none", inline(never))]
    unsafe fn run_sharing(&'static self, here: u8, letter: NonNull<Head>) -> Left {
        let Some(lists) = self.mail.lists.lists() else { return Left::NotYet };
        let on_panic = OnPanic(|| {
            monitored::say(letter, Ended::Run);
            visit::note_here(self.mail.office(), here);
        });
        // SAFETY: the caller's promise; the gate has no writer, and the letter is in it until a holder of the lock takes it out: this
        // worker, or whoever hears that it has ended.
        unsafe { self.run_granted(here, letter, false) };
        core::mem::forget(on_panic);
        if !self.mail.office().desk.try_enter() {
            return Left::NotYet;
        }
        lists.end_listed(Self::view(letter));
        if self.leave_and_schedule(lists, letter) { Left::BeforeOthers } else { Left::Alone }
    }
}

/// Whether messages are kept in registers.
#[inline(always)]
const fn is_small<A: Methods>() -> bool {
    size_of::<A::Message>() <= SMALL || !cfg!(any(target_os = "none", miri))
}

/// Lets a monitor decide about the letters in the lists. By itself on a chip, once per monitor.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
fn schedule<M: Monitor>(monitor: &mut M, lists: &'static Lists) {
    let sharing = <M::Discipline as Discipline>::SHARING.0;
    monitor.schedule(Inbox { lists, descriptor: lists.descriptor(), only: None, sharing });
}

/// Runs at the end of its scope, also when a panic unwinds through it.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0();
    }
}
