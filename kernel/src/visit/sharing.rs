//! Letters that share the state of their actor, run without the lock: one that is listed as running, or the share of a core.
#![expect(unsafe_code, reason = "keeps the promises that running letters asks for")]

use core::ptr::NonNull;

use super::monitored::{self, schedule};
use super::{OnPanic, note_here};
use crate::cores::{self, MonitorTurn};
use crate::desk::{Left, Resident};
use crate::letter::{Head, Letter};
use crate::lists::Lists;
use crate::mailbox::Office;
use crate::port;
use crate::share;
use crate::sync::Ended;

/// Runs a letter without the lock. If that is had at once after it, the letter leaves, the monitor decides about what waits, and the lock is held.
/// Otherwise the letter is still listed, and nobody knows yet that it has ended.
///
/// # Safety
/// The caller has started the letter, of this actor, under the lock, which it has released, and runs it once.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) unsafe fn run_one<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    letter: NonNull<Head>,
) -> Left {
    let on_panic = OnPanic(|| {
        monitored::say(letter, Ended::Run);
        note_here(office, here);
    });
    // SAFETY: the caller's promise; the gate has no writer, and the letter is in it until a holder of the lock takes it out: this
    // worker, or whoever hears that it has ended.
    unsafe { resident.run(here, letter, false) };
    core::mem::forget(on_panic);
    if !office.desk.try_enter() {
        return Left::NotYet;
    }
    // The core is asked for again, so that its number is not kept during the method.
    let here = port::core();
    lists.end_listed(Letter { head: letter, descriptor: lists.descriptor() });
    let _turn = MonitorTurn::begin(here);
    let on_panic = monitored::on_monitors_panic(office, lists, here);
    office.list_if_others_wait(lists, office.lane_of(here).index);
    resident.leave(letter);
    let others_wait = !lists.is_empty();
    if others_wait {
        schedule(resident, lists);
    }
    core::mem::forget(on_panic);
    if others_wait { Left::BeforeOthers } else { Left::Alone }
}

/// Runs the letters of this core's share, without the lock, so many at most. If that is had after it, those that were run leave, as above.
/// Otherwise they have left, or it is left to whoever has the lock, and knows that they have ended.
///
/// # Safety
/// The caller has taken the share, of letters of this actor, of this size, under the lock, which it has released.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) unsafe fn run_share<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    here: u8,
    count: u8,
) -> Left {
    let (me, share) = (cores::core(here), share::of_core(here));
    let id = office.desk.known_id();
    let mut run = 0;
    loop {
        let on_panic = OnPanic(|| {
            share.stop(run + 1);
            note_here(office, here);
        });
        // SAFETY: the caller's promise: these letters were started. This one is this core's alone (the argument of `share`); the gate has
        // no writer, and the letter is in it until a holder of the lock takes it out, which nobody does before it was run.
        unsafe { resident.run(here, share.letter(run), false) };
        core::mem::forget(on_panic);
        run += 1;
        // After the last one there is nothing to go on to: its end is said by its leaving, or below. Other actors wait no longer than they
        // would for a single letter.
        if run == count || !share.goes_on(run) || monitored::others_wait_for(office, id, me, here) {
            break;
        }
    }
    if !office.desk.try_enter() && !monitored::enter_with_share(office, share, run) {
        return Left::NotYet;
    }
    resident.end_share(here, run)
}
