//! Workers: one per core. The core's loop is here.
//!
//! ```text
//!  loop:  look at notices · poll the executor if it was pended · visit a bounded number of ready actors
//!         look at what other cores have in surplus · nothing to do at all: sleep until kicked
//! ```
//!
//! Between ready actors the worker goes round robin, one letter each (OCA-26). A wait (`get`) is the same loop, one level
//! deeper: the actor that waits is left out, because its lock is held or its letter is still running, while its neighbours on
//! the core go on (OCA-28).

use crate::cores;
use crate::port::{self, FOREIGN};
use crate::waiting::Eventually;

/// Visits between two looks at the executor.
const VISITS: usize = 16;
/// Visits of a wait before it asks again whether its answer is there.
const VISITS_UNASKED: usize = 8;
/// The most `get`s that wait on one core, one inside the other: each needs stack.
pub const MAX_NESTED_GETS: u8 = 8;

/// Runs this core's worker for good.
pub fn run() -> ! {
    run_while(|| true);
    unreachable!("the condition is always true")
}

/// Runs this core's worker while `go_on` says so. It is asked before every sleep and after every kick.
///
/// # Panics
/// On a thread that is no core's worker.
pub fn run_while(mut go_on: impl FnMut() -> bool) {
    let here = port::core();
    assert!(here != FOREIGN, "a worker runs on a core; this thread is none");
    while go_on() {
        if !step(here) {
            cores::idle(here, &mut || !go_on());
        }
    }
}

/// Whose turn a core is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Turn {
    /// The type of the actor.
    pub actor: &'static str,
    /// The method that runs; none while the actor's monitor decides.
    pub method: Option<&'static str>,
}

/// The turn that a core is in, for an epitaph or a watchdog. Kept on chips and with the `trace` feature; none elsewhere, and
/// none while the core runs tasks, or nothing.
pub fn in_turn(core: u8) -> Option<Turn> {
    cores::turn_of(core).map(|(actor, method)| Turn { actor, method })
}

/// The names behind the numbers of a trace event.
pub fn names(actor: u16, method: u8) -> Option<Turn> {
    cores::names(actor, method).map(|(actor, method)| Turn { actor, method })
}

/// For simulators, before a device starts, on each core in turn: what the last device's cores left unheard is heard, and what they
/// remember of one another is forgotten, so that runs in one process do not feel each other. Letters stay where they are.
#[cfg(all(feature = "trace", not(target_os = "none"), not(loom)))]
pub fn begin_anew() {
    let here = port::core();
    if here != FOREIGN {
        cores::begin_anew(here);
    }
}

/// One turn of the loop: what can be done now, within bounds. False if there was nothing to do.
pub fn step_once() -> bool {
    let here = port::core();
    here != FOREIGN && step(here)
}

#[inline(always)]
fn step(here: u8) -> bool {
    // A pended executor is a notice, too.
    let mut busy = cores::look(here);
    if busy {
        executor::poll_if_pended(here);
    }
    for _ in 0..VISITS {
        if !cores::visit_next(here) {
            break;
        }
        busy = true;
    }
    // Also with work of its own: the core that has the surplus may be in a long turn.
    busy |= cores::help_others(here);
    cores::end_turns(here);
    busy
}

/// Runs the worker loop until `what` is ready. False if waiting is impossible here: too deep, or inside a monitor.
pub(crate) fn run_until(what: &mut impl Eventually) -> bool {
    if what.is_ready() {
        return true;
    }
    let here = port::core();
    if here == FOREIGN {
        while !what.is_ready() {
            port::pause();
        }
        return true;
    }
    let Some(_deeper) = Deeper::enter(here) else { return false };
    let _outer = cores::Outer::leave(here);
    let mut told = false;
    loop {
        // A turn that panics must not unwind into the one that waits: then `found` stays as it is.
        let mut found = Found::Nothing;
        port::catch(&mut || found = work_until(here, what));
        match found {
            Found::Answer => return true,
            Found::Nothing => {}
            // A turn that waits has freed the slot of its letter; whoever waits for that room may be the one to answer.
            Found::Idle if !told => {
                told = true;
                cores::notify_all();
            }
            Found::Idle => cores::idle(here, &mut || !what.wait_on(here)),
        }
        if what.is_ready() {
            return true;
        }
    }
}

/// Why [`work_until`] ended.
enum Found {
    Nothing,
    Answer,
    Idle,
}

/// Works until `what` is ready or there is nothing to do.
#[inline(always)]
fn work_until(here: u8, what: &mut impl Eventually) -> Found {
    loop {
        // One visit may be all it takes; but tasks and other cores' requests get their share all the same.
        for _ in 0..VISITS_UNASKED {
            if cores::has_notice(here) || !cores::visit_next(here) {
                break;
            }
        }
        if what.is_ready() {
            return Found::Answer;
        }
        if !step(here) {
            return Found::Idle;
        }
        if what.is_ready() {
            return Found::Answer;
        }
    }
}

