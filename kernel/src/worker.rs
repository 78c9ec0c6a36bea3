//! Workers: one per core. The core's loop is here.
//!
//! ```text
//!  loop:  called? answer notices, poll the executor if it was pended · visit a bounded number of ready actors
//!         look at what other cores have in surplus · nothing to do at all: sleep until kicked
//! ```
//!
//! Between ready actors the worker goes round robin, one letter each (OCA-26). A wait (`get`) is the same loop, one level
//! deeper: the actor that waits is left out, because its lock is held or its letter is still running, while its neighbours on
//! the core go on (OCA-28).

use crate::cores::{self, Unnoted};
use crate::port::{self, FOREIGN, FOREIGN_THREADS};
use crate::promise::{Holder, Ticket};
use crate::waiting::Outstanding;

/// Visits between two looks at the executor.
const VISITS: usize = 16;
/// Visits of a wait before its first look at the executor and at other cores' requests.
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

/// One turn of the loop: what can be done now, within bounds. False if there was nothing to do, or a turn that waits can go on.
// There once on a chip: every loop of a worker calls it.
#[cfg_attr(target_os = "none", inline(never))]
pub fn step_once() -> bool {
    let here = port::core();
    here != FOREIGN && step_as(here)
}

/// The same, on a core.
#[inline(always)]
fn step(here: u8) -> bool {
    if cfg!(target_os = "none") { step_once() } else { step_as(here) }
}

#[inline(always)]
fn step_as(here: u8) -> bool {
    let mut visits_left = VISITS;
    if let Some(calls) = cores::calls(here) {
        // A pended executor is a notice, too. All that counts as a visit.
        cores::answer(here, calls, executor::poll_if_pended);
        visits_left -= 1;
    }
    while cores::visit_next(here) {
        visits_left -= 1;
        if visits_left == 0 {
            break;
        }
    }
    // Also with work of its own: the core that has the surplus may be in a long turn.
    let helped = cores::help_others(here);
    let busy = visits_left != VISITS || helped;
    if busy {
        cores::end_turns(here);
    }
    busy
}

/// Runs the worker loop until the promise is resolved, and says with which ticket. None if waiting is impossible here: too deep,
/// or inside a monitor.
///
/// The straight line is a question just asked, whose receiver is the next on this very core: one visit, and a look at the slot
/// after it. Nobody has to tell this core of an answer that it gives itself.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn run_until(asked: Ticket, receiver: Option<Unnoted>) -> Option<Ticket> {
    let here = port::core();
    if FOREIGN_THREADS && here == FOREIGN {
        return watch_until(asked.into());
    }
    let Some(_deeper) = Deeper::enter(here, Some(asked)) else {
        receiver.into_iter().for_each(|receiver| receiver.note(here));
        return None;
    };
    match receiver {
        Some(receiver) if !cores::has_notice(here) => shielded(&mut || receiver.visit(here)),
        Some(receiver) => receiver.note(here),
        None => {}
    }
    if asked.is_given() { Some(asked) } else { wait_until(here, asked.into()) }
}

/// A promise that is not resolved by one visit.
#[cfg_attr(target_os = "none", inline(never))]
fn wait_until(here: u8, mut promise: Holder) -> Option<Ticket> {
    let mut answer = None;
    shielded(&mut || answer = visit_until(here, &mut promise));
    answer.or_else(|| {
        wait(here, &mut promise);
        promise.resolved()
    })
}

#[cold]
fn watch_until(mut promise: Holder) -> Option<Ticket> {
    watch(&mut promise);
    promise.resolved()
}

/// The same for whatever is made of promises. False if waiting is impossible here.
#[inline(never)]
pub(crate) fn run_until_ready(what: &mut dyn Outstanding) -> bool {
    let here = port::core();
    if FOREIGN_THREADS && here == FOREIGN {
        watch(what);
        return true;
    }
    let Some(_deeper) = Deeper::enter(here, None) else { return false };
    wait(here, what);
    true
}

/// A thread that is no core has nothing to run meanwhile.
#[cold]
#[inline(never)]
fn watch(what: &mut dyn Outstanding) {
    while !what.is_ready() {
        port::pause();
    }
}

/// Runs a turn of a wait, or several. One that panics must not unwind into the turn that waits.
#[inline(always)]
fn shielded(turn: &mut impl FnMut()) {
    if cfg!(all(target_os = "none", panic = "abort")) { turn() } else { port::catch(turn) }
}

/// Visits ready actors until the promise is resolved. A few, because tasks and other cores' requests get their share all the
/// same.
#[inline(always)]
fn visit_until(here: u8, promise: &mut Holder) -> Option<Ticket> {
    for _ in 0..VISITS_UNASKED {
        // What a visit needs is not to be worked out before the loop, for visits that never come.
        if cores::has_notice(here) {
            break;
        }
        let goes_on = cores::visit_next(core::hint::black_box(here));
        let answer = promise.resolved();
        if answer.is_some() {
            return answer;
        }
        if !goes_on {
            break;
        }
    }
    None
}

/// The worker loop until `what` is ready.
#[cold]
#[inline(never)]
fn wait(here: u8, what: &mut dyn Outstanding) {
    cores::end_turns(here);
    // A turn that waits has freed the slot of its letter; whoever waits for that room may be the one to answer.
    cores::tell_of_room();
    cores::let_go(here);
    while !what.is_ready() {
        // A turn that panics leaves this as it is.
        let mut idle = false;
        shielded(&mut || idle = work_until(here, what));
        if !idle {
            continue;
        }
        if !what.is_ready() {
            cores::idle(here, &mut || !what.wait_on(here));
        }
    }
}

/// Works until `what` is ready or there is nothing to do; true if there is nothing.
fn work_until(here: u8, what: &mut dyn Outstanding) -> bool {
    loop {
        if !step(here) {
            return true;
        }
        if what.is_ready() {
            return false;
        }
    }
}

/// One more `get` that waits on this core, while this lives; what it runs is not the turn that waits.
struct Deeper {
    here: u8,
    awaited: Option<Ticket>,
    _outer: cores::Outer,
}

impl Deeper {
    #[inline(always)]
    fn enter(here: u8, awaits: Option<Ticket>) -> Option<Self> {
        let core = cores::core(here);
        let (depth, awaited) = (core.depth.get(), core.awaited.get());
        let outer = cores::Outer::keep(here);
        if depth >= MAX_NESTED_GETS || outer.is_deciding() {
            return None;
        }
        core.depth.set(depth + 1);
        core.awaited.set(awaits);
        Some(Self { here, awaited, _outer: outer })
    }
}

impl Drop for Deeper {
    #[inline(always)]
    fn drop(&mut self) {
        let core = cores::core(self.here);
        core.depth.set(core.depth.get() - 1);
        core.awaited.set(self.awaited);
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
