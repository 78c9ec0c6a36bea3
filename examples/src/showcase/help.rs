//! What `--help` says.

use flockwork_host_sim::Options;

use crate::examples::EXAMPLES;
use crate::{COMMANDS, EXPLORE};

/// How the showcase's own options are written, and what they mean.
const OPTIONS: &[(&str, &str)] = &[
    ("--people N", "how many people are near, from 0 to 512; 120 otherwise"),
    ("--monitor NAME", "default (no monitor), mutex or readers-writer, which it is otherwise"),
    ("--world S", "what the people are made of; otherwise of --seed (`--world seed` says so to `explore`)"),
    ("--batch N", "how many people a letter matches; 1 in simulated time, a sixteenth of all on threads otherwise"),
    ("--flock PREDICATE", "another flock than the couples, `isNearby and partnerNearby`; see below"),
    ("--leave N", "the first N people leave again"),
    ("--events FILE", "then happens what a file says, a line each; see below"),
    ("--bustle N", "then N people come and go by chance"),
    (
        "--during",
        "all that happens also while the flock is derived, again and again; each answer is compared with its moment",
    ),
    ("--trace FILE", "writes a derivation as a trace for https://ui.perfetto.dev"),
    ("--report FILE", "writes a web page about it, in one file"),
    ("--top", "shows a derivation in the terminal: space pauses, s steps, + and - change the speed, q closes"),
    ("--json", "prints the same figures for programs"),
];

const PREDICATES: &str = "
Predicates are made of
  true, isNearby, isFriend, partnerNearby      what is so now
  wasNearby(MILLISECONDS)                      left not longer ago
  hobby(NAME)                                  badminton, chess, cycling, film, football, music, reading, swimming
  uid, age, partner == 30, < 30, > 30          numbers
  birthDate == 1980-05-17, < and > as well     dates
  username, firstName, lastName == \"Ann\"       texts, in double quotes
  sex == female, sex == male
  not P, P and P, P or P, (P)
For instance: --flock \"isNearby and hobby(badminton) and age < 30\"

A file of events has a line for each; # begins a comment. People have uids from 1 to 1023.
  join 365                         somebody comes near
  left 365                         and goes
  friend 104                       becomes a friend
  unfriend 104                     is none any more
  changed 365 age 33               tells another profile
  changed 365 sex female
  changed 365 hobbies chess film   these and no others
  changed 365 partner 104          they are a couple if each names the other
  changed 365 partner none         nobody any more; `age none` and `hobbies none`: they are not told any more
  pass 1500                        milliseconds go by
A change is heard only of people who are known: who are near, friends, or gone not long ago.
";

/// An option with what it means, wherever that stands.
fn option(name: &str) -> Option<&'static (&'static str, &'static str)> {
    let all = OPTIONS.iter().chain(Options::HELP).chain(Options::HELP_FOR_EXPLORE);
    all.into_iter().find(|(written, _)| written.split(' ').next() == Some(name))
}

/// Whether the next word belongs to this one.
pub(crate) fn takes_value(word: &str) -> bool {
    option(word).is_some_and(|(written, _)| written.contains(' '))
}

/// What there is.
pub(crate) fn overview() -> String {
    let mut text = String::from("Usage: cargo run -- [COMMAND] [OPTIONS]\n\nCommands:\n");
    let commands = COMMANDS.iter().map(|command| (command.name, command.about));
    let explore = (EXPLORE, "Any of these but the figure, in simulated time with many seeds, until one fails.");
    text += &Options::describe(&commands.chain([explore]).collect::<Vec<_>>());
    text += "\nExamples, one idea each (examples/src/bin):\n";
    text += &Options::describe(&EXAMPLES.iter().map(|example| (example.name, example.about)).collect::<Vec<_>>());
    text += &format!("\nOptions of the figure:\n{}", described(COMMANDS[0].options));
    text + "\n`cargo run -- COMMAND --help` describes the options of a command.\n"
}

/// All about one of them.
pub(crate) fn of(name: &str) -> String {
    let examples = EXAMPLES.iter().map(|example| (example.name, example.about));
    if let Some((_, about)) = examples.into_iter().find(|example| example.0 == name) {
        return format!("Usage: cargo run -- {name} [OPTIONS]\n\n{about}\n\n{}", Options::describe(Options::HELP));
    }
    if name == EXPLORE {
        return format!(
            "Usage: cargo run -- explore [OPTIONS] COMMAND [OPTIONS OF THE COMMAND]\n\n\
             Runs a command in simulated time with many seeds, several at once. Stops at the first seed that fails, and says how to\n\
             replay it. The people of `urbiflock` are always the same, unless `--world S` makes others, or `--world seed` others with \
             each seed.\n\n{}",
            Options::describe(Options::HELP_FOR_EXPLORE)
        );
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else { return overview() };
    let more = if command.options.contains(&"--flock") { PREDICATES } else { "" };
    format!("Usage: cargo run -- {name} [OPTIONS]\n\n{}\n\n{}{more}", command.about, described(command.options))
}

fn described(options: &[&str]) -> String {
    Options::describe(&options.iter().filter_map(|name| option(name).copied()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_every_command_is_described() {
        for command in COMMANDS {
            for name in command.options {
                assert!(option(name).is_some(), "{} of {}", name, command.name);
                assert!(of(command.name).contains(name), "{name} is not in the help of {}", command.name);
            }
        }
        assert!(OPTIONS.iter().all(|(written, _)| {
            let name = written.split(' ').next();
            COMMANDS.iter().any(|command| command.options.iter().any(|option| Some(*option) == name))
        }));
    }
}
