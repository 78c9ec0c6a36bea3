//! Shares: a core takes several readers at once. Nobody is stuck because of it, whatever a turn or a monitor does.
//!
//! Each test has actors and flags of its own. Where cores must not be free to come and help, `Busy` actors keep their ready sets full.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use flockwork::{
    Actor, Affinity, Any, Eventually as _, Filter as _, Inbox, Letter, Monitor, Parallel, Pinned, Promise, Readers,
    ReadersWriter, Ref, Report, Writers, actor,
};
use support::{Occupancy, device, insist_outside, lock, run_until, spin_until};

fn a_while() {
    thread::sleep(Duration::from_millis(2));
}

/// Sends to itself until it is over, so that another actor always waits for its core.
pub struct Busy {
    over: &'static AtomicBool,
}

#[actor]
impl Busy {
    pub fn work(&mut self, this: Ref<Busy>) {
        if !self.over.load(SeqCst) {
            this.work(this).tell().unwrap();
        }
    }
}

// ---- a letter that waits for the leave of one that has ended ----

static SENT: AtomicBool = AtomicBool::new(false);
static LONG_BEGUN: AtomicBool = AtomicBool::new(false);
static LAST_OVER: AtomicBool = AtomicBool::new(false);

pub struct Crowd;

#[actor]
impl Crowd {
    pub fn begin(&mut self) {
        spin_until(|| SENT.load(SeqCst));
    }
    pub fn first(&self) {
        thread::sleep(Duration::from_millis(100));
    }
    pub fn last(&self) {
        LAST_OVER.store(true, SeqCst);
    }
    pub fn long(&self) {
        LONG_BEGUN.store(true, SeqCst);
        spin_until(|| LAST_OVER.load(SeqCst));
    }
    pub fn short(&self, waits: bool) {
        spin_until(|| !waits || LONG_BEGUN.load(SeqCst));
    }
}

/// At most one of `first` and `last` at a time, and all other readers.
struct OneOfTwo {
    readers: u32,
    one_of_two: bool,
    writing: bool,
}

impl OneOfTwo {
    fn is_one(letter: &Letter<'_>) -> bool {
        matches!(letter.method(), "first" | "last")
    }
}

impl Monitor for OneOfTwo {
    type Discipline = Parallel;
    const NEW: Self = Self { readers: 0, one_of_two: false, writing: false };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        if self.writing {
            return;
        }
        if self.readers == 0 && inbox.execute_oldest(Writers) {
            self.writing = true;
            return;
        }
        for letter in inbox.letters().filter(|letter| Readers.pass(letter)) {
            if !(Self::is_one(&letter) && self.one_of_two) && inbox.execute(letter) {
                self.readers += 1;
                self.one_of_two |= Self::is_one(&letter);
            }
        }
    }

    fn leave(&mut self, letter: Letter<'_>) {
        if self.writing {
            self.writing = false;
            return;
        }
        self.readers -= 1;
        self.one_of_two &= !Self::is_one(&letter);
    }
}

/// PAM-14: what has ended leaves although a long turn follows it in its share, because a letter waits for that.
#[test]
fn what_has_ended_leaves_for_those_who_wait_pam_14() {
    #[actor]
    static CROWD: Actor<Crowd, OneOfTwo, 64> = Crowd;
    #[actor]
    static BUSY_0: Actor<Busy, Pinned<0>, 4> = Busy { over: &LAST_OVER };
    #[actor]
    static BUSY_1: Actor<Busy, Pinned<1>, 4> = Busy { over: &LAST_OVER };
    device(2, || {
        BUSY_0.work(&BUSY_0).tell().unwrap();
        BUSY_1.work(&BUSY_1).tell().unwrap();
        CROWD.begin().tell().unwrap();
        CROWD.first().tell().unwrap();
        CROWD.long().tell().unwrap();
        (0..5).for_each(|short| CROWD.short(short == 4).tell().unwrap());
        CROWD.last().tell().unwrap();
        SENT.store(true, SeqCst);
        run_until(|| LAST_OVER.load(SeqCst));
    });
}

