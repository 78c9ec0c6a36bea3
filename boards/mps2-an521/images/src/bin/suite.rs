//! The suite that runs on every device (`tests/suite`), on this board.
//!
//! Words on the command line: `evenly` if the cores advance evenly (QEMU with `-icount`), `letters=N` for how many letters
//! the largest case sends; or `die=panic`, `die=fault`, `die=overflow`, to see core 1's last words instead.
#![no_std]
#![no_main]

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use flockwork::{Actor, Pinned, actor};
use flockwork_mps2_an521::{
    Core1Stack, Outcome, arguments, core, entry, exception, finish, idle_calls, interleave, log, now, run, stack, tick,
};
use flockwork_suite::{Device, timer_interrupt};

/// Two cores in QEMU.
struct Qemu {
    evenly: AtomicBool,
    letters: AtomicU32,
}

static QEMU: Qemu = Qemu { evenly: AtomicBool::new(false), letters: AtomicU32::new(1_000_000) };

impl Device for Qemu {
    fn cores(&self) -> u8 {
        2
    }

    fn core(&self) -> u8 {
        core()
    }

    fn letters(&self) -> u32 {
        self.letters.load(Relaxed)
    }

    fn patience(&self) -> u32 {
        // Evenly, the other core has had as many instructions. Otherwise its thread may not have run for a long time.
        if self.advances_evenly() { 1_000_000 } else { 30_000_000 }
    }

    fn advances_evenly(&self) -> bool {
        self.evenly.load(Relaxed)
    }

    fn idle_sleeps(&self) -> bool {
        // QEMU's WFE lets others run and returns.
        false
    }

    fn idle_calls(&self, core: u8) -> Option<u32> {
        idle_calls(core)
    }

    fn start_timer(&self) {
        tick::start(50);
    }

    fn stop_timer(&self) {
        tick::stop();
    }

    fn log(&self, line: fmt::Arguments<'_>) {
        log(line);
    }
}

/// How often core 0's timer came.
static TICKS: AtomicU32 = AtomicU32::new(0);

#[exception]
fn SysTick() {
    timer_interrupt(core());
    if core() == 0 {
        TICKS.store(TICKS.load(Relaxed) + 1, Relaxed);
    }
}

static CORE1_STACK: Core1Stack<16384> = Core1Stack::new();

#[entry]
fn main() -> ! {
    for word in arguments().words() {
        if word == "evenly" {
            QEMU.evenly.store(true, Relaxed);
            interleave(1);
        } else if let Some(letters) = word.strip_prefix("letters=") {
            QEMU.letters.store(letters.parse().expect("letters=N needs a number"), Relaxed);
        }
    }
    let death = arguments().words().find_map(|word| Death::named(word.strip_prefix("die=")?));
    run(
        &CORE1_STACK,
        |_core0| match death {
            Some(death) => {
                let survived = MORTAL.die(death).get();
                log(format_args!("core 1 is still alive: {survived:?}"));
                finish(Outcome::Failed)
            }
            None => suite(),
        },
        |_core1| {},
    )
}

/// Core 0 runs the suite inside its worker's start; core 1 works.
fn suite() -> ! {
    let start = now();
    let summary = flockwork_suite::run(&QEMU);
    let took = now() - start;
    log(format_args!("took {} ms of the board's time", took / 1000));
    let clock = clock_error();
    for number in 0..2 {
        if let Some(used) = stack::high_water(number) {
            log(format_args!("stack of core {number}: {used}"));
        }
    }
    let good = summary.failed == 0 && summary.passed > 0 && took > 0 && clock.is_none_or(|micros| micros <= 10);
    finish(if good { Outcome::Passed } else { Outcome::Failed })
}

/// By how many microseconds the clock and ten milliseconds of core 0's timer differ, if the cores' time is the board's.
fn clock_error() -> Option<u64> {
    if !QEMU.advances_evenly() {
        return None;
    }
    let wait_for_tick = || {
        let ticks = TICKS.load(Relaxed);
        while TICKS.load(Relaxed) == ticks {
            core::hint::spin_loop();
        }
        now()
    };
    tick::start(1000);
    let start = wait_for_tick();
    let end = (0..10).fold(start, |_, _| wait_for_tick());
    let error = (end - start).abs_diff(10_000);
    tick::stop();
    log(format_args!("the clock and ten milliseconds of the timer differ by {error} µs"));
    Some(error)
}

/// What core 1 dies of.
#[derive(Clone, Copy, Debug)]
pub enum Death {
    /// Its method panics.
    Panic,
    /// It runs into an instruction that there is not.
    Fault,
    /// It calls itself for too long.
    Overflow,
}

impl Death {
    fn named(name: &str) -> Option<Self> {
        [("panic", Self::Panic), ("fault", Self::Fault), ("overflow", Self::Overflow)]
            .into_iter()
            .find_map(|(known, death)| (known == name).then_some(death))
    }
}

/// Dies when it is told to.
pub struct Mortal;

#[actor]
impl Mortal {
    /// Does not return.
    pub fn die(&mut self, of: Death) -> u32 {
        match of {
            Death::Panic => panic!("as it was told to"),
            Death::Fault => cortex_m::asm::udf(),
            Death::Overflow => dig(u32::MAX),
        }
    }
}

#[actor]
static MORTAL: Actor<Mortal, Pinned<1>, 1> = Mortal;

/// Puts some bytes on the stack in each call, and looks at them afterwards, so that no call is left out.
#[inline(never)]
fn dig(depth: u32) -> u32 {
    let here = core::hint::black_box([depth; 32]);
    if depth == 0 { 0 } else { dig(depth - 1).wrapping_add(here[0]) }
}
