//! The port: each core is an OS thread, a kick is a latch, interrupts are threads that stand in for a core.
//!
//! In stepped mode (`stepped`) all cores share one thread and take turns. It is the same port, so that one binary has both modes;
//! what the kernel does for every letter is the same code in both, and where a core waits or is kicked, its latch tells.
#![expect(unsafe_code, reason = "implements the kernel's unsafe `Port`")]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use flockwork::port::{FOREIGN, LockWord, MAX_CORES, Port};
#[cfg(feature = "stepped")]
use flockwork::trace::{Denial, Hop, LetterName};
use flockwork::worker;

#[cfg(feature = "stepped")]
use crate::journal::{self, Kind};
#[cfg(feature = "stepped")]
use crate::{Options, recording, stepped};

/// How often an idle core looks at its latch before its thread is parked: waking a parked thread takes longer than a
/// hundred letters.
const LOOKS_BEFORE_PARKING: u32 = if cfg!(miri) { 2 } else { 4_000 };

thread_local! {
    static CORE: Cell<u8> = const { Cell::new(FOREIGN) };
    /// How deep the interrupt mask is nested on this thread, while interrupts are simulated.
    static MASKS: Cell<u32> = const { Cell::new(0) };
}

/// The number of cores that run now.
static CORES: AtomicU8 = AtomicU8::new(1);
static LATCHES: [Latch; MAX_CORES] = [const { Latch::new() }; MAX_CORES];
/// Whether the device's cores can be interrupted: if not, masking costs one load.
static INTERRUPTS: AtomicBool = AtomicBool::new(false);
/// Held by whoever runs with a core's interrupts masked: its own thread, or an interrupt of it.
static MASK_HELD: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];

/// A latched kick: one that comes before the sleep ends it at once.
///
/// ```text
///  AWAKE ──kick──▶ KICKED ──idle──▶ AWAKE
///    └──idle──▶ ASLEEP ──kick──▶ KICKED (and the thread is unparked)
/// ```
/// The latch of a virtual core is `SIMULATED`, and its kicks are the simulation's business. That is asked only where the
/// latch was found kicked, or would be waited for, so threads do not pay for it.
#[repr(align(64))]
struct Latch {
    state: AtomicU32,
    thread: Mutex<Option<Thread>>,
}

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
const KICKED: u32 = 2;
#[cfg(feature = "stepped")]
const SIMULATED: u32 = 3;

impl Latch {
    const fn new() -> Self {
        Self { state: AtomicU32::new(AWAKE), thread: Mutex::new(None) }
    }

    /// False if its core is a virtual one.
    fn kick(&self) -> bool {
        // A look first: a core that is kicked already costs its kickers little. What was published before the kick must be
        // visible before the look, or the core could take that earlier kick, find nothing, and sleep.
        fence(Ordering::SeqCst);
        let state = self.state.load(Ordering::SeqCst);
        if state >= KICKED {
            return state == KICKED;
        }
        if self.state.swap(KICKED, Ordering::SeqCst) == ASLEEP
            && let Some(thread) = &*lock(&self.thread)
        {
            thread.unpark();
        }
        true
    }

