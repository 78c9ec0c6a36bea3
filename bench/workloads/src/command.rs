//! The command line of every benchmarked system: `<bin> <workload> --workers N --messages M [--variant NAME]`.
//!
//! Exit codes: 0 for a checked result, 1 for a wrong one, 2 for a command that cannot be followed.

use std::{fmt, process::ExitCode};

use crate::{Measured, Record, Workload, workload::UnknownWorkload};

/// Most workers that a run may ask for.
pub const MOST_WORKERS: usize = 64;

/// What one run is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The workload.
    pub workload: Workload,
    /// Worker threads, at least one.
    pub workers: usize,
    /// Messages, at least one, and a number that the workload can have.
    pub messages: u64,
    /// One of several ways in which the system can run the workload, for systems that have some.
    pub variant: Option<String>,
}

/// Why a command line cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// No workload, or one that does not exist.
    Workload(Option<UnknownWorkload>),
    /// An option that does not exist.
    Option(String),
    /// An option without its value.
    MissingValue(&'static str),
    /// A value that is no number, or a number out of range.
    Number {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// The greatest value allowed.
        most: u64,
    },
    /// An option that must be there.
    Missing(&'static str),
    /// A variant that the system does not have.
    Variant {
        /// The variant.
        variant: String,
        /// Those that exist.
        variants: Vec<String>,
    },
    /// A workload that the system does not run.
    Unsupported(Workload),
}

impl fmt::Display for Misuse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workload(None) => write!(formatter, "name a workload first"),
            Self::Workload(Some(unknown)) => unknown.fmt(formatter),
            Self::Option(option) => write!(formatter, "unknown option `{option}`"),
            Self::MissingValue(option) => write!(formatter, "`{option}` needs a value"),
            Self::Number { option, value, most } => {
                write!(formatter, "`{option} {value}`: expected a number from 1 to {most}")
            }
            Self::Missing(option) => write!(formatter, "`{option}` is missing"),
            Self::Variant { variant, variants } if variants.is_empty() => {
                write!(formatter, "unknown variant `{variant}`; this system has none")
            }
            Self::Variant { variant, variants } => {
                write!(formatter, "unknown variant `{variant}`; there are: {}", variants.join(", "))
            }
            Self::Unsupported(workload) => {
                write!(formatter, "this system does not run `{workload}`")
            }
        }
    }
}

impl std::error::Error for Misuse {}

impl Command {
    /// Reads the arguments that follow the name of the binary.
    ///
    /// # Errors
    /// When they cannot be followed; the error says what to write instead.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, Misuse> {
        let mut arguments = arguments.into_iter();
        let workload: Workload =
            arguments.next().ok_or(Misuse::Workload(None))?.parse().map_err(|error| Misuse::Workload(Some(error)))?;
        let (mut workers, mut messages, mut variant) = (None, None, None);
        while let Some(option) = arguments.next() {
            match option.as_str() {
                "--workers" => workers = Some(number("--workers", arguments.next(), MOST_WORKERS as u64)?),
                "--messages" => messages = Some(number("--messages", arguments.next(), u64::from(u32::MAX))?),
                "--variant" => variant = Some(arguments.next().ok_or(Misuse::MissingValue("--variant"))?),
                _ => return Err(Misuse::Option(option)),
            }
        }
        Ok(Self {
            workload,
            workers: workers.ok_or(Misuse::Missing("--workers"))? as usize,
            messages: workload.round_up(messages.ok_or(Misuse::Missing("--messages"))?),
            variant,
        })
    }
}

fn number(option: &'static str, value: Option<String>, most: u64) -> Result<u64, Misuse> {
    let value = value.ok_or(Misuse::MissingValue(option))?;
    match value.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(Misuse::Number { option, value, most }),
    }
}

/// The `main` of a system's binary: reads the command line, lets `run` do the work, checks the answer and prints
/// the record. `run` returns `None` for a workload that the system does not have.
pub fn main(system: &str, variants: &[&str], run: impl FnOnce(&Command) -> Option<Measured>) -> ExitCode {
    let misuse = |misuse: Misuse| {
        eprintln!("{system}-bench: {misuse}");
        eprintln!("usage: {system}-bench <workload> --workers N --messages M [--variant NAME]");
        ExitCode::from(2)
    };
    let command = match Command::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(error) => return misuse(error),
    };
    if let Some(variant) = &command.variant
        && !variants.contains(&variant.as_str())
    {
        let variants = variants.iter().map(|&variant| variant.to_owned()).collect();
        return misuse(Misuse::Variant { variant: variant.clone(), variants });
    }
    let Some(measured) = run(&command) else {
        return misuse(Misuse::Unsupported(command.workload));
    };
    let expected = command.expected();
    let checked = measured.answer == expected;
    let record = Record {
        workload: command.workload.name().to_owned(),
        system: match &command.variant {
            Some(variant) => format!("{system}/{variant}"),
            None => system.to_owned(),
        },
        workers: command.workers,
        messages: command.messages,
        nanoseconds: u64::try_from(measured.elapsed.as_nanos()).unwrap_or(u64::MAX),
        checked,
    };
    println!("{}", record.to_line());
    if checked {
        ExitCode::SUCCESS
    } else {
        eprintln!("{system}-bench: wrong answer to {}: {:?}, expected {expected:?}", command.workload, measured.answer);
        ExitCode::FAILURE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Command::parse(line.split_whitespace().map(str::to_owned)).map_err(|misuse| misuse.to_string())
    }

    #[test]
    fn a_whole_command_is_read() {
        let command = parse("ping-pong --messages 7 --workers 2 --variant mutex").unwrap();
        assert_eq!(
            command,
            Command { workload: Workload::PingPong, workers: 2, messages: 8, variant: Some("mutex".into()) }
        );
    }

    #[test]
    fn misuse_says_what_is_wrong() {
        for (line, message) in [
            ("", "name a workload first"),
            ("ask", "`--workers` is missing"),
            ("ask --workers 1", "`--messages` is missing"),
            ("ask --workers", "`--workers` needs a value"),
            ("ask --workers 0", "`--workers 0`: expected a number from 1 to 64"),
            ("ask --messages many", "`--messages many`: expected a number from 1 to 4294967295"),
            ("ask --loud", "unknown option `--loud`"),
        ] {
            assert_eq!(parse(line), Err(message.to_owned()), "{line}");
        }
    }
}
