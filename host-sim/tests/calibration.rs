//! Simulated time against the emulated board: what letters take in `bench/cycles/rp2040.json`, and what they take here.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use std::collections::VecDeque;

use flockwork::{Actor, Eventually, Mutex, ReadersWriter, Ref, Serial, actor, worker};
use flockwork_host_sim::{Costs, Device, charge};

const MEASURED: &str = include_str!("../../bench/cycles/rp2040.json");

/// A figure of the fast image.
fn measured(name: &str) -> f64 {
    let fast = MEASURED.split("\"s\"").next().expect("the fast image comes first");
    let line = fast.lines().find(|line| line.contains(&format!("\"{name}\":"))).expect("a figure of that name");
    let figure = line.rsplit(':').next().map(|figure| figure.trim().trim_end_matches(','));
    figure.and_then(|figure| figure.parse().ok()).expect("a number of cycles")
}

/// What one of `times` rounds takes, on a device with so many cores.
fn simulated(cores: usize, times: u32, rounds: impl FnOnce()) -> f64 {
    let costs = Costs { jitter: 0, ..Costs::rp2040() };
    Device::stepped(cores).costs(costs).run(rounds).cycles as f64 / f64::from(times)
}

fn assert_near(name: &str, cycles: f64, within: f64) {
    let wanted = measured(name);
    let off = cycles / wanted - 1.0;
    println!("{name}: {cycles:.0} cycles, measured {wanted:.0}, {:+.1} %", 100.0 * off);
    assert!(off.abs() <= within, "{name}: {cycles:.0} cycles, measured {wanted:.0}");
}

/// Set to write the table of costs anew.
const BLESS: &str = "FLOCKWORK_BLESS";
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/costs/rp2040.toml");

const TIMES: u32 = 1000;

/// Sends a letter to another, as often as it is told.
pub struct Player {
    other: fn() -> Ref<Player>,
}

#[actor]
impl Player {
    pub fn hit(&self, left: u32) {
        if left > 0 {
            (self.other)().hit(left - 1).tell().expect("there is room");
        }
    }
}

pub struct Idle;

#[actor]
impl Idle {
    pub fn touch(&mut self) {}
    pub fn value(&mut self) -> u32 {
        7
    }
}

pub struct Shared;

#[actor]
impl Shared {
    pub fn touch(&self) {}
}

fn in_turns(player: Ref<Player>) -> f64 {
    simulated(1, TIMES, || {
        player.hit(TIMES).tell().unwrap();
        while worker::step_once() {}
    })
}

#[test]
fn letters_take_what_they_take_on_the_board() {
    #[actor]
    static PING: Actor<Player, Serial, 8> = Player { other: || &PONG };
    #[actor]
    static PONG: Actor<Player, Serial, 8> = Player { other: || &PING };
    #[actor]
    static READER: Actor<Player, ReadersWriter, 8> = Player { other: || &OTHER_READER };
    #[actor]
    static OTHER_READER: Actor<Player, ReadersWriter, 8> = Player { other: || &READER };
    assert_near("default, in turns", in_turns(&PING), 0.03);
    assert_near("reader, in turns", in_turns(&READER), 0.03);

    #[actor]
    static IDLE: Actor<Idle, Serial, 8> = Idle;
    #[actor]
    static SHARED: Actor<Shared, ReadersWriter, 8> = Shared;
    let burst = simulated(1, 8 * TIMES, || {
        for _ in 0..TIMES {
            (0..8).for_each(|_| IDLE.touch().tell().unwrap());
            while worker::step_once() {}
        }
    });
    // The board's worker makes a round for each burst; here a round outside of a worker costs nothing.
    assert_near("default, burst of 8", burst + f64::from(Costs::rp2040().look) / 8.0, 0.05);
    let burst = simulated(1, 8 * TIMES, || {
        for _ in 0..TIMES {
            (0..8).for_each(|_| SHARED.touch().tell().unwrap());
            while worker::step_once() {}
        }
    });
    assert_near("reader, burst of 8", burst + f64::from(Costs::rp2040().look) / 8.0, 0.05);

    let asked = simulated(1, TIMES, || (0..TIMES).for_each(|_| assert_eq!(IDLE.value().get(), Ok(7))));
    assert_near("ask and reply", asked, 0.03);
}

/// Answers questions that take a while.
pub struct Dictionary;

#[actor]
impl Dictionary {
    pub fn get(&self, cycles: u32) -> u32 {
        charge(cycles);
        cycles
    }
}

/// Questions that are under way at once, as on the board.
const WINDOW: usize = 32;

