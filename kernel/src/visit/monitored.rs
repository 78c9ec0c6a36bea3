//! Visits to an actor with a monitor.
//!
//! A letter that is alone in the gate is run under the lock: nobody could run another one meanwhile. So nobody needs to find it
//! either: it is in no list while it runs, and the visit goes from its method straight to its `leave`. Letters that share are run
//! without the lock; they are listed as running, so that any holder of the lock finds those that have ended.
//!
//! A monitor's `leave` and `schedule` are called during a [`MonitorTurn`] only.
#![expect(unsafe_code, reason = "keeps the promises that running a letter asks for")]

use core::ptr::NonNull;

use super::{BATCH, OnPanic, exit, note_here, tell_of_room};
use crate::cores::{self, MonitorTurn};
use crate::desk::{Left, Resident};
use crate::inbox::Lists;
use crate::letter::Head;
use crate::mailbox::{LaneOf, Office};
use crate::port;
use crate::sync::{Ended, Mutant, removed};

/// How often a worker with a letter in hand goes back for events that others left with it.
const ROUNDS: u32 = 4;
/// Letters per core that are few: the cores may soon have run them all.
const FEW: u16 = 3;

/// A visit to an actor with a monitor, beside its straight line ([`Body`](crate::body::Body)). The lock is held.
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn visit_otherwise<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
) -> bool {
    office.desk.begin_round();
    office.drain(lists, office.lane_of(here).index);
    settle(office, resident, lists, here);
    go_on(office, resident, lists, here, BATCH)
}

/// The straight line was left with its letter: the monitor did not grant it.
#[cold]
#[inline(never)]
pub(crate) fn keep_waiting<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    letter: NonNull<Head>,
) -> bool {
    lists.keep_waiting(letter);
    go_on(office, resident, lists, here, BATCH)
}

/// The straight line was left after its letter has been run without the lock: others have been there since, or are there now. If the
/// lock was not had at once, the letter has yet to leave.
#[cold]
#[inline(never)]
pub(crate) fn go_on_among_others<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    letter: NonNull<Head>,
    left: Left,
) -> bool {
    if left == Left::NotYet && !say_and_enter(office, letter) {
        return false;
    }
    let here = port::core();
    round(office, resident, lists, here);
    go_on(office, resident, lists, here, BATCH - 1)
}

/// After the lock was released at the end of a straight line: somebody rang, or waits for room.
#[cold]
#[inline(never)]
pub(crate) fn answer<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
) -> bool {
    answer_calls(office, resident, lists, here) && go_on(office, resident, lists, here, BATCH - 1)
}

/// The same for any number of letters. The lock is held.
#[inline(never)]
fn go_on<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    mut budget: u16,
) -> bool {
    let desk = &office.desk;
    let own = office.lane_of(here);
    loop {
        if !lists.has_granted() {
            desk.release();
            if !desk.calls() || !answer_calls(office, resident, lists, here) {
                return false;
            }
        } else if budget == 0 || (budget < BATCH && (others_wait(office, own, here) || asker_waits(lists, here))) {
            // Whoever rang is served when this core comes back; other cores may have what is granted meanwhile.
            let shared = !lists.gate.has_writer();
            let _ = exit(office);
            if shared {
                offer(office, here);
            }
            return true;
        } else if lists.gate.has_writer() || port::cores() == 1 {
            budget = several_locked(office, resident, lists, here, budget);
        } else {
            match several_sharing(office, resident, lists, here, budget) {
                Some(left) => budget = left,
                None => return false,
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
        round(office, resident, lists, here);
    }
    again
}

/// Runs letters under the lock, while letters are granted that nobody could run another one beside, one at least. What is left of
/// the budget.
#[inline(always)]
fn several_locked<R: Resident + ?Sized>(
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
        // SAFETY: started under the lock, which is held until it has left.
        unsafe { resident.run_locked(here, letter, alone) };
        budget -= 1;
        if budget == 0 || others_wait(office, own, here) {
            break;
        }
    }
    budget
}

/// Runs letters that share the state, without the lock, while such letters are granted, one at least. The lock is held before
/// and after it; what is left of the budget, or none if the lock could not be had again (then its holder does the rest).
#[inline(never)]
fn several_sharing<R: Resident + ?Sized>(
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
        budget -= 1;
        let mut surplus = lists.has_granted();
        desk.release();
        if desk.calls() {
            surplus = answer_with_letter(office, resident, lists, here, letter, surplus);
            offered = false;
        }
        if surplus && !offered {
            offered = true;
            offer(office, here);
        }
        // SAFETY: started under the lock, by this worker.
        let left = unsafe { resident.run_sharing(here, letter) };
        if left == Left::NotYet && !say_and_enter(office, letter) {
            return None;
        }
        // What the monitor may have granted since was not offered. (Whoever rings says of its letter that it has ended.)
        offered &= left == Left::Alone;
        if left == Left::NotYet || desk.has_bell() {
            offered = false;
            round(office, resident, lists, here);
        }
        if lists.gate.has_writer() || budget == 0 || others_wait(office, own, here) || asker_waits(lists, here) {
            break;
        }
    }
    Some(budget)
}

