//! Nobody starves, and what may run in parallel does.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use critical_section::Mutex;
use flockwork::{Actor, Eventually as _, Pinned, Promise, ReadersWriter, Ref, Serial, actor};

use crate::answers::ORACLES;
use crate::patience::{deliver, reach, spin_until};
use crate::{Case, Device, Stop, require, require_equal, share};

pub(crate) const CASES: &[Case] = &[
    Case { name: "fairness/neighbours-on-core-0", proves: "OCA-26, OCA-27", cores: 1, run: neighbours_on_core_0 },
    Case { name: "fairness/neighbours-on-core-1", proves: "OCA-26, OCA-27", cores: 2, run: neighbours_on_core_1 },
    Case { name: "fairness/no-core-starves", proves: "KER-7, PAM-13", cores: 2, run: no_core_starves },
    Case { name: "fairness/readers-at-once", proves: "PAM-10, PAM-G4, OCA-25", cores: 2, run: readers_at_once },
    Case { name: "fairness/share-let-go-of", proves: "OCA-4, OCA-26", cores: 2, run: share_let_go_of },
];

// ---- on one core ----

/// Keeps its core busy by sending to itself.
pub(crate) struct Spinner {
    turns: &'static AtomicU32,
    stop: &'static AtomicU32,
}

#[actor]
impl Spinner {
    /// Goes on until it is stopped.
    pub fn spin(&mut self, me: Ref<Spinner>) {
        self.turns.store(self.turns.load(SeqCst).wrapping_add(1), SeqCst);
        if self.stop.load(SeqCst) == 0 {
            // A letter that finds no room ends it, and the case finds no more turns.
            let _ = me.spin(me).tell();
        }
    }
    /// Keeps its core from helping until the answer within a share is there.
    pub fn stay(&mut self, device: &'static dyn Device) {
        if !spin_until(device, || ANSWER.load(SeqCst) != 0) {
            MISSED.store(1, SeqCst);
        }
    }
    /// What a neighbour wants to know.
    pub fn turns(&self) -> u32 {
        self.turns.load(SeqCst)
    }
}

/// Turns of each core's spinner; all are told to stop at once.
static TURNS: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
static STOP: AtomicU32 = AtomicU32::new(0);

#[actor]
static SPINNER_0: Actor<Spinner, Pinned<0>, 4> = Spinner { turns: &TURNS[0], stop: &STOP };
#[actor]
static SPINNER_1: Actor<Spinner, Pinned<1>, 4> = Spinner { turns: &TURNS[1], stop: &STOP };

fn neighbours_on_core_0(device: &'static dyn Device) -> Result<(), Stop> {
    neighbours(device, 0, &SPINNER_0)
}

fn neighbours_on_core_1(device: &'static dyn Device) -> Result<(), Stop> {
    neighbours(device, 1, &SPINNER_1)
}

/// A neighbour of an actor that never stops (the oracle of the same core) gets its turn after a few of the other's.
fn neighbours(device: &'static dyn Device, core: usize, spinner: Ref<Spinner>) -> Result<(), Stop> {
    /// Between a question and its answer the spinner has a turn or two: it was first, and the answer has to be noticed.
    /// A visit between two looks at notices lets a core take as many turns as a round has visits.
    const TURNS_PER_ANSWER: u32 = 20;
    let questions = share(device, 1000, 50);
    let turns = || TURNS[core].load(SeqCst);
    STOP.store(0, SeqCst);
    deliver(device, spinner.spin(spinner).tell())?;
    let before = turns();
    let asked = (0..questions).try_for_each(|number| match ORACLES[core].next(number).get() {
        Ok(answer) => require_equal("an answer", number + 1, answer),
        Err(_) => Err(Stop::Wrong("no answer beside a busy actor")),
    });
    let after = turns();
    // It spins still, although others had their turns as well.
    let spins = reach(device, "turns of the busy actor", 1, || u32::from(turns().wrapping_sub(after) > 3));
    STOP.store(1, SeqCst);
    let stopped = spinner.turns().get();
    asked?;
    spins?;
    require(stopped.is_ok(), "the busy actor does not answer any more")?;
    if device.advances_evenly() {
        let taken = after.wrapping_sub(before);
        device.log(format_args!("  {taken} turns of the busy actor beside {questions} answers"));
        require(
            taken <= questions * TURNS_PER_ANSWER,
            "the busy actor had too many turns for each of its neighbour's",
        )?;
    }
    Ok(())
}

