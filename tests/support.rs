//! What the suites on threads share: a device with a hang guard, checks that work inside turns, and the worst of monitors.
//!
//! A panic inside a turn is caught by the kernel's worker, so an `assert!` there fails no test. [`require`] remembers
//! what went wrong, and [`device`] fails the test with it when the device stops.
#![allow(dead_code, reason = "each suite uses a part")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use flockwork::port::Port as _;
use flockwork::{Any, Inbox, Letter, Monitor, Parallel};
use flockwork_host_sim as sim;

/// Runs a device with this many cores, `main` on core 0; aborts the process if it hangs.
pub(crate) fn device<R>(cores: usize, main: impl FnOnce() -> R) -> R {
    sim::run(cores, || guarded(main))
}

/// The same, with cores that can be interrupted.
pub(crate) fn device_with_interrupts<R>(cores: usize, main: impl FnOnce() -> R) -> R {
    sim::run_with_interrupts(cores, || guarded(main))
}

fn guarded<R>(main: impl FnOnce() -> R) -> R {
    // An interpreter's time is its own; there, whoever started it sets the limit.
    let guard = (!cfg!(miri)).then(HangGuard::start);
    let _ = drain_flaws();
    let result = main();
    drop(guard);
    let flaws = drain_flaws();
    assert!(flaws.is_empty(), "inside turns: {flaws:#?}");
    result
}

/// Aborts the process if it lives too long: a lost letter shows as a wait that never ends.
struct HangGuard(#[expect(dead_code, reason = "its drop ends the guard")] mpsc::Sender<()>);

impl HangGuard {
    fn start() -> Self {
        let test = thread::current().name().unwrap_or("?").to_owned();
        let seconds = number_from("FLOCKWORK_HANG_SECONDS", 60);
        let (alive, dropped) = mpsc::channel::<()>();
        thread::spawn(move || {
            if dropped.recv_timeout(Duration::from_secs(seconds)) == Err(mpsc::RecvTimeoutError::Timeout) {
                eprintln!("`{test}` hangs: not done after {seconds} s; so far: {:#?}", drain_flaws());
                std::process::abort();
            }
        });
        Self(alive)
    }
}

/// A number from the environment.
pub(crate) fn number_from(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not `{text}`")),
        Err(_) => default,
    }
}

static FLAWS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn drain_flaws() -> Vec<String> {
    std::mem::take(&mut *lock(&FLAWS))
}

/// Like `assert!`, but for code inside turns: the test fails when its device stops.
#[track_caller]
pub(crate) fn require(holds: bool, what: &str) {
    if !holds {
        let place = std::panic::Location::caller();
        lock(&FLAWS).push(format!("{what} ({}:{})", place.file(), place.line()));
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs core 0's worker until the condition holds.
pub(crate) fn run_until(done: impl FnMut() -> bool) {
    sim::run_until(done);
}

/// One step of core 0's worker; a panic in a turn stays there.
pub(crate) fn step() -> bool {
    std::panic::catch_unwind(flockwork::worker::step_once).unwrap_or(true)
}

/// Waits without working: inside a turn, or on a thread that is no core.
pub(crate) fn spin_until(mut done: impl FnMut() -> bool) {
    while !done() {
        thread::yield_now();
    }
}

/// The core this runs on; 255 on a thread that is none.
pub(crate) fn core() -> u8 {
    sim::ThreadPort::core()
}

/// Calls `attempt` until it succeeds, running core 0's worker between. For `main`, when a mailbox may be full.
pub(crate) fn insist<T, E>(mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let mut result = None;
    run_until(|| {
        result = attempt().ok();
        result.is_some()
    });
    result.expect("just seen")
}

/// The same on a thread that is no core.
pub(crate) fn insist_outside<T, E>(mut attempt: impl FnMut() -> Result<T, E>) -> T {
    loop {
        match attempt() {
            Ok(value) => return value,
            Err(_) => thread::yield_now(),
        }
    }
}

/// A place where a number of turns must be at the same time: the proof that they run in parallel.
pub(crate) struct Meeting {
    arrived: AtomicUsize,
}

impl Meeting {
    pub(crate) const fn new() -> Self {
        Self { arrived: AtomicUsize::new(0) }
    }

    /// Waits until this many have come since the last [`clear`](Self::clear).
    pub(crate) fn meet(&self, people: usize) {
        self.arrived.fetch_add(1, Ordering::SeqCst);
        spin_until(|| self.arrived.load(Ordering::SeqCst) >= people);
    }

    pub(crate) fn arrived(&self) -> usize {
        self.arrived.load(Ordering::SeqCst)
    }

    pub(crate) fn clear(&self) {
        self.arrived.store(0, Ordering::SeqCst);
    }
}

/// Who is inside a state now: readers or one writer, and what was wrong about it.
///
/// It stands for the borrows: a reader that meets a writer, or a writer that meets anybody, is an alias.
pub(crate) struct Occupancy {
    readers: AtomicUsize,
    writers: AtomicUsize,
    most: AtomicUsize,
}

impl Occupancy {
    pub(crate) const fn new() -> Self {
        Self { readers: AtomicUsize::new(0), writers: AtomicUsize::new(0), most: AtomicUsize::new(0) }
    }

    /// Runs `turn` as a reader.
    #[track_caller]
    pub(crate) fn read<R>(&self, turn: impl FnOnce() -> R) -> R {
        let others = self.readers.fetch_add(1, Ordering::SeqCst);
        self.most.fetch_max(others + 1, Ordering::SeqCst);
        require(self.writers.load(Ordering::SeqCst) == 0, "a reader met a writer");
        let result = turn();
        require(self.writers.load(Ordering::SeqCst) == 0, "a writer came while a reader read");
        self.readers.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// Runs `turn` as a writer.
    #[track_caller]
    pub(crate) fn write<R>(&self, turn: impl FnOnce() -> R) -> R {
        require(self.writers.fetch_add(1, Ordering::SeqCst) == 0, "two writers at once");
        require(self.readers.load(Ordering::SeqCst) == 0, "a writer met a reader");
        let result = turn();
        require(self.readers.load(Ordering::SeqCst) == 0, "a reader came while a writer wrote");
        self.writers.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// The most readers at once so far.
    pub(crate) fn most_readers(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

/// A monitor that grants everything, always: the kernel refuses what would alias.
pub(crate) struct Careless;

impl Monitor for Careless {
    type Discipline = Parallel;
    const NEW: Self = Self;

    fn schedule(&mut self, inbox: Inbox<'_>) {
        inbox.execute_all(Any);
    }

    fn leave(&mut self, _: Letter<'_>) {}
}
