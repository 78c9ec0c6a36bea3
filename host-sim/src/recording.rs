//! What threads record while they run: each its own hops, put into one order when the device is done.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use flockwork::trace::{Hop, LetterName};

use crate::run::Recorder;

thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// What one core's thread has recorded.
struct Own {
    core: u8,
    start: Instant,
    hops: Vec<Timed>,
    asleep: u64,
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
    ended: Mutex<Vec<Own>>,
}

impl Recording {
    pub(crate) fn begin() -> Self {
        Self { start: Instant::now(), ended: Mutex::new(Vec::new()) }
    }

    /// This thread is a core, and records, while the result lives.
    pub(crate) fn on_core(&self, core: u8) -> OnCore<'_> {
        OWN.replace(Some(Own { core, start: self.start, hops: Vec::new(), asleep: 0 }));
        OnCore(self)
    }

    /// Nanoseconds since the start.
    pub(crate) fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Hands all hops to a recorder, in the order of time; gives the time that each core slept.
    pub(crate) fn replay(self, recorder: &mut Recorder, cores: usize) -> Vec<u64> {
        let ended = self.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut asleep = vec![0; cores];
        let mut hops = Vec::with_capacity(ended.iter().map(|own| own.hops.len()).sum());
        for own in &ended {
            asleep[usize::from(own.core)] = own.asleep;
            hops.extend(own.hops.iter().map(|hop| (own.core, hop)));
        }
        // Two cores may read the same nanosecond; then the earlier hop of a letter's life came first.
        hops.sort_by_key(|(_, timed)| (timed.time, timed.hop as u8));
        for (core, &Timed { time, hop, actor, letter }) in hops {
            let reached = recorder.reach(core, hop, actor, letter);
            recorder.note(time, &reached);
        }
        asleep
    }
}

/// This thread records, while this lives.
pub(crate) struct OnCore<'a>(&'a Recording);

impl Drop for OnCore<'_> {
    fn drop(&mut self) {
        let own = OWN.take();
        self.0.ended.lock().unwrap_or_else(PoisonError::into_inner).extend(own);
    }
}

/// Notes a hop, if this thread records; the kernel is to keep it, too. Out of line: stepped mode passes by here for every hop.
#[inline(never)]
pub(crate) fn note(hop: Hop, actor: u16, letter: Option<LetterName>) -> bool {
    OWN.with_borrow_mut(|own| {
        if let Some(own) = own {
            let time = own.start.elapsed().as_nanos() as u64;
            own.hops.push(Timed { time, hop, actor, letter });
        }
    });
    true
}

/// Notes how long `sleep` takes, if this thread records.
pub(crate) fn sleeping<R>(sleep: impl FnOnce() -> R) -> R {
    let before = OWN.with_borrow(|own| own.as_ref().map(|_| Instant::now()));
    let result = sleep();
    if let Some(before) = before {
        OWN.with_borrow_mut(|own| {
            if let Some(own) = own {
                own.asleep += before.elapsed().as_nanos() as u64;
            }
        });
    }
    result
}
