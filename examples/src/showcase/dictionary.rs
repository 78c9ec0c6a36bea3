//! `cargo run -- dictionary`: one dictionary, read on several cores under three monitors.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::IsTerminal;
use std::time::Instant;

use flockwork::{Actor, Eventually, Mutex, ReadersWriter, Ref, Serial, actor};
use flockwork_examples::dictionary::{Dictionary, WORDS, word};
use flockwork_host_sim::{Misuse, Mode, Options};
use serde_json::json;

use crate::arguments::Arguments;
use crate::couples::answered;
use crate::urbiflock::mode_name;
use crate::{counted, say};

// The same actor three times. The third word of each type is all that differs.
#[actor]
static PLAIN: Actor<Dictionary, Serial, 64, 64> = Dictionary::new();
#[actor]
static LOCKED: Actor<Dictionary, Mutex, 64, 64> = Dictionary::new();
#[actor]
static SHARED: Actor<Dictionary, ReadersWriter, 64, 64> = Dictionary::new();

const READS: u32 = 2_000;
/// Questions asked before the first answer is taken.
const WINDOW: usize = 32;
/// On threads every monitor is measured this often, in turn; the best time counts, since only noise makes one longer.
const ROUNDS: usize = 5;

pub(crate) fn run(mut arguments: Arguments) -> Result<(), Misuse> {
    let options = arguments.device(Options { mode: Mode::Threads, ..Options::default() })?;
    let json = arguments.flag("--json");
    arguments.nothing_else()?;
    let cores = counted(options.cores as u64, "core");
    let mode = mode_name(options.mode);
    if !json {
        say(&format!(
            "One actor, a dictionary of {WORDS} words, is asked {READS} times on {cores} ({mode}) which words are alike.\n\
             Its source is the same in every row; only the monitor in its declaration differs.\n\n"
        ));
    }
    let dictionaries: [(&str, Ref<Dictionary>); 3] =
        [("default", &PLAIN), ("mutex", &LOCKED), ("readers-writer", &SHARED)];

    let live = std::io::stderr().is_terminal();
    let rounds = if options.mode == Mode::Threads { ROUNDS } else { 1 };
    let mut best = [f64::MAX; 3];
    for round in 1..=rounds {
        if live {
            eprint!("\rmeasuring, round {round} of {rounds} ");
        }
        for (best, (_, dictionary)) in best.iter_mut().zip(dictionaries) {
            *best = best.min(measure(&options, dictionary));
        }
    }
    if live {
        eprint!("\r{:30}\r", "");
    }

    let rows = dictionaries.iter().zip(best).map(|((name, _), spent)| (name, spent, best[0] / spent));
    if json {
        let unit = if options.mode == Mode::Threads { "nanoseconds" } else { "cycles" };
        let rows = rows.map(|(name, spent, speed_up)| {
            let mut row = json!({
                "mode": mode, "cores": options.cores, "monitor": name, "reads": READS, "speed_up": speed_up,
            });
            row[unit] = json!(spent.round() as u64);
            row
        });
        say(&format!("{:#}\n", json!({ "seed": options.seed, "rows": rows.collect::<Vec<_>>() })));
        return Ok(());
    }
    let mut text = String::from("  monitor              time       speed-up\n");
    for (name, spent, speed_up) in rows {
        let bar = "▇".repeat((speed_up * 10.0).round() as usize);
        let nanoseconds = match options.mode {
            Mode::Threads => spent,
            Mode::Stepped => spent / f64::from(options.costs.megahertz) * 1e3,
        };
        text += &format!("  {name:<15} {:>9.1} ms   {speed_up:>5.2} ×  {bar}\n", nanoseconds / 1e6);
    }

    text += "\nWithout a monitor, and under Mutex, one letter runs at a time, on one core or another.\n\
         Under ReadersWriter letters to `resembling(&self)` run on all cores at once; a letter to `put(&mut self)` would\n\
         still run alone. All answers were checked.\n";
    say(&text);
    Ok(())
}

/// What it takes, in nanoseconds or cycles.
fn measure(options: &Options, dictionary: Ref<Dictionary>) -> f64 {
    let run = options.device().keep_events(false).run(|| {
        // Without the time that threads take to start.
        let start = Instant::now();
        ask_everything(dictionary);
        start.elapsed().as_nanos() as f64
    });
    if options.mode == Mode::Threads { run.returned } else { run.cycles as f64 }
}

/// Asks about words in turn, many questions at a time, and checks the answers. It knows neither monitor nor capacity.
fn ask_everything(dictionary: Ref<Dictionary>) {
    let mut asked = VecDeque::new();
    for number in 0..READS {
        if asked.len() == WINDOW {
            check(asked.pop_front());
        }
        let number = number % WORDS as u32;
        let question = answered(dictionary.resembling(word(number), ALIKE).ask().map_err(|rejected| rejected.why()));
        asked.push_back((number, question));
    }
    while !asked.is_empty() {
        check(asked.pop_front());
    }
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

fn check(answer: Option<(u32, impl Eventually<Value = usize, Error: Display>)>) {
    if let Some((number, promise)) = answer {
        let words = answered(promise.get());
        assert_eq!(words, words_like(number), "words like the one of number {number}");
    }
}
