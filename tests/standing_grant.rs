//! The standing grant: letters about which there is nothing to decide are run without a call of their monitor, and nothing else changes.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use flockwork::{
    Actor, Any, Eventually as _, Inbox, Letter, Monitor, OneAtATime, Parallel, Pinned, Readers, ReadersFirst,
    ReadersWriter, Ref, Report, Writers, WritersFirst, actor, dispatch,
};
use support::{device, require, run_until, spin_until};

/// How often a monitor was called.
struct Calls {
    schedule: AtomicU32,
    leave: AtomicU32,
}

impl Calls {
    const fn none() -> Self {
        Self { schedule: AtomicU32::new(0), leave: AtomicU32::new(0) }
    }

    fn take(&self) -> (u32, u32) {
        (self.schedule.swap(0, SeqCst), self.leave.swap(0, SeqCst))
    }
}

static ALONE: Calls = Calls::none();
static TOGETHER: Calls = Calls::none();

/// One letter at a time, counted.
pub struct Counted<const GRANTS: bool> {
    busy: bool,
}

impl<const GRANTS: bool> Monitor for Counted<GRANTS> {
    type Discipline = OneAtATime;
    const NEW: Self = Self { busy: false };
    const STANDING_GRANT: bool = GRANTS;

    fn schedule(&mut self, inbox: Inbox<'_>) {
        ALONE.schedule.fetch_add(1, SeqCst);
        self.busy = self.busy || inbox.execute_oldest(Any);
    }

    fn leave(&mut self, _: Letter<'_>) {
        ALONE.leave.fetch_add(1, SeqCst);
        self.busy = false;
    }
}

/// Readers together, writers alone, counted.
pub struct CountedTogether<const GRANTS: bool> {
    readers: usize,
    writing: bool,
}

impl<const GRANTS: bool> Monitor for CountedTogether<GRANTS> {
    type Discipline = Parallel;
    const NEW: Self = Self { readers: 0, writing: false };
    const STANDING_GRANT: bool = GRANTS;

    fn schedule(&mut self, inbox: Inbox<'_>) {
        TOGETHER.schedule.fetch_add(1, SeqCst);
        if !self.writing {
            self.readers += inbox.execute_older_than(Readers, Writers);
            self.writing = self.readers == 0 && inbox.execute_oldest(Writers);
        }
    }

    fn leave(&mut self, letter: Letter<'_>) {
        TOGETHER.leave.fetch_add(1, SeqCst);
        dispatch!(letter;
            Readers => self.readers -= 1,
            Writers => self.writing = false,
        );
    }
}

pub struct Page(u32);

#[actor]
impl Page {
    pub fn read(&self) -> u32 {
        self.0
    }
    pub fn write(&mut self, value: u32) {
        self.0 = value;
    }
}

/// Without the promise a monitor is asked about every letter, and told of its end (PAM-G1, PAM-G5); with it, of no letter that is alone.
#[test]
fn a_lone_letter_needs_no_monitor_that_has_granted_it_before_pam_g1_pam_g5() {
    #[actor]
    static ASKED: Actor<Page, Counted<false>, 4> = Page(0);
    #[actor]
    static GRANTED: Actor<Page, Counted<true>, 4> = Page(0);
    #[actor]
    static ASKED_TOGETHER: Actor<Page, CountedTogether<false>, 4> = Page(0);
    #[actor]
    static GRANTED_TOGETHER: Actor<Page, CountedTogether<true>, 4> = Page(0);
    device(1, || {
        for (page, calls, expected) in [
            (&ASKED as Ref<Page>, &ALONE, (20, 20)),
            (&GRANTED, &ALONE, (0, 0)),
            (&ASKED_TOGETHER, &TOGETHER, (20, 20)),
            (&GRANTED_TOGETHER, &TOGETHER, (0, 0)),
        ] {
            for round in 0..10 {
                page.write(round).get().unwrap();
                assert_eq!(page.read().get(), Ok(round));
            }
            assert_eq!(calls.take(), expected);
            assert_eq!((Report::of(page).letters, Report::of(page).refused_grants), (0, 0));
        }
    });
}

// ---- guests, and whoever waits for them ----

static BEGUN: AtomicU32 = AtomicU32::new(0);
static GO: AtomicBool = AtomicBool::new(false);
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// Readers that stay until they are told to go.
pub struct Hall;

