//! What `cargo run` shows: people's flocks, derived on two cores of a small device, twice as fast and with the same answer.
//!
//! Each command is a module with a `run(Arguments)`; its options and its help stand in [`COMMANDS`].

mod arguments;
mod chart;
mod couples;
mod dictionary;
mod examples;
mod figure;
mod files;
mod help;
mod live;
mod meanwhile;
mod urbiflock;

use std::io::Write;
use std::process::ExitCode;

use arguments::Arguments;
use examples::EXAMPLES;
use flockwork_host_sim::{Misuse, Options, with_command_line};
use flockwork_urbiflock::SEED;
use help::takes_value;

/// A command: what it is called, the options that it has, what it does, and the function that does it.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) options: &'static [&'static str],
    pub(crate) about: &'static str,
    run: fn(Arguments) -> Result<(), Misuse>,
}

pub(crate) const COMMANDS: &[Command] = &[
    Command {
        name: "figure",
        options: &["--cores", "--seed", "--world", "--trace", "--report", "--json"],
        about: "The couples among 50 to 500 people, in simulated time and on threads, under three monitors. The default.",
        run: figure::run,
    },
    Command {
        name: "urbiflock",
        options: &[
            "--people",
            "--monitor",
            "--mode",
            "--cores",
            "--seed",
            "--world",
            "--batch",
            "--flock",
            "--leave",
            "--events",
            "--bustle",
            "--during",
            "--trace",
            "--report",
            "--top",
            "--json",
            "--faults",
            "--costs",
            "--limit",
        ],
        about: "One flock: the couples, or any other, also while people come and go.",
        run: urbiflock::run,
    },
    Command {
        name: "dictionary",
        options: &["--mode", "--cores", "--seed", "--json", "--faults", "--costs", "--limit"],
        about: "One dictionary, read on several cores under three monitors; on two threads if nothing else is said.",
        run: dictionary::run,
    },
];

/// Options that make no sense for many runs at once, and why.
const NOT_EXPLORED: [(&str, &str); 3] = [
    ("--trace", "every run would write the same file; replay one seed with it"),
    ("--report", "every run would write the same file; replay one seed with it"),
    ("--top", "there is one terminal; replay one seed with it"),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(words) {
        Ok(code) => code,
        Err(misuse) => misuse.exit(),
    }
}

fn run(mut words: Vec<String>) -> Result<ExitCode, Misuse> {
    let wants_help = |word: &String| word == "--help" || word == "-h";
    let asked = words.iter().any(wants_help);
    words.retain(|word| !wants_help(word));
    // Options may stand before the command: `explore` puts the seed there.
    let mut name = take_command(&mut words);
    let asked = asked || name.as_deref() == Some("help");
    if name.as_deref() == Some("help") {
        name = take_command(&mut words);
    }
    if asked {
        say(&match name {
            None => help::overview(),
            Some(name) => help::of(known(&name)?),
        });
        return Ok(ExitCode::SUCCESS);
    }
    let name = name.unwrap_or_else(|| COMMANDS[0].name.to_owned());
    known(&name)?;
    if name == EXPLORE {
        return explore(words);
    }
    if let Some(example) = EXAMPLES.iter().find(|example| example.name == name) {
        return Ok(with_command_line(words, example.main));
    }
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        command.check(&words)?;
        (command.run)(Arguments::new(words))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The command that runs others.
pub(crate) const EXPLORE: &str = "explore";

/// A command or an example that there is.
fn known(name: &str) -> Result<&str, Misuse> {
    let commands = COMMANDS.iter().map(|command| command.name);
    let names: Vec<&str> = commands.chain(EXAMPLES.iter().map(|example| example.name)).chain([EXPLORE]).collect();
    match names.contains(&name) {
        true => Ok(name),
        false => Err(Misuse::new(format!("there is no command or example `{name}`; there are: {}", names.join(", ")))),
    }
}

/// Takes out the first word that is no option and no option's value.
fn take_command(words: &mut Vec<String>) -> Option<String> {
    let mut place = 0;
    while words.get(place)?.starts_with('-') {
        place += if takes_value(&words[place]) { 2 } else { 1 };
    }
    (place < words.len()).then(|| words.remove(place))
}

impl Command {
    /// Complains about the first word that the command has no use for, before it does anything.
    fn check(&self, words: &[String]) -> Result<(), Misuse> {
        let mut place = 0;
        while let Some(word) = words.get(place) {
            let option = word.split('=').next().unwrap_or_default();
            if !self.options.contains(&option) {
                let others = COMMANDS.iter().find(|command| command.options.contains(&option));
                return Err(Misuse::new(match others {
                    Some(other) => {
                        format!("{option}: {} has no such option; `cargo run -- {}` has", self.name, other.name)
                    }
                    None => format!("what is `{word}`? `cargo run -- {} --help` says what there is", self.name),
                }));
            }
            place += if takes_value(word) { 2 } else { 1 };
        }
        Ok(())
    }
}

/// Runs a command once for each of many seeds, and ends the process.
fn explore(mut words: Vec<String>) -> Result<ExitCode, Misuse> {
    let mut rest = words.clone();
    let Some(name) = take_command(&mut rest) else {
        return Err(Misuse::new("explore: which command? For instance `explore --seeds 20 urbiflock`".into()));
    };
    let has = |option: &str| words.iter().any(|word| word.split('=').next() == Some(option));
    if [COMMANDS[0].name, EXPLORE].contains(&known(&name)?) {
        return Err(Misuse::new(format!("explore: not `{name}`, but one flock: `explore urbiflock`")));
    }
    if let Some((option, why)) = NOT_EXPLORED.iter().find(|(option, _)| has(option)) {
        return Err(Misuse::new(format!("explore: {option}: {why}")));
    }
    if name == "urbiflock" && !has("--world") {
        words.extend(["--world".to_owned(), format!("{:#x}", SEED.get())]);
    }
    Options::default().explore(1, words)
}

/// Prints a result. Whoever reads it may have had enough (`… | head`): then there is nobody left to tell, and the program ends.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

/// So many of something, in words: "1 core", "4 cores".
pub(crate) fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
