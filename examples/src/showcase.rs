//! What `cargo run` shows: one dictionary, read on two cores under three monitors.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use flockwork::{Actor, Eventually, Mutex, ReadersWriter, Ref, Serial, actor};
use flockwork_examples::dictionary::{Dictionary, WORDS};

// The same actor three times. The third word of each type is all that differs.
#[actor]
static PLAIN: Actor<Dictionary, Serial, 64, 64> = Dictionary::new();
#[actor]
static LOCKED: Actor<Dictionary, Mutex, 64, 64> = Dictionary::new();
#[actor]
static SHARED: Actor<Dictionary, ReadersWriter, 64, 64> = Dictionary::new();

const CORES: usize = 2;
const READS: u32 = 20_000;
/// Questions asked before the first answer is taken.
const WINDOW: usize = 32;
/// Every monitor is measured this often, in turn; the best time counts, since only noise makes one longer.
const ROUNDS: usize = 5;

fn main() {
    let dictionaries: [(&str, Ref<Dictionary>); 3] =
        [("none (default)", &PLAIN), ("Mutex", &LOCKED), ("ReadersWriter", &SHARED)];

    println!("One actor, a dictionary of {WORDS} words, is asked {READS} times on {CORES} cores.");
    println!("Its source is the same in every row; only the monitor in its declaration differs.\n");

    let live = std::io::stderr().is_terminal();
    let mut best = [Duration::MAX; 3];
    for round in 1..=ROUNDS {
        if live {
            eprint!("\rmeasuring, round {round} of {ROUNDS} ");
        }
        for (best, (_, dictionary)) in best.iter_mut().zip(dictionaries) {
            *best = (*best).min(flockwork_host_sim::run(CORES, || ask_everything(dictionary)));
        }
    }
    if live {
        eprint!("\r{:30}\r", "");
    }

    println!("  monitor            time       speed-up");
    for ((name, _), time) in dictionaries.iter().zip(best) {
        let speed_up = best[0].as_secs_f64() / time.as_secs_f64();
        let bar = "▇".repeat((speed_up * 10.0).round() as usize);
        println!("  {name:<15} {:>7.1} ms   {speed_up:>5.2} ×  {bar}", time.as_secs_f64() * 1e3);
    }

    println!(
        "\nWithout a monitor, and under Mutex, one letter runs at a time, on one core or the other.\n\
         Under ReadersWriter letters to `get(&self)` run on both cores at once; a letter to `put(&mut self)` would\n\
         still run alone. All answers were checked."
    );
}

/// Asks for every word in turn, many questions at a time, and checks the answers. It knows neither monitor nor capacity.
fn ask_everything(dictionary: Ref<Dictionary>) -> Duration {
    let start = Instant::now();
    let mut asked = VecDeque::new();
    for number in 0..READS {
        let word = number % WORDS as u32;
        if asked.len() == WINDOW {
            check(asked.pop_front());
        }
        let promise = dictionary.get(word).ask().expect("the window is smaller than the mailbox");
        asked.push_back((word, promise));
    }
    while !asked.is_empty() {
        check(asked.pop_front());
    }
    start.elapsed()
}

fn check(answer: Option<(u32, impl Eventually<Value = Option<u32>>)>) {
    if let Some((word, promise)) = answer {
        match promise.get() {
            Ok(meaning) => assert_eq!(meaning, Some(word.wrapping_mul(word)), "a wrong meaning for {word}"),
            Err(_) => panic!("no answer for {word}"),
        }
    }
}
