//! The body of an actor: its mailbox, its monitor and its state, and what a worker does when it visits.
//!
//! A visit tries the actor's lock and never waits for it. Without a monitor, letters are run straight from the lanes, oldest
//! first, and the lock is the borrow: it is held while the method runs. With a monitor, a visit is made of *rounds*:
//!
//! ```text
//!  round:  drain the lanes into the inbox · for each ended letter: leave, free its slot · schedule if letters wait
//!  pull:   take one granted letter
//!            it borrows exclusively:  run it under the lock, next round
//!            it shares:               unlock, run it, mark it done, lock again, next round
//! ```
//!
//! While a letter that shares is run, other cores visit, and take further granted letters. **Invariant (gate):** a letter is
//! run only between its admission by the gate and its `ended`, both under the lock, and the gate admits no letter that would
//! alias one inside; so the references a method gets are unique or shared as Rust demands.
#![expect(unsafe_code, reason = "borrows the state as the gate admitted")]

use core::any::TypeId;
use core::cell::UnsafeCell;
use core::ptr::NonNull;

use crate::call::{Post, Refused, Report};
use crate::cores::{self, ActorId, Visit};
use crate::gate::Sharing;
use crate::inbox::Inbox;
use crate::lane::{Envelope, Lane, Slot};
use crate::letter::{Access, Descriptor, Head, Letter, Method};
use crate::mailbox::{LaneOf, Mail, Run};
use crate::methods::{Grant, Methods};
use crate::monitor::{Affinity, Discipline, Monitor, Permits};
use crate::objects::{Claims, Objects, Unrunnable};
use crate::overflow::{self, DeadLetter, Death, Overflow};
use crate::port::{self, FOREIGN};
use crate::promise::Ticket;
use crate::sync::{Mutant, const_unless_loom, fence, removed};
use crate::trace;
use crate::worker;

/// Unanswered asks per lane unless the declaration says otherwise.
pub const DEFAULT_PROMISES: usize = 4;

