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

use std::process::ExitCode;

use arguments::Arguments;
use flockwork_host_sim::Misuse;

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
            [--trace FILE] [--report FILE] [--top] [--json]",
        help: "One flock: the couples, or any other, also while people come and go.",
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
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let name = match words.first() {
        Some(word) if !word.starts_with('-') => words.remove(0),
        _ => COMMANDS[0].name.to_owned(),
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

fn help() -> String {
    let mut text = String::from("Usage: cargo run -- [COMMAND] [OPTIONS]\n");
    for Command { name, usage, help, .. } in COMMANDS {
        text += &format!("\n  {name} {usage}\n      {help}\n");
    }
    text + "\nThe other examples are programs of their own: `cargo run --bin` lists them.\n"
}
