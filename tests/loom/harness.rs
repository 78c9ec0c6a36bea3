//! Runs a model and says how thoroughly.

use crate::port;
use loom::sync::atomic::AtomicBool;
use loom::thread::{self, Thread};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How many interleavings of a model are run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extent {
    /// All of them.
    Exhaustive,
    /// All in which threads are interrupted at most this often.
    Bounded(usize),
}

std::thread_local! {
    static RUNNING: Cell<usize> = const { Cell::new(0) };
    static MAIN: RefCell<Option<Thread>> = const { RefCell::new(None) };
}

/// Runs `scene` in all its interleavings with this many cores, and prints how many there were.
pub(crate) fn model(name: &str, cores: u8, extent: Extent, scene: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 20_000;
    builder.preemption_bound = match extent {
        Extent::Exhaustive => None,
        Extent::Bounded(bound) => Some(bound),
    };
    let runs = Arc::new(AtomicU64::new(0));
    let counted = runs.clone();
    let start = Instant::now();
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        RUNNING.set(0);
        MAIN.set(Some(thread::current()));
        port::begin(cores);
        flockwork::model::begin();
        scene();
    });
    let extent = match extent {
        Extent::Exhaustive => "exhaustive".to_owned(),
        Extent::Bounded(bound) => format!("bounded({bound})"),
    };
    let (runs, seconds) = (runs.load(Ordering::Relaxed), start.elapsed().as_secs_f32());
    println!("model {name}: {extent}, {runs} interleavings, {seconds:.1} s");
}

/// Starts a core. The scene's own thread is none; it only waits for the cores, with [`join`].
pub(crate) fn core(number: u8, work: impl FnOnce() + 'static) {
    RUNNING.set(RUNNING.get() + 1);
    thread::spawn(move || {
        port::become_core(number);
        work();
        RUNNING.set(RUNNING.get() - 1);
        MAIN.with_borrow(|main| main.as_ref().expect("the model has begun").unpark());
    });
}

/// Waits until all cores have ended. Not loom's `join`, which writes a line to the terminal each time.
pub(crate) fn join() {
    while RUNNING.get() > 0 {
        thread::park();
    }
}

/// Something that happens once, and that one core waits for inside a turn. A latch as the port's.
#[derive(Clone)]
pub(crate) struct Event(Arc<EventState>);

struct EventState {
    happened: AtomicBool,
    waiter: Cell<Option<Thread>>,
}

// SAFETY: loom runs one thread of a model at a time, and switches at its own operations only.
#[expect(unsafe_code, reason = "shared by threads that loom runs one at a time")]
unsafe impl Sync for EventState {}
// SAFETY: the same.
#[expect(unsafe_code, reason = "shared by threads that loom runs one at a time")]
unsafe impl Send for EventState {}

impl Event {
    pub(crate) fn new() -> Self {
        Self(Arc::new(EventState { happened: AtomicBool::new(false), waiter: Cell::new(None) }))
    }

    pub(crate) fn set(&self) {
        self.0.happened.swap(true, Ordering::Release);
        if let Some(waiter) = self.0.waiter.take() {
            waiter.unpark();
        }
    }

    pub(crate) fn wait(&self) {
        while !self.0.happened.swap(false, Ordering::Acquire) {
            self.0.waiter.set(Some(thread::current()));
            thread::park();
        }
    }
}
