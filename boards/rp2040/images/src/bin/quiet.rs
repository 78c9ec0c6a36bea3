//! What must not happen: a critical section on the way of a letter, a core that is awake without work or while it is paused.
//!
//! The emulator looks between the marks (`tests/emulator/tests/rp2040.rs`).
#![no_std]
#![no_main]

use embassy_executor::task;
use embassy_rp::multicore::{current_core, pause_core1, resume_core1};
use embassy_time::Timer;
use flockwork::{Actor, Mutex, Pinned, ReadersWriter, Ref, Serial, actor};
use flockwork_rp2040::{Core1Stack, Outcome, begin, end, entry, finish, run};

const LETTERS: u32 = 1000;

/// Counts letters, and on which cores they were.
pub struct Counter {
    by_core: [u32; 2],
}

impl Counter {
    const ZERO: Self = Self { by_core: [0; 2] };
}

#[actor]
impl Counter {
    /// One letter.
    pub fn count(&mut self) {
        self.by_core[current_core() as usize] += 1;
    }

    /// How many there were on each core.
    pub fn total(&self) -> [u32; 2] {
        self.by_core
    }
}

#[actor]
static DEFAULT: Actor<Counter, Serial, 8> = Counter::ZERO;
#[actor]
static MUTEX: Actor<Counter, Mutex, 8> = Counter::ZERO;
#[actor]
static READERS_WRITER: Actor<Counter, ReadersWriter, 8> = Counter::ZERO;
#[actor]
static HERE: Actor<Counter, Pinned<0>, 8> = Counter::ZERO;
#[actor]
static THERE: Actor<Counter, Pinned<1>, 8> = Counter::ZERO;

static COUNTERS: [Ref<Counter>; 5] = [&DEFAULT, &MUTEX, &READERS_WRITER, &HERE, &THERE];

/// Letters and questions to every kind of actor, on both cores, without a task that wakes another.
fn letters() -> bool {
    let mut sent = 0;
    while sent < LETTERS {
        for counter in COUNTERS {
            if counter.count().tell().is_err() {
                return false;
            }
            sent += 1;
        }
        // The answers say that there is room again.
        if COUNTERS.iter().any(|counter| counter.total().get().is_err()) {
            return false;
        }
    }
    let total = |counter: &Ref<Counter>| counter.total().get().map_or(0, |by_core| by_core.iter().sum());
    COUNTERS.iter().map(total).sum::<u32>() == LETTERS && THERE.total().get() == Ok([0, LETTERS / 5])
}

#[task]
async fn rest() {
    // What the letters left behind is done by then.
    Timer::after_micros(100).await;
    begin!("rest");
    Timer::after_millis(10).await;
    end!("rest");
    finish(Outcome::Passed);
}

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    let work = |core0: embassy_executor::Spawner| {
        begin!("one critical section");
        critical_section::with(|_| {});
        end!("one critical section");
        // Also the first of all letters, which gives each actor its number.
        begin!("letters");
        let counted = letters();
        end!("letters");
        // What the flash driver does to keep core 1 out of flash: a word through the FIFO, which interrupts it.
        pause_core1();
        begin!("core 1 paused");
        cortex_m::asm::delay(1000);
        end!("core 1 paused");
        resume_core1();
        if !counted || THERE.total().get().is_err() {
            return finish(Outcome::Failed);
        }
        core0.spawn(rest().expect("the task is spawned once"));
    };
    run(p.CORE1, &CORE1_STACK, work, |_core1| {})
}