/// Further letters are granted: other cores may have them.
#[cold]
#[inline(never)]
fn offer(office: &'static Office, here: u8) {
    note_here(office, here);
    cores::offer_surplus(here);
}

/// Says of a letter that this worker has started how it ended. Its slot may soon hold another one.
#[cold]
pub(crate) fn say(letter: NonNull<Head>, how: Ended) {
    // SAFETY: a slot of a static mailbox; what is written is a cell.
    unsafe { letter.as_ref() }.ending.say(how, Mutant::DoneRelaxed);
}

/// The lock was not had at once after a letter was run: whoever has it must hear that it has ended, so it is said before the
/// bell is rung. True if the lock was had after all; but somebody may have heard it by then, so this letter is looked for as
/// any other is.
///
/// If the lock is had at once, nothing is said: the letter is in the list still, and who holds the lock knows that it has ended.
#[cold]
#[inline(never)]
fn say_and_enter(office: &'static Office, letter: NonNull<Head>) -> bool {
    if !removed(Mutant::EndNotSaid) {
        say(letter, Ended::Run);
    }
    office.desk.enter()
}

/// Whether another actor waits for this core. This one may be in the ready set itself: so that other cores see its
/// surplus, or because of a letter to itself.
#[inline(always)]
fn others_wait(office: &Office, own: LaneOf, here: u8) -> bool {
    cores::others_wait_besides(here, || office.desk.known_id(), || !own.shared && office.lane(own.index).is_marked())
}

/// Whether few letters are left, and a turn of this core that waits for an answer has got it: it may send more before the other cores
/// run dry.
#[inline(always)]
fn asker_waits(lists: &Lists, here: u8) -> bool {
    cores::is_answered(here) && lists.gate.readers() <= FEW * u16::from(port::cores())
}

/// After the lock was released with a letter in hand: what others left with this worker is done now and not after the turn. True
/// if further letters are granted, as `surplus` says before, or may be. If the monitor panics, the letter is given back.
#[cold]
#[inline(never)]
fn answer_with_letter<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    letter: NonNull<Head>,
    mut surplus: bool,
) -> bool {
    let desk = &office.desk;
    tell_of_room(office);
    let mut rang = desk.rang();
    for _ in 0..ROUNDS {
        if !rang || !desk.try_enter() {
            return surplus;
        }
        let on_panic = OnPanic(|| say(letter, Ended::GivenBack));
        round(office, resident, lists, here);
        core::mem::forget(on_panic);
        surplus = lists.has_granted();
        rang = exit(office);
    }
    rang || surplus
}

/// The same, and further letters are offered to other cores.
#[cold]
#[inline(never)]
pub(crate) fn answer_and_offer<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    letter: NonNull<Head>,
) {
    if answer_with_letter(office, resident, lists, here, letter, false) {
        offer(office, here);
    }
}

/// A whole round, under the lock: what arrived goes into the inbox, what ended leaves, and the monitor schedules.
#[inline(never)]
fn round<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, lists: &'static Lists, here: u8) {
    office.desk.begin_round();
    office.drain(lists, office.lane_of(here).index);
    settle(office, resident, lists, here);
}

/// The rest of a round: what ended leaves, and the monitor schedules.
#[inline(always)]
fn settle<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, lists: &'static Lists, here: u8) {
    if !lists.has_running() && !lists.has_unseen() {
        return;
    }
    let _monitor = MonitorTurn::begin(here);
    let on_panic = on_monitors_panic(office, lists, here);
    while let Some(letter) = lists.ended(lists.descriptor()) {
        resident.leave(letter);
        if !lists.is_empty() {
            schedule(resident, lists);
        }
    }
    if lists.has_unseen() {
        schedule(resident, lists);
    }
    core::mem::forget(on_panic);
}

/// If the monitor panics, what it granted before stands, and it is asked again about the rest.
#[inline(always)]
pub(crate) fn on_monitors_panic(office: &'static Office, lists: &'static Lists, here: u8) -> OnPanic<impl FnMut()> {
    OnPanic(move || {
        lists.publish();
        lists.ask_again();
        office.desk.abandon();
        note_here(office, here);
    })
}

/// The monitor decides about the letters that wait, one at least.
#[inline(always)]
fn schedule<R: Resident + ?Sized>(resident: &'static R, lists: &'static Lists) {
    lists.seen();
    resident.schedule();
    lists.publish();
}
