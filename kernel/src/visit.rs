//! Visits: what a worker does with an actor that has something to do.
//!
//! A visit tries the actor's lock and never waits for it. Without a monitor, letters are run straight from the lanes, oldest
//! first, and the lock is the borrow: it is held while the method runs. With a monitor, a visit is made of *rounds*:
//!
//! ```text
//!  round:  drain the lanes into the inbox · for each ended letter: leave, free its slot · schedule if letters wait
//!  pull:   take one granted letter
//!            it borrows exclusively:  run it under the lock, next round
//!            it shares:               take a few more along if many are granted, unlock, run them, say of each that it has
//!                                     ended, lock again, next round
//! ```
//!
//! While letters that share are run, other cores visit, and take further granted letters. **Invariant (gate):** a letter is
//! run only between its admission by the gate and its `ended`, both under the lock, and the gate admits no letter that would
//! alias one inside; so the references a method gets are unique or shared as Rust demands.
//!
//! What depends on the actor's type is behind [`Resident`](crate::desk::Resident). On a chip all of this exists once, for the
//! trait object; on a host, where code is small change, once per actor's type, with everything inlined.
#![expect(unsafe_code, reason = "keeps the promises that running a letter asks for")]

use core::ptr::NonNull;

use crate::cores;
use crate::desk::Resident;
use crate::inbox::Lists;
use crate::lane::LaneHead;
use crate::letter::Head;
use crate::mailbox::{Office, Run};
use crate::port::{self, FOREIGN};
use crate::ready::Ready;
use crate::sync::{Ended, Mutant, fence, removed};
use crate::worker;

/// Letters of one actor that are run in one visit while no other actor waits.
const BATCH: u16 = 128;
/// How often a worker with a letter in hand goes back for events that others left with it.
const ROUNDS: u32 = 4;

/// Who is behind a desk: known by its type, where code is made for each type; on a chip, whoever is found there.
pub(crate) trait Who: Copy {
    type Resident: Resident + ?Sized + 'static;
    fn resident(self, office: &'static Office) -> &'static Self::Resident;
}

/// An actor whose type is known.
pub(crate) struct Known<R: 'static>(pub(crate) &'static R);

impl<R> Clone for Known<R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for Known<R> {}

