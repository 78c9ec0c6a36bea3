//! The suite that runs on every device (`tests/suite`), on host threads with 1, 2 and 4 cores.
//!
//! A timer is a thread that interrupts its core; how many letters are sent says `FLOCKWORK_SUITE_LETTERS`.
#![cfg(not(loom))]

mod support;

use std::fmt;
use std::io::Write as _;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use flockwork::port::Port as _;
use flockwork_host_sim as sim;
use flockwork_suite::{CASES, Device, Summary, run, timer_interrupt};
use support::{device_with_interrupts, lock, number_from};

/// Threads as cores.
struct Threads {
    cores: u8,
    /// Whether each core's timer runs. Held by its interrupt, so that none comes after it was stopped.
    timers: [Mutex<bool>; 2],
}

impl Threads {
    const fn with_cores(cores: u8) -> Self {
        Self { cores, timers: [const { Mutex::new(false) }; 2] }
    }

    fn timer(&self) -> (u8, &Mutex<bool>) {
        let core = self.core();
        (core, &self.timers[usize::from(core)])
    }
}

impl Device for Threads {
    fn cores(&self) -> u8 {
        self.cores
    }

    fn core(&self) -> u8 {
        sim::ThreadPort::core()
    }

    fn letters(&self) -> u32 {
        number_from("FLOCKWORK_SUITE_LETTERS", 100_000) as u32
    }

    fn patience(&self) -> u32 {
        // Seconds of this thread's own time: the others had theirs meanwhile, also where there are more threads than cores.
        20_000_000
    }

    fn advances_evenly(&self) -> bool {
        false
    }

    fn idle_sleeps(&self) -> bool {
        true
    }

    fn idle_calls(&self, _: u8) -> Option<u32> {
        None
    }

    fn start_timer(&self) {
        // It outlives this call, and ends when it is stopped.
        let this: &'static Self = match self.cores {
            1 => &ONE,
            2 => &TWO,
            _ => &FOUR,
        };
        let (core, timer) = this.timer();
        *lock(timer) = true;
        thread::spawn(move || {
            let interrupt = || {
                let runs = lock(timer);
                if *runs {
                    timer_interrupt(core);
                }
                *runs
            };
            while sim::interrupt(core, interrupt) {
                thread::yield_now();
            }
        });
    }

    fn stop_timer(&self) {
        *lock(self.timer().1) = false;
    }

    fn pause(&self) {
        thread::yield_now();
    }

    fn log(&self, line: fmt::Arguments<'_>) {
        println!("{line}");
        if self.core() == 0 {
            *lock(&LAST_LINE) = line.to_string();
        }
    }
}

/// What the log said last: a hang aborts the process, and the log with it.
static LAST_LINE: Mutex<String> = Mutex::new(String::new());

/// Says on the screen where the suite is, if it is still there shortly before the hang guard strikes.
fn say_where_it_hangs() -> mpsc::Sender<()> {
    let soon = Duration::from_secs(number_from("FLOCKWORK_HANG_SECONDS", 60)).saturating_sub(Duration::from_secs(2));
    let (alive, dropped) = mpsc::channel();
    thread::spawn(move || {
        if dropped.recv_timeout(soon) == Err(mpsc::RecvTimeoutError::Timeout) {
            // Not `eprintln`, which a test harness keeps for itself.
            let _ = writeln!(std::io::stderr(), "the suite is still at: {}", lock(&LAST_LINE));
        }
    });
    alive
}

static ONE: Threads = Threads::with_cores(1);
static TWO: Threads = Threads::with_cores(2);
static FOUR: Threads = Threads::with_cores(4);

/// Runs the suite, and demands that all cases were run but those this many cores cannot show.
fn suite(device: &'static Threads) {
    let cases = || CASES.iter().copied().flatten();
    let possible = cases().filter(|case| case.cores <= device.cores).count() as u32;
    let summary = device_with_interrupts(usize::from(device.cores), || {
        let _alive = say_where_it_hangs();
        run(device)
    });
    let expected = Summary { passed: possible, failed: 0, skipped: cases().count() as u32 - possible };
    assert_eq!(summary, expected);
}

#[test]
fn the_suite_on_one_core() {
    suite(&ONE);
}

#[test]
fn the_suite_on_two_cores() {
    suite(&TWO);
}

#[test]
fn the_suite_on_four_cores() {
    suite(&FOUR);
}