#[actor]
impl Hall {
    pub fn stay(&self) -> bool {
        BEGUN.fetch_add(1, SeqCst);
        spin_until(|| GO.load(SeqCst));
        !WRITTEN.load(SeqCst)
    }
    pub fn pass(&self) -> bool {
        WRITTEN.load(SeqCst)
    }
    pub fn write(&mut self) {
        require(GO.load(SeqCst), "a writer waits for the guests");
        WRITTEN.store(true, SeqCst);
    }
}

/// Takes readers to a hall, each on a core of its own.
pub struct Guide;

#[actor]
impl Guide {
    pub fn take_along(&mut self, hall: Ref<Hall>) -> bool {
        hall.stay().get() == Ok(true)
    }
}

/// Guests on two cores are there at once; a writer waits until both have gone, and readers that come after it wait for it (PAM-L3), unless the
/// monitor lets them pass.
#[test]
fn a_writer_waits_for_guests_pam_l3() {
    #[actor]
    static FAIR: Actor<Hall, ReadersWriter, 8> = Hall;
    #[actor]
    static WRITERS_FIRST: Actor<Hall, WritersFirst, 8> = Hall;
    #[actor]
    static READERS_FIRST: Actor<Hall, ReadersFirst, 8> = Hall;
    #[actor]
    static FIRST: Actor<Guide, Pinned<1>, 2> = Guide;
    #[actor]
    static SECOND: Actor<Guide, Pinned<2>, 2> = Guide;
    let check = |hall: Ref<Hall>, readers_wait: bool| {
        device(3, || {
            BEGUN.store(0, SeqCst);
            [&GO, &WRITTEN].into_iter().for_each(|flag| flag.store(false, SeqCst));
            // One after the other, so that each is alone in the lanes.
            let first = FIRST.take_along(hall).ask().unwrap();
            spin_until(|| BEGUN.load(SeqCst) == 1);
            let second = SECOND.take_along(hall).ask().unwrap();
            spin_until(|| BEGUN.load(SeqCst) == 2);
            let written = hall.write().ask().unwrap();
            let after = hall.pass().ask().unwrap();
            if !readers_wait {
                assert_eq!(after.get(), Ok(false), "a reader passes the writer");
                GO.store(true, SeqCst);
            } else {
                for _ in 0..1000 {
                    flockwork::worker::step_once();
                }
                GO.store(true, SeqCst);
                assert_eq!(after.get(), Ok(true), "a reader waits for the writer");
            }
            assert_eq!((first.get(), second.get()), (Ok(true), Ok(true)));
            assert_eq!(written.get(), Ok(()));
            run_until(|| Report::of(hall).letters == 0);
            assert_eq!(Report::of(hall).refused_grants, 0, "a good monitor is not refused");
        });
    };
    check(&FAIR, true);
    check(&WRITERS_FIRST, true);
    check(&READERS_FIRST, false);
}

/// A writer comes in although lone readers come all the time, from another core.
#[test]
fn guests_that_keep_coming_do_not_starve_a_writer() {
    static OVER: AtomicBool = AtomicBool::new(false);

    pub struct Reader;

    #[actor]
    impl Reader {
        pub fn go_on(&mut self, this: Ref<Reader>) {
            if !OVER.load(SeqCst) {
                require(PAGE.read().get().is_ok(), "it is answered");
                this.go_on(this).tell().unwrap();
            }
        }
    }

    #[actor]
    static PAGE: Actor<Page, ReadersWriter, 8> = Page(0);
    #[actor]
    static FIRST: Actor<Reader, Pinned<1>, 2> = Reader;
    #[actor]
    static SECOND: Actor<Reader, Pinned<2>, 2> = Reader;
    device(3, || {
        FIRST.go_on(&FIRST).tell().unwrap();
        SECOND.go_on(&SECOND).tell().unwrap();
        for round in 1..=200 {
            PAGE.write(round).get().unwrap();
            assert_eq!(PAGE.read().get(), Ok(round));
        }
        OVER.store(true, SeqCst);
        run_until(|| Report::of(&FIRST).letters + Report::of(&SECOND).letters == 0);
        assert_eq!(Report::of(&PAGE).refused_grants, 0);
    });
}

// ---- guests that wait, and guests that fail ----

