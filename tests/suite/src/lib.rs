//! The tests that run on every device: host threads, emulated boards, boards.
//!
//! A case is a function that uses the kernel through its public API alone, in safe code, without an allocator. Where it
//! runs is behind [`Device`]: a runner implements that trait, calls [`run`] on core 0 while the other cores run their
//! workers, and calls [`timer_interrupt`] from a timer's interrupt. That is all there is to a runner.
//!
//! Letters cross cores because their receivers are pinned. A case that needs more cores than there are is skipped, and
//! the log says so. A case that makes no progress fails with its name: nothing here waits for ever, except for an answer
//! that the kernel lost, and then the last line of the log names the case.
//!
//! All actors together are fewer than a chip's kernel can hold. Cases leave them as they found them, so the suite can be
//! run again in the same program.
#![no_std]
#![forbid(unsafe_code)]

mod answers;
mod fairness;
mod golden;
mod hold;
mod idle;
mod load;
mod overflow;
mod patience;
mod performers;
mod rehearsals;
mod seams;
mod tasks;

use core::fmt;

pub use load::timer_interrupt;

/// Where the suite runs.
///
/// Its methods are called on any core, inside turns too. None of them may send a letter.
pub trait Device: Sync {
    /// How many cores run a worker.
    fn cores(&self) -> u8;

    /// The core this is called on.
    fn core(&self) -> u8;

    /// About how many letters the largest case sends: a million where that takes seconds.
    fn letters(&self) -> u32;

    /// How many rounds of core 0's worker may pass without progress before a case fails.
    fn patience(&self) -> u32;

    /// Whether the cores advance evenly, as on silicon: then one that falls far behind is starved. Threads of a host, and
    /// emulated cores that run in such threads, are stopped by others at any time.
    fn advances_evenly(&self) -> bool;

    /// Whether an idle core stops until an event.
    fn idle_sleeps(&self) -> bool;

    /// How often this core went idle so far, if the port counts that.
    fn idle_calls(&self, core: u8) -> Option<u32>;

    /// Starts a timer of the core this is called on: its interrupt calls [`timer_interrupt`] every now and then.
    fn start_timer(&self);

    /// Stops the timer of the core this is called on. No interrupt comes after it has returned.
    fn stop_timer(&self);

    /// A pause in a loop that waits for another core.
    fn pause(&self) {
        core::hint::spin_loop();
    }

    /// Writes a line of the log.
    fn log(&self, line: fmt::Arguments<'_>);
}

/// One test.
pub struct Case {
    /// What the log calls it.
    pub name: &'static str,
    /// The requirements it proves.
    pub proves: &'static str,
    /// How many cores it needs.
    pub cores: u8,
    /// The test itself. It is called on core 0, outside of all turns.
    pub run: fn(&'static dyn Device) -> Result<(), Stop>,
}

/// Why a case did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Something is not as it must be.
    Wrong(&'static str),
    /// A number is not what it must be.
    Differs {
        /// Which number.
        what: &'static str,
        /// What it must be.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// Nothing happened for too long.
    Stuck {
        /// What was waited for.
        what: &'static str,
        /// How many there should be in the end.
        expected: u32,
        /// How many there are.
        found: u32,
    },
    /// The device cannot show it, and why.
    Skipped(&'static str),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(what) => f.write_str(what),
            Self::Differs { what, expected, found } => write!(f, "{what}: {found:#x} instead of {expected:#x}"),
            Self::Stuck { what, expected, found } => write!(f, "stuck: {found} of {expected} {what}"),
            Self::Skipped(why) => f.write_str(why),
        }
    }
}

/// A part of the device's letters for a smaller case, but enough to show something.
fn share(device: &dyn Device, part: u32, least: u32) -> u32 {
    (device.letters() / part).max(least)
}

/// Stops the case unless the condition holds.
fn require(holds: bool, what: &'static str) -> Result<(), Stop> {
    if holds { Ok(()) } else { Err(Stop::Wrong(what)) }
}

/// Stops the case unless the numbers are equal.
fn require_equal(what: &'static str, expected: impl Into<u64>, found: impl Into<u64>) -> Result<(), Stop> {
    let (expected, found) = (expected.into(), found.into());
    if expected == found { Ok(()) } else { Err(Stop::Differs { what, expected, found }) }
}

/// All cases, cheap ones first.
pub const CASES: &[&[Case]] = &[
    rehearsals::CASES,
    performers::CASES,
    load::CASES,
    overflow::CASES,
    answers::CASES,
    tasks::CASES,
    fairness::CASES,
    idle::CASES,
    seams::CASES,
];

/// What became of the cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many passed.
    pub passed: u32,
    /// How many failed.
    pub failed: u32,
    /// How many the device could not show.
    pub skipped: u32,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "suite: {} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Runs every case, with a line in the log before and after each, and one with the summary at the end.
///
/// Call it on core 0, outside of all turns, while the other cores run their workers.
pub fn run(device: &'static dyn Device) -> Summary {
    let mut summary = Summary::default();
    for case in CASES.iter().copied().flatten() {
        device.log(format_args!("case {} ({})", case.name, case.proves));
        let outcome = match device.cores() >= case.cores {
            true => (case.run)(device),
            false => Err(Stop::Skipped("needs more cores than there are")),
        };
        match outcome {
            Ok(()) => {
                summary.passed += 1;
                device.log(format_args!("  ok"));
            }
            Err(Stop::Skipped(why)) => {
                summary.skipped += 1;
                device.log(format_args!("  skipped: {why}"));
            }
            Err(stop) => {
                summary.failed += 1;
                device.log(format_args!("  FAILED {}: {stop}", case.name));
            }
        }
    }
    device.log(format_args!("{summary}"));
    summary
}
