//! Stepped mode: any number of virtual cores on one thread, in virtual time, repeatable from a seed.
//!
//! Core 0 is the calling thread itself, with `main` on its stack; every other core is a coroutine that runs the kernel's
//! worker. Each has a clock of its own, in cycles. **Invariant (furthest behind):** the core that runs is one of those whose
//! clock shows the least, and no timer is due before. So all that cores do to one another happens in the order of time.
//!
//! ```text
//!  advance:  my clock += cost ─▶ still the least? ──yes──▶ go on
//!                                     └──no──▶ switch to whoever is furthest behind (the seed decides ties)
//!  idle:     no clock to compare; a kick or a timer sets it to its own time and lets me run again
//! ```
//!
//! Time passes in [`Port::reached`](flockwork::port::Port::reached), before the step takes effect, in `charge`, and where a
//! core waits. A core can be left in the middle of a turn, or with an actor's lock held; the others see that as they would
//! see a slow core. As long as a core cannot come to where the others catch up, its hops only leave a note, and time passes for many
//! of them at once, before anybody looks at the clock ([`journal`]).
//!
//! Nobody is switched away from while it unwinds: panics are counted per thread, and all cores are one.
#![expect(unsafe_code, reason = "reaches the simulation and the coroutine's yielder from the port's functions")]

use std::cell::{Cell, RefCell};
use std::fmt;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use corosensei::{Coroutine, CoroutineResult, Yielder};
#[cfg(feature = "time")]
use embassy_time_driver::TICK_HZ;
use flockwork::trace::{Denial, Hop, LetterName};
use flockwork::worker;

use crate::costs::{Costs, HopCosts};
use crate::device::Mode;
use crate::faults::{Faults, OnceIn};
use crate::journal::{self, Kind, Note};
use crate::run::{Circumstances, Pace, Recorder, Run, Snapshot};
use crate::seed::Chance;
use crate::threads;
#[cfg(feature = "time")]
use crate::timers;

/// Looks in vain, one after the other, after which `run_until` is taken to wait for ever: nobody else can do anything.
const VAIN_LOOKS: u32 = 100_000;

/// A time that does not come.
const NEVER: u64 = u64::MAX;

/// Where the clock of the next simulation starts, in microseconds.
static EPOCH: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The simulation this thread runs, if it runs one.
    static SIMULATION: Cell<*const Simulation> = const { Cell::new(ptr::null()) };
    /// Whether it ever denies anything. Every send asks.
    static DENIES: Cell<bool> = const { Cell::new(false) };
}

/// The simulation whose cores run on this thread.
#[inline(always)]
pub(crate) fn here() -> Option<&'static Simulation> {
    // SAFETY: the pointer is set by `run` for as long as the simulation lives there, and reset before it ends. Nobody keeps
    // the reference: it is used inside one call of a port function, and those return before `run` does.
    unsafe { SIMULATION.get().as_ref() }
}

/// Whether the simulation whose cores run on this thread lets something fail that would succeed.
#[inline(always)]
pub(crate) fn denies(what: Denial) -> bool {
    DENIES.get() && here().is_some_and(|simulation| simulation.denies(what))
}

/// A device in virtual time.
pub(crate) struct Simulation {
    cores: Box<[VirtualCore]>,
    /// The coroutines of cores 1 and up. Borrowed while one of them runs, by core 0, on whose stack they are resumed.
    workers: RefCell<Vec<Coroutine<(), (), ()>>>,
    /// The core that runs now.
    running: Cell<usize>,
    /// The running core need not look at the others before its clock shows this.
    horizon: Cell<u64>,
    costs: Costs,
    costs_of_hops: HopCosts,
    /// What hops that wait in the journal take at least; none if no hop can wait: events are kept, or some faults are injected.
    least_in_journal: Option<HopCosts>,
    /// No note in the journal stands for more cycles than this.
    dearest_note: u64,
    faults: Faults,
    chance: Chance,
    /// When the next timer is due; never, if that is the largest number.
    alarm: Cell<u64>,
    /// While timers wake tasks, no core is the cause: then this is the time.
    firing: Cell<Option<u64>>,
    /// What the clocks showed, in cycles, when it began: they do not go back from one simulation to the next.
    epoch: u64,
    recorder: RefCell<Recorder>,
    /// `main` has returned: workers end.
    stopped: Cell<bool>,
    deadlock: RefCell<Option<Deadlock>>,
    /// How long it may run.
    limit: u64,
    watcher: RefCell<Option<Watcher>>,
    /// When the watcher looks next.
    next_look: Cell<u64>,
    /// How often core 0 looked in vain since anything happened.
    vain_looks: Cell<u32>,
}

