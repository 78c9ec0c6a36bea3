//! Waiting on core 0 for something that is no promise, with an end if nothing happens.

use flockwork::{Methods, Post, Refused, Rejected, worker};

use crate::{Device, Stop};

/// Runs core 0's worker until `now` is `expected`. Fails if it is more, or if it does not change for too long.
pub(crate) fn reach(
    device: &dyn Device,
    what: &'static str,
    expected: u32,
    mut now: impl FnMut() -> u32,
) -> Result<(), Stop> {
    let mut before = now();
    let mut rounds_left = device.patience();
    loop {
        let found = now();
        if found == expected {
            return Ok(());
        }
        if found > expected {
            return Err(Stop::Differs { what, expected: expected.into(), found: found.into() });
        }
        if found != before {
            before = found;
            rounds_left = device.patience();
        }
        if rounds_left == 0 {
            return Err(Stop::Stuck { what, expected, found });
        }
        rounds_left -= 1;
        if !worker::step_once() {
            device.pause();
        }
    }
}

/// Sends a letter that found no room again and again, running core 0's worker between.
pub(crate) fn deliver<A: Methods, B: ?Sized + Post<A>>(
    device: &dyn Device,
    mut told: Result<(), Rejected<A, B>>,
) -> Result<(), Stop> {
    let mut rounds_left = device.patience();
    while let Err(rejected) = told {
        if !matches!(rejected.why(), Refused::Full) {
            return Err(Stop::Wrong("a letter was refused, and not because its mailbox is full"));
        }
        if rounds_left == 0 {
            return Err(Stop::Stuck { what: "letter for a full mailbox", expected: 1, found: 0 });
        }
        rounds_left -= 1;
        if !worker::step_once() {
            device.pause();
        }
        told = rejected.retry();
    }
    Ok(())
}

/// Waits inside a turn, without working. False if nothing happened for too long.
pub(crate) fn spin_until(device: &dyn Device, mut done: impl FnMut() -> bool) -> bool {
    /// A look takes so much less time than a round of a worker.
    const LOOKS_PER_ROUND: u64 = 16;
    for _ in 0..u64::from(device.patience()) * LOOKS_PER_ROUND {
        if done() {
            return true;
        }
        device.pause();
    }
    false
}
