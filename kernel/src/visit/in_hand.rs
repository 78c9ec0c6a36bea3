//! Letters that a visit takes out of the lanes of an actor with a monitor while nothing waits in its lists: they go into the worker's hand,
//! and are offered to the monitor from there ([`hand`](crate::hand)).
//!
//! The actor's own type does it: readers are run without the lock, one by one or several at a time ([`Resident::run_readers`]), what must be
//! alone under it, one letter after the other ([`Resident::run_oldest`]). Whatever else there is to do is left to the rounds of
//! [`monitored`](super::monitored).
#![expect(unsafe_code, reason = "keeps the promises that running letters asks for")]

use crate::desk::{Ran, Resident};
use crate::gate::Sharing;
use crate::hand::Readers;
use crate::lists::Lists;
use crate::mailbox::Office;
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
    let left = unsafe { resident.run_oldest(here, budget) };
    if left != budget { Taken::Ran(left) } else { Taken::Listed }
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