struct VirtualCore {
    clock: Cell<u64>,
    stage: Cell<Stage>,
    /// A latched kick.
    kicked: Cell<bool>,
    /// It waits for ever: its sleep ends in a panic.
    hopeless: Cell<bool>,
    /// Cycles it slept.
    asleep: Cell<u64>,
    /// So many per cent more cycles for all it does.
    slower_by: Cell<u32>,
    /// Where it gives control away; null for core 0.
    yielder: Cell<*const Yielder<(), ()>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Awake,
    Asleep,
    Finished,
}

/// What a simulation is made of.
pub(crate) struct Setting {
    pub(crate) cores: usize,
    pub(crate) seed: u64,
    pub(crate) costs: Costs,
    pub(crate) faults: Faults,
    pub(crate) limit: u64,
    pub(crate) keep_events: bool,
    pub(crate) watcher: Option<Watcher>,
}

/// Somebody who looks at the device now and then.
pub(crate) struct Watcher {
    /// So many cycles lie between two looks, at least.
    pub(crate) every: u64,
    pub(crate) look: Box<dyn FnMut(&Snapshot)>,
}

/// Runs `main` on virtual core 0 and workers on all; `Err` if all cores came to wait for one another.
pub(crate) fn run<R>(setting: Setting, main: impl FnOnce() -> R) -> Result<Run<R>, Deadlock> {
    let Setting { cores, seed, costs, faults, limit, keep_events, watcher } = setting;
    let megahertz = costs.megahertz;
    let epoch = EPOCH.load(Ordering::Relaxed) * u64::from(megahertz);
    let costs_of_hops = HopCosts::new(&costs);
    let mut simulation = Simulation {
        cores: (0..cores).map(|_| VirtualCore::new()).collect(),
        workers: RefCell::new((1..cores).map(worker_on).collect()),
        running: Cell::new(0),
        horizon: Cell::new(0),
        dearest_note: costs_of_hops.dearest().max(u64::from(costs.wait)) + 3 * u64::from(costs.jitter) + 1,
        costs_of_hops,
        chance: Chance::new(seed, 2 * costs.jitter + 1),
        costs,
        least_in_journal: None,
        faults,
        alarm: Cell::new(NEVER),
        firing: Cell::new(None),
        epoch,
        recorder: RefCell::new(Recorder::new(cores, keep_events)),
        stopped: Cell::new(false),
        deadlock: RefCell::new(None),
        limit,
        next_look: Cell::new(if watcher.is_some() { 0 } else { NEVER }),
        watcher: RefCell::new(watcher),
        vain_looks: Cell::new(0),
    };
    simulation.choose_slow_cores();
    if !keep_events && simulation.has_even_pace() {
        simulation.least_in_journal = simulation.costs_of_hops.less(simulation.costs.jitter);
    }
    let entered = Entered::into(&simulation);
    let outcome = catch_unwind(AssertUnwindSafe(main));
    simulation.close_journal();
    let cycles = simulation.cores[0].clock.get();
    simulation.end();
    EPOCH.store((epoch + simulation.latest()).div_ceil(u64::from(megahertz)), Ordering::Relaxed);
    drop(entered);
    if let Some(deadlock) = simulation.deadlock.take() {
        return Err(deadlock);
    }
    let returned = outcome.unwrap_or_else(|panic| resume_unwind(panic));
    let times = simulation.cores.iter().map(|core| core.times(cycles)).collect::<Vec<_>>();
    let circumstances = Circumstances { mode: Mode::Stepped, seed, megahertz, cycles };
    Ok(simulation.recorder.into_inner().finish(returned, circumstances, &times))
}

