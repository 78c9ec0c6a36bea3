//! Visits to an actor with a monitor.
//!
//! A letter that is alone in the gate is run under the lock: nobody could run another one meanwhile. So nobody needs to find it
//! either: it is in no list while it runs, and the visit goes from its method straight to its `leave`. Letters that share are run
//! without the lock; they are listed as running, or are in the share of their core, so that any holder of the lock finds those that have
//! ended. (Guests of the [gate](crate::gate) are neither: they are counted by their cores, and have left when they have ended.)
//!
//! A monitor's `leave` and `schedule` are called during a [`MonitorTurn`] only.
#![expect(unsafe_code, reason = "keeps the promises that running a letter asks for")]

use core::ptr::NonNull;

use super::{BATCH, OnPanic, abandon, exit, in_hand, note_here, sharing, tell_of_room};
use crate::cores::{self, Core, MonitorTurn};
use crate::desk::{Left, Ran, Resident};
use crate::gate::Sharing;
use crate::hand::Readers;
use crate::letter::{Head, Letter, Link};
use crate::lists::Lists;
use crate::mailbox::Office;
use crate::port::{self, FOREIGN, FOREIGN_THREADS};
use crate::ready::ActorId;
use crate::share::{self, Share};
use crate::sync::{Ended, Mutant, removed};

/// How often a worker with a letter in hand goes back for events that others left with it.
const ROUNDS: u32 = 4;
/// Letters in a core's own lane that are few: it may soon have run them all.
const FEW: u16 = 2;

/// A visit to an actor with a monitor, beside its straight line ([`Body`](crate::body::Body)). The lock is held.
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn visit_otherwise<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
) -> bool {
    // If letters wait, those that have come since are decided about with them. If somebody wants room, what has ended leaves at once. And a
    // letter may have ended, or a share stopped, without anybody who could ring: by a panic.
    let desk = &office.desk;
    if !lists.is_empty()
        || desk.is_room_wanted()
        || lists.has_listed_running()
        || (lists.has_shares() && share::has_stopped(desk.known_id(), lists))
    {
        round(office, resident, lists, here);
    }
    go_on(office, resident, lists, here, BATCH)
}

/// A reader was about to be run as a guest, without the lock, and somebody rang, or waits for room: this core comes back, and others may be sooner.
#[cold]
#[inline(never)]
pub(crate) fn offer_beside_guest(office: &'static Office) {
    tell_of_room(office);
    if office.desk.rang() {
        offer(office, port::core());
    }
}

/// A guest has gone, and somebody waits for that.
#[cold]
#[inline(never)]
pub(crate) fn visit_after_guest<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
) {
    let here = port::core();
    if office.desk.enter() {
        round(office, resident, lists, here);
        if go_on(office, resident, lists, here, BATCH - 1) {
            note_here(office, here);
        }
    }
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

/// Readers were run, and others have been there since, or are there now. If the lock was not had at once, they have yet to leave: this one, or
/// the share of this core.
#[cold]
#[inline(never)]
pub(crate) fn after_readers<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    letter: Link,
    left: Left,
    budget: u16,
) -> Ran {
    if left == Left::NotYet {
        // Whoever has the lock knows of a share.
        if !letter.is_some_and(|letter| say_and_enter(office, letter)) {
            return Ran::Gone;
        }
        round(office, resident, lists, port::core());
    }
    Ran::Some(budget)
}

/// The lock was not had at once after so many letters of this core's share were run: it is said that they have ended, before the bell is rung. True if
/// the lock was had after all, before anybody let them leave.
#[cold]
#[inline(never)]
pub(crate) fn enter_with_share(office: &'static Office, share: &Share, run: u8) -> bool {
    share.stop(run);
    if !office.desk.enter() {
        return false;
    }
    let is_there = share.is_of(office.desk.known_id());
    if !is_there {
        // Nothing is left to do but what others have rung for.
        office.desk.abandon();
        note_here(office, port::core());
    }
    is_there
}

