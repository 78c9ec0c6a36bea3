//! The driver's own command line.

use std::fmt;

use workloads::{Workload, workload::UnknownWorkload};

use crate::systems::{self, System};

/// What `--help` prints.
pub(crate) const USAGE: &str = "\
usage: bench [OPTIONS]                 nanoseconds per message, one and two workers
       bench instructions [OPTIONS]    instructions per message, one worker, under callgrind
       bench stepped [OPTIONS]         letters per second in simulated time, beside those of a thread

  --only WORKLOAD   this workload only; may be repeated
  --system NAME     this system only; may be repeated
  --rounds N        repetitions, of which the median counts (default 5; not for instructions)
  --best            the fastest round counts: for a busy machine, with many short rounds (not for instructions)
  --messages M      messages per run, instead of each workload's own default (not for instructions)
  --instructions    stepped only: instructions per letter under callgrind, which a busy machine cannot disturb, not time
  --json            results as JSON on standard output
  --help            this text

workloads: ping-pong, counting, ask, ring, dictionary-100, dictionary-90
systems:   flockwork, embassy, tokio, actix, ractor, kameo, rwlock";

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    Times,
    Instructions,
    Stepped,
}

/// A command line that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) task: Task,
    pub(crate) json: bool,
    pub(crate) best: bool,
    pub(crate) instructions: bool,
    pub(crate) rounds: usize,
    pub(crate) messages: Option<u64>,
    only: Vec<Workload>,
    names: Vec<String>,
}

/// Why a command line cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    Unknown(String),
    MissingValue(String),
    Number(String, String),
    Workload(UnknownWorkload),
    System(String),
}

impl fmt::Display for Misuse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(argument) => write!(formatter, "unknown argument `{argument}`"),
            Self::MissingValue(option) => write!(formatter, "`{option}` needs a value"),
            Self::Number(option, value) => {
                write!(formatter, "`{option} {value}`: expected a number, at least 1")
            }
            Self::Workload(unknown) => unknown.fmt(formatter),
            Self::System(name) => write!(formatter, "unknown system `{name}`"),
        }
    }
}

impl Options {
    /// Reads the arguments that follow the name of the binary.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, Misuse> {
        let mut options = Self {
            task: Task::Times,
            json: false,
            best: false,
            instructions: false,
            rounds: 5,
            messages: None,
            only: Vec::new(),
            names: Vec::new(),
        };
        let mut arguments = arguments.into_iter().peekable();
        if arguments.next_if_eq("instructions").is_some() {
            options.task = Task::Instructions;
        } else if arguments.next_if_eq("stepped").is_some() {
            options.task = Task::Stepped;
        }
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| Misuse::MissingValue(option.clone()));
            match option.as_str() {
                "--help" | "-h" => options.task = Task::Help,
                "--json" => options.json = true,
                "--best" => options.best = true,
                "--instructions" if options.task == Task::Stepped => options.instructions = true,
                "--rounds" => options.rounds = number(&option, value()?)? as usize,
                "--messages" => options.messages = Some(number(&option, value()?)?),
                "--only" => options.only.push(value()?.parse().map_err(Misuse::Workload)?),
                "--system" => {
                    let name = value()?;
                    if !systems::ALL.iter().any(|system| system.name == name) {
                        return Err(Misuse::System(name));
                    }
                    options.names.push(name);
                }
                _ => return Err(Misuse::Unknown(option)),
            }
        }
        Ok(options)
    }

    /// Whether a workload is to be run.
    pub(crate) fn wants(&self, workload: Workload) -> bool {
        self.only.is_empty() || self.only.contains(&workload)
    }

    /// The systems that are to run, exist in the workspace, run a wanted workload and are `eligible`.
    pub(crate) fn systems(&self, eligible: impl Fn(&System) -> bool) -> Result<Vec<&'static System>, String> {
        let systems: Vec<_> = systems::ALL
            .iter()
            .filter(|system| self.names.is_empty() || self.names.iter().any(|name| name == system.name))
            .filter(|system| system.exists() && eligible(system))
            .filter(|system| system.workloads.iter().any(|&workload| self.wants(workload)))
            .collect();
        if systems.is_empty() {
            return Err("nothing to run: no system of the workspace matches the options".to_owned());
        }
        Ok(systems)
    }
}

fn number(option: &str, value: String) -> Result<u64, Misuse> {
    match value.parse::<u32>() {
        Ok(number) if number > 0 => Ok(u64::from(number)),
        _ => Err(Misuse::Number(option.to_owned(), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned)).map_err(|misuse| misuse.to_string())
    }

    #[test]
    fn options_are_read() {
        let options = parse("instructions --only ask --system tokio --json").unwrap();
        assert_eq!(options.task, Task::Instructions);
        assert!(options.json && options.wants(Workload::Ask) && !options.wants(Workload::Ring));
        let options = parse("--rounds 3 --messages 1000 --best").unwrap();
        assert_eq!((options.rounds, options.messages, options.best), (3, Some(1000), true));
        assert!(options.wants(Workload::Ring));
        let options = parse("stepped --best --json").unwrap();
        assert_eq!((options.task, options.best, options.json), (Task::Stepped, true, true));
    }

    #[test]
    fn misuse_says_what_is_wrong() {
        for (line, message) in [
            ("instrs", "unknown argument `instrs`"),
            ("--rounds", "`--rounds` needs a value"),
            ("--rounds 0", "`--rounds 0`: expected a number, at least 1"),
            ("--system akka", "unknown system `akka`"),
        ] {
            assert_eq!(parse(line), Err(message.to_owned()), "{line}");
        }
    }

    #[test]
    fn the_usage_names_every_workload_and_system() {
        for workload in Workload::ALL {
            assert!(USAGE.contains(workload.name()), "{workload}");
        }
        for system in systems::ALL {
            assert!(USAGE.contains(system.name), "{}", system.name);
        }
    }
}