/// The worker of a core, not begun yet.
fn worker_on(core: usize) -> Coroutine<(), (), ()> {
    Coroutine::new(move |yielder, ()| {
        let Some(simulation) = here() else { unreachable!("a core runs inside its simulation") };
        simulation.cores[core].yielder.set(yielder);
        while !simulation.stopped.get() {
            // A panic ends the turn it happened in, not the worker; the hook has reported it.
            let _ = catch_unwind(AssertUnwindSafe(|| worker::run_while(|| !simulation.stopped.get())));
        }
        simulation.close_journal();
    })
}

/// This thread is the simulation's, while this lives.
struct Entered {
    cores: usize,
    #[cfg(feature = "time")]
    _timers: timers::Simulated,
}

impl Entered {
    fn into(simulation: &Simulation) -> Self {
        threads::begin_simulation(simulation.cores.len());
        SIMULATION.set(simulation);
        DENIES.set(simulation.faults.refused_sends != OnceIn(0) || simulation.faults.lost_answers != OnceIn(0));
        threads::set_core(0);
        let entered = Self {
            cores: simulation.cores.len(),
            #[cfg(feature = "time")]
            _timers: timers::simulate(),
        };
        simulation.set_alarm();
        entered
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        threads::unset_core();
        threads::end_simulation(self.cores);
        SIMULATION.set(ptr::null());
        DENIES.set(false);
    }
}

impl VirtualCore {
    fn new() -> Self {
        Self {
            clock: Cell::new(0),
            stage: Cell::new(Stage::Awake),
            kicked: Cell::new(false),
            hopeless: Cell::new(false),
            asleep: Cell::new(0),
            slower_by: Cell::new(0),
            yielder: Cell::new(ptr::null()),
        }
    }

    /// It sleeps no longer than this. Returns for how long.
    fn sleep_until(&self, time: u64) -> u64 {
        let slept = time.saturating_sub(self.clock.get());
        self.clock.set(self.clock.get() + slept);
        self.asleep.set(self.asleep.get() + slept);
        slept
    }

    /// Cycles awake and asleep, in a run that ended when the clock showed `end`.
    fn times(&self, end: u64) -> (u64, u64) {
        let awake = self.clock.get() - self.asleep.get();
        (awake, end.saturating_sub(awake))
    }
}

// ---- the journal of the core that runs ----

impl Simulation {
    /// All hops so far get their time, and no others are noted while the result lives: whatever depends on the clocks, on chance or on
    /// the record, or changes how long this core may run alone, begins with this.
    #[inline(always)]
    fn settle(&self) -> Settled<'_> {
        self.close_journal();
        Settled(self)
    }

    #[inline(always)]
    fn close_journal(&self) {
        journal::close(|notes| self.work_off(notes));
    }

    #[inline(never)]
    fn work_off(&self, notes: &[Note]) {
        let Some(least) = &self.least_in_journal else { unreachable!("then the journal was never opened") };
        let jitters = self.chance.jitters(journal::HOPS_PER_NOTE * notes.len());
        let core = self.running();
        let mut pace = Pace { time: core.clock.get(), least, cost_of_wait: self.costs.wait, jitters: jitters.iter() };
        self.recorder.borrow_mut().work_off(self.running.get(), notes, &mut pace);
        core.clock.set(pace.time);
        self.chance.pass(jitters.len() - pace.jitters.len());
        self.vain_looks.set(0);
    }

    /// From now on hops are noted: as many as cannot bring this core's clock to where others have to catch up. While a timer fires, or
    /// somebody watches, no core runs.
    #[inline(always)]
    fn open_journal(&self) {
        if self.least_in_journal.is_some() && threads::is_core() {
            let alone = self.horizon.get().saturating_sub(self.now() + 1);
            journal::open(if alone < self.dearest_note { 0 } else { alone / self.dearest_note });
        }
    }

    /// Whether no core is slow, and none stalls.
    fn has_even_pace(&self) -> bool {
        self.faults.stalls == OnceIn(0) && self.cores.iter().all(|core| core.slower_by.get() == 0)
    }
}

