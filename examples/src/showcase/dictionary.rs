//! `cargo run -- dictionary`: one dictionary, read on two threads under three monitors.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use flockwork::{Actor, Eventually, Mutex, ReadersWriter, Ref, Serial, actor};
use flockwork_examples::dictionary::{Dictionary, WORDS, word};
use flockwork_host_sim::Misuse;
use serde_json::json;

use crate::arguments::Arguments;
use crate::say;

// The same actor three times. The third word of each type is all that differs.
#[actor]
static PLAIN: Actor<Dictionary, Serial, 64, 64> = Dictionary::new();
#[actor]
static LOCKED: Actor<Dictionary, Mutex, 64, 64> = Dictionary::new();
#[actor]
static SHARED: Actor<Dictionary, ReadersWriter, 64, 64> = Dictionary::new();

const CORES: usize = 2;
const READS: u32 = 2_000;
/// Questions asked before the first answer is taken.
const WINDOW: usize = 32;
/// Every monitor is measured this often, in turn; the best time counts, since only noise makes one longer.
const ROUNDS: usize = 5;

pub(crate) fn run(mut arguments: Arguments) -> Result<(), Misuse> {
    let json = arguments.flag("--json");
    arguments.nothing_else()?;
    if !json {
        say(&format!(
            "One actor, a dictionary of {WORDS} words, is asked {READS} times on {CORES} cores which words are alike.\n\
             Its source is the same in every row; only the monitor in its declaration differs.\n\n"
        ));
    }
    let dictionaries: [(&str, Ref<Dictionary>); 3] =
        [("default", &PLAIN), ("mutex", &LOCKED), ("readers-writer", &SHARED)];

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

    if json {
        let rows = dictionaries.iter().zip(best).map(|((name, _), time)| {
            let speed_up = best[0].as_secs_f64() / time.as_secs_f64();
            json!({ "mode": "threads", "cores": CORES, "monitor": name, "reads": READS,
                    "nanoseconds": time.as_nanos() as u64, "speed_up": speed_up })
        });
        say(&format!("{:#}\n", json!({ "rows": rows.collect::<Vec<_>>() })));
        return Ok(());
    }
    let mut text = String::from("  monitor            time       speed-up\n");
    for ((name, _), time) in dictionaries.iter().zip(best) {
        let speed_up = best[0].as_secs_f64() / time.as_secs_f64();
        let bar = "▇".repeat((speed_up * 10.0).round() as usize);
        text += &format!("  {name:<15} {:>7.1} ms   {speed_up:>5.2} ×  {bar}\n", time.as_secs_f64() * 1e3);
    }

    text += "\nWithout a monitor, and under Mutex, one letter runs at a time, on one core or the other.\n\
         Under ReadersWriter letters to `resembling(&self)` run on both cores at once; a letter to `put(&mut self)` would\n\
         still run alone. All answers were checked.\n";
    say(&text);
    Ok(())
}

/// Asks about words in turn, many questions at a time, and checks the answers. It knows neither monitor nor capacity.
fn ask_everything(dictionary: Ref<Dictionary>) -> Duration {
    let start = Instant::now();
    let mut asked = VecDeque::new();
    for number in 0..READS {
        if asked.len() == WINDOW {
            check(asked.pop_front());
        }
        let number = number % WORDS as u32;
        let question = dictionary.resembling(word(number), ALIKE);
        asked.push_back((number, question.ask().expect("the window is smaller than the mailbox")));
    }
    while !asked.is_empty() {
        check(asked.pop_front());
    }
    start.elapsed()
}

/// Of a word's twelve letters, five are the digits of its number: with eleven alike, at most one digit differs.
const ALIKE: usize = 11;

/// How many words are alike, by counting digits instead of letters.
fn words_like(number: u32) -> usize {
    let changed = |place: u32, digit: u32| {
        let unit = 10_u32.pow(place);
        number - number / unit % 10 * unit + digit * unit
    };
    let others = (0..5).flat_map(|place| (0..10).map(move |digit| changed(place, digit)));
    1 + others.filter(|&other| other != number && other < WORDS as u32).count()
}

fn check(answer: Option<(u32, impl Eventually<Value = usize>)>) {
    if let Some((number, promise)) = answer {
        match promise.get() {
            Ok(words) => assert_eq!(words, words_like(number), "words like the one of number {number}"),
            Err(_) => panic!("the question about word {number} was not answered"),
        }
    }
}