/// A reader that asks another reader of its own actor, and so on: each is a guest beside the one that waits for it, on the same core, too.
#[test]
fn a_guest_waits_for_a_guest_of_its_actor() {
    pub struct Stairs;

    #[actor]
    impl Stairs {
        pub fn climb(&self, this: Ref<Stairs>, steps: u32) -> u32 {
            if steps == 0 { 0 } else { 1 + this.climb(this, steps - 1).get().unwrap_or(100) }
        }
        pub fn sweep(&mut self) {}
    }

    #[actor]
    static STAIRS: Actor<Stairs, ReadersWriter, 8, 16> = Stairs;
    for cores in 1..=3 {
        device(cores, || {
            for _ in 0..50 {
                let swept = STAIRS.sweep().ask().unwrap();
                assert_eq!(STAIRS.climb(&STAIRS, 5).get(), Ok(5));
                assert_eq!(swept.get(), Ok(()));
            }
            run_until(|| Report::of(&STAIRS).letters == 0);
        });
    }
}

/// A guest that panics goes as others do: a writer that waits for it comes in, and so do readers after it.
#[test]
fn a_guest_that_panics_goes() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    static FALL: AtomicBool = AtomicBool::new(false);

    pub struct Ladder(u32);

    /// Sends somebody up, on a core of its own.
    pub struct Foreman;

    #[actor]
    impl Foreman {
        pub fn send_up(&mut self) -> bool {
            LADDER.climb().get().is_ok()
        }
    }

    #[actor]
    static FOREMAN: Actor<Foreman, Pinned<1>, 2> = Foreman;

    #[actor]
    impl Ladder {
        pub fn climb(&self) -> u32 {
            BEGUN.store(true, SeqCst);
            spin_until(|| FALL.load(SeqCst));
            resume_unwind(Box::new("a guest falls on purpose"));
        }
        pub fn count(&self) -> u32 {
            self.0
        }
        pub fn mend(&mut self) {
            self.0 += 1;
        }
        pub fn fall(&mut self) {
            resume_unwind(Box::new("a letter falls on purpose, under the lock"));
        }
    }

    #[actor]
    static LADDER: Actor<Ladder, ReadersWriter, 4> = Ladder(0);
    #[actor]
    static LOCKED: Actor<Ladder, flockwork::Mutex, 4> = Ladder(0);
    device(2, || {
        let climbed = FOREMAN.send_up().ask().unwrap();
        spin_until(|| BEGUN.load(SeqCst));
        let mended = LADDER.mend().ask().unwrap();
        FALL.store(true, SeqCst);
        assert_eq!(climbed.get(), Ok(false));
        assert_eq!(mended.get(), Ok(()));
        assert_eq!(LADDER.count().get(), Ok(1));
        for ladder in [&LADDER as Ref<Ladder>, &LOCKED] {
            for round in 0..10 {
                assert!(ladder.fall().get().is_err() && ladder.climb().get().is_err());
                ladder.mend().get().unwrap();
                assert!(ladder.count().get().is_ok_and(|count| count > round));
            }
            run_until(|| Report::of(ladder).letters == 0);
        }
    });
}

/// Whoever breaks the promise is asked later than it would like, but nothing aliases, and nothing is lost.
#[test]
fn a_broken_promise_aliases_nothing() {
    /// Promises to grant, and grants nothing until it has seen two letters.
    pub struct Liar {
        seen: bool,
        busy: bool,
    }

    impl Monitor for Liar {
        type Discipline = Parallel;
        const NEW: Self = Self { seen: false, busy: false };
        const STANDING_GRANT: bool = true;

        fn schedule(&mut self, inbox: Inbox<'_>) {
            self.seen |= inbox.len() > 1;
            if self.seen && !self.busy {
                self.busy = inbox.execute_oldest(Any);
            }
        }

        fn leave(&mut self, _: Letter<'_>) {
            self.busy = false;
        }
    }

    #[actor]
    static PAGE: Actor<Page, Liar, 8> = Page(0);
    device(2, || {
        for round in 0..100 {
            let answers = [0, 1].map(|_| PAGE.read().ask().unwrap());
            let written = [0, 1].map(|_| PAGE.write(round).ask().unwrap());
            answers.into_iter().for_each(|answer| assert!(answer.get().is_ok()));
            written.into_iter().for_each(|written| assert_eq!(written.get(), Ok(())));
            assert_eq!(PAGE.read().get(), Ok(round));
        }
    });
}