/// The journal is closed while this lives.
#[must_use = "hops are noted again as soon as this is dropped"]
struct Settled<'a>(&'a Simulation);

impl Drop for Settled<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.open_journal();
    }
}

// ---- what the port asks for ----

impl Simulation {
    /// Cycles since the start, by the clock of the running core, up to the last hop that was worked off.
    fn now(&self) -> u64 {
        self.running().clock.get()
    }

    /// Microseconds, which do not go back from one simulation to the next.
    pub(crate) fn microseconds(&self) -> u64 {
        let _settled = self.settle();
        (self.epoch + self.now()) / u64::from(self.costs.megahertz)
    }

    /// What runs on the core says that it works so long.
    pub(crate) fn charge(&self, cycles: u32) {
        let _settled = self.settle();
        self.advance(u64::from(cycles));
    }

    /// Letters went into an inbox on the running core.
    pub(crate) fn list(&self, letters: u16) {
        self.charge(u32::from(letters) * self.costs.list);
    }

    /// A letter reaches a hop on the running core, and the journal has no room for it. True if somebody wants to see the event.
    pub(crate) fn reach(&self, hop: Hop, actor: u16, letter: Option<LetterName>) -> bool {
        drop(self.settle());
        if letter.is_some() && journal::note(Kind::new(hop, actor), letter) {
            return false;
        }
        let _settled = self.settle();
        self.step(hop, actor, letter)
    }

    /// The same, at the time when the step is done.
    fn step(&self, hop: Hop, actor: u16, letter: Option<LetterName>) -> bool {
        let mut recorder = self.recorder.borrow_mut();
        let reached = recorder.reach(self.running.get() as u8, hop, actor, letter);
        let cycles = self.costs_of_hops.of(hop, reached.granted, reached.begins_visit);
        self.vain_looks.set(0);
        let mut cycles = self.with_jitter(cycles);
        if self.happens(self.faults.stalls) {
            let stalled = u64::from(self.chance.below(self.faults.stall_cycles));
            recorder.stall(self.running.get(), stalled);
            cycles += stalled;
        }
        if self.pass(cycles) {
            // Others run meanwhile, and have hops of their own to record.
            drop(recorder);
            self.let_others_catch_up();
            recorder = self.recorder.borrow_mut();
        }
        recorder.note(self.now(), &reached);
        recorder.keeps_events()
    }

    /// Whether chance lets something fail that would succeed.
    #[inline(never)]
    fn denies(&self, what: Denial) -> bool {
        let _settled = self.settle();
        self.happens(match what {
            Denial::Room => self.faults.refused_sends,
            Denial::Answer => self.faults.lost_answers,
        })
    }

    /// Wakes a core, at the time of the one that runs or of the timer that is due.
    pub(crate) fn kick(&self, core: u8) {
        let _settled = self.settle();
        if self.happens(self.faults.lost_kicks) {
            return;
        }
        let kicked = &self.cores[usize::from(core)];
        kicked.kicked.set(true);
        let wake = u64::from(self.costs.wake);
        match self.firing.get() {
            Some(time) => self.wake(kicked, time + wake),
            None => {
                self.wake(kicked, self.now() + wake);
                self.advance(u64::from(self.costs.kick));
            }
        }
    }

    /// The running core sleeps until it is kicked.
    pub(crate) fn idle(&self) {
        let _settled = self.settle();
        self.advance(u64::from(self.costs.look));
        let core = self.running();
        if !core.kicked.get() {
            core.stage.set(Stage::Asleep);
            self.recorder.borrow_mut().end_visit(self.running.get());
            let asleep = core.asleep.get();
            self.switch();
            self.recorder.borrow_mut().slept(self.running.get(), core.asleep.get() - asleep);
        }
        core.kicked.set(false);
        if core.hopeless.take() {
            resume_unwind(Box::new(Hopeless));
        }
    }

    /// A `get` on the running core has to wait.
    pub(crate) fn wait(&self) {
        let _settled = self.settle();
        self.advance(u64::from(self.costs.wait));
    }

