//! A whole program, on the device that its command line chooses.

#[cfg(feature = "stepped")]
use std::cell::RefCell;

#[cfg(feature = "stepped")]
use crate::options::{Misuse, Options};

/// Runs a program: `main` on core 0 of a device with so many cores, workers on all. Returns what `main` returns, when it does.
///
/// With the feature `stepped`, the command line chooses another device: `--mode threads|stepped --cores N --seed S` and what else
/// [`Options`](crate::Options) has; before it the environment, with `FLOCKWORK_MODE` and so on. `explore` as its first word runs the
/// program with many seeds, `--help` says all this. A word that means nothing ends the process, with one line and exit code 2.
///
/// A function that is called by something else than a `main`, such as a test, has no command line: [`run`](crate::run) is for it.
///
/// # Panics
/// As [`run`](crate::run).
#[cfg(feature = "stepped")]
#[track_caller]
pub fn program<R>(cores: usize, main: impl FnOnce() -> R) -> R {
    if command_line().iter().any(|word| word == "--help" || word == "-h") {
        print!("{}", help());
        std::process::exit(0);
    }
    let environment = Options::in_environment(cores).unwrap_or_else(|misuse| misuse.exit());
    let (options, rest) = environment.from_command_line();
    if let Some(word) = rest.first() {
        Misuse::new(format!("what is `{word}`? `--help` says what there is")).exit();
    }
    options.run_without_events(main)
}

/// The same without stepped mode: there is nothing to choose.
#[cfg(not(feature = "stepped"))]
pub fn program<R>(cores: usize, main: impl FnOnce() -> R) -> R {
    if let Some(word) = std::env::args().nth(1) {
        eprintln!("error: what is `{word}`? Without the feature `stepped` of the simulator a program takes no options");
        std::process::exit(2);
    }
    crate::run(cores, main)
}

#[cfg(feature = "stepped")]
fn help() -> String {
    let [options, explore] = [Options::HELP, Options::HELP_FOR_EXPLORE].map(Options::describe);
    format!(
        "Runs on a device with some cores: threads of this machine, unless these say otherwise.\n\n{options}\n\
         With `explore` as the first word it runs in simulated time with many seeds, until one fails:\n\n{explore}\n\
         The environment can say the same: FLOCKWORK_MODE=stepped, FLOCKWORK_CORES=8 and so on.\n"
    )
}

#[cfg(feature = "stepped")]
thread_local! {
    /// Stands in for the command line of the process.
    static WORDS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Calls `main` as if these words were the whole command line: for a program that has others in it, and a word for each.
#[cfg(feature = "stepped")]
pub fn with_command_line<R>(words: Vec<String>, main: impl FnOnce() -> R) -> R {
    WORDS.replace(Some(words));
    let returned = main();
    WORDS.take();
    returned
}

/// The words behind the program's name.
#[cfg(feature = "stepped")]
pub(crate) fn command_line() -> Vec<String> {
    WORDS.with_borrow(Clone::clone).unwrap_or_else(|| std::env::args().skip(1).collect())
}