/// One more `get` that waits on this core, while this lives.
struct Deeper(u8);

impl Deeper {
    fn enter(here: u8) -> Option<Self> {
        let depth = &cores::core(here).depth;
        if depth.get() >= MAX_NESTED_GETS {
            return None;
        }
        depth.set(depth.get() + 1);
        Some(Self(here))
    }
}

/// No `get` can wait on this core while this lives: a monitor decides, and its lock is held.
pub(crate) struct NoWaiting {
    here: u8,
    depth: u8,
}

impl NoWaiting {
    #[inline(always)]
    pub(crate) fn on(here: u8) -> Self {
        let depth = &cores::core(here).depth;
        let before = depth.get();
        depth.set(MAX_NESTED_GETS);
        Self { here, depth: before }
    }
}

impl Drop for NoWaiting {
    #[inline(always)]
    fn drop(&mut self) {
        cores::core(self.here).depth.set(self.depth);
    }
}

impl Drop for Deeper {
    fn drop(&mut self) {
        let depth = &cores::core(self.0).depth;
        depth.set(depth.get() - 1);
    }
}

#[cfg(all(feature = "embassy", not(loom)))]
pub use executor::spawner;

/// One embassy executor per core, polled by its worker. The only place that names `embassy_executor`.
#[cfg(all(feature = "embassy", not(loom)))]
mod executor {
    #![expect(unsafe_code, reason = "the executor's poll and its table, one entry per core")]

    use core::cell::UnsafeCell;
    use core::mem::MaybeUninit;

    use embassy_executor::{Spawner, raw};

    use crate::cores;
    use crate::port::{self, FOREIGN, MAX_CORES};
    use crate::sync::Flag;

    struct Place {
        made: Flag,
        /// Whether the executor is being polled: a `get` inside a task must not poll it again.
        polling: Flag,
        executor: UnsafeCell<MaybeUninit<raw::Executor>>,
    }

    // SAFETY: an entry is used by its own core only.
    unsafe impl Sync for Place {}

    static EXECUTORS: [Place; MAX_CORES] =
        [const { Place { made: Flag::new(), polling: Flag::new(), executor: UnsafeCell::new(MaybeUninit::uninit()) } };
            MAX_CORES];

    /// The executor of this core, made at its first use.
    fn executor(here: u8) -> &'static raw::Executor {
        let place = &EXECUTORS[usize::from(here)];
        if !place.made.is_raised() {
            let context = core::ptr::without_provenance_mut(usize::from(here));
            // SAFETY: only this core uses the entry, and nothing refers to it yet.
            unsafe { (*place.executor.get()).write(raw::Executor::new(context)) };
            place.made.raise(None);
        }
        // SAFETY: written above or earlier by this core, and never again.
        unsafe { (*place.executor.get()).assume_init_ref() }
    }

    /// Spawns tasks on this core's executor.
    ///
    /// # Panics
    /// On a thread that is no core's worker.
    pub fn spawner() -> Spawner {
        let here = port::core();
        assert!(here != FOREIGN, "tasks are spawned on a core; this thread is none");
        executor(here).spawner()
    }

    #[inline(always)]
    pub(super) fn poll_if_pended(here: u8) {
        if cores::is_pended(here) {
            poll(here);
        }
    }

    #[inline(never)]
    fn poll(here: u8) {
        let polling = &EXECUTORS[usize::from(here) % MAX_CORES].polling;
        if polling.is_raised() || !cores::take_pended(here) {
            return;
        }
        polling.raise(None);
        let _done = Polled { here, polling };
        let _outer = cores::Outer::leave(here);
        // SAFETY: only this core polls its executor, and `polling` keeps a poll inside a poll away.
        unsafe { executor(here).poll() };
    }

    /// Lowers the flag also if a task panics.
    struct Polled {
        here: u8,
        polling: &'static Flag,
    }

    impl Drop for Polled {
        fn drop(&mut self) {
            self.polling.lower();
            // A `get` inside a task may have taken the notice of it.
            if cores::is_pended(self.here) {
                cores::pend(self.here);
            }
        }
    }

    /// Called by embassy when a task was woken.
    #[cfg(not(test))]
    #[unsafe(export_name = "__pender")]
    fn pender(context: *mut ()) {
        cores::pend(context.addr() as u8);
    }
}

#[cfg(not(all(feature = "embassy", not(loom))))]
mod executor {
    #[inline(always)]
    pub(super) fn poll_if_pended(_: u8) {}
}
