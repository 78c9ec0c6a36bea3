//! Exploring finds what only some seeds show: a monitor that is wrong, and a wake-up that is lost.
//!
//! A test here is run in two ways: by itself it explores, and as a child of itself it is the program that is explored.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use std::env;
use std::process::Command;

use flockwork::{
    Actor, Eventually, Inbox, Letter, Monitor, Parallel, Readers, ReadersWriter, Ref, Serial, Writers, actor, dispatch,
};
use flockwork_host_sim::{Device, Exploration, Failure, Faults, OnceIn, charge};

/// The seed, in a process that is explored.
const SEED: &str = "FLOCKWORK_EXPLORED_SEED";

/// Explores the test of this name, whose program is `program`. In a process that is explored this ends it.
fn explore(test: &'static str, seeds: u64, program: impl FnOnce(u64)) -> Result<(), Failure> {
    if let Ok(seed) = env::var(SEED) {
        program(seed.parse().expect("a seed is a number"));
        std::process::exit(0);
    }
    let this = env::current_exe().expect("a test runs from a file");
    let command = move |seed: u64| {
        let mut command = Command::new(&this);
        command.args(["--exact", test, "--nocapture"]).env(SEED, seed.to_string());
        command
    };
    Exploration::of(command).seeds(0..seeds).run()
}

/// Runs the command that a failure names, as somebody would who reads it. What it wrote.
fn replay(failure: &Failure) -> (bool, String) {
    let output = Command::new("sh").args(["-c", &failure.replay]).output().expect("a shell");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

pub struct Shelf {
    books: u32,
}

#[actor]
impl Shelf {
    pub fn count(&self) -> u32 {
        charge(300);
        self.books
    }

    pub fn add(&mut self) {
        charge(200);
        self.books += 1;
    }
}

/// Counts the books, or brings one.
pub struct Visitor {
    shelf: Ref<Shelf>,
}

#[actor]
impl Visitor {
    pub fn look(&mut self) -> bool {
        self.shelf.count().get().is_ok()
    }

    pub fn bring(&mut self) -> bool {
        charge(1000);
        self.shelf.add().get().is_ok()
    }
}

/// Two visitors look at a shelf now and then, on whichever core has time, and a third brings books.
fn visit(shelf: Ref<Shelf>, [ann, bob, eve]: [Ref<Visitor>; 3]) {
    for _ in 0..3 {
        let looks = [ann, bob].map(|visitor| visitor.look().ask().expect("there is room"));
        let brought = eve.bring().ask().expect("there is room");
        looks.into_iter().chain([brought]).for_each(|answer| assert_eq!(answer.get(), Ok(true)));
    }
    assert_eq!(shelf.count().get(), Ok(3));
}

/// Declares a shelf under a monitor, and its visitors.
macro_rules! shelf {
    ($monitor:ty) => {{
        #[actor]
        static SHELF: Actor<Shelf, $monitor, 8> = Shelf { books: 0 };
        #[actor]
        static ANN: Actor<Visitor, Serial, 8> = Visitor { shelf: &SHELF };
        #[actor]
        static BOB: Actor<Visitor, Serial, 8> = Visitor { shelf: &SHELF };
        #[actor]
        static EVE: Actor<Visitor, Serial, 8> = Visitor { shelf: &SHELF };
        || visit(&SHELF, [&ANN, &BOB, &EVE])
    }};
}

/// Readers together, writers alone. But it forgets that there may be several readers: when one leaves, it grants the next
/// writer; and it does not look whether that grant was refused.
struct Forgetful {
    reading: bool,
    writing: bool,
}

impl Monitor for Forgetful {
    type Discipline = Parallel;
    const NEW: Self = Self { reading: false, writing: false };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        if !self.writing && !self.reading && inbox.contains(Writers) {
            self.writing = true;
            inbox.execute_oldest(Writers);
        } else if !self.writing && inbox.execute_all(Readers) > 0 {
            self.reading = true;
        }
    }

    fn leave(&mut self, letter: Letter<'_>) {
        dispatch!(letter;
            Readers => self.reading = false,
            Writers => self.writing = false,
        );
    }
}

#[test]
fn a_wrong_monitor_is_found() {
    let program = shelf!(Forgetful);
    let explored = explore("a_wrong_monitor_is_found", 200, |seed| {
        Device::stepped(3).seed(seed).faults(Faults::some()).run(program);
    });
    let failure = explored.expect_err("some seed shows it");
    println!("{failure}");
    assert!(failure.outcome.contains("deadlock at cycle "), "{failure}");
    assert!(failure.outcome.contains("not left exploring::Shelf"), "{failure}");
    let (passes, output) = replay(&failure);
    assert!(!passes && output.contains("deadlock at cycle "), "{output}");
}

#[test]
fn a_lost_wake_up_is_found() {
    let program = shelf!(ReadersWriter);
    let explored = explore("a_lost_wake_up_is_found", 200, |seed| {
        let faults = Faults { lost_kicks: OnceIn(10), ..Faults::none() };
        Device::stepped(3).seed(seed).faults(faults).run(program);
    });
    let failure = explored.expect_err("some seed shows it");
    println!("{failure}");
    assert!(failure.outcome.contains("deadlock at cycle "), "{failure}");
    let (passes, output) = replay(&failure);
    assert!(!passes && output.contains("deadlock at cycle "), "{output}");
}

#[test]
fn a_right_monitor_outlives_all_faults() {
    let program = shelf!(ReadersWriter);
    let explored = explore("a_right_monitor_outlives_all_faults", 60, |seed| {
        let run = Device::stepped(3).seed(seed).faults(Faults::some()).run(program);
        assert_eq!(run.actors.iter().map(|actor| actor.refused).sum::<u64>(), 0);
        assert_eq!(run.letters(), 19, "three rounds of three visits and their letters, and the last count");
    });
    if let Err(failure) = explored {
        panic!("{failure}");
    }
}

/// A letter that is denied room again and again, although there is some, is sent in the end.
#[test]
fn denied_letters_are_sent_in_the_end() {
    #[actor]
    static SHELF: Actor<Shelf, ReadersWriter, 8> = Shelf { books: 0 };
    let explored = explore("denied_letters_are_sent_in_the_end", 40, |seed| {
        let faults = Faults { refused_sends: OnceIn(2), ..Faults::none() };
        Device::stepped(2).seed(seed).faults(faults).run(|| {
            (0..20).for_each(|books| {
                SHELF.add().get().expect("it answers");
                assert_eq!(SHELF.count().get(), Ok(books + 1));
            });
        });
    });
    if let Err(failure) = explored {
        panic!("{failure}");
    }
}

#[test]
fn the_smallest_seed_that_fails_is_reported() {
    let explored = explore("the_smallest_seed_that_fails_is_reported", 40, |seed| {
        if seed == 11 || seed == 12 || seed > 20 {
            std::process::exit(3);
        }
    });
    let failure = explored.expect_err("many fail");
    assert_eq!(failure.seed, 11);
    assert!(failure.outcome.contains("exit status: 3"), "{failure}");
}