// ---- monitors that fail, or grant, in unexpected places ----

/// A state that says if a borrow aliases, and counts.
pub struct Shelf {
    occupancy: Occupancy,
    sent: &'static AtomicBool,
    done: &'static AtomicU32,
}

impl Shelf {
    const fn new(sent: &'static AtomicBool, done: &'static AtomicU32) -> Self {
        Self { occupancy: Occupancy::new(), sent, done }
    }
}

#[actor]
impl Shelf {
    /// What is sent meanwhile is granted at once when it ends.
    pub fn begin(&mut self) {
        spin_until(|| self.sent.load(SeqCst));
    }
    pub fn read(&self) {
        self.occupancy.read(a_while);
        self.done.fetch_add(1, SeqCst);
    }
    pub fn write(&mut self) {
        self.occupancy.write(a_while);
        self.done.fetch_add(1, SeqCst);
    }
}

/// Five readers, a writer, and the same again; all of them run.
fn read_and_write(shelf: Ref<Shelf>, sent: &AtomicBool, done: &AtomicU32) {
    device(2, || {
        shelf.begin().tell().unwrap();
        for _ in 0..2 {
            (0..5).for_each(|_| shelf.read().tell().unwrap());
            shelf.write().tell().unwrap();
        }
        sent.store(true, SeqCst);
        run_until(|| done.load(SeqCst) == 12);
    });
}

/// Relies on the gate; its filter fails once, at the third letter.
struct Tripping;

static TRIPS: AtomicBool = AtomicBool::new(false);

impl Monitor for Tripping {
    type Discipline = Parallel;
    const NEW: Self = Self;

    fn schedule(&mut self, inbox: Inbox<'_>) {
        let asked = std::cell::Cell::new(0);
        let readers = |letter: &Letter<'_>| {
            asked.set(asked.get() + 1);
            if asked.get() == 3 && TRIPS.swap(false, SeqCst) {
                resume_unwind(Box::new("a filter fails on purpose"));
            }
            Readers.pass(letter)
        };
        inbox.execute_older_than(readers, Writers);
        inbox.execute_oldest(Any);
    }

    fn leave(&mut self, _: Letter<'_>) {}
}

/// SAFE-1: a filter that fails leaves the letters, and the gate, as they should be.
#[test]
fn a_filter_that_fails_harms_no_letter_safe_1() {
    static SENT: AtomicBool = AtomicBool::new(false);
    static DONE: AtomicU32 = AtomicU32::new(0);
    #[actor]
    static SHELF: Actor<Shelf, Tripping, 64> = Shelf::new(&SENT, &DONE);
    TRIPS.store(true, SeqCst);
    read_and_write(&SHELF, &SENT, &DONE);
}

/// Relies on the gate; its filter grants other letters.
struct Granting;

impl Monitor for Granting {
    type Discipline = Parallel;
    const NEW: Self = Self;

    fn schedule(&mut self, inbox: Inbox<'_>) {
        let readers = |letter: &Letter<'_>| {
            inbox.execute_youngest(Readers);
            Readers.pass(letter)
        };
        inbox.execute_older_than(readers, Writers);
        inbox.execute_oldest(Any);
    }

    fn leave(&mut self, _: Letter<'_>) {}
}

/// PAM-A3, SAFE-1: granting while iterating is safe, also inside a filter.
#[test]
fn a_filter_may_grant_pam_a3() {
    static SENT: AtomicBool = AtomicBool::new(false);
    static DONE: AtomicU32 = AtomicU32::new(0);
    #[actor]
    static SHELF: Actor<Shelf, Granting, 64> = Shelf::new(&SENT, &DONE);
    read_and_write(&SHELF, &SENT, &DONE);
}

/// Relies on the gate; it fails at the third leave of a reader.
struct Stumbling {
    readers: u32,
}