/// A visit began with readers, straight from the lanes.
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn go_on_after_readers<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    ran: Ran,
) -> bool {
    let here = port::core();
    match ran {
        Ran::Gone => false,
        Ran::All(budget) if lists.has_shares() && can_take_back(office, here, budget) => {
            go_on(office, resident, lists, here, budget)
        }
        Ran::All(_) if is_let_go(office, lists) => {
            let _ = exit(office);
            true
        }
        Ran::All(_) => {
            if lists.has_shares() {
                cores::look_later(here);
            }
            office.desk.release();
            office.desk.calls() && answer(office, resident, lists, here)
        }
        Ran::Some(BATCH) => visit_otherwise(office, resident, lists, here),
        Ran::Some(budget) => go_on(office, resident, lists, here, budget),
    }
}

/// Whether this core takes back what cores have taken and not begun: if it has run nothing else in this visit, or has nothing better to do.
#[inline(always)]
fn can_take_back(office: &'static Office, here: u8, budget: u16) -> bool {
    budget == BATCH || !is_wanted_elsewhere(office, here)
}

/// Whether letters are in a share that its core has let go of: a turn of it waits, perhaps for one of them, or somebody wants them. They are taken back
/// by a visit, which this core must come back for if it has no time now: it may be the one that was rung for. (What a core has in its share
/// otherwise, it has offered, and this core looks at that again when it has time.)
#[inline(always)]
fn is_let_go(office: &Office, lists: &Lists) -> bool {
    lists.has_shares() && share::is_let_go(office.desk.known_id(), lists)
}

/// Whether a letter may have ended without anybody who could ring: by a panic.
#[inline(always)]
pub(crate) fn may_have_panicked(lists: &Lists) -> bool {
    !cfg!(all(target_os = "none", panic = "abort")) && lists.has_running()
}

