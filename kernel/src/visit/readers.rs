//! Readers that are taken straight from a lane, one by one or several at a time, and run without the lock.
//!
//! They need not be taken by age, because they may run at once: each core takes those of its own lane, now and then another one's, and no list
//! is made. What must not be passed is an older writer. One in the same lane is met in its turn. Of one in another lane its sender has written
//! down the place, before it did anything else: whoever sees what the writer has caused sees that, too, and takes no reader until all letters were
//! listed by age ([`Office::next_row`]). (A writer that is just being sent has caused nothing yet.)
//!
//! If there are many, a core takes a share of them ([`share`](crate::share)), and one tenure of the lock serves all of it. Other cores are told each
//! time, if there are any that can come: whoever finds nothing else to do takes what is left in the lanes, or back from the share.
//!
//! All this depends on the monitor, but not on the actor's type: on a chip it is there once per monitor.
#![expect(unsafe_code, reason = "asks a monitor under its lock, and keeps the promises that running letters asks for")]

use core::ptr::NonNull;

use super::in_hand::list_lanes;
use super::{BATCH, OnPanic, monitored, note_here, sharing};
use crate::cores::{self, MonitorTurn};
use crate::desk::{Left, Ran, Resident};
use crate::gate::Sharing;
#[cfg(all(target_os = "none", target_arch = "arm"))]
use crate::gate::is_alone;
use crate::hand::{Hand, Readers};
use crate::inbox::Inbox;
#[cfg(all(target_os = "none", target_arch = "arm"))]
use crate::lane::Place;
use crate::letter::{Access, Head, Letter, Link};
use crate::lists::Lists;
use crate::mailbox::{Office, Row};
use crate::monitor::{Discipline, Monitor};
use crate::port;
use crate::share;
use crate::trace;

/// Goes on with a visit that is not about one letter alone, or has others beside it; see [`Resident::visit_several`]. Begins with the readers that
/// are next in the lanes, if they are all there is to decide about.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn visit<M: Monitor, R: Resident + ?Sized>(
    monitor: *mut M,
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
) -> bool {
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    if has_writers_only(office, lists) {
        return cores::visit_in_one_lane();
    }
    let takes_readers = matches!(<M::Discipline as Discipline>::SHARING.0, Sharing::Parallel) && !lists.have_claims();
    if !takes_readers || !lists.admits_readers_from_lanes() || monitored::may_have_panicked(lists) {
        return monitored::visit_otherwise(office, resident, lists, here);
    }
    // SAFETY: the lock is held, and the lists say the rest; it is the monitor of the resident.
    let ran = unsafe { run(monitor, office, resident, lists, here, BATCH) };
    monitored::go_on_after_readers(office, resident, lists, ran)
}

/// Whether letters of one lane can be run by the standing grant, under the lock, from the next on, by the loop of the straight line. The lock is held.
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[inline(always)]
fn has_writers_only(office: &Office, lists: &Lists) -> bool {
    let is_alone = |at: Place| {
        let head = lists.lane(at.lane()).peek(at.place());
        is_alone(Letter { head, descriptor: lists.descriptor() })
    };
    // Only then there is a straight line, for an actor that is pinned to no core.
    lists.descriptor().standing_grant
        && !lists.descriptor().pinned
        && !office.has_few_lanes()
        && office.desk.has_chosen_lock()
        // That loop leaves more than this to others.
        && office.in_one_lane().is_some_and(|at| office.lane(at.lane()).waiting() <= BATCH && is_alone(at))
        && lists.is_quiet()
}

/// Runs readers from the lanes; see [`Resident::run_readers`].
///
/// # Safety
/// As [`Resident::run_readers`]; the monitor is that of the resident.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) unsafe fn run<M: Monitor, R: Resident + ?Sized>(
    monitor: *mut M,
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    mut here: u8,
    mut budget: u16,
) -> Ran {
    loop {
        // SAFETY: the caller's promise, which holds again after each turn of this loop.
        let Took { count, letter } = unsafe { take(monitor, office, lists, budget) };
        if count == Took::NOTHING {
            // Whoever was asked to help finds nothing any more. But letters may have come before that was taken back.
            if cores::take_back_offer(here, office.desk.known_id()) {
                continue;
            }
            return Ran::All(budget);
        }
        if count == Took::OTHERS {
            return Ran::Some(budget);
        }
        budget -= u16::from(count);
        // SAFETY: started under the lock, which was released: this letter, or this core's share.
        let left = unsafe {
            match letter {
                Some(letter) => sharing::run_one(office, resident, lists, here, letter),
                None => sharing::run_share(office, resident, here, count),
            }
        };
        // What was not begun of a share is granted again.
        if left != Left::Alone || lists.has_granted() {
            return monitored::after_readers(office, resident, lists, letter, left, budget);
        }
        here = port::core();
        if budget == 0 || monitored::is_wanted_elsewhere(office, here) {
            let has_more = office.has_letters(office.lane_of(here).index);
            return if has_more { Ran::Some(budget) } else { Ran::All(budget) };
        }
    }
}

/// What [`take`] found. (Two words, so that a chip gives it back in registers.)
#[derive(Clone, Copy)]
struct Took {
    /// So many readers, which were started; [`NOTHING`](Self::NOTHING) or [`OTHERS`](Self::OTHERS) if there are none.
    count: u8,
    /// The only one; several are this core's share.
    letter: Link,
}

impl Took {
    /// There is no letter in the lanes.
    const NOTHING: u8 = 0;
    /// There is a letter that is no reader, or that must wait.
    const OTHERS: u8 = u8::MAX;

    #[inline(always)]
    fn none(why: u8) -> Self {
        Self { count: why, letter: None }
    }
}