impl Monitor for Stumbling {
    type Discipline = Parallel;
    const NEW: Self = Self { readers: 0 };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        inbox.execute_older_than(Readers, Writers);
        inbox.execute_oldest(Any);
    }

    fn leave(&mut self, letter: Letter<'_>) {
        self.readers += u32::from(Readers.pass(&letter));
        if self.readers == 3 {
            resume_unwind(Box::new("a leave fails on purpose"));
        }
    }
}

/// SAFE-1, PAM-G5: a leave that fails, of a letter of a share, leaves the others, and the gate, as they should be.
#[test]
fn a_leave_that_fails_harms_no_letter_safe_1() {
    static SENT: AtomicBool = AtomicBool::new(false);
    static DONE: AtomicU32 = AtomicU32::new(0);
    #[actor]
    static SHELF: Actor<Shelf, Stumbling, 64> = Shelf::new(&SENT, &DONE);
    read_and_write(&SHELF, &SENT, &DONE);
    let report = flockwork::Report::of(&SHELF);
    assert_eq!(report.letters, 0, "every letter has left");
}

// ---- a monitor that fails when a whole share has left ----

static KEPT_AWAY: AtomicBool = AtomicBool::new(false);
static LAST_BEGUN: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static HAS_FAILED: AtomicBool = AtomicBool::new(false);
static VISITORS: AtomicU32 = AtomicU32::new(0);

/// Readers at once, writers alone. Fails once, at the decision after the last reader has left.
struct FailsAtLast {
    readers: usize,
    writing: bool,
}

impl Monitor for FailsAtLast {
    type Discipline = Parallel;
    const NEW: Self = Self { readers: 0, writing: false };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        if self.writing {
            return;
        }
        self.readers += inbox.execute_all(Readers);
        let writes = inbox.contains(Writers);
        ASKED.fetch_or(writes, SeqCst);
        if writes && self.readers == 0 {
            if !HAS_FAILED.swap(true, SeqCst) {
                resume_unwind(Box::new("the monitor"));
            }
            self.writing = inbox.execute_oldest(Writers);
        }
    }

    fn leave(&mut self, letter: Letter<'_>) {
        if Writers.pass(&letter) { self.writing = false } else { self.readers -= 1 }
    }
}

pub struct Museum;

#[actor]
impl Museum {
    pub fn look(&self, last: bool) {
        if last {
            LAST_BEGUN.store(true, SeqCst);
            spin_until(|| ASKED.load(SeqCst));
            // Until the core that asked has gone, with the lock.
            thread::sleep(Duration::from_millis(20));
        }
        VISITORS.fetch_add(1, SeqCst);
    }
    pub fn clean(&mut self) {
        VISITORS.fetch_add(1, SeqCst);
    }
}

/// Comes with a writer when the last reader of the share has begun; until then its core is kept away.
pub struct Cleaner;

#[actor]
impl Cleaner {
    pub fn come(&mut self, to: Ref<Museum>) {
        KEPT_AWAY.store(true, SeqCst);
        spin_until(|| LAST_BEGUN.load(SeqCst));
        to.clean().tell().unwrap();
    }
}

/// SAFE-1: a decision that fails after all letters of a full share have left frees nothing twice, and is made again.
#[test]
fn a_decision_that_fails_after_a_share_harms_no_letter_safe_1() {
    #[actor]
    static MUSEUM: Actor<Museum, FailsAtLast, 16> = Museum;
    #[actor]
    static CLEANER: Actor<Cleaner, Pinned<1>, 4> = Cleaner;
    device(2, || {
        CLEANER.come(&MUSEUM).tell().unwrap();
        spin_until(|| KEPT_AWAY.load(SeqCst));
        (1..=8).for_each(|number| MUSEUM.look(number == 8).tell().unwrap());
        run_until(|| VISITORS.load(SeqCst) == 9 && Report::of(&MUSEUM).letters == 0);
    });
    assert!(HAS_FAILED.load(SeqCst), "it was asked when all readers had left");
}

// ---- room ----

static GRANTS: AtomicBool = AtomicBool::new(false);
static THROUGH: AtomicBool = AtomicBool::new(false);
static OVER: AtomicU32 = AtomicU32::new(0);