/// Whether this core has something better to do than to go on with an actor's letters: another actor waits for it; or a turn of it that waits
/// for an answer has got it, and may send more letters before this core's own lane has run dry.
#[inline(always)]
pub(crate) fn is_wanted_elsewhere(office: &'static Office, here: u8) -> bool {
    others_wait(office, here) || (cores::is_answered(here) && office.lane(office.lane_of(here).index).waiting() <= FEW)
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

/// The same for any number of letters: those that are granted first, then what is in the lanes, then what other cores have taken and not
/// begun. The lock is held, and if letters wait, the monitor was asked about them since this visit began.
#[inline(never)]
fn go_on<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    mut budget: u16,
) -> bool {
    let desk = &office.desk;
    let own = office.lane_of(here).index;
    let mut offered = false;
    loop {
        if desk.has_bell() {
            // What the monitor may grant now was not offered. (Whoever rings says of its letter that it has ended.)
            offered = false;
            round(office, resident, lists, here);
        }
        let granted = lists.has_granted();
        let in_lanes = lists.is_empty() && office.has_letters(own);
        if !granted && !in_lanes {
            if lists.has_shares() && can_take_back(office, here, budget) {
                if share::take_back(desk.known_id(), lists) {
                    continue;
                }
            } else if is_let_go(office, lists) {
                let _ = exit(office);
                return true;
            } else if lists.has_shares() {
                cores::look_later(here);
            }
            // What was offered is gone. Letters may have come before it was taken back: so it is only if the lanes are looked at next.
            if (lists.is_empty() || removed(Mutant::OfferTakenBack))
                && core::mem::take(&mut offered)
                && cores::take_back_offer(here, desk.known_id())
            {
                continue;
            }
            desk.release();
            if !desk.calls() || !answer_calls(office, resident, lists, here) {
                return false;
            }
            continue;
        }
        if budget == 0 || (budget < BATCH && is_wanted_elsewhere(office, here)) {
            // Whoever rang is served when this core comes back; other cores may have what is granted meanwhile, or what is in the lanes, if
            // one has nothing to do.
            let can_share = granted || (lists.descriptor().sharing == Sharing::Parallel && cores::is_any_idle(here));
            let shared = can_share && !lists.gate.has_writer();
            let _ = exit(office);
            if shared {
                offer(office, here);
            }
            return true;
        }
        let left = if !granted {
            match in_hand::take(resident, lists, here, budget) {
                in_hand::Taken::Gone => return false,
                in_hand::Taken::Ran(left) => {
                    budget = left;
                    // Whoever takes letters out of the lanes takes back what was offered when nothing is left there.
                    offered = offered && cores::is_noted(here, desk.known_id());
                    // One was not granted: what is in the lanes is decided about with it.
                    if !lists.is_empty() {
                        office.drain(lists, own);
                        settle(office, resident, lists, here);
                    }
                    continue;
                }
                in_hand::Taken::Listed => {
                    office.drain(lists, own);
                    settle(office, resident, lists, here);
                    continue;
                }
            }
        } else if lists.gate.has_writer() || port::cores() == 1 {
            budget = run_locked(office, resident, lists, here, budget);
            continue;
        } else {
            run_sharing(office, resident, lists, here, &mut budget, &mut offered)
        };
        match left {
            None => return false,
            Some(Left::Alone) => {}
            Some(Left::BeforeOthers) => offered = false,
            Some(Left::NotYet) => {
                offered = false;
                round(office, resident, lists, here);
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

/// Runs letters under the lock, while letters are granted that nobody could run another one beside, and after the first only while no other
/// actor waits for the core. Each leaves then, and the monitor decides about what waits. The budget is one at least; what is left of it.
#[inline(never)]
fn run_locked<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    mut here: u8,
    mut budget: u16,
) -> u16 {
    while let Some(letter) = lists.first_granted() {
        let alone = lists.gate.has_writer();
        if !alone && port::cores() != 1 {
            break;
        }
        lists.start_locked(letter);
        let on_panic = OnPanic(|| {
            lists.end_later(letter);
            abandon(office, here);
        });
        // SAFETY: granted, and started under the lock, which is held until the letter has ended. If the gate has a writer, it is this letter,
        // alone: no other one is granted before it has left.
        unsafe { resident.run(here, letter, alone) };
        core::mem::forget(on_panic);
        // The core is asked for again, so that its number is not kept during the method.
        here = port::core();
        lists.end_locked(Letter { head: letter, descriptor: lists.descriptor() }, alone);
        let _monitor = MonitorTurn::begin(here);
        let on_panic = on_monitors_panic(office, lists, here);
        office.list_if_others_wait(lists, office.lane_of(here).index);
        resident.leave(letter);
        if !lists.is_empty() {
            schedule(resident, lists);
        }
        core::mem::forget(on_panic);
        budget -= 1;
        if budget == 0 || others_wait(office, here) {
            break;
        }
    }
    budget
}

/// Runs some of the letters that are granted, which share the state, without the lock. The lock is held before and after it; none if it could
/// not be had again (then its holder does the rest).
#[inline(always)]
fn run_sharing<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    budget: &mut u16,
    offered: &mut bool,
) -> Option<Left> {
    let desk = &office.desk;
    let share = share::of_core(here);
    let worth = share::part_of(here, lists.unshared(), *budget);
    // Where somebody waits that a letter leaves, each leaves by itself. Letters with claims are looked for in the lists.
    if worth != 0 && lists.is_empty() && !desk.is_room_wanted() && share.is_free() && !lists.have_claims() {
        let count = share.take(desk.known_id(), lists, worth);
        *budget -= u16::from(count);
        run_share(office, resident, lists, here, count, offered)
    } else {
        *budget -= 1;
        one_sharing(office, resident, lists, here, offered)
    }
}

/// Runs the share of this core, which it has just taken, without the lock. The lock is held before and after it; none if it could not be had
/// again.
#[inline(always)]
fn run_share<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    count: u8,
    offered: &mut bool,
) -> Option<Left> {
    let desk = &office.desk;
    let more = office.has_letters(office.lane_of(here).index);
    desk.release();
    if desk.calls() {
        *offered = false;
        answer_in_hand(office, resident, lists, here, Taken::Share);
    }
    // Whoever finds nothing else to do takes some of them back, or what is in the lanes.
    if more || !*offered {
        *offered = true;
        offer(office, here);
    }
    // SAFETY: taken under the lock, by this worker.
    let left = unsafe { sharing::run_share(office, resident, here, count) };
    (left != Left::NotYet).then_some(left)
}

/// The same for one letter, of which there is one, where it is not worth a share, or none is to be had. None if the lock could not be
/// had again.
#[inline(never)]
fn one_sharing<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    offered: &mut bool,
) -> Option<Left> {
    let desk = &office.desk;
    let letter = lists.start();
    let surplus = lists.has_granted();
    // What is in the lanes may be granted beside this letter, too, and nobody but its sender may know of it.
    let more = office.has_letters(office.lane_of(here).index);
    desk.release();
    if desk.calls() {
        *offered = false;
        answer_in_hand(office, resident, lists, here, Taken::One(letter));
    }
    if more || (surplus && !*offered) {
        *offered = true;
        offer(office, here);
    }
    // SAFETY: started under the lock, by this worker.
    let left = unsafe { sharing::run_one(office, resident, lists, here, letter) };
    (left != Left::NotYet || say_and_enter(office, letter)).then_some(left)
}