impl<R: Resident> Who for Known<R> {
    type Resident = R;
    #[inline(always)]
    fn resident(self, _: &'static Office) -> &'static R {
        self.0
    }
}

/// Whoever is behind the desk. The actor has its number.
#[derive(Clone, Copy)]
pub(crate) struct AtTheDesk;

impl Who for AtTheDesk {
    type Resident = dyn Resident;
    #[inline(always)]
    fn resident(self, office: &'static Office) -> &'static dyn Resident {
        office.desk.resident()
    }
}

/// Runs letters of an actor on this core, as many as is fair; true if there is more to do here. `from_ready` if it was just
/// taken out of this core's ready set: the mark is taken back before it looks for letters. An actor that is pinned to
/// another core has more to do, always.
#[inline(always)]
pub(crate) fn visit(
    office: &'static Office,
    who: impl Who,
    lists: Option<&'static Lists>,
    here: u8,
    from_ready: bool,
) -> bool {
    match lists {
        None => visit_unmonitored(office, who, here, from_ready),
        Some(lists) => visit_monitored(office, who.resident(office), lists, here, from_ready),
    }
}

/// A visit to an actor of whatever type. On a chip, what to do is known from its desk, so that a letter costs one virtual call.
#[inline(always)]
pub(crate) fn visit_any(office: &'static Office, here: u8, from_ready: bool) -> bool {
    if cfg!(target_os = "none") && !office.desk.is_monitored() {
        visit_unmonitored(office, AtTheDesk, here, from_ready)
    } else {
        office.desk.resident().visit(here, from_ready)
    }
}

/// What every visit begins with; false if the actor is pinned to another core.
#[inline(always)]
fn arrive(office: &'static Office, pinned_to: impl FnOnce() -> Option<u8>, here: u8, from_ready: bool) -> bool {
    if from_ready && Ready::KEEPS_MARKS {
        office.unmark(here, office.lane_of(here));
    }
    let pinned_to = if cfg!(target_os = "none") { office.desk.pinned_to() } else { pinned_to() };
    pinned_to.is_none_or(|core| core == here)
}

/// A visit to an actor without a monitor: the straight line for exactly one letter, in the core's own lane, and nobody
/// at the bell. Everything else is left by a call in the last place, so that it costs the straight line nothing.
#[cfg_attr(not(target_os = "none"), inline(always))]
fn visit_unmonitored(office: &'static Office, who: impl Who, here: u8, from_ready: bool) -> bool {
    if !arrive(office, || who.resident(office).pinned_to(), here, from_ready) {
        return true;
    }
    let desk = &office.desk;
    if !desk.enter() {
        return false;
    }
    let own = office.lane_of(here);
    if office.has_few_lanes() || own.shared || desk.has_bell() {
        return visit_batch(office, who, here);
    }
    let lane = office.lane(own.index);
    let until = lane.published();
    if office.others_have_letters(own.index) {
        return visit_batch(office, who, here);
    }
    let received = lane.received();
    if until != received {
        if until.wrapping_sub(received) != 1 {
            return visit_batch(office, who, here);
        }
        let on_panic = OnPanic(|| abandon(office, here));
        // SAFETY: the lock is held, and the letter is published and the next of its lane.
        unsafe { who.resident(office).run_oldest(here, own.index, received) };
        core::mem::forget(on_panic);
    }
    // Whoever sent a letter since then has noted the actor, or will ring.
    desk.release();
    if desk.calls() { answer_calls(office, who, here) } else { false }
}

/// Runs letters of a lane up to `until`: `budget` of them at most, and after the first only while no other actor waits for the
/// core. The place where it stopped.
///
/// # Safety
/// As [`Resident::run_oldest`], for all of these letters.
#[inline(always)]
unsafe fn run_several<R: Resident + ?Sized>(
    resident: &'static R,
    here: u8,
    lane: usize,
    mut place: u16,
    until: u16,
    budget: u16,
) -> u16 {
    let until = if until.wrapping_sub(place) > budget { place.wrapping_add(budget) } else { until };
    loop {
        // SAFETY: the caller's promise.
        unsafe { resident.run_oldest(here, lane, place) };
        place = place.wrapping_add(1);
        if place == until || cores::others_wait(here) {
            return place;
        }
    }
}

/// A letter panicked under the lock: the others go on.
#[cold]
fn abandon(office: &'static Office, here: u8) {
    office.desk.abandon();
    note_here(office, here);
}

/// After the lock was released: somebody rang, or waits for room.
#[cold]
#[inline(never)]
fn answer_calls(office: &'static Office, who: impl Who, here: u8) -> bool {
    tell_of_room(office);
    let desk = &office.desk;
    desk.rang() && desk.try_enter() && visit_batch(office, who, here)
}

/// The same for any number of letters in any lanes. The lock is held.
#[inline(never)]
fn visit_batch(office: &'static Office, who: impl Who, here: u8) -> bool {
    let (desk, resident) = (&office.desk, who.resident(office));
    let own = office.lane_of(here).index;
    let mut budget = BATCH;
    loop {
        desk.begin_round();
        let more = loop {
            let Run { lane, until, all } = office.oldest(own, resident);
            let place = office.lane(lane).received();
            office.lane(lane).note_depth(until);
            // One letter at least, so that a visit is worth its while; more while nobody else waits.
            if place != until {
                let on_panic = OnPanic(|| abandon(office, here));
                // SAFETY: the lock is held; these letters are published, and the next of their lane.
                let stopped = unsafe { run_several(resident, here, lane, place, until, budget) };
                core::mem::forget(on_panic);
                budget -= stopped.wrapping_sub(place);
                if stopped != until {
                    break true;
                }
            }
            if all {
                break false;
            }
            if budget == 0 || cores::others_wait(here) {
                break true;
            }
        };
        let rang = exit(office);
        if more {
            return true;
        }
        if !rang || !desk.try_enter() {
            return false;
        }
    }
}

/// A visit to an actor with a monitor.
fn visit_monitored<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    from_ready: bool,
) -> bool {
    if !arrive(office, || resident.pinned_to(), here, from_ready) {
        return true;
    }
    let desk = &office.desk;
    if !desk.enter() {
        return false;
    }
    let mut budget = BATCH;
    loop {
        desk.begin_round();
        round(office, resident, lists, here);
        let pulled = if budget == 0 || (budget < BATCH && others_wait(office, here)) { None } else { lists.start() };
        let Some(letter) = pulled else {
            let more = lists.has_granted();
            let rang = exit(office);
            if more {
                return true;
            }
            if !rang || !desk.try_enter() {
                return false;
            }
            continue;
        };
        if lists.gate.has_writer() || port::cores() == 1 {
            // Nobody could run another letter meanwhile, so the lock is kept.
            budget -= 1;
            let on_panic = OnPanic(|| abandon(office, here));
            // SAFETY: started above, under the lock.
            unsafe { resident.run_granted(here, letter) };
            core::mem::forget(on_panic);
            continue;
        }
        let mut pulled = Pulled::first(letter);
        let share = Pulled::share(lists, budget);
        if share > 1 && !others_wait(office, here) {
            pulled.fill(lists, share);
        }
        budget -= pulled.count as u16;
        unlock_with_letter(office, resident, lists, here);
        let on_panic = OnPanic(|| note_here(office, here));
        pulled.run(resident, here);
        core::mem::forget(on_panic);
        if !desk.enter() {
            return false;
        }
    }
}

/// The most letters that a worker takes along when it unlocks.
const MOST_PULLED: usize = 4;

/// Letters that share the state, started by one worker in one tenure of the lock, which costs as much as many a letter.
struct Pulled {
    letters: [NonNull<Head>; MOST_PULLED],
    count: usize,
    /// How many of them were run, or are running.
    run: usize,
}

impl Pulled {
    #[inline(always)]
    fn first(letter: NonNull<Head>) -> Self {
        Self { letters: [letter; MOST_PULLED], count: 1, run: 0 }
    }

