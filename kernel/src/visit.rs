//! Visits: what a worker does with an actor that has something to do.
//!
//! A visit tries the actor's lock and never waits for it. Without a monitor, letters are run straight from the lanes, oldest
//! first, and the lock is the borrow: it is held while the method runs. With a monitor, a visit is made of *rounds*:
//!
//! ```text
//!  round:  for each ended letter: leave, free its slot · if letters wait: list those in the lanes, too, and schedule
//!  take:   nothing waits: take the oldest letter, or readers, out of the lanes, and offer them to the monitor from the hand
//!  pull:   the next granted letter is alone in the gate: run it under the lock, leave, free its slot, next round
//!          it shares the state: take it, or several (a share), unlock, run them, lock again; they leave, their slots are
//!          freed, next round; if the lock is taken then, say that they have ended: the holder hears it
//! ```
//!
//! While letters that share are run, other cores visit, and take further granted letters. **Invariant (gate):** a letter is
//! run only between its admission by the gate and its `ended`, both under the lock (but a guest goes without it), and the gate admits no letter that would
//! alias one inside; so the references a method gets are unique or shared as Rust demands. (A writer that is the only letter there is
//! need not be admitted: the gate is free, and the lock, which is held while it runs, keeps it so.)
//!
//! What depends on the actor's type is behind [`Resident`](crate::desk::Resident), the straight line under a monitor among it. On a chip all
//! else exists once: the straight line without a monitor in the worker's loop, which knows such actors by their entries in the kernel's table
//! ([`Entry`](crate::desk::Entry)), the rest for the trait object. On a host, where code is small change, it exists once per actor's type,
//! with everything inlined.
#![expect(unsafe_code, reason = "keeps the promises that running a letter asks for")]

pub(crate) mod in_hand;
pub(crate) mod monitored;
pub(crate) mod readers;
pub(crate) mod sharing;

use crate::cores::{self, Core};
use crate::desk::{InOrder, Resident};
#[cfg(all(target_os = "none", target_arch = "arm"))]
use crate::lane;
use crate::lane::{Lane, Place};
use crate::mailbox::{Office, OnlyLetter, Run};
use crate::port::{self, FOREIGN, FOREIGN_THREADS};
use crate::sync::{Mutant, fence, removed};

/// Letters of one actor that are run in one visit while no other actor waits.
pub(crate) const BATCH: u16 = 128;

const _: () = assert!(BATCH.is_power_of_two(), "`has_gone_over` looks at bits");

/// An actor as all but the straight line of a visit knows it: whoever it is on a chip, so that this code exists once in an image; by its
/// type on a host, where code is small change.
#[cfg(target_os = "none")]
#[inline(always)]
pub(crate) fn anybody<R: Resident>(resident: &'static R) -> &'static dyn Resident {
    resident
}
#[cfg(not(target_os = "none"))]
#[inline(always)]
pub(crate) fn anybody<R: Resident>(resident: &'static R) -> &'static R {
    resident
}

/// A visit to an actor without a monitor, or with one that has a standing grant: the straight line for exactly one letter, and nobody at the bell
/// after it. Everything else is left by a call in the last place, so that it costs the straight line nothing.
///
/// On a chip this is a part of the worker's loop: only `run`, which runs a letter, depends on the actor's type, and is the only call. The
/// lock is held then, and the letter is published, and the only one. Whoever else is there is worked out if it is needed,
/// and the mailbox is looked up `again` after the letter, rather than kept.
#[inline(always)]
pub(crate) fn visit_in_order<R: Resident + ?Sized + 'static>(
    office: &'static Office,
    run: impl FnOnce(Place) -> InOrder,
    again: impl Fn() -> &'static Office,
    several: impl FnOnce() -> bool,
    otherwise: impl Fn(fn(&'static Office, &'static R, u8) -> bool) -> bool,
    here: u8,
) -> bool {
    if !office.desk.enter() {
        return false;
    }
    let Some(at) = office.only_letter_at_hand(here) else {
        return several();
    };
    let ran = run(at);
    if ran != InOrder::Run {
        core::hint::cold_path();
        return ran == InOrder::ToBeDecided && otherwise(visit_otherwise);
    }
    let office = again();
    // Whoever sent a letter since then has noted the actor, or will ring.
    office.desk.release_chosen();
    if office.has_calls() { otherwise(answer_calls) } else { false }
}

/// The same for several letters in one lane that do not share, on a chip that shows all lanes at once. The lock is held, and the actor has a
/// straight line. A loop with as little in it as can be: whatever does not fit into three registers is fetched again for each letter.
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[inline(always)]
pub(crate) fn visit_one_lane(
    office: impl Fn() -> &'static Office,
    run: impl Fn(Place) -> InOrder,
    otherwise: impl Fn(fn(&'static Office, &'static dyn Resident, u8) -> bool) -> bool,
    me: &'static Core,
) -> bool {
    'visit: loop {
        let (sent, received) = office().counts();
        let Some(mut at) = lane::in_one_lane(sent, received) else {
            if sent == received {
                break;
            }
            return otherwise(visit_otherwise);
        };
        if at.waiting(sent) > BATCH {
            return otherwise(visit_otherwise);
        }
        office().note_depths(sent);
        // What was sent until then is a consistent cut: all of it is older than what comes to the other lane.
        loop {
            match run(at) {
                InOrder::Run => {}
                // The last letter was a reader. Whoever sent one since then has noted the actor, or will ring.
                InOrder::RunUnlocked => return false,
                InOrder::ToBeDecided => return otherwise(visit_otherwise),
            }
            if cores::others_wait_for(me) {
                break 'visit;
            }
            let received = office().received();
            if received == sent {
                break;
            }
            at = at.after(received);
        }
        // There may be more by now, but nobody goes on for ever.
        if lane::has_gone_over(sent, received, BATCH) {
            break;
        }
    }
    let office = office();
    let (sent, received) = office.counts();
    // Whoever sends a letter from now on notes the actor, or will ring.
    office.desk.release_chosen();
    (office.has_calls() && otherwise(answer_calls)) || sent != received
}