/// Asks so many questions, some under way at once, and takes the oldest answer first.
fn ask_all(dictionary: Ref<Dictionary>, cycles: u32) {
    let mut asked = VecDeque::new();
    for _ in 0..TIMES {
        if asked.len() == WINDOW {
            assert_eq!(asked.pop_front().map(Eventually::get), Some(Ok(cycles)));
        }
        asked.push_back(dictionary.get(cycles).ask().unwrap());
    }
    asked.into_iter().for_each(|answer| assert_eq!(answer.get(), Ok(cycles)));
}

#[test]
fn a_second_core_pays_as_it_does_on_the_board() {
    #[actor]
    static PLAIN: Actor<Dictionary, Serial, 64, 32> = Dictionary;
    #[actor]
    static LOCKED: Actor<Dictionary, Mutex, 64, 32> = Dictionary;
    // With room for readers that have answered and are still leaving.
    #[actor]
    static SHARED: Actor<Dictionary, ReadersWriter, 64, 32> = Dictionary;
    // What the search takes there is what is left of a question without a monitor.
    let asked = |dictionary: Ref<Dictionary>, search| simulated(2, 1, || ask_all(dictionary, search));
    let search = (measured("dictionary, default") - asked(&PLAIN, 0)) / f64::from(TIMES);
    let asked = |dictionary| asked(dictionary, search as u32);
    assert_near("dictionary, default", asked(&PLAIN), 0.01);
    assert_near("dictionary, readers and writer", asked(&SHARED), 0.05);
    assert_near("dictionary, mutex", asked(&LOCKED), 0.05);
}

/// The table of costs as the board's figures make it: each measured sum, split into the steps that the simulator knows.
fn derived() -> Costs {
    let visit_and_letter = |kind: &str| {
        let (in_turns, burst) = (measured(&format!("{kind}, in turns")), measured(&format!("{kind}, burst of 8")));
        let (from_a_thread, send) = (measured(&format!("{kind}, from a thread")), measured("send, from a thread"));
        let both = in_turns - measured("send, in a turn");
        let round = from_a_thread - send - both;
        // A burst is eight sends and letters, one visit and one round.
        (both, round, 8.0 * (burst - send) - round)
    };
    let (both, look, burst) = visit_and_letter("default");
    // A letter of several may take more than one alone with its visit: the loop over them is another.
    let letter = both.min((burst - both) / 7.0);
    let visit = both - letter;
    // A visit takes at least what it takes without a monitor. If several letters take more than one alone and the visits they share, that
    // is because they are listed.
    let (both, _, burst) = visit_and_letter("reader");
    let visit_monitored = visit.max(both - (burst - both) / 7.0);
    let granted = both - visit_monitored;
    let list = (burst - visit_monitored) / 8.0 - granted;
    let send = measured("send, in a turn");
    // The sender's core visits the first letter, offers the second, and the other core wakes and visits.
    let across = measured("across to an unpinned actor, asleep") - send - 2.0 * visit - 0.4 * letter;
    let cycles = |figure: f64| figure.round().max(1.0) as u32;
    Costs {
        send: cycles(send),
        visit: cycles(visit),
        start: cycles(0.4 * letter),
        end: cycles(0.25 * letter),
        leave: cycles(0.35 * letter),
        visit_monitored: cycles(visit_monitored),
        list: cycles(list),
        grant: cycles(0.3 * granted),
        start_granted: cycles(0.26 * granted),
        end_granted: cycles(0.05 * granted),
        leave_granted: cycles(0.39 * granted),
        wait: cycles(measured("ask and reply") - send - visit - letter),
        kick: cycles(0.25 * across),
        wake: cycles(0.75 * across),
        look: cycles(look),
        ..Costs::rp2040()
    }
}

#[test]
fn the_table_is_made_of_the_boards_figures() {
    let derived = derived();
    if std::env::var_os(BLESS).is_some() {
        let text = std::fs::read_to_string(TABLE).expect("the table can be read");
        let figure = |key: &str| derived.figures().find(|(known, _)| *known == key).map(|(_, cycles)| cycles);
        let lines =
            text.lines().map(|line| match line.split_once(" = ").and_then(|(key, _)| Some((key, figure(key)?))) {
                Some((key, cycles)) => format!("{key} = {cycles}\n"),
                None => format!("{line}\n"),
            });
        return std::fs::write(TABLE, lines.collect::<String>()).expect("the table can be written");
    }
    for ((key, cycles), (_, wanted)) in Costs::rp2040().figures().zip(derived.figures()) {
        assert!(
            cycles.abs_diff(wanted) <= 5 + wanted / 20,
            "`{key}` is {cycles} in {TABLE}, but the board's figures make it {wanted}: run this test with {BLESS}=1, and the \
             others again"
        );
    }
}