    /// False at once if its core is a virtual one.
    fn wait(&self) -> bool {
        for _ in 0..LOOKS_BEFORE_PARKING {
            let state = self.state.load(Ordering::Acquire);
            if state >= KICKED {
                if state == KICKED {
                    self.state.store(AWAKE, Ordering::SeqCst);
                }
                return state == KICKED;
            }
            std::hint::spin_loop();
        }
        if self.state.compare_exchange(AWAKE, ASLEEP, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            while self.state.load(Ordering::SeqCst) == ASLEEP {
                thread::park();
            }
        }
        self.state.store(AWAKE, Ordering::SeqCst);
        true
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads as cores.
#[derive(Debug)]
pub struct ThreadPort;

// SAFETY: `core` is per thread and set for one thread per number (and its interrupts, which hold its mask); test-and-set is a
// compare-and-swap; kicks are latched in `Latch`, whose operations are sequentially consistent; with interrupts in use, the
// mask is a lock that the core's thread and its interrupts take in turn. In stepped mode `core` is set whenever another virtual
// core takes its turn, all on one thread; kicks are latched by the simulation; and nothing else ever runs as a core.
unsafe impl Port for ThreadPort {
    #[inline(always)]
    fn core() -> u8 {
        CORE.get()
    }

    #[inline(always)]
    fn cores() -> u8 {
        CORES.load(Ordering::Relaxed)
    }

    fn kick(core: u8) {
        if !LATCHES[usize::from(core)].kick() {
            simulated::kick(core);
        }
    }

    fn idle() {
        let latch = &LATCHES[usize::from(CORE.get())];
        #[cfg(feature = "stepped")]
        let slept = recording::sleeping(|| latch.wait());
        #[cfg(not(feature = "stepped"))]
        let slept = latch.wait();
        if !slept {
            simulated::idle();
        }
    }

    #[inline(always)]
    fn test_and_set(word: &LockWord) -> bool {
        word.test_and_set()
    }

    #[inline(always)]
    fn mask() -> u32 {
        if INTERRUPTS.load(Ordering::Relaxed) { mask_slowly() } else { 0 }
    }

    #[inline(always)]
    fn unmask(previous: u32) {
        if previous != 0 {
            unmask_slowly(previous);
        }
    }

    fn now() -> u64 {
        if let Some(time) = simulated::now() {
            return time;
        }
        since_start().as_micros() as u64
    }

    fn unwinding() -> bool {
        thread::panicking()
    }

    fn catch(turn: &mut dyn FnMut()) {
        simulated::wait();
        keep_panics_from_unwinding(turn);
    }

    fn pause() {
        if !simulated::pause() {
            thread::yield_now();
        }
    }

    #[cfg(feature = "stepped")]
    #[inline(always)]
    fn reached(hop: Hop, actor: u16, letter: Option<LetterName>) -> bool {
        // Most hops of a stepped device only leave a note.
        !(letter.is_some() && journal::note(Kind::new(hop, actor), letter)) && reached_now(hop, actor, letter)
    }

    #[cfg(feature = "stepped")]
    #[inline(always)]
    fn left_at_once() -> bool {
        journal::note_leave_at_once()
    }

    #[cfg(feature = "stepped")]
    fn listed(letters: u16) {
        if let Some(simulation) = stepped::here() {
            simulation.list(letters);
        }
    }

    #[cfg(feature = "stepped")]
    fn charge(cycles: u32) {
        if let Some(simulation) = stepped::here() {
            simulation.charge(cycles);
        }
    }

    #[cfg(feature = "stepped")]
    #[inline(always)]
    fn denies(what: Denial) -> bool {
        stepped::denies(what)
    }
}

flockwork::port!(ThreadPort);

/// A hop whose time is now, whichever mode that is in.
#[cfg(feature = "stepped")]
#[inline(never)]
fn reached_now(hop: Hop, actor: u16, letter: Option<LetterName>) -> bool {
    match stepped::here() {
        _ if !is_core() => false,
        Some(simulation) => simulation.reach(hop, actor, letter),
        None => recording::note(hop, actor, letter),
    }
}

#[inline(always)]
fn keep_panics_from_unwinding(turn: &mut dyn FnMut()) {
    // The panic hook has reported it; the kernel's guards have failed the promise and returned the grant.
    let _ = catch_unwind(AssertUnwindSafe(turn));
}

/// The host's time, since it was first asked for.
pub(crate) fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The mask is nested: 1 means "was unmasked, now holds the lock of core c" as `1 + (c << 8)`, 2 means "was masked already".
#[cold]
fn mask_slowly() -> u32 {
    let core = CORE.get();
    if core == FOREIGN {
        return 0;
    }
    if MASKS.get() > 0 {
        MASKS.set(MASKS.get() + 1);
        return 2;
    }
    hold_mask(core);
    MASKS.set(1);
    1 + (u32::from(core) << 8)
}

#[cold]
fn unmask_slowly(previous: u32) {
    MASKS.set(MASKS.get() - 1);
    if previous & 0xff == 1 {
        MASK_HELD[(previous >> 8) as usize].store(false, Ordering::Release);
    }
}

fn hold_mask(core: u8) {
    while MASK_HELD[usize::from(core)].swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
}

/// Runs `handler` as an interrupt of `core`: with that core's interrupts masked, in its name, whatever the core is doing.
///
/// Call it from a thread that is no core. As on a chip, a handler sends and returns; it must not wait. What a chip does by
/// preemption happens here by real parallelism: the core's own thread stops only where it masks interrupts itself.
///
/// # Panics
/// On a thread that is a core, and for a core that does not run.
pub fn interrupt<R>(core: u8, handler: impl FnOnce() -> R) -> R {
    assert!(CORE.get() == FOREIGN, "an interrupt comes from outside: call this on a thread that is no core");
    assert!(core < CORES.load(Ordering::Relaxed), "there is no core {core}");
    assert!(INTERRUPTS.load(Ordering::SeqCst), "interrupts are simulated in `run_with_interrupts` only");
    hold_mask(core);
    CORE.set(core);
    MASKS.set(1);
    let result = catch_unwind(AssertUnwindSafe(handler));
    MASKS.set(0);
    CORE.set(FOREIGN);
    MASK_HELD[usize::from(core)].store(false, Ordering::Release);
    // An interrupt ends the core's sleep.
    ThreadPort::kick(core);
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs a device with this many cores: `main` on core 0, workers on all. Returns what `main` returns, when it does.
///
/// Letters that are still on their way then stay where they are; wait for what must be done ([`run_until`], `get`). One
/// device runs at a time in a process: a second call waits for the first.
///
/// With the feature `stepped`, the environment can choose another mode (`FLOCKWORK_MODE=stepped`), seed and number of cores;
/// [`program`](crate::program) also reads the command line.
///
/// # Panics
/// If `cores` is 0 or more than the kernel allows, on a thread that is a core already, and if `main` panics.
#[track_caller]
pub fn run<R>(cores: usize, main: impl FnOnce() -> R) -> R {
    in_chosen_mode(cores, main)
}

/// On threads, unless the environment says otherwise.
#[cfg(feature = "stepped")]
#[track_caller]
fn in_chosen_mode<R>(cores: usize, main: impl FnOnce() -> R) -> R {
    Options::from_environment(cores).unwrap_or_else(|misuse| misuse.exit()).run_without_events(main)
}

#[cfg(not(feature = "stepped"))]
fn in_chosen_mode<R>(cores: usize, main: impl FnOnce() -> R) -> R {
    device(cores, false, |_| (), main)
}

/// The same, for a device whose cores can be interrupted ([`interrupt`]): masking then really excludes.
///
/// # Panics
/// As [`run`].
pub fn run_with_interrupts<R>(cores: usize, main: impl FnOnce() -> R) -> R {
    device(cores, true, |_| (), main)
}

/// The same for a device whose events nobody wants to see, so that hops cost next to nothing.
#[cfg(feature = "stepped")]
pub(crate) fn device_without_events<R>(cores: usize, main: impl FnOnce() -> R) -> R {
    // Kept while the device runs, and set back also if `main` panics.
    struct Without;
    impl Drop for Without {
        fn drop(&mut self) {
            recording::keep_rings(true);
        }
    }
    let on_core = |core| {
        // The thread of core 0 is there first, and the only device is this one.
        (core == 0).then(|| {
            recording::keep_rings(false);
            Without
        })
    };
    device(cores, false, on_core, main)
}

/// Each core's thread keeps what `on_core` returns for as long as it is that core.
pub(crate) fn device<G, R>(
    cores: usize,
    interrupts: bool,
    on_core: impl Fn(u8) -> G + Sync,
    main: impl FnOnce() -> R,
) -> R {
    check(cores);
    let _device = only_device();
    CORES.store(cores as u8, Ordering::SeqCst);
    INTERRUPTS.store(interrupts, Ordering::SeqCst);
    let stop = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        for core in 1..cores as u8 {
            let (stop, on_core) = (&stop, &on_core);
            scope.spawn(move || {
                let _kept = on_core(core);
                work(core, stop);
            });
        }
        become_core(0);
        let _kept = on_core(0);
        let outcome = catch_unwind(AssertUnwindSafe(main));
        CORE.set(FOREIGN);
        stop.store(true, Ordering::SeqCst);
        (1..cores as u8).for_each(ThreadPort::kick);
        outcome
    });
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Whether this thread can become a device with so many cores.
pub(crate) fn check(cores: usize) {
    assert!((1..=MAX_CORES).contains(&cores), "a device has from 1 to {MAX_CORES} cores, not {cores}");
    assert!(CORE.get() == FOREIGN, "this thread is a core already: devices do not nest");
}

/// Held while a device runs: the kernel's tables are the process's, so there is one at a time.
pub(crate) fn only_device() -> MutexGuard<'static, ()> {
    static DEVICE: Mutex<()> = Mutex::new(());
    lock(&DEVICE)
}

/// Runs core 0's worker until `done` says so: for `main` to wait on something that is no promise.
///
/// `done` is asked often, also when nothing happened: its cause need not kick anybody.
pub fn run_until(mut done: impl FnMut() -> bool) {
    while !done() {
        let mut busy = true;
        keep_panics_from_unwinding(&mut || busy = worker::step_once());
        if !busy && !simulated::look_again() {
            thread::yield_now();
        }
    }
}

/// This thread is the core from now on, and is the one to unpark: before anybody could kick it asleep.
fn become_core(core: u8) {
    *lock(&LATCHES[usize::from(core)].thread) = Some(thread::current());
    CORE.set(core);
}

fn work(core: u8, stop: &AtomicBool) {
    become_core(core);
    while !stop.load(Ordering::SeqCst) {
        // A panic ends the turn it happened in, not the worker; the hook has reported it.
        let _ = catch_unwind(|| worker::run_while(|| !stop.load(Ordering::SeqCst)));
    }
}

/// The cold side of the port: what it does if this thread runs virtual cores.
#[cfg(feature = "stepped")]
mod simulated {
    use crate::journal::{self, Kind};
    use crate::stepped;

