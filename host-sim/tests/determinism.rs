//! The same seed gives the same trace, byte for byte; another seed gives another one.
//!
//! The runs that are compared are processes of their own: actors keep their state and their numbers for the life of a process.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use std::path::Path;
use std::process::Command;

use embassy_executor::task;
use embassy_time::Timer;
use flockwork::{Actor, Eventually, Pinned, ReadersWriter, Serial, actor, worker};
use flockwork_host_sim::{Costs, Device, Faults, charge, run_until};

/// Set in a process that runs the scenario and writes its trace: the seed and the number of cores.
const SCENARIO: &str = "FLOCKWORK_TEST_SCENARIO";
/// Where the hash of a trace is kept; set to write it anew.
const BLESS: &str = "FLOCKWORK_BLESS";
const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/determinism.snapshot");

pub struct Board {
    notes: Vec<u32>,
}

#[actor]
impl Board {
    pub fn read(&self) -> usize {
        charge(400);
        self.notes.len()
    }

    pub fn pin(&mut self, note: u32) {
        charge(150);
        self.notes.push(note);
    }
}

#[actor]
static BOARD: Actor<Board, ReadersWriter, 32, 32> = Board { notes: Vec::new() };

pub struct Clerk(u32);

#[actor]
impl Clerk {
    pub fn work(&mut self, rounds: u32) -> usize {
        charge(250);
        self.0 += 1;
        let seen = BOARD.read().get().unwrap_or(0);
        let _ = BOARD.pin(self.0).tell();
        if rounds > 0 { seen + CLERK.note(rounds).get().unwrap_or(0) } else { seen }
    }

    pub fn note(&mut self, rounds: u32) -> usize {
        charge(rounds * 10);
        usize::from(BOARD.pin(rounds).tell().is_ok())
    }
}

#[actor]
static ANN: Actor<Clerk, Serial, 16, 16> = Clerk(0);
#[actor]
static BOB: Actor<Clerk, Serial, 16, 16> = Clerk(0);
#[actor]
static CLERK: Actor<Clerk, Pinned<1>, 16, 16> = Clerk(0);

#[task]
async fn now_and_then() {
    for round in 0..5 {
        Timer::after_micros(40).await;
        let _ = BOARD.pin(round).send().await;
    }
}

/// Costs of its own, so that new measurements do not change the trace that is kept.
const COSTS: Costs = Costs {
    megahertz: 125,
    jitter: 3,
    send: 50,
    visit: 50,
    start: 25,
    end: 12,
    leave: 48,
    visit_monitored: 60,
    list: 20,
    grant: 45,
    refuse: 25,
    start_granted: 45,
    end_granted: 12,
    leave_granted: 60,
    drop: 60,
    wait: 100,
    kick: 6,
    wake: 20,
    look: 30,
    pause: 10,
    alarm: 60,
};

/// Readers, writers, turns that wait for others, a pinned actor, timers and faults: all that chance decides anything about.
fn scenario(cores: usize, seed: u64) {
    let run = Device::stepped(cores).seed(seed).costs(COSTS).faults(Faults::some()).run(|| {
        worker::spawner().spawn(now_and_then().expect("it is spawned once"));
        for rounds in 0..10 {
            let asked = [ANN.work(rounds).ask().unwrap(), BOB.work(rounds).ask().unwrap()];
            asked.into_iter().for_each(|answer| assert!(answer.get().is_ok()));
        }
        run_until(|| BOARD.read().get().is_ok_and(|notes| notes >= 40));
    });
    run.write_trace(std::io::stdout().lock()).expect("the parent reads");
    println!("hash {:#018x}", run.trace_hash());
}

/// What the scenario writes, in a process of its own.
fn trace(cores: usize, seed: u64) -> String {
    let this = std::env::current_exe().expect("a test runs from a file");
    let mut command = Command::new(this);
    command
        .args(["--exact", "the_same_seed_gives_the_same_trace", "--nocapture"])
        .env(SCENARIO, format!("{cores} {seed}"));
    let output = command.output().expect("this very file can be run");
    let text = String::from_utf8(output.stdout).expect("a trace is text");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    // Not what the test harness says about its own time.
    text.lines()
        .filter(|line| line.contains(" core ") || line.starts_with("hash "))
        .map(|line| line.to_owned() + "\n")
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    if let Ok(given) = std::env::var(SCENARIO) {
        let (cores, seed) = given.split_once(' ').expect("cores and seed");
        return scenario(cores.parse().expect("a number of cores"), seed.parse().expect("a seed"));
    }
    for cores in [2, 3, 64] {
        let first = trace(cores, 7);
        assert!(first.lines().count() > 200, "{first}");
        assert!(first == trace(cores, 7), "two runs with one seed differ on {cores} cores");
    }
}

#[test]
fn another_seed_gives_another_interleaving() {
    // Without times, so that it is the order that differs.
    let order = |seed| {
        let trace = trace(3, seed);
        let words = |line: &str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
        trace.lines().filter(|line| !line.starts_with("hash")).map(words).collect::<Vec<_>>()
    };
    let orders = [1, 2, 3].map(order);
    assert!(orders[0] != orders[1] && orders[1] != orders[2] && orders[0] != orders[2]);
}

#[test]
fn the_trace_is_the_one_that_is_kept() {
    let trace = trace(3, 0x2014_0080);
    let hash = trace.lines().last().expect("a hash").to_owned() + "\n";
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(SNAPSHOT, &hash).expect("the snapshot can be written");
    }
    let kept = std::fs::read_to_string(Path::new(SNAPSHOT)).unwrap_or_default();
    assert_eq!(
        hash, kept,
        "the trace of a fixed seed has changed. If the kernel or the simulator was meant to behave differently, run this test \
         with {BLESS}=1 and commit {SNAPSHOT}; if not, this is a bug"
    );
}
