//! Visits to an actor with a monitor.
//!
//! A letter that is alone in the gate is run under the lock: nobody could run another one meanwhile. So nobody needs to find it
//! either: it is in no list while it runs, and the visit goes from its method straight to its `leave`. Letters that share are run
//! without the lock; they are listed as running, so that any holder of the lock finds those that have ended.
//!
//! All user code under the lock, `leave` and `schedule`, is in [`decide`]: one call of the actor for both.
#![expect(unsafe_code, reason = "keeps the promises that running a letter asks for")]

use core::ptr::NonNull;

use super::{BATCH, OnPanic, arrive, exit, note_here, tell_of_room};
use crate::cores;
use crate::desk::Resident;
use crate::inbox::Lists;
use crate::letter::{Head, Link};
use crate::mailbox::{LaneOf, Office};
use crate::port;
use crate::sync::{Ended, Mutant};
use crate::worker;

/// How often a worker with a letter in hand goes back for events that others left with it.
const ROUNDS: u32 = 4;
/// The most letters that a worker takes along when it unlocks.
const MOST_TOGETHER: u16 = 4;

/// A visit to an actor with a monitor.
pub(super) fn visit<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    from_ready: bool,
) -> bool {
    let own = office.lane_of(here);
    if !arrive(office, || resident.pinned_to(), here, from_ready) {
        return true;
    }
    let desk = &office.desk;
    if !desk.enter() {
        return false;
    }
    desk.begin_round();
    office.drain(lists, own.index);
    round(office, resident, lists, here);
    let mut budget = BATCH;
    loop {
        if lists.gate.has_writer() || port::cores() == 1 {
            budget = run_locked(office, resident, lists, here, budget);
        } else if lists.has_granted() {
            match share(office, resident, lists, here, budget) {
                Some(left) => budget = left,
                None => return false,
            }
        }
        if lists.has_granted() && (budget == 0 || others_wait(office, own, here)) {
            // Whoever rang is served when this core comes back.
            let _ = exit(office);
            return true;
        }
        if !lists.has_granted() {
            desk.release();
            if !desk.calls() {
                return false;
            }
            if !answer_calls(office, resident, lists, here) {
                return false;
            }
        }
    }
}

/// After the lock was released: somebody rang, or waits for room. True if there was a round, and the lock is held again.
#[cold]
#[inline(never)]
fn answer_calls<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
) -> bool {
    tell_of_room(office);
    let desk = &office.desk;
    let again = desk.rang() && desk.try_enter();
    if again {
        desk.begin_round();
        office.drain_seldom(lists, office.lane_of(here).index);
        round(office, resident, lists, here);
    }
    again
}

/// Runs letters under the lock, while letters are granted that nobody could run another one beside. What is left of the budget.
#[inline(always)]
fn run_locked<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    mut budget: u16,
) -> u16 {
    let own = office.lane_of(here);
    while let Some(letter) = lists.first_granted() {
        let alone = lists.gate.has_writer();
        if !alone && port::cores() != 1 {
            break;
        }
        lists.start_locked(letter);
        let on_panic = OnPanic(|| {
            lists.end_later(letter);
            office.desk.abandon();
            note_here(office, here);
        });
        // SAFETY: started above, under the lock, which is held until it has ended.
        unsafe { resident.run_granted(here, letter, alone) };
        core::mem::forget(on_panic);
        office.drain_seldom(lists, own.index);
        lists.end_locked(letter, alone);
        decide(office, resident, lists, here, Some(letter));
        budget -= 1;
        if budget == 0 || others_wait(office, own, here) {
            break;
        }
    }
    budget
}

/// Runs letters that share the state, without the lock, while such letters are granted: one at least. The lock is held before
/// and after it; what is left of the budget, or none if the lock could not be had again (then its holder does the rest).
#[inline(never)]
fn share<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    mut budget: u16,
) -> Option<u16> {
    let desk = &office.desk;
    let own = office.lane_of(here);
    let mut offered = false;
    while let Some(letter) = lists.start() {
        let mut together = part(lists, budget);
        if together > 1 && others_wait(office, own, here) {
            together = 1;
        }
        budget -= take_along(lists, letter, together);
        let mut surplus = lists.has_granted();
        desk.release();
        if desk.calls() {
            surplus = answer_with_letter(office, resident, lists, here, surplus);
            offered = false;
        }
        if surplus && !offered {
            offered = true;
            note_here(office, here);
            cores::offer_surplus(here);
        }
        run_together(office, resident, here, letter);
        if !desk.enter() {
            return None;
        }
        desk.begin_round();
        office.drain_seldom(lists, own.index);
        // Without a letter that waits, nothing can be granted that was not offered.
        offered &= lists.is_empty();
        round(office, resident, lists, here);
        if lists.gate.has_writer() || budget == 0 || others_wait(office, own, here) {
            break;
        }
    }
    Some(budget)
}