    /// The running core waits for what another one does under a lock.
    pub(crate) fn pause(&self) {
        let _settled = self.settle();
        self.advance(self.with_jitter(self.costs.pause));
    }

    /// Core 0 found nothing to do, and waits for something that need not kick it: whatever the others do next.
    pub(crate) fn look_again(&self) {
        let _settled = self.settle();
        self.advance(u64::from(self.costs.look));
        let horizon = self.horizon.get();
        if horizon != NEVER {
            let slept = self.running().sleep_until(horizon);
            self.recorder.borrow_mut().slept(self.running.get(), slept);
            self.vain_looks.set(0);
            return self.let_others_catch_up();
        }
        self.vain_looks.set(self.vain_looks.get() + 1);
        if self.vain_looks.get() == VAIN_LOOKS {
            self.declare_deadlock();
            resume_unwind(Box::new(Hopeless));
        }
    }
}

/// What a core that waits for ever unwinds with; it needs no message, because the deadlock is reported by itself.
struct Hopeless;

// ---- who runs next ----

impl Simulation {
    fn running(&self) -> &VirtualCore {
        &self.cores[self.running.get()]
    }

    /// The running core works so long.
    #[inline(always)]
    fn advance(&self, cycles: u64) {
        if self.pass(cycles) {
            self.let_others_catch_up();
        }
    }

    /// The same, but true if others have to catch up now.
    #[inline(always)]
    #[must_use = "the running core may be ahead of the others"]
    fn pass(&self, cycles: u64) -> bool {
        let core = self.running();
        let more = if core.slower_by.get() == 0 { 0 } else { cycles * u64::from(core.slower_by.get()) / 100 };
        core.clock.set(core.clock.get() + cycles + more);
        core.clock.get() >= self.horizon.get()
    }

    fn with_jitter(&self, cycles: u32) -> u64 {
        (u64::from(cycles) + self.chance.jitter()).saturating_sub(u64::from(self.costs.jitter))
    }

    fn wake(&self, core: &VirtualCore, time: u64) {
        if core.stage.get() == Stage::Asleep {
            core.stage.set(Stage::Awake);
            core.sleep_until(time);
            self.horizon.set(self.horizon.get().min(core.clock.get()));
        }
    }

    #[cold]
    fn let_others_catch_up(&self) {
        if !thread::panicking() {
            self.switch();
        }
    }

    /// Lets whoever is furthest behind run until it is this core's turn again. Coroutines are resumed on core 0's stack.
    fn switch(&self) {
        if self.running.get() != 0 {
            // SAFETY: set by the coroutine of this core before anything else ran on it; the yielder lives as long as that.
            let yielder = unsafe { &*self.running().yielder.get() };
            return yielder.suspend(());
        }
        loop {
            let next = self.furthest_behind();
            self.give_turn_to(next);
            if next == 0 {
                return;
            }
        }
    }

    /// Resumes a core; core 0 runs anyway.
    fn give_turn_to(&self, core: usize) {
        self.running.set(core);
        threads::set_core(core as u8);
        if core > 0
            && let CoroutineResult::Return(()) = self.workers.borrow_mut()[core - 1].resume(())
        {
            self.cores[core].stage.set(Stage::Finished);
        }
    }

    /// The core that runs next. Also sets how long it may run alone.
    fn furthest_behind(&self) -> usize {
        loop {
            let (mut least, mut following, mut ties) = (NEVER, NEVER, 0);
            for clock in self.awake().map(|(_, core)| core.clock.get()) {
                if clock < least {
                    (following, least, ties) = (least, clock, 1);
                } else {
                    following = following.min(clock);
                    ties += u32::from(clock == least);
                }
            }
            let (alarm, next_look) = (self.alarm.get(), self.next_look.get());
            let next_time = least.min(alarm);
            if next_time == NEVER {
                self.declare_deadlock();
            } else if next_time > self.limit {
                self.end_process();
            } else if next_look <= next_time {
                self.watch(next_time);
            } else if alarm <= least {
                self.fire(alarm);
            } else {
                self.horizon.set(following.min(alarm).min(next_look).min(self.limit.saturating_add(1)));
                return self.one_of(ties, least);
            }
        }
    }

