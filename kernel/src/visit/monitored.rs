//! Visits to an actor with a monitor.
#![expect(unsafe_code, reason = "keeps the promises that running a letter asks for")]

use core::ptr::NonNull;

use super::{BATCH, OnPanic, abandon, arrive, exit, note_here};
use crate::cores;
use crate::desk::Resident;
use crate::inbox::Lists;
use crate::letter::Head;
use crate::mailbox::Office;
use crate::port;
use crate::sync::{Ended, Mutant};
use crate::worker;

/// How often a worker with a letter in hand goes back for events that others left with it.
const ROUNDS: u32 = 4;

/// A visit to an actor with a monitor.
pub(super) fn visit<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    from_ready: bool,
) -> bool {
    if !arrive(office, resident, here, office.lane_of(here), from_ready) {
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
    let own = office.lane_of(here);
    let this = !own.shared && office.lane(own.index).is_marked();
    cores::others_wait(here, u16::from(this))
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