/// The same for an actor that has no straight line in the worker's loop.
#[inline(never)]
pub(crate) fn visit_in_order_otherwise<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    here: u8,
) -> bool {
    if !office.desk.enter() {
        return false;
    }
    // SAFETY: the lock is held, and the letter is published, and the only one.
    let ran = office.only_letter_at_hand(here).map(|at| unsafe { resident.run_in_order(cores::core(here), at) });
    match ran {
        Some(InOrder::Run) => {
            office.desk.release();
            office.has_calls() && answer_calls(office, resident, here)
        }
        Some(InOrder::RunUnlocked) => false,
        Some(InOrder::ToBeDecided) | None => visit_otherwise(office, resident, here),
    }
}

/// What a straight line leaves: the same for exactly one letter in any lane of a chip, or any number of letters. The lock is held.
#[inline(never)]
pub(crate) fn visit_otherwise<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, here: u8) -> bool {
    if resident.lists().is_some() {
        return resident.visit_several(here);
    }
    let desk = &office.desk;
    // What shows all lanes at once has not missed a letter.
    if FOREIGN_THREADS || Office::SHOWS_ALL_LANES || office.has_few_lanes() || desk.has_bell() {
        return visit_batch(office, resident, here);
    }
    match office.only_letter(office.lane_of(here).index) {
        OnlyLetter::None => {}
        OnlyLetter::One(at) => {
            // SAFETY: the lock is held, and the letter is published and the next of its lane.
            let _ = unsafe { resident.run_in_order(cores::core(here), at) };
        }
        OnlyLetter::Several => return visit_batch(office, resident, here),
    }
    desk.release();
    if desk.calls() { answer_calls(office, resident, here) } else { false }
}

/// A letter panicked under the lock: the others go on.
#[cold]
pub(crate) fn abandon(office: &'static Office, here: u8) {
    office.desk.abandon();
    note_here(office, here);
}

/// After the lock was released: somebody rang, or waits for room.
#[cold]
#[inline(never)]
pub(crate) fn answer_calls<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, here: u8) -> bool {
    if resident.lists().is_some() {
        return resident.answer(here);
    }
    tell_of_room(office);
    let desk = &office.desk;
    desk.rang() && desk.try_enter() && visit_batch(office, resident, here)
}

/// The same for any number of letters in any lanes. The lock is held.
#[inline(never)]
fn visit_batch<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, here: u8) -> bool {
    let desk = &office.desk;
    let own = office.lane_of(here).index;
    let mut budget = BATCH;
    loop {
        desk.begin_round();
        let more = loop {
            let Run { lane, until, all } = office.oldest(own, resident);
            let place = office.lane(lane).received();
            // One letter at least, so that a visit is worth its while; more while nobody else waits.
            if place != until {
                office.lane(lane).note_depth(until);
                let last = if until.wrapping_sub(place) > budget { place.wrapping_add(budget) } else { until };
                let count = last.wrapping_sub(place);
                // SAFETY: the lock is held; these letters are published, and the next of their lane.
                let left = unsafe { run_several(resident, cores::core(here), Place::new(lane, place), count) };
                budget -= count - left;
                if left != 0 || last != until {
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

/// Runs letters of a lane from a place on, one at least, and after the first only while no other actor waits for the core. How many are
/// left.
///
/// # Safety
/// The lock is held; so many letters are published from there on, one at least, and the first is the oldest of its lane not received yet.
// By itself on a chip: its caller leaves it no registers.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
unsafe fn run_several<R: Resident + ?Sized>(
    resident: &'static R,
    me: &'static Core,
    mut at: Place,
    mut count: u16,
) -> u16 {
    loop {
        // SAFETY: the caller's promise: this letter is the next.
        let _ = unsafe { resident.run_in_order(me, at) };
        count -= 1;
        if count == 0 || cores::others_wait_for(me) {
            return count;
        }
        at = at.next();
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
    if office.desk.is_room_wanted() {
        tell_waiting(office);
    }
}

/// What `wants_room` holds where several senders share a lane.
pub(crate) const ANYBODY: u8 = u8::MAX;

/// Wants are taken back before the notices: whoever still finds no room wants again.
#[cold]
#[inline(never)]
fn tell_waiting(office: &Office) {
    office.desk.forget_room_wanted();
    fence(Mutant::RoomLookFence);
    let tell = |(_, lane): (usize, Lane<'_>)| {
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
    office.lanes_in_use().for_each(tell);
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
    let pinned_to = office.desk.pinned_to(id);
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
