//! Runs one after the other in one process: the kernel's tables and the actors are the process's, and a run must not feel what the
//! ones before it left there. The first one is the one that differs most easily: an actor's first letter makes it known to the kernel.
//!
//! One test, because the tests of a file run in one process and in any order.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use flockwork::{Actor, Eventually, Pinned, ReadersWriter, Ref, Report, Serial, actor};
use flockwork_host_sim::{Costs, Device, Faults, OnceIn, Run, charge, run_until};

pub struct Library {
    books: u32,
}

#[actor]
impl Library {
    pub fn read(&self, cycles: u32) -> u32 {
        charge(cycles);
        self.books
    }

    pub fn add(&mut self, cycles: u32) {
        charge(cycles);
        self.books += 1;
    }
}

pub struct Clerk(Ref<Library>);

#[actor]
impl Clerk {
    pub fn fetch(&mut self, cycles: u32) -> u32 {
        charge(cycles);
        self.0.read(cycles).get().unwrap_or(0)
    }
}

/// Does what takes no time of its own: its letters come and go in bursts, and some send others.
pub struct Bell;

#[actor]
impl Bell {
    pub fn ring(&mut self, echoes: u32) {
        if let Some(fewer) = echoes.checked_sub(1) {
            BELL.ring(fewer).tell().unwrap();
        }
    }
}

#[actor]
static BELL: Actor<Bell, Serial, 1024> = Bell;
#[actor]
static LIBRARY: Actor<Library, ReadersWriter, 16, 8> = Library { books: 1 };
#[actor]
static CLERK: Actor<Clerk, Serial, 16, 8> = Clerk(&LIBRARY);
#[actor]
static PORTER: Actor<Clerk, Pinned<1>, 16, 8> = Clerk(&LIBRARY);

/// Letters that wait, nest, come one by one and in bursts, with a monitor and without.
fn busy_day() {
    // The others sleep before the first letter to a pinned actor comes: the one it is for has to be woken.
    charge(10_000);
    PORTER.fetch(1).tell().unwrap();
    for round in 0..20 {
        CLERK.fetch(round * 10).tell().unwrap();
        CLERK.fetch(round * 7).tell().unwrap();
        LIBRARY.add(300).tell().unwrap();
        let answers = [1, 2, 3].map(|cycles| LIBRARY.read(cycles * 100).ask().unwrap());
        PORTER.fetch(round).tell().unwrap();
        answers.into_iter().for_each(|answer| assert!(answer.get().is_ok()));
        assert!(CLERK.fetch(50).get().is_ok());
        if round % 5 == 0 {
            (0..300).for_each(|letter| BELL.ring(letter % 4).tell().unwrap());
            run_until(|| Report::of(&BELL).letters == 0);
        }
    }
    let reports = || [Report::of(&CLERK), Report::of(&PORTER), Report::of(&LIBRARY), Report::of(&BELL)];
    run_until(|| reports().iter().all(|report| report.letters == 0));
}

fn trace(run: &Run<()>) -> String {
    let mut text = Vec::new();
    run.write_trace(&mut text).expect("memory can be written");
    String::from_utf8(text).expect("a trace is text")
}

#[test]
fn runs_do_not_feel_those_before_them() {
    the_same_seed_gives_the_same_run_again_and_again();
    nothing_depends_on_whether_events_are_kept();
}

fn the_same_seed_gives_the_same_run_again_and_again() {
    for cores in [2, 3, 5] {
        let day = |seed| Device::stepped(cores).seed(seed).run(busy_day);
        let (first, other, second) = (day(3), day(4), day(3));
        for (number, (one, again)) in trace(&first).lines().zip(trace(&second).lines()).enumerate() {
            assert_eq!(one, again, "line {number}, {cores} cores");
        }
        assert_eq!(trace(&first), trace(&second), "{cores} cores");
        assert_ne!(trace(&first), trace(&other), "another seed, another run, {cores} cores");
        assert_eq!((first.cycles, &first.cores, &first.actors), (second.cycles, &second.cores, &second.actors));
    }
}

/// If events are not kept, hops wait in a journal and get their time later; nobody can tell, whatever they cost.
fn nothing_depends_on_whether_events_are_kept() {
    let steady = Costs { jitter: 0, ..Costs::rp2040() };
    let uncertain = Costs { jitter: 40, ..Costs::rp2040() };
    let faults = Faults { refused_sends: OnceIn(0), lost_kicks: OnceIn(0), stalls: OnceIn(0), ..Faults::some() };
    for (cores, seed) in [2, 3, 5, 16].into_iter().flat_map(|cores| (0..4).map(move |seed| (cores, seed))) {
        let device = Device::stepped(cores).seed(seed);
        let devices = [
            device.clone(),
            device.clone().costs(steady.clone()),
            device.clone().costs(uncertain.clone()),
            device.clone().faults(Faults { slow_cores: OnceIn(0), ..faults.clone() }),
            device.faults(faults.clone()),
        ];
        for device in devices {
            let kept = device.clone().run(busy_day);
            let figures = device.keep_events(false).run(busy_day);
            assert!(figures.events.is_empty() && figures.letters() > 100);
            let of = |run: &Run<()>| (run.cycles, run.cores.clone(), run.actors.clone());
            assert_eq!(of(&kept), of(&figures), "{cores} cores, seed {seed}");
        }
    }
}
