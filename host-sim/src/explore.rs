//! Exploring: a program is run with many seeds, in parallel, until one of them fails.
//!
//! Actors are statics, and keep their state for the life of a process. So every seed gets a process of its own, and a
//! failure is one however it comes: a panic, a deadlock, an abort.

use std::fmt;
use std::io;
use std::ops::Range;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};

/// How many of a failed run's last lines are shown.
const LINES_SHOWN: usize = 12;
/// The exit code of a program whose command line makes no sense.
const MISUSED: i32 = 2;

/// Some seeds, and what is run with each.
#[must_use = "nothing is explored until it is run"]
pub struct Exploration {
    seeds: Range<u64>,
    jobs: usize,
    command: Box<dyn Fn(u64) -> Command + Sync>,
}

impl Exploration {
    /// Runs the command that is made for each seed. It has to end with exit code 0 if all is well; 2 says that its command line makes no
    /// sense, whatever the seed.
    pub fn of(command: impl Fn(u64) -> Command + Sync + 'static) -> Self {
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        Self { seeds: 0..100, jobs, command: Box::new(command) }
    }

    /// Runs this program with these arguments and `--mode stepped --seed S`.
    pub fn of_this_program(args: Vec<String>) -> Self {
        let program = std::env::args_os().next().unwrap_or_default();
        Self::of(move |seed| {
            let mut command = Command::new(&program);
            command.args(["--mode", "stepped", "--seed"]).arg(seed.to_string()).args(&args);
            command
        })
    }

    /// Which seeds; the first hundred otherwise.
    pub fn seeds(self, seeds: Range<u64>) -> Self {
        Self { seeds, ..self }
    }

    /// How many run at once; as many as the host has cores otherwise.
    pub fn jobs(self, jobs: usize) -> Self {
        Self { jobs, ..self }
    }

    /// Runs all seeds in order, until one fails.
    ///
    /// Which failure is found does not depend on the host: it is the one of the smallest seed that fails.
    ///
    /// # Errors
    /// With the first seed that failed.
    pub fn run(&self) -> Result<(), Failure> {
        let bar = ProgressBar::new(self.seeds.end.saturating_sub(self.seeds.start));
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} seeds, {eta} to go") {
            bar.set_style(style);
        }
        let next = AtomicU64::new(self.seeds.start);
        // Seeds from here on need not be run any more.
        let end = AtomicU64::new(self.seeds.end);
        let found = Mutex::new(None::<Failure>);
        thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= end.load(Ordering::Relaxed) {
                            return;
                        }
                        let failure = self.failure_of(seed);
                        bar.inc(1);
                        if let Some(failure) = failure {
                            end.fetch_min(seed, Ordering::Relaxed);
                            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                            if found.as_ref().is_none_or(|earlier| seed < earlier.seed) {
                                *found = Some(failure);
                            }
                        }
                    }
                });
            }
        });
        bar.finish_and_clear();
        match found.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// Runs, says how it went, for people or for programs, and returns the exit code for it.
    pub(crate) fn run_and_report(&self, json: bool) -> i32 {
        let outcome = self.run();
        if let Err(Failure { misuse: Some(what), .. }) = &outcome {
            eprintln!("{what}");
            return MISUSED;
        }
        let Range { start, end } = self.seeds;
        let (seeds, last) = (end - start, end - 1);
        match &outcome {
            _ if json => {
                let failure = outcome.as_ref().err().map_or("null".to_owned(), Failure::to_json);
                println!(
                    "{{\n  \"seeds\": {seeds},\n  \"from\": {start},\n  \"to\": {last},\n  \"failure\": {failure}\n}}"
                );
            }
            Ok(()) if seeds == 1 => println!("1 seed, {start}: it did not fail"),
            Ok(()) => println!("{seeds} seeds, from {start} to {last}: none failed"),
            Err(failure) => eprintln!("{failure}"),
        }
        i32::from(outcome.is_err())
    }

    fn failure_of(&self, seed: u64) -> Option<Failure> {
        let mut command = (self.command)(seed);
        let replay = shown(&command);
        // What a failure says fits into a few lines; whoever replays it can have the backtrace.
        let outcome = command.env("RUST_BACKTRACE", "0").output();
        match &outcome {
            Ok(output) if output.status.success() => None,
            Ok(output) if output.status.code() == Some(MISUSED) => {
                let misuse = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
                Some(Failure { seed, replay, misuse: Some(misuse), outcome: said(outcome) })
            }
            _ => Some(Failure { seed, replay, misuse: None, outcome: said(outcome) }),
        }
    }
}

impl fmt::Debug for Exploration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exploration").field("seeds", &self.seeds).field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

/// A seed with which the program fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// The command that runs it again.
    pub replay: String,
    /// What the program said about its command line, if that makes no sense: then the seed is not to blame.
    pub misuse: Option<String>,
    /// How it ended, and the last lines it wrote.
    pub outcome: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, replay, outcome, .. } = self;
        write!(f, "seed {seed} fails: {outcome}\nrun it again: {replay}")
    }
}

impl std::error::Error for Failure {}

impl Failure {
    fn to_json(&self) -> String {
        let Self { seed, replay, outcome, .. } = self;
        format!(
            "{{\n    \"seed\": {seed},\n    \"replay\": {},\n    \"outcome\": {}\n  }}",
            json(replay),
            json(outcome)
        )
    }
}

/// A text as JSON has it.
fn json(text: &str) -> String {
    let escaped = text.chars().map(|letter| match letter {
        '"' | '\\' => format!("\\{letter}"),
        letter if letter < ' ' => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// A command as one types it.
fn shown(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?.to_str()?)));
    let variables = variables.map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    variables.chain(words.map(|word| quoted(&word.to_string_lossy()))).collect::<Vec<_>>().join(" ")
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn said(outcome: io::Result<Output>) -> String {
    let output = match outcome {
        Ok(output) => output,
        Err(error) => return format!("it cannot be started: {error}"),
    };
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let lines = text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
    let shown = &lines[lines.len().saturating_sub(LINES_SHOWN)..];
    std::iter::once(output.status.to_string())
        .chain(shown.iter().map(|line| format!("  | {line}")))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_types_it() {
        let mut command = Command::new("target/debug/bank");
        command.args(["--seed", "7", "--flock", "isNearby and hobby('chess')"]).env("LEVEL", "all of it");
        assert_eq!(
            shown(&command),
            r"LEVEL='all of it' target/debug/bank --seed 7 --flock 'isNearby and hobby('\''chess'\'')'"
        );
    }

    #[test]
    fn what_is_printed_for_programs_is_json() {
        assert_eq!(json("a \"b\"\n\\ é"), r#""a \"b\"\u000a\\ é""#);
    }

    #[test]
    fn what_cannot_be_started_is_a_failure() {
        let failure = Exploration::of(|_| Command::new("no/such/program")).seeds(3..9).jobs(2).run().unwrap_err();
        assert_eq!((failure.seed, failure.replay.as_str()), (3, "no/such/program"));
        assert!(failure.outcome.starts_with("it cannot be started: "), "{}", failure.outcome);
    }
}