    /// How many to take, the first included: half of what would be this core's part if all were as fast, so that no core is left
    /// with a heap while another is done.
    #[inline(always)]
    fn share(lists: &Lists, budget: u16) -> usize {
        let part = (lists.granted() + 1) / (2 * u16::from(port::cores()));
        usize::from(part.min(budget)).min(MOST_PULLED)
    }

    /// Takes more of those that are granted. All of them share, as the first does: nothing else is in the gate.
    #[inline(always)]
    fn fill(&mut self, lists: &Lists, share: usize) {
        while self.count < share
            && let Some(letter) = lists.start()
        {
            self.letters[self.count] = letter;
            self.count += 1;
        }
    }

    /// Runs them one after the other.
    #[inline(always)]
    fn run<R: Resident + ?Sized>(mut self, resident: &'static R, here: u8) {
        while self.run < self.count {
            let letter = self.letters[self.run];
            self.run += 1;
            // SAFETY: started under the lock, by this worker, and run once.
            unsafe { resident.run_granted(here, letter) };
        }
    }
}

/// If one panics, those behind it are given back.
impl Drop for Pulled {
    #[inline(always)]
    fn drop(&mut self) {
        for &letter in &self.letters[self.run..self.count] {
            // SAFETY: a slot of a static mailbox, with a letter that this worker has started.
            unsafe { letter.as_ref() }.ending.say(Ended::GivenBack, Mutant::DoneRelaxed);
        }
    }
}

/// Whether another actor waits for this core. This one may be in the ready set itself: so that other cores see its
/// surplus, or because of a letter to itself.
#[inline(always)]
fn others_wait(office: &Office, here: u8) -> bool {
    let Some(id) = office.desk.id() else { return false };
    cores::others_wait_besides(here, id, || {
        let own = office.lane_of(here);
        !own.shared && office.lane(own.index).is_marked()
    })
}

/// Unlocks before a letter that shares the state is run here, and sees to it that what others left with this worker is
/// done now and not after the turn: their events are handled, further granted letters are offered to idle cores.
fn unlock_with_letter<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
) {
    let desk = &office.desk;
    let mut surplus = lists.has_granted();
    for round_number in 0.. {
        if !exit(office) || !desk.try_enter() {
            break;
        }
        if round_number == ROUNDS {
            desk.abandon();
            surplus = true;
            break;
        }
        desk.begin_round();
        round(office, resident, lists, here);
        surplus = lists.has_granted();
    }
    if surplus {
        note_here(office, here);
        cores::offer_surplus(here);
    }
}