    #[cold]
    pub(super) fn kick(core: u8) {
        match stepped::here() {
            Some(simulation) => simulation.kick(core),
            None => panic!("a stepped device hears only its own cores: what another thread sends has no virtual time"),
        }
    }

    #[cold]
    pub(super) fn idle() {
        if let Some(simulation) = stepped::here() {
            simulation.idle();
        }
    }

    #[inline(always)]
    pub(super) fn wait() {
        if !journal::note(Kind::WAITED, None) {
            wait_now();
        }
    }

    #[inline(never)]
    fn wait_now() {
        if let Some(simulation) = stepped::here() {
            simulation.wait();
        }
    }

    pub(super) fn now() -> Option<u64> {
        stepped::here().map(stepped::Simulation::microseconds)
    }

    pub(super) fn pause() -> bool {
        stepped::here().map(stepped::Simulation::pause).is_some()
    }

    pub(super) fn look_again() -> bool {
        stepped::here().map(stepped::Simulation::look_again).is_some()
    }
}

/// Without stepped mode there are no virtual cores.
#[cfg(not(feature = "stepped"))]
mod simulated {
    pub(super) fn kick(_: u8) {}

    pub(super) fn idle() {}

    #[inline(always)]
    pub(super) fn wait() {}

    pub(super) fn now() -> Option<u64> {
        None
    }