    fn awake(&self) -> impl Iterator<Item = (usize, &VirtualCore)> {
        self.cores.iter().enumerate().filter(|(_, core)| core.stage.get() == Stage::Awake)
    }

    /// One of the `ties` cores whose clocks show `time`. Chance is asked only if there is a choice.
    fn one_of(&self, ties: u32, time: u64) -> usize {
        let chosen = if ties > 1 { self.chance.below(ties) } else { 0 };
        let mut candidates = self.awake().filter(|(_, core)| core.clock.get() == time);
        let (core, _) = candidates.nth(chosen as usize).unwrap_or_else(|| unreachable!("they were counted"));
        core
    }

    fn latest(&self) -> u64 {
        self.cores.iter().map(|core| core.clock.get()).max().unwrap_or(0)
    }

    /// Shows the device to whoever watches it.
    fn watch(&self, time: u64) {
        if let Some(Watcher { every, look }) = &mut *self.watcher.borrow_mut() {
            let times = self.cores.iter().map(|core| {
                let (awake, asleep) = core.times(time);
                (awake, asleep, core.stage.get() == Stage::Asleep)
            });
            let snapshot = self.recorder.borrow().snapshot(time, times);
            threads::unset_core();
            look(&snapshot);
            self.next_look.set(time.saturating_add((*every).max(1)));
        }
    }

    /// `main` is over: every worker ends its turn.
    fn end(&self) {
        self.stopped.set(true);
        self.running.set(0);
        let main = &self.cores[0];
        main.stage.set(Stage::Finished);
        for core in &self.cores[1..] {
            core.kicked.set(true);
            self.wake(core, main.clock.get());
        }
        while self.cores.iter().any(|core| core.stage.get() != Stage::Finished) {
            let next = self.furthest_behind();
            self.give_turn_to(next);
        }
    }

    /// It takes too long. Whatever a core does could not be unwound: it may hold an actor's lock.
    #[cold]
    fn end_process(&self) -> ! {
        let recorder = self.recorder.borrow();
        eprint!("not done after {} cycles", self.limit);
        for (core, _) in self.awake() {
            match recorder.turn_on(core) {
                Some((actor, method, letter)) => eprint!("; core {core} runs {actor}::{method} (letter {letter})"),
                None => eprint!("; core {core} runs {}", if core == 0 { "main" } else { "its worker" }),
            }
        }
        eprintln!();
        std::process::exit(101)
    }

    /// Nobody can ever go on. Core 0 is told so, or another one if `main` is over.
    fn declare_deadlock(&self) {
        let recorder = self.recorder.borrow();
        if self.deadlock.borrow().is_none() {
            let cores = self.cores.iter().enumerate();
            let waiting = cores.filter(|(_, core)| core.stage.get() != Stage::Finished);
            let waits = waiting.filter_map(|(core, _)| Wait::of(core, &recorder)).collect();
            let unfinished = recorder.unfinished().map(|(actor, letters)| (name_of(actor), letters)).collect();
            let time = self.latest();
            self.deadlock.replace(Some(Deadlock { time, waits, unfinished }));
        }
        if let Some(core) = self.cores.iter().find(|core| core.stage.get() == Stage::Asleep) {
            core.hopeless.set(true);
            core.stage.set(Stage::Awake);
        }
    }
}

// ---- timers ----

impl Simulation {
    /// embassy's clock. Reading it takes time: a loop that waits for a time to come would otherwise never end.
    #[cfg(feature = "time")]
    pub(crate) fn read_clock(&self) -> u64 {
        let _settled = self.settle();
        if self.firing.get().is_none() {
            self.advance(u64::from(self.costs.pause));
        }
        (u128::from(self.epoch + self.now()) * u128::from(TICK_HZ) / self.hertz()) as u64
    }

    /// A timer was set for a time of embassy's clock.
    #[cfg(feature = "time")]
    pub(crate) fn timer_set(&self, at: u64) {
        let _settled = self.settle();
        if self.cycle_of(at) < self.alarm.get() {
            self.set_alarm();
        }
    }

