//! The straight lines of a chip's worker under monitors with a standing grant, where they end: a reader behind writers, more letters than a visit
//! runs, and letters in the lists while the lanes are empty.
//!
//! Run by the emulator (`tests/emulator/tests/rp2040.rs`), which fails if this does not end.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, Ordering::SeqCst};

use flockwork::{
    Actor, Coalesce, DropOldest, Eventually as _, Mutex, Pinned, ReadersWriter, Ref, Report, actor, worker,
};
use flockwork_rp2040::{Core1Stack, Outcome, entry, finish, run};

/// Pages that core 1 writes.
const ROUNDS: u32 = 300;

/// A writer sees if somebody else is inside.
pub struct Book {
    pages: u32,
    writing: AtomicBool,
}

impl Book {
    const fn empty() -> Self {
        Self { pages: 0, writing: AtomicBool::new(false) }
    }
}

static FLAWED: AtomicBool = AtomicBool::new(false);

fn insist(holds: bool) {
    if !holds {
        FLAWED.store(true, SeqCst);
    }
}

#[actor]
impl Book {
    /// Writes a page, and takes so many cycles for it.
    pub fn write(&mut self, cycles: u32) {
        insist(!self.writing.load(SeqCst));
        self.writing.store(true, SeqCst);
        cortex_m::asm::delay(cycles);
        self.pages += 1;
        insist(self.writing.load(SeqCst));
        self.writing.store(false, SeqCst);
    }

    /// How many pages there are.
    pub fn pages(&self) -> u32 {
        insist(!self.writing.load(SeqCst));
        self.pages
    }
}

#[actor]
static SHARED: Actor<Book, ReadersWriter, 16> = Book::empty();
#[actor]
static LONG: Actor<Book, Mutex, 256> = Book::empty();
#[actor]
static NEWEST: Actor<Book, DropOldest<Mutex>, 4> = Book::empty();
#[actor]
static ONCE: Actor<Book, Coalesce<Mutex>, 4> = Book::empty();

/// Does what it does on core 1.
pub struct Other;

#[actor]
impl Other {
    /// Writes a page now and then, which takes long.
    pub fn write_now_and_then(&mut self) {
        for round in 0..ROUNDS {
            cortex_m::asm::delay(round * 131 % 2048);
            insist(SHARED.write(2000).get() == Ok(()));
        }
        DONE.store(true, SeqCst);
    }
}

#[actor]
static OTHER: Actor<Other, Pinned<1>, 2> = Other;
static DONE: AtomicBool = AtomicBool::new(false);

fn is_empty(book: Ref<Book>) -> bool {
    Report::of(book).letters == 0
}

/// Readers behind writers in the lane of this core, while the other one writes, too.
fn readers_behind_writers() {
    let there = OTHER.write_now_and_then().ask();
    let mut pages = 0;
    while !DONE.load(SeqCst) {
        for _ in 0..1 + pages % 2 {
            insist(SHARED.write(10).tell().is_ok());
            pages += 1;
        }
        insist(SHARED.pages().get().is_ok());
    }
    insist(there.is_ok_and(|there| there.get() == Ok(())));
    insist(SHARED.pages().get() == Ok(pages + ROUNDS));
}

/// More letters than a visit runs.
fn more_than_a_visit_runs() {
    for letters in [1, 128, 129, 200, 256] {
        (0..letters).for_each(|_| insist(LONG.write(10).tell().is_ok()));
        while !is_empty(&LONG) {
            worker::step_once();
        }
    }
    insist(LONG.pages().get() == Ok(1 + 128 + 129 + 200 + 256));
}

/// Letters that were listed because others give way.
fn others_give_way() {
    for round in 0..50 {
        // Another actor waits, too, so that a visit ends before its letters do.
        insist(LONG.write(10).tell().is_ok());
        (0..5 + round % 3).for_each(|_| insist(NEWEST.write(10).tell().is_ok()));
        (0..4).for_each(|_| insist(ONCE.write(10).tell().is_ok()));
        insist(ONCE.write(10).tell().is_ok());
        insist(LONG.write(10).tell().is_ok());
        for _ in 0..100 {
            worker::step_once();
        }
        insist(is_empty(&NEWEST) && is_empty(&ONCE) && is_empty(&LONG));
    }
}

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    let work = |_core0: embassy_executor::Spawner| {
        readers_behind_writers();
        more_than_a_visit_runs();
        others_give_way();
        finish(if FLAWED.load(SeqCst) { Outcome::Failed } else { Outcome::Passed });
    };
    run(p.CORE1, &CORE1_STACK, work, |_core1| {})
}
