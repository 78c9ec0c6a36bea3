//! Letters that a visit takes out of the lanes of an actor with a monitor while nothing waits in its lists: they go into the worker's hand,
//! and are offered to the monitor from there ([`hand`](crate::hand)).
//!
//! What must be alone is run by the actor's own type, one letter after the other ([`Resident::run_oldest`]); readers are taken several
//! at a time, as a share of this core ([`share`](crate::share)). Whatever else there is to do is left to the rounds of
//! [`monitored`](super::monitored).
#![expect(unsafe_code, reason = "keeps the promises that running letters asks for")]

use super::OnPanic;
use super::monitored::after_monitors_panic;
use crate::cores::MonitorTurn;
use crate::desk::Resident;
use crate::gate::Sharing;
use crate::hand::Hand;
use crate::lists::Lists;
use crate::mailbox::Office;
use crate::share;

/// What became of letters in the lanes.
pub(super) enum Taken {
    /// Readers, so many, are this core's share now, to be run without the lock.
    Share(u8),
    /// Letters were run that must be alone; so much is left of the budget.
    Ran(u16),
    /// They have to be listed by a round, or they are listed already.
    Listed,
}

/// Takes the next letters out of the lanes. The lock is held; nothing waits, and nothing is granted.
#[inline(always)]
pub(super) fn take<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    budget: u16,
) -> Taken {
    if lists.descriptor().sharing == Sharing::Parallel {
        match take_readers(office, resident, lists, here, budget) {
            Next::Share(count) => return Taken::Share(count),
            Next::Others => {}
            Next::Listed => return Taken::Listed,
        }
    }
    if !lists.gate.is_free() {
        return Taken::Listed;
    }
    // SAFETY: the lock is held, all is quiet, and the budget is not used up.
    let left = unsafe { resident.run_oldest(here, budget) };
    if left != budget { Taken::Ran(left) } else { Taken::Listed }
}

/// What comes next in the lanes.
enum Next {
    /// Readers, so many: they are this core's share now.
    Share(u8),
    /// There are others than readers among them.
    Others,
    /// A round has to list it, or it is listed already.
    Listed,
}

/// Takes the next letters as this core's share, if they are readers, and enough, and the monitor grants them. The lock is held; nothing waits,
/// and nothing is granted.
#[inline(never)]
fn take_readers<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    budget: u16,
) -> Next {
    let desk = &office.desk;
    let share = share::of_core(here);
    if lists.have_claims() || lists.gate.has_writer() || desk.is_room_wanted() || !share.is_free() {
        return Next::Listed;
    }
    let own = office.lane_of(here).index;
    let part = |letters| share::part_of(here, letters, budget);
    let count = match office.receive_readers(lists, resident, own, part, share) {
        None => return Next::Others,
        Some(0) => return Next::Listed,
        Some(count) => count as u8,
    };
    let list_lanes = |back| {
        office.put_back(share.letters(back));
        office.drain(lists, own);
    };
    let hand = Hand::with_readers(&list_lanes, share, count);
    let turn = MonitorTurn::begin(here);
    let on_panic = OnPanic(|| {
        if hand.is_granted() {
            share.begin(desk.known_id(), lists, count);
            share.stop(0);
        } else {
            hand.put_down(lists, None);
        }
        after_monitors_panic(office, lists, here);
    });
    resident.schedule_hand(&hand);
    core::mem::forget(on_panic);
    drop(turn);
    lists.publish();
    if !hand.is_granted() {
        hand.put_down(lists, None);
        return Next::Listed;
    }
    share.begin(desk.known_id(), lists, count);
    Next::Share(count)
}
