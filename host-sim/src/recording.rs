//! What threads record while they run: each its own hops, put into one order when the device is done, or while somebody watches.
//!
//! A core's hops are behind a lock of its own, which only a watcher ever contends for. The time of a hop is read under that lock: so
//! whoever holds it at some time has seen all hops of that core up to then, and what all cores did up to a moment can be put into
//! order while they go on.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flockwork::trace::{Hop, LetterName};

use crate::run::{Recorder, Snapshot};

thread_local! {
    static OWN: RefCell<Option<(Arc<Recording>, usize)>> = const { RefCell::new(None) };
}

/// Whether the kernel keeps events of threads that do not record, for `flockwork::trace::drain`.
static RINGS: AtomicBool = AtomicBool::new(true);

/// Whether the kernel is to keep the events of threads that do not record: each then reads the host's clock.
pub(crate) fn keep_rings(keep: bool) {
    RINGS.store(keep, Ordering::Relaxed);
}

/// What one core's thread has recorded.
#[derive(Default)]
struct Own {
    /// Those that nobody has taken.
    hops: Vec<Timed>,
    asleep: u64,
    asleep_since: Option<u64>,
}

#[derive(Clone, Copy)]
struct Timed {
    time: u64,
    hop: Hop,
    actor: u16,
    letter: Option<LetterName>,
}

/// What all cores of a device record. Times are nanoseconds since it was made.
pub(crate) struct Recording {
    start: Instant,
    cores: Vec<Mutex<Own>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recording {
    pub(crate) fn begin(cores: usize) -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), cores: (0..cores).map(|_| Mutex::default()).collect() })
    }

    /// This thread is a core, and records, while the result lives.
    pub(crate) fn on_core(self: &Arc<Self>, core: u8) -> OnCore {
        OWN.replace(Some((Arc::clone(self), usize::from(core))));
        OnCore
    }

    /// Nanoseconds since the start.
    pub(crate) fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// The record so far, and hops that are too new for it: another core may have some that came before.
pub(crate) struct Progress {
    recorder: Recorder,
    pending: Vec<(u8, Timed)>,
}

impl Progress {
    pub(crate) fn new(cores: usize) -> Self {
        Self { recorder: Recorder::new(cores, true), pending: Vec::new() }
    }

    /// Records all hops up to a time that has passed.
    fn record_until(&mut self, recording: &Recording, time: u64) {
        for (core, own) in (0..).zip(&recording.cores) {
            let hops = std::mem::take(&mut lock(own).hops);
            self.pending.extend(hops.into_iter().map(|hop| (core, hop)));
        }
        // Two cores may read the same nanosecond; then the earlier hop of a letter's life came first.
        self.pending.sort_by_key(|(_, timed)| (timed.time, timed.hop as u8));
        let due = self.pending.partition_point(|(_, timed)| timed.time <= time);
        for (core, Timed { time, hop, actor, letter }) in self.pending.drain(..due) {
            let reached = self.recorder.reach(core, hop, actor, letter);
            self.recorder.note(time, &reached);
        }
    }

    /// The device as it is now.
    fn snapshot(&mut self, recording: &Recording) -> Snapshot {
        let now = recording.now();
        self.record_until(recording, now);
        let times = recording.cores.iter().map(|own| {
            let Own { asleep, asleep_since, .. } = *lock(own);
            let asleep = asleep + asleep_since.map_or(0, |since| now.saturating_sub(since));
            (now.saturating_sub(asleep), asleep, asleep_since.is_some())
        });
        self.recorder.snapshot(now, times)
    }

    /// The whole record, and the time that each core slept.
    pub(crate) fn finish(mut self, recording: &Recording) -> (Recorder, Vec<u64>) {
        self.record_until(recording, u64::MAX);
        (self.recorder, recording.cores.iter().map(|own| lock(own).asleep).collect())
    }
}

/// A device of threads that somebody watches while it runs ([`Device::run_watched_threads`](crate::Device::run_watched_threads)).
pub struct Watched {
    recording: Arc<Recording>,
    progress: Mutex<Progress>,
    has_ended: Mutex<bool>,
    ended: Condvar,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched").field("has_ended", &*lock(&self.has_ended)).finish_non_exhaustive()
    }
}

impl Watched {
    pub(crate) fn new(recording: &Arc<Recording>, cores: usize) -> Self {
        Self {
            recording: Arc::clone(recording),
            progress: Mutex::new(Progress::new(cores)),
            has_ended: Mutex::new(false),
            ended: Condvar::new(),
        }
    }

    /// The device as it is now, in nanoseconds of the host. It does not stand still meanwhile.
    pub fn snapshot(&self) -> Snapshot {
        lock(&self.progress).snapshot(&self.recording)
    }

    /// Waits so long for `main` to return; true if it has.
    pub fn ends_within(&self, patience: Duration) -> bool {
        let waited = self.ended.wait_timeout_while(lock(&self.has_ended), patience, |has_ended| !*has_ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(crate) fn end(&self) {
        *lock(&self.has_ended) = true;
        self.ended.notify_all();
    }

    pub(crate) fn into_progress(self) -> Progress {
        self.progress.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This thread records, while this lives.
pub(crate) struct OnCore;

impl Drop for OnCore {
    fn drop(&mut self) {
        OWN.take();
    }
}

/// Notes a hop, if this thread records; true if the kernel is to keep it, too. Out of line: stepped mode passes by here for every hop.
#[inline(never)]
pub(crate) fn note(hop: Hop, actor: u16, letter: Option<LetterName>) -> bool {
    OWN.with_borrow(|own| match own {
        Some((recording, core)) => {
            let mut own = lock(&recording.cores[*core]);
            let time = recording.now();
            own.hops.push(Timed { time, hop, actor, letter });
            true
        }
        None => RINGS.load(Ordering::Relaxed),
    })
}

/// Notes how long `sleep` takes, if this thread records.
pub(crate) fn sleeping<R>(sleep: impl FnOnce() -> R) -> R {
    let as_core = |note: fn(&mut Own, u64)| {
        OWN.with_borrow(|own| {
            if let Some((recording, core)) = own {
                note(&mut lock(&recording.cores[*core]), recording.now());
            }
        });
    };
    as_core(|own, now| own.asleep_since = Some(now));
    let result = sleep();
    as_core(|own, now| own.asleep += own.asleep_since.take().map_or(0, |since| now.saturating_sub(since)));
    result
}