/// How many letters to run in one go: this core's part of all that are inside the gate, those that other cores run included, so
/// that no core is left with a heap while another is done.
#[inline(always)]
fn part(lists: &Lists, budget: u16) -> u16 {
    let part = lists.gate.readers() / u16::from(port::cores());
    part.min(budget).min(MOST_TOGETHER)
}

/// Starts more letters, up to this many with the first; how many it are. All of them share, as the first does: nothing else is
/// in the gate. Each leads on to the next by `next`, which belongs to the worker that has the letter while it runs.
#[inline(always)]
fn take_along(lists: &Lists, first: NonNull<Head>, together: u16) -> u16 {
    let mut last = first;
    let mut count = 1;
    while count < together
        && let Some(letter) = lists.start()
    {
        head(last).next.set(Some(letter));
        last = letter;
        count += 1;
    }
    head(last).next.set(None);
    count
}

/// Runs letters that [`take_along`] started, and says of each that it has ended.
#[inline(always)]
fn run_together<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, here: u8, first: NonNull<Head>) {
    let mut running = Some(first);
    while let Some(letter) = running {
        // Before it ends: then the slot may soon hold another letter.
        let next = head(letter).next.get();
        let on_panic = OnPanic(|| {
            head(letter).ending.say(Ended::Run, Mutant::DoneRelaxed);
            give_back(next);
            note_here(office, here);
        });
        // SAFETY: started under the lock, by this worker, and run once; the gate has no writer, and the letter is in it until
        // a holder of the lock hears that it has ended.
        unsafe { resident.run_granted(here, letter, false) };
        core::mem::forget(on_panic);
        head(letter).ending.say(Ended::Run, Mutant::DoneRelaxed);
        running = next;
    }
}

/// A letter panicked: those that were taken along behind it are given back.
#[cold]
fn give_back(mut behind: Link) {
    while let Some(letter) = behind {
        behind = head(letter).next.get();
        head(letter).ending.say(Ended::GivenBack, Mutant::DoneRelaxed);
    }
}

#[inline(always)]
fn head<'a>(letter: NonNull<Head>) -> &'a Head {
    // SAFETY: a slot of a static mailbox, with a letter that this worker has started; the fields are cells.
    unsafe { letter.as_ref() }
}

/// Whether another actor waits for this core. This one may be in the ready set itself: so that other cores see its
/// surplus, or because of a letter to itself.
#[inline(always)]
fn others_wait(office: &Office, own: LaneOf, here: u8) -> bool {
    let Some(id) = office.desk.id() else { return false };
    cores::others_wait_besides(here, id, || !own.shared && office.lane(own.index).is_marked())
}

/// After the lock was released with letters in hand: what others left with this worker is done now and not after the turn. True
/// if further letters are granted, as `surplus` says before, or may be.
#[cold]
#[inline(never)]
fn answer_with_letter<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    mut surplus: bool,
) -> bool {
    let desk = &office.desk;
    let own = office.lane_of(here).index;
    tell_of_room(office);
    let mut rang = desk.rang();
    for _ in 0..ROUNDS {
        if !rang || !desk.try_enter() {
            return surplus;
        }
        desk.begin_round();
        office.drain_seldom(lists, own);
        round(office, resident, lists, here);
        surplus = lists.has_granted();
        rang = exit(office);
    }
    rang || surplus
}

/// Under the lock, after what arrived was put into the inbox: what ended leaves, and the monitor schedules.
#[inline(always)]
fn round<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, lists: &'static Lists, here: u8) {
    while let Some(letter) = lists.ended(lists.descriptor()) {
        decide(office, resident, lists, here, Some(letter));
    }
    if lists.has_unseen() {
        decide(office, resident, lists, here, None);
    }
}

/// Under the lock: the monitor hears of a letter that has left the gate, whose slot is then free, and schedules if letters wait.
#[inline(always)]
fn decide<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    ended: Link,
) {
    let free = || {
        if let Some(letter) = ended {
            lists.free(office, letter);
        }
    };
    {
        let _no_waiting = worker::NoWaiting::on(here);
        cores::set_method(here, || cores::NO_METHOD);
        let on_panic = OnPanic(|| {
            // A monitor's panic: what it granted before stands, and it is asked again about the rest.
            free();
            lists.publish();
            lists.ask_again();
            office.desk.abandon();
            note_here(office, here);
        });
        resident.decide(ended);
        core::mem::forget(on_panic);
    }
    free();
}
