//! What `cargo run` shows: people's flocks, derived on two cores of a small device, twice as fast and with the same answer.
//!
//! Each command is a module with a `run(Arguments)`; its usage and its help stand in [`COMMANDS`].

mod arguments;
mod chart;
mod couples;
mod dictionary;
mod figure;
mod files;
mod live;
mod urbiflock;

use std::io::Write;
use std::process::ExitCode;

use arguments::Arguments;
use flockwork_host_sim::{Misuse, Options};

/// A command: what it is called, what can stand behind that, what it does, and the function that does it.
struct Command {
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    run: fn(Arguments) -> Result<(), Misuse>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "figure",
        usage: "[--cores N] [--seed S] [--world S] [--trace FILE] [--report FILE] [--json]",
        help: "The couples among 50 to 500 people, in simulated time and on threads, under three monitors. The default.",
        run: figure::run,
    },
    Command {
        name: "urbiflock",
        usage: "[--people N] [--seed S] [--world S] [--monitor default|mutex|readers-writer] [--mode stepped|threads]
            [--cores N] [--batch N] [--flock PREDICATE] [--leave N] [--events FILE] [--bustle N]
            [--trace FILE] [--report FILE] [--top] [--json] [--faults LIST] [--costs FILE] [--limit CYCLES]",
        help: "One flock: the couples, or any other, also while people come and go. `--top` watches it in the terminal.",
        run: urbiflock::run,
    },
    Command {
        name: "dictionary",
        usage: "[--json]",
        help: "One dictionary, read on two threads under three monitors.",
        run: dictionary::run,
    },
];

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") || words.first().is_some_and(|word| word == "help") {
        say(&help());
        return ExitCode::SUCCESS;
    }
    if words.first().is_some_and(|word| word == "explore") {
        explore(&words);
    }
    // Options may stand before the command: `explore` puts the seed there.
    let is_command = |word: &String| COMMANDS.iter().any(|command| command.name == word);
    let name = match words.first() {
        Some(word) if !word.starts_with('-') => words.remove(0),
        _ => match words.iter().position(is_command) {
            Some(place) => words.remove(place),
            None => COMMANDS[0].name.to_owned(),
        },
    };
    let done = match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(Arguments::new(words)),
        None => Err(Misuse::new(format!(
            "there is no command `{name}`; there are: {}",
            COMMANDS.iter().map(|command| command.name).collect::<Vec<_>>().join(", ")
        ))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(misuse) => misuse.exit(),
    }
}

/// Runs a command once for each of many seeds, and ends the process.
fn explore(words: &[String]) -> ! {
    let has = |name: &str| words.iter().any(|word| word == name || word.starts_with(&format!("{name}=")));
    if !has("--world") && !has("--from") {
        Misuse::new(
            "explore: say `--world S` for the same people with each seed, or `--from 1` for others with each".into(),
        )
        .exit();
    }
    Options::default().from_command_line();
    unreachable!("a command line that begins with `explore` ends the process")
}

/// Prints a result. Whoever reads it may have had enough (`… | head`): then there is nobody left to tell, and the program ends.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

fn help() -> String {
    let mut text = String::from("Usage: cargo run -- [COMMAND] [OPTIONS]\n");
    for Command { name, usage, help, .. } in COMMANDS {
        text += &format!("\n  {name} {usage}\n      {help}\n");
    }
    text += "\n  explore [--seeds N] [--from S] [--jobs N] COMMAND [OPTIONS]\n      \
             The same in simulated time with many seeds; stops at the first that fails, and says how to replay it.\n";
    text + "\nThe other examples are programs of their own: `cargo run --bin` lists them.\n"
}