// ---- between cores ----

/// What two cores fight for. It notes how far both were when the first was done.
pub(crate) struct Prize {
    turns: [u32; 2],
    /// The turns of the other one when one was done.
    loser: Option<u32>,
    done: &'static AtomicU32,
}

#[actor]
impl Prize {
    /// One turn for this side, of so many.
    pub fn grab(&mut self, side: usize, goal: u32) {
        self.turns[side] += 1;
        if self.turns[side] == goal {
            self.loser.get_or_insert(self.turns[1 - side]);
            self.done.store(self.done.load(SeqCst) + 1, SeqCst);
        }
    }
    /// How far the slower one was when the faster one was done.
    pub fn clear(&mut self) -> Option<u32> {
        self.turns = [0; 2];
        self.done.store(0, SeqCst);
        self.loser.take()
    }
}

static DONE: AtomicU32 = AtomicU32::new(0);

#[actor]
static PRIZE: Actor<Prize, Serial, 2> = Prize { turns: [0; 2], loser: None, done: &DONE };

/// Grabs from its core.
pub(crate) struct Grabber {
    side: usize,
    grabbed: u32,
}

#[actor]
impl Grabber {
    /// Goes on until it has grabbed so often.
    pub fn grab(&mut self, me: Ref<Grabber>, goal: u32) {
        for _ in 0..4 {
            if self.grabbed == goal {
                self.grabbed = 0;
                return;
            }
            if PRIZE.grab(self.side, goal).tell().is_err() {
                break;
            }
            self.grabbed += 1;
        }
        // It has one letter to itself at a time; without it, the case finds too few.
        let _ = me.grab(me, goal).tell();
    }
}

#[actor]
static GRABBER_0: Actor<Grabber, Pinned<0>, 2> = Grabber { side: 0, grabbed: 0 };
#[actor]
static GRABBER_1: Actor<Grabber, Pinned<1>, 2> = Grabber { side: 1, grabbed: 0 };

/// Both cores send to one actor, which either may run: neither gets so much of it that the other one stands still.
fn no_core_starves(device: &'static dyn Device) -> Result<(), Stop> {
    let goal = share(device, 50, 1000);
    // The other one first: it has to be told of, this core's own starts when it works.
    deliver(device, GRABBER_1.grab(&GRABBER_1, goal).tell())?;
    deliver(device, GRABBER_0.grab(&GRABBER_0, goal).tell())?;
    let done = reach(device, "cores that had their turns", 2, || DONE.load(SeqCst));
    let Ok(loser) = PRIZE.clear().get() else { return Err(Stop::Wrong("no answer from the prize")) };
    done?;
    let Some(loser) = loser else { return Err(Stop::Wrong("nobody was first")) };
    if device.advances_evenly() {
        device.log(format_args!("  the slower core had {loser} turns when the faster one had {goal}"));
        require(loser >= goal / 4, "one core had less than a quarter of the other's turns")?;
    }
    Ok(())
}

// ---- in parallel ----

/// Where two readers meet.
static HERE: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
/// Set by a reader that waited in vain.
static MISSED: AtomicU32 = AtomicU32::new(0);
static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// Readers that wait for each other inside their turns.
pub(crate) struct Bench;

