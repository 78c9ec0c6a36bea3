//! The body of an actor while it is visited: the straight lines of a visit, its methods, and what its monitor decides.
//!
//! What is not straight, and does not depend on the actor's type, is in [`visit`](crate::visit).
#![expect(unsafe_code, reason = "borrows the state as the gate admitted")]

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::{Body, HeadIn, SMALL};
use crate::cores::{self, Core, MonitorTurn};
use crate::desk::{InOrder, Left, Ran, Resident};
use crate::gate::Sharing;
use crate::hand::{Hand, Readers};
use crate::inbox::Inbox;
use crate::lane::Place;
use crate::letter::{Access, Head, Letter, Method, Stage};
use crate::lists::{Lists, ListsOf};
use crate::mailbox::{Mail, Office, Run};
use crate::methods::{Grant, Methods};
use crate::monitor::{Discipline, Monitor, Permits};
use crate::objects::{Claims, Objects};
use crate::port;
use crate::ready::Mark;
use crate::share::{self, Share};
use crate::slots::Slot;
use crate::trace;
use crate::visit::{self, OnPanic, in_hand, monitored, readers, sharing};

impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Body<A, M, N, P, L> {
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
            // Workers of a chip have a straight line of their own.
            Some(lists) if !Self::STANDING_GRANT => self.visit_monitored(mail, lists, here),
            _ if cfg!(target_os = "none") => visit::visit_in_order_otherwise(office, visit::anybody(self), here),
            _ => {
                // SAFETY: the lock is held, and the letter is published and the next of its lane.
                let run = |at| unsafe { self.run_in_order(cores::core(here), at) };
                let otherwise = |go_on: fn(&'static Office, _, u8) -> bool| go_on(office, visit::anybody(self), here);
                visit::visit_in_order(office, run, || office, || otherwise(visit::visit_otherwise), otherwise, here)
            }
        }
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
        if !desk.enter() {
            return false;
        }
        let Some(at) = office.only_letter_at_hand(here).filter(|_| lists.is_quiet()) else {
            return self.visit_several(here);
        };
        let (lane, place) = (at.lane(), at.place());
        let letter = mail.slots(lane).peek(place);
        office.lane(lane).receive(place);
        if !self.schedule_only(office, lists, here, letter) {
            return monitored::keep_waiting(office, visit::anybody(self), lists, here, letter);
        }
        if Self::is_alone(letter) {
            // SAFETY: granted, and alone: nobody is in the gate.
            unsafe { self.run_alone(office, lists, here, letter) };
        } else {
            lists.start_only(Self::view(letter));
            desk.release();
            if desk.calls() {
                monitored::answer_with(office, visit::anybody(self), lists, here, Readers::One(letter));
            }
            // SAFETY: started above, under the lock, which was released.
            let left = unsafe { sharing::run_one(office, visit::anybody(self), lists, here, letter) };
            if left != Left::Alone || !lists.is_quiet() {
                return monitored::go_on_among_others(office, visit::anybody(self), lists, letter, left);
            }
        }
        // Whoever sent a letter since then has noted the actor, or will ring.
        desk.release();
        if desk.calls() { monitored::answer(office, visit::anybody(self), lists, port::core()) } else { false }
    }

    /// Whether a letter must be alone in the gate. (As the compiler knows where letters never share.)
    #[inline(always)]
    fn is_alone(letter: NonNull<Head>) -> bool {
        matches!(Self::SHARING, Sharing::OneAtATime) || Self::view(letter).access() == Access::Writer
    }

    /// Whether readers are run straight from the lanes.
    const TAKES_READERS: bool =
        matches!(Self::SHARING, Sharing::Parallel) && Slot::<A, HeadIn<M>>::CLAIMS_OFFSET.is_none();

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
        self.ask_about(lists, letter, None);
        core::mem::forget(on_panic);
        let granted = stage.get() == Stage::Granted;
        if granted {
            turn.before_method();
        }
        granted
    }

    /// The same for the oldest letter, where there may be others in the lanes. If it was not granted, or the monitor looked at others, too,
    /// it is in the lists.
    #[inline(always)]
    fn schedule_oldest(
        &'static self,
        office: &'static Office,
        lists: &'static Lists,
        here: u8,
        letter: NonNull<Head>,
        hand: &Hand<'_>,
    ) -> bool {
        let stage = &Self::view(letter).head().stage;
        stage.set(Stage::Waiting);
        let turn = MonitorTurn::begin(here);
        let on_panic = OnPanic(|| {
            hand.put_down(lists, Some(letter));
            monitored::after_monitors_panic(office, lists, here);
        });
        self.ask_about(lists, letter, Some(hand));
        core::mem::forget(on_panic);
        let granted = stage.get() == Stage::Granted && hand.holds_all();
        if granted {
            turn.before_method();
        } else {
            hand.put_down(lists, Some(letter));
            lists.publish();
        }
        granted
    }

    #[inline(always)]
    fn ask_about(&'static self, lists: &'static Lists, letter: NonNull<Head>, hand: Option<&Hand<'_>>) {
        let descriptor = const { &Self::DESCRIPTOR };
        let inbox = Inbox { lists, descriptor, only: Some(letter), hand, sharing: Self::SHARING };
        // SAFETY: under the lock, and `schedule` cannot reach this again: all it can do is send, and a send tries for the lock at most.
        unsafe { &mut *self.monitor.get() }.schedule(inbox);
    }

    /// Runs a letter that was granted and is in no list, and lets it leave, under the lock.
    ///
    /// # Safety
    /// It must be alone, and nobody is in the gate; nobody comes in while the lock is held, which it is until the letter has left. It was
    /// received last, and all others that were received are freed.
    #[inline(always)]
    unsafe fn run_alone(&'static self, office: &'static Office, lists: &'static Lists, here: u8, letter: NonNull<Head>)
    where
        Self: Resident,
    {
        let on_panic = OnPanic(|| {
            lists.end_only_later(letter);
            visit::abandon(office, here);
        });
        Self::view(letter).head().stage.set(Stage::Running);
        // SAFETY: the caller's promise.
        unsafe { self.run_granted(cores::core(here), letter, true) };
        core::mem::forget(on_panic);
        // The core is asked for again: kept during the method, it and all that was made of it would cost more.
        let here = port::core();
        let _turn = MonitorTurn::begin(here);
        let on_panic = monitored::on_monitors_panic(office, lists, here);
        // It was received last and leaves first, so the places are in order.
        self.hear(letter, || office.lane(Self::view(letter).head().label.get().lane()).free_next());
        core::mem::forget(on_panic);
    }

    /// The monitor hears that a letter has ended; then its slot is free, also if the monitor panics. Under the lock.
    #[inline(always)]
    fn hear(&'static self, letter: NonNull<Head>, free: impl Fn()) {
        let on_panic = OnPanic(&free);
        // SAFETY: under the lock, and `leave` cannot reach this again: all it can do is send, and a send tries for the lock at most.
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
    unsafe fn run_granted(&'static self, here: &'static Core, letter: NonNull<Head>, alone: bool)
    where
        Self: Resident,
    {
        #[cfg(all(target_os = "none", target_arch = "arm"))]
        if matches!(Self::SHARING, Sharing::OneAtATime) {
            // By the function that runs letters in order, so that it is the only one that calls the methods of this type: then they are a
            // part of it.
            // SAFETY: the caller's promise.
            let _ = unsafe { self.run_in_order(here, Place::of_granted(letter)) };
            return;
        }
        let alone = alone || matches!(Self::SHARING, Sharing::OneAtATime);
        // SAFETY: the caller's promise.
        unsafe { self.run_letter(here, letter, alone, None, || ()) };
    }

    /// Runs a letter under the lock, by the standing grant, if that holds for it; or, on a chip, one that was granted otherwise. Letters of
    /// this actor run one at a time.
    ///
    /// # Safety
    /// As [`Resident::run_in_order`], or as [`run_granted`](Self::run_granted).
    #[inline(always)]
    unsafe fn run_one_at_a_time(&'static self, lists: &'static Lists, here: &'static Core, at: Place) -> InOrder {
        let (letter, receive) = if Self::STANDING_GRANT && lists.is_quiet() {
            // A letter that was granted otherwise is in the gate, so this is none.
            (self.mail.slots(at.lane()).peek(at.place()), Some(at))
        } else {
            core::hint::cold_path();
            let Some(letter) = at.granted() else { return InOrder::ToBeDecided };
            (letter, None)
        };
        let on_panic = OnPanic(|| {
            if receive.is_some() {
                visit::abandon(self.mail.office(), port::core());
            }
        });
        // SAFETY: the caller's promise. By the standing grant: nobody is in the gate, nor comes in while the lock is held.
        unsafe { self.run_letter(here, letter, true, receive, || ()) };
        core::mem::forget(on_panic);
        InOrder::Run
    }

    /// The same where letters may share: a reader is run without the lock, as a guest of the gate.
    ///
    /// # Safety
    /// As [`Resident::run_in_order`].
    #[inline(always)]
    unsafe fn run_beside_others(&'static self, lists: &'static Lists, here: &'static Core, at: Place) -> InOrder
    where
        Self: Resident,
    {
        if !Self::STANDING_GRANT {
            return InOrder::ToBeDecided;
        }
        let (office, letter) = (self.mail.office(), self.mail.slots(at.lane()).peek(at.place()));
        if Self::is_alone(letter) {
            if !lists.is_quiet() {
                return InOrder::ToBeDecided;
            }
            let on_panic = OnPanic(|| visit::abandon(office, port::core()));
            // SAFETY: the caller's promise; nobody is in the gate, nor comes in while the lock is held.
            unsafe { self.run_letter(here, letter, true, Some(at), || ()) };
            core::mem::forget(on_panic);
            return InOrder::Run;
        }
        // Of several, other cores should get some.
        if !office.is_only(at) || !lists.is_quiet_but_for_guests() {
            return InOrder::ToBeDecided;
        }
        let go = || {
            if lists.gate.let_guest_go(port::core()) {
                monitored::visit_after_guest(office, visit::anybody(self), lists);
            }
        };
        let is_inside = Cell::new(false);
        let on_panic = OnPanic(|| {
            let here = port::core();
            if !is_inside.get() {
                visit::abandon(office, here);
            } else if lists.gate.let_guest_go(here) {
                // No monitor is asked, and no letter run, while this unwinds.
                visit::note_here(office, here);
            }
        });
        // SAFETY: the caller's promise; nobody is alone in the gate, nor comes in so before the guest has gone.
        unsafe {
            self.run_letter(here, letter, false, Some(at), || {
                lists.gate.let_guest_in(port::core());
                is_inside.set(true);
                office.desk.release();
                if office.desk.calls() {
                    monitored::offer_beside_guest(office);
                }
            });
        }
        core::mem::forget(on_panic);
        go();
        InOrder::RunUnlocked
    }

    /// Runs a letter: one that was granted, or the next of a lane, which is received, and its slot freed, before it is run. `before` is called
    /// when the message was taken out. Whatever was received before such a letter is freed.
    ///
    /// # Safety
    /// The letter is this worker's alone, and is run once: it was granted, or it is the one at the place where it is received, published and not
    /// received yet, and the lock is held until `before` was called. It is alone in the gate if and only if `alone`, and stays there
    /// until it has ended.
    #[inline(always)]
    unsafe fn run_letter(
        &'static self,
        here: &'static Core,
        letter: NonNull<Head>,
        alone: bool,
        receive: Option<Place>,
        before: impl FnOnce(),
    ) {
        let name = trace::name(letter);
        let id = || self.office().desk.id();
        if receive.is_some() && !Self::IN_ORDER {
            trace::granted(id, name);
        }
        trace::started(id, name);
        // SAFETY: the slot is this letter's until it is freed.
        let claims = unsafe { Slot::<A, HeadIn<M>>::claims(letter) };
        let free = || {
            if let Some(at) = receive {
                self.mail.office().lane(at.lane()).receive_and_free(at.place(), N as u16);
            }
        };
        let _ended = Finally(|| match receive {
            Some(_) if Self::IN_ORDER => trace::ended_and_left(id, name),
            Some(_) => {
                trace::ended(id, name);
                trace::left(id, name);
            }
            None => trace::ended(id, name),
        });
        // SAFETY: the caller's promise: the message is taken once. The state is borrowed as the gate admitted the letter.
        unsafe {
            if is_small::<A>() {
                let message = Slot::<A, HeadIn<M>>::take(letter);
                cores::set_method_of(here, || A::method(&message));
                free();
                before();
                if receive.is_some() || matches!(Self::SHARING, Sharing::OneAtATime) {
                    self.call(claims, alone, message);
                } else {
                    self.call_with(claims, alone, message);
                }
            } else {
                let mut message = MaybeUninit::<A::Message>::uninit();
                message.as_mut_ptr().copy_from_nonoverlapping(Slot::<A, HeadIn<M>>::take_at(letter), 1);
                cores::set_method_of(here, || A::method(message.assume_init_ref()));
                free();
                before();
                self.call(claims, alone, message.assume_init());
            }
        }
    }

    /// Calls the method. By itself on a chip: where letters may share, this is the third place that does, and the one that is least in a hurry.
    ///
    /// # Safety
    /// As [`Grant::new`].
    #[cfg_attr(not(target_os = "none"), inline(always))]
    #[cfg_attr(target_os = "none", inline(never))]
    unsafe fn call_with(&'static self, claims: Claims, alone: bool, message: A::Message) {
        // SAFETY: the caller's promise.
        unsafe { self.call(claims, alone, message) };
    }

    /// The same where it is, in code.
    ///
    /// # Safety
    /// As [`Grant::new`].
    #[inline(always)]
    unsafe fn call(&'static self, claims: Claims, alone: bool, message: A::Message) {
        let (state, objects) = A::Objects::split::<A>(self.whole.get());
        // SAFETY: the caller's promise.
        A::run(unsafe { Grant::new(state, objects, claims, alone) }, message);
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
    #[cfg_attr(target_os = "none", inline(never))]
    unsafe fn run_in_order(&'static self, here: &'static Core, at: Place) -> InOrder {
        if let Some(lists) = self.mail.lists.lists() {
            // SAFETY: the caller's promise.
            return unsafe {
                match Self::SHARING {
                    Sharing::OneAtATime => self.run_one_at_a_time(lists, here, at),
                    Sharing::Parallel => self.run_beside_others(lists, here, at),
                }
            };
        }
        let letter = self.mail.slots(at.lane()).peek_in_order(at.place());
        let on_panic = OnPanic(|| visit::abandon(self.mail.office(), port::core()));
        // SAFETY: the caller's promise. Letters of this actor are run only here, under the lock, one at a time.
        unsafe { self.run_letter(here, letter, true, Some(at), || ()) };
        core::mem::forget(on_panic);
        InOrder::Run
    }

    #[inline(always)]
    fn lists(&self) -> Option<&'static Lists> {
        self.mail.lists.lists()
    }

    #[inline(always)]
    fn schedule(&'static self) {
        let Some(lists) = self.mail.lists.lists() else { return };
        // SAFETY: under the lock, and `schedule` cannot reach this again: all it can do is send, and a send tries for the lock at most.
        schedule(unsafe { &mut *self.monitor.get() }, lists);
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    unsafe fn run_oldest(&'static self, mut here: u8, mut budget: u16) -> u16 {
        let (mail, office) = (self.mail, self.mail.office());
        let Some(lists) = mail.lists.lists().filter(|_| !Self::STANDING_GRANT) else { return budget };
        let own = office.lane_of(here).index;
        let Run { lane, until, .. } = office.oldest(own, visit::anybody(self));
        let mut place = office.lane(lane).received();
        let hand = Hand::for_oldest(office, in_hand::list_lanes);
        // What comes through other lanes is younger than these.
        while place != until {
            let letter = mail.slots(lane).peek(place);
            if !Self::is_alone(letter) {
                break;
            }
            trace::listed(1);
            place = place.wrapping_add(1);
            office.lane(lane).receive_until(place);
            budget -= 1;
            if !self.schedule_oldest(office, lists, here, letter, &hand) {
                break;
            }
            // SAFETY: granted, and all is quiet, as the caller promised or since the letter before this one has left.
            unsafe { self.run_alone(office, lists, here, letter) };
            here = port::core();
            if budget == 0 || monitored::others_wait(office, here) {
                break;
            }
        }
        budget
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    unsafe fn run_readers(&'static self, here: u8, budget: u16) -> Ran {
        let Some(lists) = self.mail.lists.lists().filter(|_| Self::TAKES_READERS) else { return Ran::Some(budget) };
        // SAFETY: the caller's promise; it is this actor's monitor.
        unsafe { readers::run(self.monitor.get(), self.office(), visit::anybody(self), lists, here, budget) }
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn visit_several(&'static self, here: u8) -> bool {
        let Some(lists) = self.mail.lists.lists() else { return false };
        readers::visit(self.monitor.get(), self.office(), visit::anybody(self), lists, here)
    }

    fn answer(&'static self, here: u8) -> bool {
        let Some(lists) = self.mail.lists.lists() else { return false };
        monitored::answer(self.office(), visit::anybody(self), lists, here)
    }

    fn leave(&'static self, letter: NonNull<Head>) {
        if !Self::IN_ORDER {
            self.hear(letter, || self.free(letter));
        }
    }

    fn leave_share(&'static self, share: &Share, run: u8) {
        let Some(lists) = self.mail.lists.lists() else { return };
        // SAFETY: under the lock, and a monitor cannot reach this again: all it can do is send, and a send tries for the lock at most.
        leave_all(unsafe { &mut *self.monitor.get() }, self.mail.office(), lists, share, run);
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    unsafe fn run(&'static self, here: u8, letter: NonNull<Head>, alone: bool) {
        if !Self::IN_ORDER {
            // SAFETY: the caller's promise.
            unsafe { self.run_granted(cores::core(here), letter, alone) };
        }
    }

    #[inline(always)]
    fn end_share(&'static self, here: u8, run: u8) -> Left {
        let Some(lists) = self.mail.lists.lists() else { return Left::NotYet };
        // SAFETY: under the lock, and a monitor cannot reach this again: all it can do is send, and a send tries for the lock at most.
        leave_share(unsafe { &mut *self.monitor.get() }, self.mail.office(), lists, here, run)
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
    monitor.schedule(Inbox { lists, descriptor: lists.descriptor(), only: None, hand: None, sharing });
}

/// Under the lock, after the methods of a share of this core: its letters leave, the monitor decides about those that wait, and the share is
/// given up. By itself on a chip, once per monitor.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
fn leave_share<M: Monitor>(monitor: &mut M, office: &'static Office, lists: &'static Lists, here: u8, run: u8) -> Left {
    let share = share::of_core(here);
    if !lists.is_empty() || share.left() != 0 {
        return leave_share_among_others(monitor, office, lists, here, run);
    }
    let _turn = MonitorTurn::begin(here);
    let on_panic = OnPanic(|| {
        share.stop(run);
        monitored::after_monitors_panic(office, lists, here);
    });
    leave_all(monitor, office, lists, share, run);
    core::mem::forget(on_panic);
    Left::Alone
}

/// So many letters of a share leave, the first of it; their slots are freed, and the share is given up. Nothing waits, none of them has left, and the
/// core has stopped. In a monitor's turn, under the lock.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
fn leave_all<M: Monitor>(monitor: &mut M, office: &'static Office, lists: &'static Lists, share: &Share, run: u8) {
    let left = Cell::new(0);
    let free = || {
        lists.gate.release_readers(u16::from(left.get()));
        office.free_share(lists, share, 0, left.get());
    };
    let on_panic = OnPanic(|| {
        free();
        share.set_left(left.get());
    });
    while left.get() != run {
        let letter = share.letter(left.get());
        left.set(left.get() + 1);
        monitor.leave(Letter { head: letter, descriptor: lists.descriptor() });
        trace::left(|| office.desk.id(), trace::name(letter));
    }
    core::mem::forget(on_panic);
    if run != 0 {
        free();
    }
    share.give_up(lists, run);
}

/// The same if letters wait, or some of the share have left already.
#[cold]
#[inline(never)]
fn leave_share_among_others<M: Monitor>(
    monitor: &mut M,
    office: &'static Office,
    lists: &'static Lists,
    here: u8,
    run: u8,
) -> Left {
    let share = share::of_core(here);
    let _turn = MonitorTurn::begin(here);
    let (left, freed) = (Cell::new(share.left()), Cell::new(share.left()));
    let free = || {
        let (from, until) = (freed.replace(left.get()), left.get());
        lists.gate.release_readers(u16::from(until - from));
        office.free_share(lists, share, from, until);
    };
    let on_panic = OnPanic(|| {
        // Nothing, if it was not the `leave` of a letter that failed.
        if left != freed {
            free();
        }
        share.set_left(left.get());
        share.stop(run);
        monitored::after_monitors_panic(office, lists, here);
    });
    office.list_if_others_wait(lists, office.lane_of(here).index);
    let mut before = Left::Alone;
    while freed.get() != run {
        // If letters wait, the monitor decides about them after each; otherwise all leave, and then their slots are freed.
        let until = if lists.is_empty() { run } else { left.get() + 1 };
        while left.get() != until {
            let letter = share.letter(left.get());
            left.set(left.get() + 1);
            monitor.leave(Letter { head: letter, descriptor: lists.descriptor() });
            trace::left(|| office.desk.id(), trace::name(letter));
        }
        free();
        if !lists.is_empty() {
            before = Left::BeforeOthers;
            lists.seen();
            schedule(monitor, lists);
            lists.publish();
        }
    }
    // All may have left already, by another holder of the lock: then letters were listed here that the monitor was not asked about.
    if lists.has_unseen() {
        before = Left::BeforeOthers;
        lists.seen();
        schedule(monitor, lists);
        lists.publish();
    }
    share.give_up(lists, run);
    core::mem::forget(on_panic);
    before
}

/// Runs at the end of its scope, also when a panic unwinds through it.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0();
    }
}