    pub(super) fn pause() -> bool {
        false
    }

    pub(super) fn look_again() -> bool {
        false
    }
}

/// From now on cores 0 and up are virtual, on this thread.
#[cfg(feature = "stepped")]
pub(crate) fn begin_simulation(cores: usize) {
    CORES.store(cores as u8, Ordering::SeqCst);
    INTERRUPTS.store(false, Ordering::SeqCst);
    // Before there is a simulation, so that it takes no time.
    for core in 0..cores as u8 {
        set_core(core);
        worker::begin_anew();
    }
    LATCHES[..cores].iter().for_each(|latch| latch.state.store(SIMULATED, Ordering::SeqCst));
}

#[cfg(feature = "stepped")]
pub(crate) fn end_simulation(cores: usize) {
    LATCHES[..cores].iter().for_each(|latch| latch.state.store(AWAKE, Ordering::SeqCst));
}

/// The virtual core that has its turn on this thread.
#[cfg(feature = "stepped")]
pub(crate) fn set_core(core: u8) {
    CORE.set(core);
}

/// Whether this thread is a core now.
#[cfg(feature = "stepped")]
#[inline(always)]
pub(crate) fn is_core() -> bool {
    CORE.get() != FOREIGN
}

#[cfg(feature = "stepped")]
pub(crate) fn unset_core() {
    CORE.set(FOREIGN);
}