#[actor]
impl Bench {
    /// Sits at this place until the other one is taken as well.
    pub fn sit(&self, place: usize, round: u32, device: &'static dyn Device) {
        HERE[place].store(round, SeqCst);
        if !spin_until(device, || HERE[1 - place].load(SeqCst) == round) {
            MISSED.store(round, SeqCst);
        }
    }
    /// Comes when both are gone.
    pub fn wipe(&mut self, round: u32) {
        WRITTEN.store(round, SeqCst);
    }
}

#[actor]
static BENCH: Actor<Bench, ReadersWriter, 4> = Bench;

/// Two readers of one actor run at once, one on each core, since each waits for the other; the writer comes after both.
fn readers_at_once(device: &'static dyn Device) -> Result<(), Stop> {
    let rounds = share(device, 5000, 20);
    MISSED.store(0, SeqCst);
    WRITTEN.store(0, SeqCst);
    HERE.iter().for_each(|place| place.store(0, SeqCst));
    for round in 1..=rounds {
        deliver(device, BENCH.sit(0, round, device).tell())?;
        deliver(device, BENCH.sit(1, round, device).tell())?;
        deliver(device, BENCH.wipe(round).tell())?;
        reach(device, "writers behind the readers", 1, || u32::from(WRITTEN.load(SeqCst) == round))?;
        require(MISSED.load(SeqCst) == 0, "two readers were not run at once")?;
    }
    Ok(())
}

// ---- a turn that waits for a letter of its own share ----

/// Keeps the promise of the last question, for the turn that waits for its answer.
static AWAITED: Mutex<Cell<Option<Promise<u32>>>> = Mutex::new(Cell::new(None));
/// What that turn got.
static ANSWER: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Circle;

#[actor]
impl Circle {
    /// Waits for an answer of this very actor, while another one waits for the core as well.
    pub fn wait(&self, device: &'static dyn Device) {
        let _ = SPINNER_0.spin(&SPINNER_0).tell();
        // A core that is free may be here before all has been asked.
        let mut awaited = None;
        spin_until(device, || {
            awaited = critical_section::with(|token| AWAITED.borrow(token).take());
            awaited.is_some()
        });
        ANSWER.store(awaited.and_then(|awaited| awaited.get().ok()).unwrap_or(u32::MAX), SeqCst);
    }
    /// The number after this one.
    pub fn next(&self, number: u32) -> u32 {
        number + 1
    }
}

#[actor]
static CIRCLE: Actor<Circle, ReadersWriter, 16, 16> = Circle;

/// A core has taken several readers at once; the first waits for the answer of the last, other actors are ready, and the other core is busy. The
/// core comes back for what it has let go of.
fn share_let_go_of(device: &'static dyn Device) -> Result<(), Stop> {
    const QUESTIONS: u32 = 12;
    STOP.store(0, SeqCst);
    ANSWER.store(0, SeqCst);
    MISSED.store(0, SeqCst);
    deliver(device, SPINNER_1.stay(device).tell())?;
    deliver(device, CIRCLE.wait(device).tell())?;
    let mut asked: [Option<Promise<u32>>; QUESTIONS as usize] = [const { None }; QUESTIONS as usize];
    for (number, promise) in (1..).zip(&mut asked) {
        *promise = CIRCLE.next(number).ask().ok();
    }
    let last = asked.last_mut().and_then(Option::take);
    critical_section::with(|token| AWAITED.borrow(token).set(last));
    let reached = reach(device, "answer within a share", QUESTIONS + 1, || ANSWER.load(SeqCst));
    STOP.store(1, SeqCst);
    reached?;
    require(MISSED.load(SeqCst) == 0, "a core did not come back for what it had let go of")?;
    asked.into_iter().flatten().zip(2_u32..).try_for_each(|(promise, answer)| match promise.get() {
        Ok(found) => require_equal("an answer", answer, found),
        Err(_) => Err(Stop::Wrong("no answer from a share")),
    })
}
