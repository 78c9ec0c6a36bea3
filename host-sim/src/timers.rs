//! embassy-time on a host: its driver, for both modes.
//!
//! On threads the clock is the host's, and a thread of its own wakes whatever is due. In stepped mode the clock is virtual, and the
//! scheduler wakes what is due before any core gets past that time; if all cores sleep, the time of the next timer comes at once.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use embassy_time_driver::{Driver, TICK_HZ};

#[cfg(feature = "stepped")]
use crate::stepped;
use crate::threads;

/// What waits for a time.
struct Timers {
    waiting: Mutex<Waiting>,
    /// There is an earlier time to wait for, or a simulation is over.
    changed: Condvar,
}

struct Waiting {
    /// By time, then by who came first: so timers that are due together wake in a fixed order.
    wakers: BTreeMap<(u64, u64), Waker>,
    /// How many there ever were.
    count: u64,
    /// Whether the thread that wakes them on the host's time was started.
    has_thread: bool,
    /// Whether a simulation wakes them, in virtual time.
    simulated: bool,
}

embassy_time_driver::time_driver_impl!(static TIMERS: Timers = Timers {
    waiting: Mutex::new(Waiting { wakers: BTreeMap::new(), count: 0, has_thread: false, simulated: false }),
    changed: Condvar::new(),
});

impl Driver for Timers {
    fn now(&self) -> u64 {
        #[cfg(feature = "stepped")]
        if let Some(simulation) = stepped::here() {
            return simulation.read_clock();
        }
        host_ticks()
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        let mut waiting = self.lock();
        if !waiting.insert(at, waker) {
            return;
        }
        #[cfg(feature = "stepped")]
        if let Some(simulation) = stepped::here() {
            drop(waiting);
            return simulation.timer_set(at);
        }
        if !waiting.has_thread {
            waiting.has_thread = true;
            thread::Builder::new()
                .name("timers".into())
                .spawn(|| TIMERS.wake_on_host_time())
                .expect("the host has room for one more thread");
        }
        self.changed.notify_one();
    }
}

impl Timers {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_on_host_time(&self) {
        let mut waiting = self.lock();
        loop {
            if waiting.simulated {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let now = host_ticks();
            if let Some(waker) = waiting.take_due(now) {
                // Wakers are someone else's code: they run without the lock.
                drop(waiting);
                waker.wake();
                waiting = self.lock();
                continue;
            }
            waiting = match waiting.next() {
                None => self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let rest = duration(at - now);
                    self.changed.wait_timeout(waiting, rest).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Waiting {
    /// True if it was not waiting for this or an earlier time already. A task waits once, for the earliest of its timers: it
    /// polls the others again when it wakes.
    fn insert(&mut self, at: u64, waker: &Waker) -> bool {
        let known = self.wakers.iter().find(|(_, known)| known.will_wake(waker)).map(|(key, _)| *key);
        match known {
            Some((earlier, _)) if earlier <= at => return false,
            Some(later) => drop(self.wakers.remove(&later)),
            None => {}
        }
        self.wakers.insert((at, self.count), waker.clone());
        self.count += 1;
        true
    }

    fn next(&self) -> Option<u64> {
        self.wakers.first_key_value().map(|((at, _), _)| *at)
    }

    fn take_due(&mut self, now: u64) -> Option<Waker> {
        let first = self.wakers.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }
}

fn host_ticks() -> u64 {
    let nanoseconds = threads::since_start().as_nanos();
    (nanoseconds * u128::from(TICK_HZ) / 1_000_000_000) as u64
}

fn duration(ticks: u64) -> Duration {
    Duration::from_nanos((u128::from(ticks) * 1_000_000_000).div_ceil(u128::from(TICK_HZ)) as u64)
}

/// From now on timers are due in virtual time, until the result is dropped.
#[cfg(feature = "stepped")]
pub(crate) fn simulate() -> Simulated {
    TIMERS.lock().simulated = true;
    Simulated
}

#[cfg(feature = "stepped")]
pub(crate) struct Simulated;

#[cfg(feature = "stepped")]
impl Drop for Simulated {
    fn drop(&mut self) {
        TIMERS.lock().simulated = false;
        TIMERS.changed.notify_one();
    }
}

/// The time of the next timer.
#[cfg(feature = "stepped")]
pub(crate) fn next() -> Option<u64> {
    TIMERS.lock().next()
}

/// A timer that is due.
#[cfg(feature = "stepped")]
pub(crate) fn take_due(now: u64) -> Option<Waker> {
    TIMERS.lock().take_due(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::task::Wake;

    struct Counting(AtomicU32);

    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    fn waker() -> Waker {
        Arc::new(Counting(AtomicU32::new(0))).into()
    }

    fn nobody() -> Waiting {
        Waiting { wakers: BTreeMap::new(), count: 0, has_thread: false, simulated: false }
    }

    #[test]
    fn a_task_waits_once_for_its_earliest_time() {
        let mut waiting = nobody();
        let waker = waker();
        assert!(waiting.insert(20, &waker));
        assert!(!waiting.insert(30, &waker), "it is woken before");
        assert!(waiting.insert(10, &waker));
        assert_eq!(waiting.next(), Some(10));
        assert!(waiting.take_due(9).is_none());
        assert!(waiting.take_due(10).is_some());
        assert_eq!(waiting.next(), None);
    }

    #[test]
    fn timers_that_are_due_together_wake_in_the_order_they_came() {
        let mut waiting = nobody();
        let wakers = [waker(), waker(), waker()];
        for (waker, at) in wakers.iter().zip([7, 5, 7]) {
            assert!(waiting.insert(at, waker));
        }
        let order = std::iter::from_fn(|| waiting.take_due(7)).collect::<Vec<_>>();
        let wanted = [&wakers[1], &wakers[0], &wakers[2]];
        assert!(order.len() == 3 && order.iter().zip(wanted).all(|(woken, wanted)| woken.will_wake(wanted)));
    }

    #[test]
    fn durations_are_rounded_up() {
        assert!(duration(3).as_nanos() * u128::from(TICK_HZ) >= 3 * 1_000_000_000);
    }
}
