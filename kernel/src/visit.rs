//! Visits: what a worker does with an actor that has something to do.
//!
//! A visit tries the actor's lock and never waits for it. Without a monitor, letters are run straight from the lanes, oldest
//! first, and the lock is the borrow: it is held while the method runs. With a monitor, a visit is made of *rounds*:
//!
//! ```text
//!  round:  drain the lanes into the inbox · for each ended letter: leave, free its slot · schedule if letters wait
//!  pull:   take one granted letter
//!            it is alone in the gate: run it under the lock, leave, free its slot, next round
//!            it shares:               unlock, run it, lock again, leave, free its slot, next round; if the lock is taken then, say
//!                                     that the letter has ended: the holder hears it
//! ```
//!
//! While letters that share are run, other cores visit, and take further granted letters. **Invariant (gate):** a letter is
//! run only between its admission by the gate and its `ended`, both under the lock, and the gate admits no letter that would
//! alias one inside; so the references a method gets are unique or shared as Rust demands.
//!
//! What depends on the actor's type is behind [`Resident`](crate::desk::Resident). On a chip all of this exists once, for the
//! trait object; on a host, where code is small change, once per actor's type, with everything inlined.
#![expect(unsafe_code, reason = "keeps the promises that running a letter asks for")]

mod monitored;

use crate::cores;
use crate::desk::Resident;
use crate::inbox::Lists;
use crate::lane::LaneHead;
use crate::mailbox::{Office, OnlyLetter, Run};
use crate::port::{self, FOREIGN, FOREIGN_THREADS};
use crate::ready::Ready;
use crate::sync::{Mutant, fence, removed};

/// Letters of one actor that are run in one visit while no other actor waits.
const BATCH: u16 = 128;

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
        Some(lists) => monitored::visit(office, who.resident(office), lists, here, from_ready),
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
    match office.only_own_letter(own.index) {
        OnlyLetter::None => {}
        OnlyLetter::One { lane, place } => {
            let on_panic = OnPanic(|| abandon(office, here));
            // SAFETY: the lock is held, and the letter is published and the next of its lane.
            unsafe { who.resident(office).run_oldest(here, lane, place) };
            core::mem::forget(on_panic);
        }
        OnlyLetter::Elsewhere if !FOREIGN_THREADS => return visit_elsewhere(office, who, here, own.index),
        OnlyLetter::Several | OnlyLetter::Elsewhere => return visit_batch(office, who, here),
    }
    // Whoever sent a letter since then has noted the actor, or will ring.
    desk.release();
    if desk.calls() { answer_calls(office, who, here) } else { false }
}

/// The same for exactly one letter in another core's lane. The lock is held, and nobody was at the bell.
#[inline(never)]
fn visit_elsewhere(office: &'static Office, who: impl Who, here: u8, own: usize) -> bool {
    let OnlyLetter::One { lane, place } = office.only_letter(own) else {
        return visit_batch(office, who, here);
    };
    let on_panic = OnPanic(|| abandon(office, here));
    // SAFETY: the lock is held, and the letter is published and the next of its lane.
    unsafe { who.resident(office).run_oldest(here, lane, place) };
    core::mem::forget(on_panic);
    office.desk.release();
    if office.desk.calls() { answer_calls(office, who, here) } else { false }
}

/// Runs letters of a lane up to `until`, one at least: `budget` of them at most, which is not 0, and after the first only while no
/// other actor waits for the core. The place where it stopped.
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
        if more || (rang && budget == 0) {
            return true;
        }
        if !rang || !desk.try_enter() {
            return false;
        }
    }
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

/// Puts the actor into the ready set of the core this runs on (or asks for a visit from outside, or of the core it is pinned to): there
/// is something to do. It has its number, and interrupts are masked.
#[inline(always)]
pub(crate) fn note(office: &'static Office, here: u8) {
    let Some(id) = office.desk.id() else { return };
    let pinned_to = office.desk.pinned_to();
    if port::FOREIGN_THREADS && here == FOREIGN {
        cores::note_foreign(id, pinned_to);
    } else if pinned_to.is_some_and(|there| there != here && cores::invite(here, there, id)) {
        // Its own core visits it.
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
