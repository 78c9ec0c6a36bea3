//! What threads record while they run: each its own hops, put into one order when the device is done, or while somebody watches.
//!
//! A core's hops are behind a lock of its own, which only a watcher ever contends for. The time of a hop is read under that lock: so
//! whoever holds it at some time has seen all hops of that core up to then, and what all cores did up to a moment can be put into
//! order while they go on.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    /// What nobody has taken.
    notes: Vec<Timed>,
    asleep: u64,
    asleep_since: Option<u64>,
}

#[derive(Clone, Copy)]
struct Timed {
    time: u64,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    /// Woke up, after so many nanoseconds.
    Slept(u64),
    /// A letter has reached a hop.
    Reached(Hop, u16, Option<LetterName>),
}

impl Timed {
    /// Two cores may read the same nanosecond; then the earlier hop of a letter's life came first. A core that wakes has not done
    /// anything yet.
    fn order(&self) -> (u64, u8) {
        let rank = match self.what {
            What::Slept(_) => 0,
            What::Reached(hop, ..) => 1 + hop as u8,
        };
        (self.time, rank)
    }
}

/// What all cores of a device record. Times are nanoseconds since it was made, or begun anew.
pub(crate) struct Recording {
    made: Instant,
    /// When the record begins, in nanoseconds since it was made.
    beginning: AtomicU64,
    /// Somebody has looked at it: it is not begun anew any more.
    is_watched: AtomicBool,
    cores: Vec<Mutex<Own>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recording {
    pub(crate) fn begin(cores: usize) -> Arc<Self> {
        Arc::new(Self {
            made: Instant::now(),
            beginning: AtomicU64::new(0),
            is_watched: AtomicBool::new(false),
            cores: (0..cores).map(|_| Mutex::default()).collect(),
        })
    }

    /// This thread is a core, and records, while the result lives.
    pub(crate) fn on_core(self: &Arc<Self>, core: u8) -> OnCore {
        OWN.replace(Some((Arc::clone(self), usize::from(core))));
        OnCore
    }

    /// Nanoseconds since the beginning.
    pub(crate) fn now(&self) -> u64 {
        (self.made.elapsed().as_nanos() as u64).saturating_sub(self.beginning.load(Ordering::SeqCst))
    }

    /// Forgets everything so far: now is the beginning.
    fn begin_anew(&self) {
        if self.is_watched.load(Ordering::SeqCst) {
            return;
        }
        // All at once, so that no core notes a time of before.
        let mut cores = self.cores.iter().map(lock).collect::<Vec<_>>();
        self.beginning.store(self.made.elapsed().as_nanos() as u64, Ordering::SeqCst);
        for own in &mut cores {
            own.notes.clear();
            own.asleep = 0;
            own.asleep_since = own.asleep_since.map(|_| 0);
        }
    }
}

/// On a device of threads that is recorded: what happened until now is no part of the record, which begins here. So what threads
/// take to start, and caches to fill, can be left out.
///
/// Does nothing on a device that is [watched](crate::Device::run_watched_threads), and on a stepped one, which has no such times.
pub fn record_from_here() {
    OWN.with_borrow(|own| {
        if let Some((recording, _)) = own {
            recording.begin_anew();
        }
    });
}

/// The record so far, and hops that are too new for it: another core may have some that came before.
pub(crate) struct Progress {
    recorder: Recorder,
    pending: Vec<(u8, Timed)>,
}

impl Progress {
    pub(crate) fn new(cores: usize, keep_events: bool) -> Self {
        Self { recorder: Recorder::new(cores, keep_events), pending: Vec::new() }
    }

    /// Records all hops up to a time that has passed.
    fn record_until(&mut self, recording: &Recording, time: u64) {
        for (core, own) in (0..).zip(&recording.cores) {
            let notes = std::mem::take(&mut lock(own).notes);
            self.pending.extend(notes.into_iter().map(|timed| (core, timed)));
        }
        self.pending.sort_by_key(|(_, timed)| timed.order());
        let due = self.pending.partition_point(|(_, timed)| timed.time <= time);
        for (core, Timed { time, what }) in self.pending.drain(..due) {
            match what {
                What::Slept(nanoseconds) => self.recorder.slept(usize::from(core), nanoseconds),
                What::Reached(hop, actor, letter) => {
                    let reached = self.recorder.reach(core, hop, actor, letter);
                    self.recorder.note(time, &reached);
                }
            }
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
    pub(crate) fn new(recording: &Arc<Recording>, cores: usize, keep_events: bool) -> Self {
        Self {
            recording: Arc::clone(recording),
            progress: Mutex::new(Progress::new(cores, keep_events)),
            has_ended: Mutex::new(false),
            ended: Condvar::new(),
        }
    }

    /// The device as it is now, in nanoseconds of the host. It does not stand still meanwhile.
    pub fn snapshot(&self) -> Snapshot {
        self.recording.is_watched.store(true, Ordering::SeqCst);
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
            own.notes.push(Timed { time, what: What::Reached(hop, actor, letter) });
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
    as_core(|own, now| {
        let slept = own.asleep_since.take().map_or(0, |since| now.saturating_sub(since));
        own.asleep += slept;
        own.notes.push(Timed { time: now, what: What::Slept(slept) });
    });
    result
}