/// Letters of one actor that are run in one visit while no other actor waits.
const BATCH: u32 = 64;
/// How often a worker with a letter in hand goes back for events that others left with it.
const ROUNDS: u32 = 4;

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
    };
    const SHARING: Sharing = <M::Discipline as Discipline>::SHARING.0;

    const_unless_loom! {
        /// An actor with this mailbox and initial state. A mailbox belongs to one actor.
        pub fn new(mail: &'static Mail<A, M, N, P, L>, whole: <A::Objects as Objects>::Whole<A>) -> Self {
            const {
                assert!(
                    !<M::Discipline as Discipline>::STAYS || matches!(M::AFFINITY, Affinity::Pinned(_)),
                    "a monitor with the discipline `OnOneCore` must pin its actor: give it `const AFFINITY: Affinity = Affinity::Pinned(..)`"
                )
            };
            Self { mail, monitor: UnsafeCell::new(M::NEW), whole: UnsafeCell::new(whole) }
        }
    }

    /// What happened to this actor's letters so far.
    pub fn report(&self) -> Report {
        Report {
            refused_grants: self.mail.desk.lists.refused(),
            dropped: self.mail.lanes.iter().fold(0, |sum: u32, lane| sum.wrapping_add(lane.dropped())),
            letters: self.mail.occupied(),
            high_water: self.mail.high_water(),
            capacity: N,
        }
    }

    #[inline(always)]
    fn pinned_core() -> Option<u8> {
        match M::AFFINITY {
            Affinity::Any => None,
            Affinity::Pinned(core) => Some(core),
        }
    }

    // ---- sending ----

    /// Its number; the first letter of an actor gets it one.
    #[inline(always)]
    pub(crate) fn id(&'static self) -> ActorId
    where
        Self: Visit,
    {
        let desk = &self.mail.desk;
        match desk.id() {
            Some(id) => id,
            None => cores::register(self, &|| desk.id(), &|id| desk.name(id)),
        }
    }

    /// Runs `work` as the sender of its lane: interrupts masked, and the lane locked where several senders share it.
    #[inline(always)]
    fn as_sender<R>(&'static self, here: u8, work: impl FnOnce(LaneOf) -> R) -> R {
        let lane = Mail::<A, M, N, P, L>::lane_of(here);
        if lane.shared {
            let _held = self.mail.lanes[lane.index].share();
            work(lane)
        } else {
            work(lane)
        }
    }

    /// Marks the actor as noted on a core; true if it was not. Interrupts are masked.
    #[inline(always)]
    fn mark_on(&'static self, here: u8) -> bool
    where
        Self: Visit,
    {
        let own = Mail::<A, M, N, P, L>::lane_of(here);
        if own.shared { cores::core(here).join(self.id()) } else { self.mail.lanes[own.index].mark() }
    }

    /// It was taken out of a core's ready set.
    #[inline(always)]
    fn unmark(&'static self, here: u8, own: LaneOf)
    where
        Self: Visit,
    {
        if own.shared {
            let _masked = port::mask();
            cores::core(here).part(self.id());
        } else {
            self.mail.lanes[own.index].unmark();
        }
    }

    /// Puts the actor into the ready set of the core this runs on (or asks for a visit from outside): there is something to
    /// do.
    #[inline(always)]
    fn note(&'static self, here: u8, id: ActorId)
    where
        Self: Visit,
    {
        if port::FOREIGN_THREADS && here == FOREIGN {
            cores::note_foreign(id, Self::pinned_core());
        } else if self.mark_on(here) {
            cores::enqueue(here, id, Self::pinned_core());
        }
    }

    /// Wakes whoever waits for room, after slots were freed and the exit fence was passed.
    #[inline(always)]
    fn tell_of_room(&self) {
        if self.mail.desk.room_wanted.is_raised() {
            self.tell_waiting();
        }
    }

    /// Wants are taken back before the notices: whoever still finds no room wants again.
    #[cold]
    #[inline(never)]
    fn tell_waiting(&self) {
        self.mail.desk.room_wanted.lower();
        fence(Mutant::RoomLookFence);
        for lane in self.mail.lanes() {
            let who = lane.who_wants_room();
            if !removed(Mutant::RoomForgottenLate) && who != 0 {
                lane.want_room(0);
            }
            match who {
                0 => {}
                ANYBODY => cores::notify_all(),
                core => cores::notify(core - 1),
            }
            if removed(Mutant::RoomForgottenLate) {
                lane.want_room(0);
            }
        }
    }

    /// Writes the letter into its lane and notes the receiver: the straight line for a letter that can run, to an actor that
    /// has its number, through a lane of the core's own that has room. All else is
    /// [`put_otherwise`](Self::put_otherwise).
    ///
    /// # Safety
    /// The pointer leads to a message that is the caller's to give away; it was moved out if and only if the result is `Ok`.
    #[inline(always)]
    unsafe fn put_straight(&'static self, message: *mut A::Message) -> Result<(), Refused>
    where
        Self: Visit,
    {
        // SAFETY: the caller's message is there.
        let address = Self::address(unsafe { &*message });
        let masked = port::mask();
        let here = port::core();
        let own = Mail::<A, M, N, P, L>::lane_of(here);
        let mail = self.mail;
        if !own.shared
            && let Some(id) = mail.desk.id()
            && let Ok(address) = address
            && let Some(place) = mail.lanes[own.index].room()
        {
            // SAFETY: the caller gives it away, and hears that it is gone.
            unsafe { self.write(own.index, place, id, address, message) };
            if mail.lanes[own.index].mark() {
                cores::enqueue(here, id, Self::pinned_core());
            }
            return Ok(());
        }
        drop(masked);
        // SAFETY: the message was not moved out.
        unsafe { self.put_otherwise(message) }
    }

    /// The same for every letter, also the first one of an actor, through a lane that others share, and one without room.
    ///
    /// # Safety
    /// As [`put_straight`](Self::put_straight).
    #[cold]
    #[inline(never)]
    unsafe fn put_otherwise(&'static self, message: *mut A::Message) -> Result<(), Refused>
    where
        Self: Visit,
    {
        // SAFETY: the caller's message is there.
        let address = Self::address(unsafe { &*message }).map_err(Refused::Unrunnable)?;
        let id = self.id();
        let sent = {
            let _masked = port::mask();
            let here = port::core();
            let sent = self.as_sender(here, |own| {
                let room = self.mail.lanes[own.index].room();
                if let Some(place) = room {
                    // SAFETY: the caller gives it away, and hears that it is gone.
                    unsafe { self.write(own.index, place, id, address, message) };
                } else {
                    self.mail.lanes[own.index].was_full();
                }
                room.is_some()
            });
            if sent {
                self.note(here, id);
            }
            sent
        };
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
        if M::UNMONITORED && !trace::IS_ON {
            return Ok(Address { method: 0, claims });
        }
        let (method, methods) = (A::method(message), const { A::METHODS.len() });
        if usize::from(method) < methods {
            Ok(Address { method, claims })
        } else {
            Err(Unrunnable::NoSuchMethod { method, methods: methods as u8 })
        }
    }

    /// # Safety
    /// The message behind the pointer is moved out.
    #[inline(always)]
    unsafe fn write(&'static self, lane: usize, place: u16, id: ActorId, address: Address, message: *mut A::Message) {
        let mail = self.mail;
        let stamp = mail.stamp(lane, place);
        let Address { method, claims } = address;
        let envelope = Envelope { lane: lane as u8, stamp, method, claims };
        let written = |letter| trace::sent(|| Some(id), trace::name(letter));
        // SAFETY: the caller's promise.
        unsafe { mail.lanes[lane].send(place, envelope, M::UNMONITORED, message, written) };
    }

    /// What the declared policy does with a letter for which there is no room. What it drops is buried after all locks
    /// are free: the hook and the message's own `drop` are the user's code.
    ///
    /// # Safety
    /// As [`put_straight`](Self::put_straight).
    unsafe fn put_without_room(&'static self, message: *mut A::Message) -> Result<(), Refused>
    where
        Self: Visit,
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
            self.as_sender(port::core(), |own| self.mail.lanes[own.index].count_dropped());
        }
        trace::dropped(|| self.mail.desk.id());
        let method = A::METHODS.get(usize::from(A::method(&message))).map_or("?", Method::name);
        overflow::bury(&DeadLetter { actor: core::any::type_name::<A>(), method, death, message: &message });
    }

    /// Takes the oldest letter of this sender's lane that waits and passes out of the mailbox, if the receiver's lock is free.
    fn discard_waiting(&'static self, mut passes: impl FnMut(&A::Message) -> bool) -> Option<A::Message>
    where
        Self: Visit,
    {
        let here = port::core();
        let own = Mail::<A, M, N, P, L>::lane_of(here).index;
        let (desk, lane) = (&self.mail.desk, &self.mail.lanes[own]);
        if !desk.try_enter() {
            return None;
        }
        let discarded = if M::UNMONITORED {
            // Letters of an actor without a monitor leave in order, so only the next one can be taken out.
            let next = (lane.published() != lane.received()).then(|| lane.peek_in_order(lane.received()));
            // SAFETY: published and not received, so its message is there, and ours to look at under the lock.
            next.filter(|&letter| passes(unsafe { Slot::<A>::message(letter) })).map(|letter| {
                // SAFETY: the same; it is received right away, so it is taken once.
                let message = unsafe { Slot::<A>::take(letter) };
                lane.receive_and_free(lane.received());
                message
            })
        } else {
            let lists = &desk.lists;
            self.mail.drain(lists, own);
            let found = lists.find_waiting(|letter| {
                // SAFETY: a waiting letter's message is there, and ours to look at under the lock.
                usize::from(Self::view(letter).head().lane.get()) == own
                    && passes(unsafe { Slot::<A>::message(letter) })
            });
            found.map(|letter| {
                lists.discard(letter);
                // SAFETY: the same; it is out of the inbox, so nobody else takes it.
                let message = unsafe { Slot::<A>::take(letter) };
                lane.free(Self::view(letter).head().slot.get());
                message
            })
        };
        // Whoever rang, and what was drained, is served by a visit of this core.
        let _ = self.exit();
        self.note_here(here);
        discarded
    }

    // ---- running ----

    /// Leaves the turnstile; true if somebody rang who relies on it.
    #[inline(always)]
    fn exit(&'static self) -> bool {
        let rang = self.mail.desk.exit();
        self.tell_of_room();
        rang
    }

    /// A visit to an actor without a monitor: the straight line for exactly one letter, in the core's own lane, and nobody
    /// at the bell. Everything else is left by a call in the last place, so that it costs the straight line nothing.
    #[inline(always)]
    fn visit_unmonitored(&'static self, here: u8, own: LaneOf) -> bool
    where
        Self: Visit,
    {
        let mail = self.mail;
        if !mail.desk.enter() {
            return false;
        }
        if own.shared || mail.desk.has_bell() {
            return self.visit_batch(here);
        }
        let lane = &mail.lanes[own.index];
        let until = lane.published();
        if mail.others_have_letters(own.index) {
            return self.visit_batch(here);
        }
        let received = lane.received();
        if until != received {
            if until.wrapping_sub(received) != 1 {
                return self.visit_batch(here);
            }
            self.run_from_lane(here, lane, received);
        }
        // Whoever sent a letter since then has noted the actor, or will ring.
        mail.desk.release();
        if mail.desk.calls() { self.answer_calls(here) } else { false }
    }

    /// After the lock was released: somebody rang, or waits for room.
    #[cold]
    #[inline(never)]
    fn answer_calls(&'static self, here: u8) -> bool
    where
        Self: Visit,
    {
        self.tell_of_room();
        let desk = &self.mail.desk;
        desk.rang() && desk.try_enter() && self.visit_batch(here)
    }

    /// The same for any number of letters in any lanes. The lock is held.
    #[inline(never)]
    fn visit_batch(&'static self, here: u8) -> bool
    where
        Self: Visit,
    {
        let desk = &self.mail.desk;
        let own = Mail::<A, M, N, P, L>::lane_of(here).index;
        let mut budget = BATCH;
        loop {
            desk.begin_round();
            let more = 'batch: loop {
                let Run { lane, until, all } = self.mail.oldest(own);
                let lane = &self.mail.lanes[lane];
                let mut place = lane.received();
                lane.note_depth(until);
                // One letter at least, so that a visit is worth its while; more while nobody else waits.
                while place != until {
                    self.run_from_lane(here, lane, place);
                    place = place.wrapping_add(1);
                    budget -= 1;
                    if place != until && (budget == 0 || cores::others_wait(here, 0)) {
                        break 'batch true;
                    }
                }
                if all {
                    break false;
                }
                if budget == 0 || cores::others_wait(here, 0) {
                    break true;
                }
            };
            let rang = self.exit();
            if more {
                return true;
            }
            if !rang || !desk.try_enter() {
                return false;
            }
        }
    }

    /// Runs the next letter of a lane under the lock, which stands for the borrow.
    #[inline(always)]
    fn run_from_lane(&'static self, here: u8, lane: &Lane<A, N, P>, place: u16)
    where
        Self: Visit,
    {
        let letter = lane.peek_in_order(place);
        let name = trace::name(letter);
        trace::started(|| self.mail.desk.id(), name);
        // SAFETY: the letter is published and not received; only the holder of the lock receives, so it is taken once.
        let (message, claims) = unsafe { (Slot::<A>::take(letter), Slot::<A>::claims(letter)) };
        lane.receive_and_free(place);
        cores::set_method(here, || A::method(&message));
        let left = || {
            trace::ended(|| self.mail.desk.id(), name);
            trace::left(|| self.mail.desk.id(), name);
        };
        let on_panic = OnPanic(|| {
            left();
            self.mail.desk.abandon();
            self.note_here(here);
        });
        let (state, objects) = A::Objects::split::<A>(self.whole.get());
        // SAFETY: letters of this actor are run only here, under the lock, one at a time.
        A::run(unsafe { Grant::new(state, objects, claims, true) }, message);
        core::mem::forget(on_panic);
        left();
    }

    /// Puts the actor into this core's ready set: there is something left to do.
    #[cold]
    fn note_here(&'static self, here: u8)
    where
        Self: Visit,
    {
        let _masked = port::mask();
        self.note(here, self.id());
    }

    /// A visit to an actor with a monitor.
    fn visit_monitored(&'static self, here: u8) -> bool
    where
        Self: Visit,
    {
        let desk = &self.mail.desk;
        if !desk.enter() {
            return false;
        }
        let mut budget = BATCH;
        loop {
            desk.begin_round();
            self.round(here);
            let pulled =
                if budget == 0 || (budget < BATCH && self.others_wait(here)) { None } else { desk.lists.start() };
            let Some(letter) = pulled else {
                let more = desk.lists.has_granted();
                let rang = self.exit();
                if more {
                    return true;
                }
                if !rang || !desk.try_enter() {
                    return false;
                }
                continue;
            };
            budget -= 1;
            if Self::is_exclusive(letter) || port::cores() == 1 {
                // Nobody could run another letter meanwhile, so the lock is kept.
                self.run_granted(here, letter, true);
            } else {
                self.unlock_with_letter(here);
                self.run_granted(here, letter, false);
                if !desk.enter() {
                    return false;
                }
            }
        }
    }

    /// Whether another actor waits for this core. This one may be in the ready set itself: so that other cores see its
    /// surplus, or because of a letter to itself.
    #[inline(always)]
    fn others_wait(&'static self, here: u8) -> bool {
        let own = Mail::<A, M, N, P, L>::lane_of(here);
        let this = !own.shared && self.mail.lanes[own.index].is_marked();
        cores::others_wait(here, u16::from(this))
    }

    #[inline(always)]
    fn is_exclusive(letter: NonNull<Head>) -> bool {
        Self::SHARING == Sharing::OneAtATime || Self::view(letter).access() == Access::Writer
    }

    #[inline(always)]
    fn view(letter: NonNull<Head>) -> Letter<'static> {
        Letter { head: letter, descriptor: const { &Self::DESCRIPTOR } }
    }

    /// Unlocks before a letter that shares the state is run here, and sees to it that what others left with this worker is
    /// done now and not after the turn: their events are handled, further granted letters are offered to idle cores.
    fn unlock_with_letter(&'static self, here: u8)
    where
        Self: Visit,
    {
        let desk = &self.mail.desk;
        let mut surplus = desk.lists.has_granted();
        for round in 0.. {
            if !self.exit() || !desk.try_enter() {
                break;
            }
            if round == ROUNDS {
                desk.abandon();
                surplus = true;
                break;
            }
            desk.begin_round();
            self.round(here);
            surplus = desk.lists.has_granted();
        }
        if surplus {
            self.note_here(here);
            cores::offer_surplus(here);
        }
    }

    /// Under the lock: what arrived goes into the inbox, what ended leaves, and the monitor schedules.
    #[inline(always)]
    fn round(&'static self, here: u8)
    where
        Self: Visit,
    {
        let lists = &self.mail.desk.lists;
        let own = Mail::<A, M, N, P, L>::lane_of(here).index;
        let _no_waiting = worker::NoWaiting::on(here);
        cores::set_method(here, || cores::NO_METHOD);
        let on_panic = OnPanic(|| {
            // A monitor's panic: what it granted before stands, and it is asked again about the rest.
            lists.publish();
            lists.ask_again();
            self.mail.desk.abandon();
            self.note_here(here);
        });
        self.mail.drain(lists, own);
        while let Some(letter) = lists.ended(Self::SHARING, &Self::DESCRIPTOR) {
            self.leave(letter);
            if !lists.is_empty() {
                self.schedule();
            }
        }
        if lists.has_unseen() {
            self.schedule();
        }
        core::mem::forget(on_panic);
    }

    /// The inbox is not empty.
    #[inline(always)]
    fn schedule(&'static self) {
        let lists = &self.mail.desk.lists;
        let inbox = Inbox { lists, descriptor: const { &Self::DESCRIPTOR }, sharing: Self::SHARING };
        lists.seen();
        // SAFETY: under the lock, and `schedule` cannot reach this again: it has no way to visit the actor.
        unsafe { &mut *self.monitor.get() }.schedule(inbox);
        lists.publish();
    }

    /// Tells the monitor, and gives the slot back also if the monitor panics.
    #[inline(always)]
    fn leave(&'static self, letter: NonNull<Head>) {
        let view = Self::view(letter);
        let head = view.head();
        let _free = Finally(|| {
            self.mail.lanes[usize::from(head.lane.get())].free(head.slot.get());
        });
        // SAFETY: as in `schedule`.
        unsafe { &mut *self.monitor.get() }.leave(view);
        trace::left(|| self.mail.desk.id(), trace::name(letter));
    }

    /// Runs a letter that the gate admitted.
    #[inline(always)]
    fn run_granted(&'static self, here: u8, letter: NonNull<Head>, locked: bool)
    where
        Self: Visit,
    {
        let view = Self::view(letter);
        cores::set_method(here, || view.head().method.get());
        trace::started(|| self.mail.desk.id(), trace::name(letter));
        let on_panic = OnPanic(|| {
            trace::ended(|| self.mail.desk.id(), trace::name(letter));
            view.head().done.raise(Some(Mutant::DoneRelaxed));
            if locked {
                self.mail.desk.abandon();
            }
            self.note_here(here);
        });
        // SAFETY: the letter was granted, and `start` gave it to this worker alone, so its message is taken once.
        let (message, claims) = unsafe { (Slot::<A>::take(letter), Slot::<A>::claims(letter)) };
        let (state, objects) = A::Objects::split::<A>(self.whole.get());
        // SAFETY: the gate admitted it as a writer if it is run exclusively, otherwise as a reader with its claims, and it
        // is inside the gate until `done` is seen (the gate's invariant).
        A::run(unsafe { Grant::new(state, objects, claims, Self::is_exclusive(letter)) }, message);
        core::mem::forget(on_panic);
        trace::ended(|| self.mail.desk.id(), trace::name(letter));
        view.head().done.raise(Some(Mutant::DoneRelaxed));
    }
}

/// Which method a letter calls, and with which objects.
#[derive(Clone, Copy)]
struct Address {
    method: u8,
    claims: Claims,
}

/// What `wants_room` holds where several senders share a lane.
const ANYBODY: u8 = u8::MAX;

impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Post<A> for Body<A, M, N, P, L>
where
    M::Discipline: Permits<<A::Objects as Objects>::Whole<A>>,
{
    #[inline(always)]
    unsafe fn put(&'static self, message: *mut A::Message) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { self.put_straight(message) }
    }

    #[inline(always)]
    fn issue(&'static self) -> Option<Ticket> {
        let fresh = {
            let _masked = port::mask();
            let here = port::core();
            self.as_sender(here, |own| {
                let home = if own.shared { FOREIGN } else { here };
                self.mail.lanes[own.index].issue(home)
            })
        };
        fresh.map(crate::promise::Fresh::into_ticket)
    }

    fn wait_for_room(&'static self, here: u8) -> bool {
        let own = Mail::<A, M, N, P, L>::lane_of(here);
        let lane = &self.mail.lanes[own.index];
        lane.want_room(if own.shared { ANYBODY } else { here + 1 });
        fence(Mutant::RoomWantedFence);
        self.mail.desk.room_wanted.raise(None);
        fence(Mutant::RoomFence);
        let _masked = port::mask();
        removed(Mutant::RoomNotRechecked) || self.as_sender(here, |_| lane.room().is_none())
    }

    fn report(&'static self) -> Report {
        Body::report(self)
    }
}

impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Visit for Body<A, M, N, P, L>
where
    M::Discipline: Permits<<A::Objects as Objects>::Whole<A>>,
{
    fn visit(&'static self, here: u8, from_ready: bool) -> bool {
        let own = Mail::<A, M, N, P, L>::lane_of(here);
        if from_ready {
            self.unmark(here, own);
        }
        if Self::pinned_core().is_some_and(|core| core != here) {
            return true;
        }
        if M::UNMONITORED { self.visit_unmonitored(here, own) } else { self.visit_monitored(here) }
    }

    fn mark(&'static self, here: u8) -> bool {
        self.mark_on(here)
    }

    #[inline(always)]
    fn pinned_to(&self) -> Option<u8> {
        Self::pinned_core()
    }

    fn names(&self, method: u8) -> (&'static str, Option<&'static str>) {
        (core::any::type_name::<A>(), A::METHODS.get(usize::from(method)).map(Method::name))
    }
}

/// Runs when a panic unwinds through it; forgotten otherwise.
struct OnPanic<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnPanic<F> {
    #[cold]
    fn drop(&mut self) {
        self.0();
    }
}

/// Runs at the end of its scope, also when a panic unwinds through it.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0();
    }
}