pub struct Door;

#[actor]
impl Door {
    pub fn short(&self, milliseconds: u64) {
        thread::sleep(Duration::from_millis(milliseconds));
        OVER.fetch_add(1, SeqCst);
    }
    pub fn long(&self) {
        spin_until(|| THROUGH.load(SeqCst));
        OVER.fetch_add(1, SeqCst);
    }
}

pub struct Sender;

#[actor]
impl Sender {
    pub fn send(&mut self, to: Ref<Door>) {
        (0..4).for_each(|_| to.short(20).tell().unwrap());
    }
}

/// Grants everything, once it is told to.
struct Held;

impl Monitor for Held {
    type Discipline = Parallel;
    const NEW: Self = Self;

    fn schedule(&mut self, inbox: Inbox<'_>) {
        if GRANTS.load(SeqCst) {
            inbox.execute_all(Any);
        }
    }

    fn leave(&mut self, _: Letter<'_>) {}
}

/// KER-2: the slots of letters that have ended are free for a sender that finds no room, although a long turn follows them in their share.
#[test]
fn what_has_ended_makes_room_ker_2() {
    #[actor]
    static DOOR: Actor<Door, Held, 4> = Door;
    #[actor]
    static SENDER: Actor<Sender, Pinned<1>, 4> = Sender;
    device(2, || {
        let outside = thread::spawn(|| {
            (0..3).for_each(|_| DOOR.short(0).tell().unwrap());
            DOOR.long().tell().unwrap();
        });
        outside.join().unwrap();
        SENDER.send(&DOOR).get().unwrap();
        DOOR.short(20).tell().unwrap();
        GRANTS.store(true, SeqCst);
        DOOR.short(20).tell().unwrap();
        let outside = thread::spawn(|| {
            insist_outside(|| DOOR.short(0).tell());
            THROUGH.store(true, SeqCst);
        });
        run_until(|| OVER.load(SeqCst) == 11);
        outside.join().unwrap();
    });
}

// ---- the order of age ----

static FED: AtomicBool = AtomicBool::new(false);
static RUN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Grants the oldest letter, when the last one has left.
struct OldestFirst {
    runs: bool,
}

impl Monitor for OldestFirst {
    type Discipline = Parallel;
    const NEW: Self = Self { runs: false };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        if !self.runs {
            self.runs = inbox.execute_oldest(Any);
        }
    }

    fn leave(&mut self, _: Letter<'_>) {
        self.runs = false;
    }
}

pub struct Line;

#[actor]
impl Line {
    pub fn begin(&mut self, this: Ref<Line>) {
        spin_until(|| FED.load(SeqCst));
        (4..12).for_each(|number| this.note(number).tell().unwrap());
    }
    pub fn note(&self, number: u32) {
        lock(&RUN).push(number);
    }
}

pub struct Feeder;

#[actor]
impl Feeder {
    pub fn feed(&mut self, line: Ref<Line>) {
        (0..4).for_each(|number| line.note(number).tell().unwrap());
        FED.store(true, SeqCst);
    }
}

/// PAM-A3: readers that a core has taken out of its own lane, and that the monitor does not grant, come behind those that are older.
#[test]
fn readers_that_are_not_granted_keep_their_age_pam_a3() {
    #[actor]
    static LINE: Actor<Line, OldestFirst, 32> = Line;
    #[actor]
    static FEEDER: Actor<Feeder, Pinned<1>, 4> = Feeder;
    device(2, || {
        FEEDER.feed(&LINE).tell().unwrap();
        LINE.begin(&LINE).tell().unwrap();
        run_until(|| lock(&RUN).len() == 12);
    });
    assert_eq!(*lock(&RUN), Vec::from_iter(0..12));
}

// ---- a letter that many overtake ----

/// As many letters as a lane can count.
const ROUND: u32 = 1 << 16;

