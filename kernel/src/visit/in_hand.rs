//! Letters that a visit takes out of the lanes of an actor with a monitor while nothing waits in its lists: they go into the worker's hand,
//! and are offered to the monitor from there ([`hand`](crate::hand)).
//!
//! The actor's own type does it: readers are run without the lock, one by one or several at a time ([`Resident::run_readers`]), what must be
//! alone under it, one letter after the other ([`Resident::run_oldest`]). Whatever else there is to do is left to the rounds of
//! [`monitored`](super::monitored).
#![expect(unsafe_code, reason = "keeps the promises that running letters asks for")]

use super::monitored;
use crate::cores;
use crate::desk::{InOrder, Ran, Resident};
use crate::gate::{Sharing, is_alone};
use crate::hand::Readers;
use crate::lane::Place;
use crate::letter::Letter;
use crate::lists::Lists;
use crate::mailbox::{Office, Run};
use crate::port;

/// What became of letters in the lanes.
pub(super) enum Taken {
    /// Letters were run, and have left; so much is left of the budget.
    Ran(u16),
    /// Letters were run, and the lock was not had again.
    Gone,
    /// They have to be listed by a round, or they are listed already.
    Listed,
}

/// Takes the next letters out of the lanes. The lock is held; nothing waits, and nothing is granted.
#[inline(always)]
pub(super) fn take<R: Resident + ?Sized>(resident: &'static R, lists: &'static Lists, here: u8, budget: u16) -> Taken {
    if lists.descriptor().sharing == Sharing::Parallel && !lists.have_claims() && !lists.gate.has_writer() {
        // SAFETY: the lock is held, nothing waits or is granted, and the budget is not used up.
        match unsafe { resident.run_readers(here, budget) } {
            Ran::All(left) => return Taken::Ran(left),
            Ran::Some(left) if left != budget => return Taken::Ran(left),
            Ran::Some(_) => {}
            Ran::Gone => return Taken::Gone,
        }
    }
    if !lists.is_quiet() {
        return Taken::Listed;
    }
    // SAFETY: the lock is held, all is quiet, and the budget is not used up.
    let left = unsafe {
        if lists.descriptor().standing_grant {
            run_granted_once_and_for_all(resident, lists, here, budget)
        } else {
            resident.run_oldest(here, budget)
        }
    };
    if left != budget { Taken::Ran(left) } else { Taken::Listed }
}

/// The same as [`Resident::run_oldest`], by a standing grant.
///
/// # Safety
/// As there.
// By itself on a chip: its caller has no registers left for it.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
unsafe fn run_granted_once_and_for_all<R: Resident + ?Sized>(
    resident: &'static R,
    lists: &'static Lists,
    mut here: u8,
    mut budget: u16,
) -> u16 {
    let office = resident.office();
    let Run { lane, until, .. } = office.oldest(office.lane_of(here).index, resident);
    office.lane(lane).note_depth(until);
    // What comes through other lanes is younger than these.
    while office.lane(lane).received() != until {
        let place = office.lane(lane).received();
        let letter = Letter { head: lists.lane(lane).peek(place), descriptor: lists.descriptor() };
        if !is_alone(letter) {
            break;
        }
        // SAFETY: the lock is held, and this is the oldest letter.
        let ran = unsafe { resident.run_in_order(cores::core(here), Place::new(lane, place)) };
        if ran != InOrder::Run {
            break;
        }
        here = port::core();
        budget -= 1;
        if budget == 0 || monitored::others_wait(office, here) {
            break;
        }
    }
    budget
}

/// What [`Hand`](crate::hand::Hand) asks for: readers go back into their lanes, and all letters there are listed.
#[cold]
#[inline(never)]
pub(crate) fn list_lanes(office: &'static Office, lists: &Lists, readers: Option<Readers<'_>>) {
    if let Some(readers) = readers {
        readers.for_each(|letter| office.put_back(letter));
    }
    office.drain(lists, office.lane_of(port::core()).index);
}