/// Under the lock: what arrived goes into the inbox, what ended leaves, and the monitor schedules.
#[inline(always)]
fn round<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, lists: &'static Lists, here: u8) {
    let own = office.lane_of(here).index;
    let _no_waiting = worker::NoWaiting::on(here);
    cores::set_method(here, || cores::NO_METHOD);
    let on_panic = OnPanic(|| {
        // A monitor's panic: what it granted before stands, and it is asked again about the rest.
        lists.publish();
        lists.ask_again();
        office.desk.abandon();
        note_here(office, here);
    });
    office.drain(lists, own, resident);
    while lists.has_running() && resident.leave_ended() {
        if !lists.is_empty() {
            resident.schedule();
        }
    }
    if lists.has_unseen() {
        resident.schedule();
    }
    core::mem::forget(on_panic);
}

/// Leaves the turnstile; true if somebody rang who relies on it.
#[inline(always)]
pub(crate) fn exit(office: &Office) -> bool {
    let rang = office.desk.exit();
    tell_of_room(office);
    rang
}

/// Wakes whoever waits for room, after slots were freed and the exit fence was passed.
#[inline(always)]
fn tell_of_room(office: &Office) {
    if office.desk.room_wanted.is_raised() {
        tell_waiting(office);
    }
}

/// What `wants_room` holds where several senders share a lane.
pub(crate) const ANYBODY: u8 = u8::MAX;

/// Wants are taken back before the notices: whoever still finds no room wants again.
#[cold]
#[inline(never)]
fn tell_waiting(office: &Office) {
    office.desk.room_wanted.lower();
    fence(Mutant::RoomLookFence);
    let tell = |lane: &LaneHead| {
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
    };
    office.lanes_in_use().iter().for_each(tell);
}

/// Puts the actor into this core's ready set: there is something left to do.
#[cold]
#[inline(never)]
pub(crate) fn note_here(office: &'static Office, here: u8) {
    let _masked = port::mask();
    note(office, here);
}

/// Puts the actor into the ready set of the core this runs on (or asks for a visit from outside): there is something to do. It
/// has its number, and interrupts are masked.
#[inline(always)]
pub(crate) fn note(office: &'static Office, here: u8) {
    let Some(id) = office.desk.id() else { return };
    let pinned_to = office.desk.pinned_to();
    if port::FOREIGN_THREADS && here == FOREIGN {
        cores::note_foreign(id, pinned_to);
    } else if office.mark(here) {
        cores::enqueue(here, id, pinned_to.is_some());
    }
}

/// Runs when a panic unwinds through it; forgotten otherwise.
pub(crate) struct OnPanic<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnPanic<F> {
    #[cold]
    fn drop(&mut self) {
        self.0();
    }
}