/// Takes readers out of a lane, if its next letters are some, no older writer may be in another one, and the monitor grants them: one, or, if there
/// are many, a share. They are started, and the lock, which was held, is released. Otherwise that is held still.
///
/// # Safety
/// As [`run`].
// By itself on a chip: whatever is worked out here is needed here only.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
unsafe fn take<M: Monitor>(monitor: *mut M, office: &'static Office, lists: &'static Lists, budget: u16) -> Took {
    let here = port::core();
    let own = office.lane_of(here).index;
    let Some(row) = office.next_row(lists, own) else {
        return Took::none(if office.has_letters(own) { Took::OTHERS } else { Took::NOTHING });
    };
    let letter = lists.lane(row.lane).peek(row.place);
    if !is_reader(lists, letter) {
        return Took::none(Took::OTHERS);
    }
    // SAFETY: the caller's promise.
    unsafe {
        if share::is_enough(row.all) {
            take_share(monitor, office, lists, row, letter, budget)
        } else {
            take_one(monitor, office, lists, here, &row, letter)
        }
    }
}

#[inline(always)]
fn is_reader(lists: &'static Lists, letter: NonNull<Head>) -> bool {
    Letter { head: letter, descriptor: lists.descriptor() }.access() == Access::Reader
}

/// The same for one letter, which was found.
///
/// # Safety
/// As [`run`].
#[inline(always)]
unsafe fn take_one<M: Monitor>(
    monitor: *mut M,
    office: &'static Office,
    lists: &'static Lists,
    here: u8,
    row: &Row,
    letter: NonNull<Head>,
) -> Took {
    if row.all != 1 {
        trace::listed(1);
    }
    office.lane(row.lane).receive(row.place);
    let readers = Readers::One(letter);
    // SAFETY: the caller's promise.
    if !unsafe { schedule(monitor, office, lists, here, readers) } {
        return Took::none(Took::OTHERS);
    }
    lists.list_running(letter);
    release(office, lists, here, readers);
    Took { count: 1, letter: Some(letter) }
}

/// The same for several, of which the first was found.
///
/// # Safety
/// As [`run`].
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
unsafe fn take_share<M: Monitor>(
    monitor: *mut M,
    office: &'static Office,
    lists: &'static Lists,
    row: Row,
    first: NonNull<Head>,
    budget: u16,
) -> Took {
    let here = port::core();
    let share = share::of_core(here);
    let part = share::part_of(here, row.all, budget.min(row.letters));
    // Where somebody waits that a letter leaves, each leaves by itself.
    if part == 0 || !share.is_free() || office.desk.is_room_wanted() {
        // SAFETY: the caller's promise.
        return unsafe { take_one(monitor, office, lists, here, &row, first) };
    }
    let Row { lane, place, .. } = row;
    let count = share.keep_readers(lists.lane(lane), place, part);
    trace::listed(u16::from(count));
    office.lane(lane).receive_until(place.wrapping_add(u16::from(count)));
    let readers = Readers::Share(share, count);
    // SAFETY: the caller's promise.
    if !unsafe { schedule(monitor, office, lists, here, readers) } {
        return Took::none(Took::OTHERS);
    }
    share.set_row(lane, place);
    share.begin(office.desk.known_id(), lists, count);
    release(office, lists, here, readers);
    Took { count, letter: None }
}

/// The monitor decides about readers that were received; whether they were granted. Otherwise they are in the lists.
///
/// # Safety
/// As [`run`].
#[inline(always)]
unsafe fn schedule<M: Monitor>(
    monitor: *mut M,
    office: &'static Office,
    lists: &'static Lists,
    here: u8,
    readers: Readers<'_>,
) -> bool {
    let hand = Hand::with_readers(office, list_lanes, readers);
    let turn = MonitorTurn::begin(here);
    let on_panic = OnPanic(|| {
        if hand.is_granted() {
            monitored::keep_granted(office, lists, here, readers);
        } else {
            hand.put_down(lists, None);
        }
        monitored::after_monitors_panic(office, lists, here);
    });
    let sharing = <M::Discipline as Discipline>::SHARING.0;
    let inbox = Inbox { lists, descriptor: lists.descriptor(), only: None, hand: Some(&hand), sharing };
    // SAFETY: it is there, and under the lock; `schedule` cannot reach this again: all it can do is send, and a send tries for the lock at most.
    unsafe { &mut *monitor }.schedule(inbox);
    if hand.is_granted() && !hand.holds_all() && lists.has_unseen() {
        core::hint::cold_path();
        // It has granted these and then looked at others, which it might have granted, too, had they been there.
        lists.publish();
        lists.seen();
        // SAFETY: as above.
        unsafe { &mut *monitor }.schedule(Inbox { hand: None, ..inbox });
    }
    core::mem::forget(on_panic);
    let granted = hand.is_granted();
    if granted {
        turn.before_method();
    } else {
        hand.put_down(lists, None);
    }
    lists.publish();
    granted
}

/// Releases the lock after readers were taken. Whoever finds nothing else to do may have those that are left, in the lanes or in the share.
#[inline(always)]
fn release(office: &'static Office, lists: &'static Lists, here: u8, readers: Readers<'_>) {
    let desk = &office.desk;
    let more =
        matches!(readers, Readers::Share(..)) || office.has_letters(office.lane_of(here).index) || lists.has_granted();
    desk.release();
    if desk.calls() {
        monitored::answer_with(office, cores::resident(desk.known_id()), lists, here, readers);
    }
    if !more {
        return;
    }
    if lists.descriptor().pinned || port::cores() == 1 {
        // Nobody else can come. But these readers may wait for others, which this core runs meanwhile.
        note_here(office, here);
    } else {
        cores::offer_actor(here, desk.known_id(), office);
    }
}