static HELD: AtomicBool = AtomicBool::new(false);
static DAWDLES: AtomicBool = AtomicBool::new(false);
static OVERTAKEN_BY: AtomicU32 = AtomicU32::new(0);
static CLOSED: AtomicBool = AtomicBool::new(false);
static FILLED: AtomicBool = AtomicBool::new(false);
static PASSED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

pub struct Road;

#[actor]
static ROAD: Actor<Road, ReadersWriter, 16> = Road;

#[actor]
impl Road {
    /// Stays until a whole round of letters has overtaken it, and left.
    pub fn dawdle(&self) {
        DAWDLES.store(true, SeqCst);
        spin_until(|| OVERTAKEN_BY.load(SeqCst) == ROUND && Report::of(&ROAD).letters == 1);
    }
    pub fn overtake(&self) {
        OVERTAKEN_BY.fetch_add(1, SeqCst);
    }
    pub fn close(&mut self) {
        CLOSED.store(true, SeqCst);
        spin_until(|| FILLED.load(SeqCst));
    }
    pub fn pass(&self, number: u32) {
        lock(&PASSED).push(number);
    }
}

/// Keeps the other core away until the share is taken.
pub struct Holder;

#[actor]
impl Holder {
    pub fn hold(&mut self) {
        HELD.store(true, SeqCst);
        spin_until(|| DAWDLES.load(SeqCst));
    }
}

/// KER-2: the count of a lane's letters goes around while the first letter of a share runs. Its slot is free after it, and no other one twice.
#[test]
fn a_letter_that_a_whole_round_has_overtaken_frees_its_slot_ker_2() {
    #[actor]
    static HOLDER: Actor<Holder, Pinned<1>, 4> = Holder;
    device(2, || {
        HOLDER.hold().tell().unwrap();
        spin_until(|| HELD.load(SeqCst));
        // All through one lane, that of threads which are no cores. This core takes the first of them at once.
        let first = thread::spawn(|| {
            ROAD.dawdle().tell().unwrap();
            (0..9).for_each(|_| ROAD.overtake().tell().unwrap());
        });
        first.join().unwrap();
        let rest = thread::spawn(|| (9..ROUND).for_each(|_| insist_outside(|| ROAD.overtake().tell())));
        run_until(|| OVERTAKEN_BY.load(SeqCst) == ROUND && Report::of(&ROAD).letters == 0);
        rest.join().unwrap();
        let fill = thread::spawn(|| {
            ROAD.close().tell().unwrap();
            // A letter alone has given up its slot, so all of them are free.
            spin_until(|| CLOSED.load(SeqCst) && Report::of(&ROAD).letters == 0);
            (0..16).for_each(|number| ROAD.pass(number).tell().unwrap());
            FILLED.store(true, SeqCst);
        });
        run_until(|| lock(&PASSED).len() == 16);
        fill.join().unwrap();
    });
    lock(&PASSED).sort_unstable();
    assert_eq!(*lock(&PASSED), Vec::from_iter(0..16), "each message once");
}

// ---- a turn that waits for a letter of its own share ----

/// What the first reader of a circle waits for.
static AWAITED: Mutex<Option<Promise<u32>>> = Mutex::new(None);
static ANSWERED: AtomicU32 = AtomicU32::new(0);

pub struct Circle;

#[actor]
impl Circle {
    pub fn wait(&self, busy: Ref<Busy>) {
        // From now on another actor waits for this core, whenever it is asked.
        busy.work(busy).tell().unwrap();
        let awaited = lock(&AWAITED).take().unwrap();
        ANSWERED.store(awaited.get().unwrap(), SeqCst);
    }
    pub fn answer(&self, number: u32) -> u32 {
        number + 1
    }
}