    /// Finds out when the next timer is due: not before now, and late by chance.
    #[cfg(feature = "time")]
    fn set_alarm(&self) {
        let now = self.firing.get().unwrap_or(self.now());
        let next = timers::next().map_or(NEVER, |at| self.cycle_of(at).max(now));
        let late = if next != NEVER && self.happens(self.faults.late_timers) {
            u64::from(self.chance.below(self.faults.late_cycles))
        } else {
            0
        };
        self.alarm.set(next.saturating_add(late));
        self.horizon.set(self.horizon.get().min(self.alarm.get()));
    }

    /// The first cycle of this simulation in which embassy's clock shows this.
    #[cfg(feature = "time")]
    fn cycle_of(&self, at: u64) -> u64 {
        let cycle = (u128::from(at) * self.hertz()).div_ceil(u128::from(TICK_HZ));
        u64::try_from(cycle).unwrap_or(NEVER).saturating_sub(self.epoch)
    }

    #[cfg(feature = "time")]
    fn hertz(&self) -> u128 {
        u128::from(self.costs.megahertz) * 1_000_000
    }

    /// Wakes whoever waits for this time. It is the timer that does so, not a core; core 0 serves its interrupt.
    #[cfg(feature = "time")]
    fn fire(&self, time: u64) {
        let interrupted = &self.cores[0];
        let served = u64::from(self.costs.alarm);
        if interrupted.stage.get() == Stage::Awake {
            interrupted.clock.set(interrupted.clock.get() + served);
        }
        threads::unset_core();
        self.firing.set(Some(time + served));
        let now = (u128::from(self.epoch + time) * u128::from(TICK_HZ) / self.hertz()) as u64;
        while let Some(waker) = timers::take_due(now) {
            waker.wake();
        }
        self.set_alarm();
        self.firing.set(None);
    }

    #[cfg(not(feature = "time"))]
    fn set_alarm(&self) {}

    #[cfg(not(feature = "time"))]
    fn fire(&self, _: u64) {}
}

// ---- faults ----

impl Simulation {
    fn happens(&self, OnceIn(times): OnceIn) -> bool {
        times != 0 && self.chance.below(times) == 0
    }

    fn choose_slow_cores(&self) {
        for core in &self.cores {
            if self.happens(self.faults.slow_cores) {
                core.slower_by.set(self.chance.below(self.faults.slower_by));
            }
        }
    }
}

fn name_of(actor: u16) -> &'static str {
    worker::names(actor, u8::MAX).map_or("?", |names| names.actor)
}

/// All cores sleep, no timer is due, and `main` has not returned (or a turn of a worker has not ended).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// When, in cycles since the start.
    pub time: u64,
    /// Which cores wait in the middle of something. A core that has nothing to do is not among them.
    pub waits: Vec<Wait>,
    /// Actors whose letters have not all left: their types, and how many letters.
    pub unfinished: Vec<(&'static str, u64)>,
}

/// A core that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The core.
    pub core: u8,
    /// The turn it waits in: actor, method and letter; none if it is `main` (or a task) that waits.
    pub turn: Option<(&'static str, &'static str, NonZeroU32)>,
}

impl Wait {
    /// A worker outside of all turns has nothing to do, and waits for nothing in particular.
    fn of(core: usize, recorder: &Recorder) -> Option<Self> {
        let turn = recorder.turn_on(core);
        (core == 0 || turn.is_some()).then_some(Self { core: core as u8, turn })
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deadlock at cycle {}: all cores sleep and no timer is set", self.time)?;
        for Wait { core, turn } in &self.waits {
            match turn {
                Some((actor, method, letter)) => {
                    write!(f, "; core {core} waits in {actor}::{method} (letter {letter})")?
                }
                None => write!(f, "; core {core} waits in main")?,
            }
        }
        for (actor, letters) in &self.unfinished {
            let plural = if *letters == 1 { "letter has" } else { "letters have" };
            write!(f, "; {letters} {plural} not left {actor}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Deadlock {}