/// What a worker took of the granted letters, which share the state: to be run without the lock.
#[derive(Clone, Copy)]
enum Taken {
    /// The share of its core.
    Share,
    /// This letter: it is listed as running.
    One(NonNull<Head>),
}

impl Taken {
    /// It is not run.
    #[cold]
    fn give_back(self, here: u8) {
        match self {
            Self::Share => share::of_core(here).stop(0),
            Self::One(letter) => say(letter, Ended::GivenBack),
        }
    }
}

/// Readers were granted from this worker's hand, and are not run by it, because the monitor panicked after that. The lock is held.
#[cold]
pub(crate) fn keep_granted(office: &'static Office, lists: &'static Lists, here: u8, readers: Readers<'_>) {
    match readers {
        Readers::One(letter) => lists.grant_again(letter),
        Readers::Share(share, count) => {
            share.set_scattered();
            share.begin(office.desk.known_id(), lists, count);
            Taken::Share.give_back(here);
        }
    }
}

/// Further letters are granted: other cores may have them.
#[cold]
#[inline(never)]
fn offer(office: &'static Office, here: u8) {
    note_here(office, here);
    cores::offer_again(here);
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
pub(crate) fn others_wait(office: &Office, here: u8) -> bool {
    others_wait_for(office, office.desk.known_id(), cores::core(here), here)
}

/// The same where the actor's number and the core are at hand.
#[inline(always)]
pub(crate) fn others_wait_for(office: &Office, id: ActorId, core: &Core, here: u8) -> bool {
    let is_marked = || {
        let own = office.lane_of(here);
        !own.shared && office.lane(own.index).is_marked()
    };
    cores::others_wait_besides(core, || id, is_marked)
}

/// After the lock was released with letters in hand: what others left with this worker is done now and not after the turn. If the monitor
/// panics, the letters are given back.
#[cold]
#[inline(never)]
fn answer_in_hand<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    taken: Taken,
) {
    let desk = &office.desk;
    tell_of_room(office);
    let mut rang = desk.rang();
    let mut surplus = false;
    for _ in 0..ROUNDS {
        if !rang || !desk.try_enter() {
            break;
        }
        let on_panic = OnPanic(|| taken.give_back(here));
        round(office, resident, lists, here);
        core::mem::forget(on_panic);
        // Whoever rang may have come for what is in the shares.
        surplus = lists.has_granted() || lists.has_shares() || office.has_letters(office.lane_of(here).index);
        rang = exit(office);
    }
    if rang || surplus {
        offer(office, here);
    }
}