/// OCA-4: a turn that waits for a letter of its own share has let go of that. Its core comes back for it although other actors wait for the core,
/// too.
#[test]
fn what_a_waiting_turn_has_let_go_of_is_come_back_for_oca_4() {
    static OVER: AtomicBool = AtomicBool::new(false);
    #[actor]
    static CIRCLE: Actor<Circle, ReadersWriter, 64, 32> = Circle;
    #[actor]
    static BUSY: Actor<Busy, Pinned<0>, 4> = Busy { over: &OVER };
    device(1, || {
        ANSWERED.store(0, SeqCst);
        CIRCLE.wait(&BUSY).tell().unwrap();
        let mut answers: Vec<_> = (0..11).map(|number| CIRCLE.answer(number).ask().unwrap()).collect();
        *lock(&AWAITED) = answers.pop();
        run_until(|| ANSWERED.load(SeqCst) == 11);
        OVER.store(true, SeqCst);
        for (number, answer) in (1..).zip(answers) {
            assert_eq!(answer.get(), Ok(number));
        }
    });
}

/// OCA-26: a share ends for another actor that waits; its letters are run all the same, after that one.
#[test]
fn a_share_that_ends_early_is_gone_on_with_oca_26() {
    static OVER: AtomicBool = AtomicBool::new(false);
    #[actor]
    static CIRCLE: Actor<Circle, ReadersWriter, 64, 32> = Circle;
    #[actor]
    static BUSY: Actor<Busy, Pinned<0>, 4> = Busy { over: &OVER };
    device(1, || {
        BUSY.work(&BUSY).tell().unwrap();
        let mut answers: Vec<_> = (0..12).map(|number| CIRCLE.answer(number).ask().unwrap()).collect();
        run_until(|| answers.iter_mut().all(|answer| answer.is_ready()));
        OVER.store(true, SeqCst);
        for (number, answer) in (1..).zip(answers) {
            assert_eq!(answer.get(), Ok(number));
        }
    });
}

// ---- readers that wait for one another, and are too few for a share ----

/// Looks how many wait after it has decided.
struct Curious(ReadersWriter);

impl Monitor for Curious {
    type Discipline = Parallel;
    const NEW: Self = Self(ReadersWriter::NEW);

    fn schedule(&mut self, inbox: Inbox<'_>) {
        self.0.schedule(inbox);
        assert!(inbox.len() < 64, "no more than there is room for");
    }

    fn leave(&mut self, letter: Letter<'_>) {
        self.0.leave(letter);
    }
}

/// Readers at once, as far as one core can.
struct OnCoreZero(ReadersWriter);

impl Monitor for OnCoreZero {
    type Discipline = Parallel;
    const NEW: Self = Self(ReadersWriter::NEW);
    const AFFINITY: Affinity = Affinity::Pinned(0);

    fn schedule(&mut self, inbox: Inbox<'_>) {
        self.0.schedule(inbox);
    }

    fn leave(&mut self, letter: Letter<'_>) {
        self.0.leave(letter);
    }
}

#[actor]
static CALM: Actor<Busy, Pinned<0>, 4> = Busy { over: &CALM_IS_OVER };
static CALM_IS_OVER: AtomicBool = AtomicBool::new(true);

/// The first of two readers waits for the answer of the second.
fn one_waits_for_the_other(circle: Ref<Circle>) {
    ANSWERED.store(0, SeqCst);
    circle.wait(&CALM).tell().unwrap();
    let answer = circle.answer(10).ask().unwrap();
    *lock(&AWAITED) = Some(answer);
    run_until(|| ANSWERED.load(SeqCst) == 11);
}

/// PAM-A5, PAM-10: what a monitor grants by a filter is all that passes, also if it looks at the letters after that.
#[test]
fn a_monitor_that_looks_afterwards_grants_all_pam_a5() {
    #[actor]
    static CIRCLE: Actor<Circle, Curious, 64, 32> = Circle;
    device(1, || one_waits_for_the_other(&CIRCLE));
}

/// OCA-4: a reader of a pinned actor waits for another one, which only its own core can run.
#[test]
fn readers_of_a_pinned_actor_wait_for_one_another_oca_4() {
    #[actor]
    static CIRCLE: Actor<Circle, OnCoreZero, 64, 32> = Circle;
    device(2, || one_waits_for_the_other(&CIRCLE));
}