/// The same for readers that were taken out of the lanes.
#[cold]
#[inline(never)]
pub(crate) fn answer_with<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
    readers: Readers<'_>,
) {
    let taken = match readers {
        Readers::One(letter) => Taken::One(letter),
        Readers::Share(..) => Taken::Share,
    };
    answer_in_hand(office, resident, lists, here, taken);
}

/// A round, under the lock: what ended leaves, and if letters wait, what arrived is listed with them, and the monitor schedules. Otherwise
/// letters stay in their lanes, to be taken in hand.
#[inline(never)]
fn round<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, lists: &'static Lists, here: u8) {
    office.desk.begin_round();
    if lists.gate.take_awaited() && !removed(Mutant::GuestsForgotten) {
        lists.ask_again();
    }
    if !lists.is_empty() {
        office.drain(lists, office.lane_of(here).index);
    }
    settle(office, resident, lists, here);
}

/// The rest of a round: what ended leaves, and the monitor schedules.
#[cfg_attr(target_os = "none", inline(never))]
fn settle<R: Resident + ?Sized>(office: &'static Office, resident: &'static R, lists: &'static Lists, here: u8) {
    if !lists.has_running() && !lists.has_unseen() {
        return;
    }
    let _monitor = MonitorTurn::begin(here);
    let on_panic = on_monitors_panic(office, lists, here);
    let mut leave = |letter| {
        resident.leave(letter);
        if !lists.is_empty() {
            schedule(resident, lists);
        }
    };
    while let Some(letter) = lists.ended(lists.descriptor()) {
        leave(letter);
    }
    if lists.has_unseen() {
        schedule(resident, lists);
    }
    if lists.has_shares() {
        // What is not granted may wait for a letter to leave, and who wants room for its slot.
        let at_once = !lists.is_empty() || office.desk.is_room_wanted();
        share::settle(office.desk.known_id(), lists, at_once, &mut leave, &|share, run| {
            resident.leave_share(share, run)
        });
    }
    core::mem::forget(on_panic);
}

/// A letter found no room: those that have ended as parts of shares may still have their slots, and leave now. Whether there were any.
#[cold]
#[inline(never)]
pub(crate) fn make_room<R: Resident + ?Sized>(
    office: &'static Office,
    resident: &'static R,
    lists: &'static Lists,
    here: u8,
) -> bool {
    let desk = &office.desk;
    if FOREIGN_THREADS && here == FOREIGN {
        // Monitors are asked on cores only: whichever comes first.
        desk.want_room();
        note_here(office, here);
        return false;
    }
    // Inside a monitor's turn no other one begins.
    if cores::is_deciding(here) || !desk.try_enter() {
        return false;
    }
    let ended = lists.has_shares() && share::has_ended(desk.known_id(), lists);
    if ended {
        let _outer = cores::Outer::keep(here);
        desk.want_room();
        round(office, resident, lists, here);
    }
    let rang = desk.exit();
    if ended {
        tell_of_room(office);
    }
    // Others may have been granted.
    if rang || ended {
        note_here(office, here);
    }
    ended
}

/// If the monitor panics, what it granted before stands, and it is asked again about the rest.
#[inline(always)]
pub(crate) fn on_monitors_panic(office: &'static Office, lists: &'static Lists, here: u8) -> OnPanic<impl FnMut()> {
    OnPanic(move || after_monitors_panic(office, lists, here))
}

#[cold]
pub(crate) fn after_monitors_panic(office: &'static Office, lists: &'static Lists, here: u8) {
    lists.publish();
    lists.ask_again();
    office.desk.abandon();
    note_here(office, here);
}

/// The monitor decides about the letters that wait, one at least.
#[inline(always)]
pub(super) fn schedule<R: Resident + ?Sized>(resident: &'static R, lists: &'static Lists) {
    lists.seen();
    resident.schedule();
    lists.publish();
}
