//! The command line that all programs on this simulator share.
//!
//! ```text
//! PROGRAM [--mode threads|stepped] [--cores N] [--seed S] [--faults LIST] [--costs FILE] [--limit CYCLES] …
//! PROGRAM explore [--seeds N] [--from S] [--jobs N] [--json] …
//! ```

use std::fmt;
use std::process::exit;

use flockwork::port::MAX_CORES;

use crate::costs::Costs;
use crate::device::{Device, Mode};
use crate::explore::Exploration;
use crate::faults::Faults;
use crate::{program, threads};

/// Which device a program runs on: what its command line says, or what it says by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `--mode threads` or `--mode stepped`.
    pub mode: Mode,
    /// `--cores N`.
    pub cores: usize,
    /// `--seed S`, decimal or hexadecimal (`0x…`).
    pub seed: u64,
    /// `--faults some`, or a list as [`Faults`] reads it.
    pub faults: Faults,
    /// `--costs FILE`; an RP2040 otherwise.
    pub costs: Costs,
    /// `--limit CYCLES`: a stepped run that takes longer is ended.
    pub limit: Option<u64>,
}

impl Default for Options {
    /// Two cores, stepped, without faults.
    fn default() -> Self {
        Self { mode: Mode::Stepped, cores: 2, seed: 0, faults: Faults::none(), costs: Costs::rp2040(), limit: None }
    }
}

impl Options {
    /// How each option is written, and what it means, for a program's help.
    pub const HELP: &[(&str, &str)] = &[
        (
            "--mode threads|stepped",
            "cores are threads of this machine, or are simulated: then the same seed gives the same run",
        ),
        ("--cores N", "how many cores the device has, from 1 to 64"),
        ("--seed S", "what chance is made of on a simulated device; decimal or 0x…"),
        (
            "--faults LIST",
            "what goes wrong on a simulated device: `some`, or key=number,… where a number means once in so many times;\n\
             stalls (for at most stall_cycles), slow_cores (slower_by so many %), late_timers (by at most late_cycles),\n\
             lost_kicks, refused_sends, lost_answers; a correct program outlives the first three, which are `some`",
        ),
        ("--costs FILE", "what the kernel's steps take on a simulated device; an RP2040's otherwise"),
        ("--limit CYCLES", "ends a simulated run that takes longer, and says what each core was doing"),
    ];

    /// The same for `explore`, which takes these besides.
    pub const HELP_FOR_EXPLORE: &[(&str, &str)] = &[
        ("--seeds N", "how many seeds; 100 otherwise"),
        ("--from S", "the first of them"),
        ("--jobs N", "how many run at once; as many as this machine has cores otherwise"),
        ("--json", "what was found, for programs"),
    ];

    /// Those on the command line of this process, and what else is there. Options that are not there are as in `self`.
    ///
    /// If the command line asks to `explore`, this does not return: it runs this program once for every seed and ends the
    /// process. Bad input ends it too, with one line on the standard error output and exit code 2.
    pub fn from_command_line(self) -> (Self, Vec<String>) {
        let mut args = program::command_line();
        if args.first().is_some_and(|first| first == "explore") {
            args.remove(0);
            self.explore(0, args);
        }
        let options = self.take_from(&mut args).unwrap_or_else(|misuse| misuse.exit());
        (options, args)
    }

    /// Runs this program with these arguments, once for each of many seeds from `first` on, or as `--from` and `--seeds` among the
    /// arguments say. Says how it went and ends the process: with exit code 1 if a seed failed, with 2 if the arguments make no sense.
    pub fn explore(self, first: u64, args: Vec<String>) -> ! {
        match self.exploration(first, args) {
            Ok((exploration, json)) => exit(exploration.run_and_report(json)),
            Err(misuse) => misuse.exit(),
        }
    }

    /// Takes the options out of a list of arguments and leaves the others there.
    ///
    /// # Errors
    /// If one of these options has no value, or a wrong one, or one that the mode has no use for.
    pub fn take_from(self, args: &mut Vec<String>) -> Result<Self, Misuse> {
        let options = self.taking(args)?;
        options.check()?;
        Ok(options)
    }

    /// Whether all of them mean something in this mode.
    fn check(&self) -> Result<(), Misuse> {
        let only_stepped = |name: &str, what: &str| {
            Err(Misuse::new(format!("{name}: only a stepped device {what}; add `--mode stepped`")))
        };
        match self.mode {
            Mode::Stepped => Ok(()),
            Mode::Threads if self.faults != Faults::none() => only_stepped("--faults", "injects faults"),
            Mode::Threads if self.limit.is_some() => only_stepped("--limit", "counts cycles"),
            Mode::Threads if self.costs != Costs::rp2040() => only_stepped("--costs", "has a table of costs"),
            Mode::Threads => Ok(()),
        }
    }

    fn taking(mut self, args: &mut Vec<String>) -> Result<Self, Misuse> {
        if let Some(mode) = take(args, "--mode")? {
            self.mode = match &*mode {
                "threads" => Mode::Threads,
                "stepped" => Mode::Stepped,
                other => return Err(Misuse::new(format!("--mode is `threads` or `stepped`, not `{other}`"))),
            };
        }
        if let Some(cores) = take(args, "--cores")? {
            let number = cores.parse().ok().filter(|cores| (1..=MAX_CORES).contains(cores));
            self.cores = number
                .ok_or_else(|| Misuse::new(format!("--cores is a number from 1 to {MAX_CORES}, not `{cores}`")))?;
        }
        if let Some(seed) = take(args, "--seed")? {
            self.seed = Self::number("--seed", &seed)?;
        }
        if let Some(faults) = take(args, "--faults")? {
            self.faults = faults.parse().map_err(|bad| Misuse::new(format!("--faults: {bad}")))?;
        }
        if let Some(costs) = take(args, "--costs")? {
            self.costs = Costs::from_file(costs).map_err(|bad| Misuse::new(format!("--costs: {bad}")))?;
        }
        if let Some(limit) = take(args, "--limit")? {
            self.limit = Some(Self::number("--limit", &limit)?);
        }
        Ok(self)
    }

    /// Those in the environment of this process, for a device that has so many cores otherwise: `FLOCKWORK_MODE`,
    /// `FLOCKWORK_CORES`, `FLOCKWORK_SEED`, `FLOCKWORK_FAULTS`, `FLOCKWORK_COSTS` and `FLOCKWORK_LIMIT`, with the values of the
    /// options of that name.
    ///
    /// [`run`](crate::run) looks at them, so that a program or test which knows nothing of modes runs in each of them.
    ///
    /// # Errors
    /// If one has a wrong value, or one that the mode has no use for.
    pub fn from_environment(cores: usize) -> Result<Self, Misuse> {
        let options = Self::in_environment(cores)?;
        options.check().map_err(of_environment)?;
        Ok(options)
    }

    /// The same, before a command line has its say.
    pub(crate) fn in_environment(cores: usize) -> Result<Self, Misuse> {
        let options = ["mode", "cores", "seed", "faults", "costs", "limit"].iter().filter_map(|name| {
            let value = std::env::var(format!("FLOCKWORK_{}", name.to_uppercase())).ok()?;
            Some(format!("--{name}={value}"))
        });
        let threads = Self { mode: Mode::Threads, cores, ..Self::default() };
        threads.taking(&mut options.collect()).map_err(of_environment)
    }

    /// The device they describe.
    pub fn device(&self) -> Device {
        let Self { mode, cores, seed, faults, costs, limit } = self.clone();
        let device = Device::new(mode, cores).seed(seed).faults(faults).costs(costs);
        match limit {
            Some(cycles) => device.limit(cycles),
            None => device,
        }
    }

    /// The value of an option that is a whole number: decimal or hexadecimal (`0x…`), with `_` anywhere.
    ///
    /// # Errors
    /// If it is none; the error names the option.
    pub fn number(name: &str, text: &str) -> Result<u64, Misuse> {
        let digits = text.replace('_', "");
        let number = match digits.strip_prefix("0x") {
            Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
            None => digits.parse(),
        };
        number.map_err(|_| Misuse::new(format!("{name} is a whole number, decimal or 0x…, below 2^64, not `{text}`")))
    }

    /// Options with what they mean, as a help shows them: a line or more each.
    pub fn describe(options: &[(&str, &str)]) -> String {
        let line = |&(option, what): &(&str, &str)| {
            format!("  {option:<24} {}\n", what.replace('\n', &format!("\n{:27}", "")))
        };
        options.iter().map(line).collect()
    }

    /// Runs `main` on it, without a record.
    #[track_caller]
    pub(crate) fn run_without_events<R>(&self, main: impl FnOnce() -> R) -> R {
        match self.mode {
            Mode::Stepped => self.device().keep_events(false).run(main).returned,
            Mode::Threads => threads::device(self.cores, false, |_| (), main),
        }
    }

    /// What `explore` runs: the same program, stepped, with each of some seeds; and whether it is for programs.
    fn exploration(self, first: u64, mut args: Vec<String>) -> Result<(Exploration, bool), Misuse> {
        let seeds = take(&mut args, "--seeds")?.map_or(Ok(100), |seeds| Self::number("--seeds", &seeds))?;
        let from = take(&mut args, "--from")?.map_or(Ok(first), |from| Self::number("--from", &from))?;
        let jobs = take(&mut args, "--jobs")?.map(|jobs| Self::number("--jobs", &jobs)).transpose()?;
        if seeds == 0 {
            return Err(Misuse::new("--seeds is at least 1".into()));
        }
        if jobs == Some(0) {
            return Err(Misuse::new("--jobs is at least 1".into()));
        }
        let words = args.len();
        args.retain(|arg| arg != "--json");
        let json = args.len() < words;
        // Checked here, so that a wrong option is reported once and not by every run.
        let mut checked = args.clone();
        let had_seed = checked.iter().any(|arg| arg == "--seed" || arg.starts_with("--seed="));
        let options = Self { mode: Mode::Stepped, ..self }.taking(&mut checked)?;
        if had_seed {
            return Err(Misuse::new("--seed: `explore` chooses the seeds; say `--from S --seeds N`".into()));
        }
        if options.mode == Mode::Threads {
            return Err(Misuse::new("--mode: `explore` needs `stepped`, because threads do not repeat a run".into()));
        }
        let exploration = Exploration::of_this_program(args).seeds(from..from.saturating_add(seeds));
        let exploration = match jobs {
            Some(jobs) => exploration.jobs(usize::try_from(jobs).unwrap_or(usize::MAX)),
            None => exploration,
        };
        Ok((exploration, json))
    }
}

fn of_environment(Misuse(what): Misuse) -> Misuse {
    Misuse(format!("in the environment, with each option as FLOCKWORK_…: {what}"))
}

/// Takes `name value` or `name=value` out of the arguments; the last one counts.
fn take(args: &mut Vec<String>, name: &str) -> Result<Option<String>, Misuse> {
    let mut found = None;
    let mut place = 0;
    while place < args.len() && args[place] != "--" {
        if args[place] == name {
            if place + 1 == args.len() || args[place + 1].starts_with("--") {
                return Err(Misuse::new(format!("{name} needs a value")));
            }
            args.remove(place);
            found = Some(args.remove(place));
        } else if let Some(value) = args[place].strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            found = Some(value.to_owned());
            args.remove(place);
        } else {
            place += 1;
        }
    }
    Ok(found)
}

/// A command line that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misuse(String);

impl Misuse {
    /// What is wrong, in one line.
    pub fn new(what: String) -> Self {
        Self(what)
    }

    /// Says so, and ends the process with exit code 2.
    pub fn exit(&self) -> ! {
        eprintln!("error: {self}");
        exit(2)
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn misuse(line: &str) -> String {
        Options::default().take_from(&mut args(line)).expect_err(line).to_string()
    }

    #[test]
    fn options_are_taken_and_the_rest_stays() {
        let mut line = args("urbiflock --mode threads --people 120 --cores=8 --seed 0x2014_0080 --seed 7 -- --cores 3");
        let options = Options::default().take_from(&mut line).unwrap();
        assert_eq!((options.mode, options.cores, options.seed), (Mode::Threads, 8, 7));
        assert_eq!(line, args("urbiflock --people 120 -- --cores 3"));
        assert_eq!(Options::default().take_from(&mut args("--seed 0x10")).unwrap().seed, 16);
        let faults = Options::default().take_from(&mut args("--faults some,stalls=9")).unwrap().faults;
        assert_eq!(faults, Faults { stalls: crate::OnceIn(9), ..Faults::some() });
    }

    #[test]
    fn misuse_is_one_line_that_names_the_option() {
        assert_eq!(misuse("--cores 0"), "--cores is a number from 1 to 64, not `0`");
        assert_eq!(misuse("--cores two"), "--cores is a number from 1 to 64, not `two`");
        assert_eq!(misuse("--mode fast"), "--mode is `threads` or `stepped`, not `fast`");
        assert_eq!(misuse("--seed -1"), "--seed is a whole number, decimal or 0x…, below 2^64, not `-1`");
        assert_eq!(misuse("--seed"), "--seed needs a value");
        assert_eq!(misuse("--seed --cores 2"), "--seed needs a value");
        assert!(misuse("--faults stals=1").starts_with("--faults: there is no `stals`; "));
        assert!(misuse("--costs no/such/file").starts_with("--costs: no/such/file: cannot be read: "));
        assert!(misuse("--mode threads --faults some").starts_with("--faults: only a stepped device"));
        assert!(misuse("--limit 5 --mode threads").starts_with("--limit: only a stepped device counts cycles"));
    }

    #[test]
    fn what_cannot_be_explored_is_said_before_anything_runs() {
        let misuse = |line: &str| Options::default().exploration(0, args(line)).expect_err(line).to_string();
        assert_eq!(misuse("--seeds 0"), "--seeds is at least 1");
        assert_eq!(misuse("--jobs 0"), "--jobs is at least 1");
        assert!(misuse("--seed 3").starts_with("--seed: `explore` chooses the seeds"));
        assert!(misuse("--mode threads").starts_with("--mode: `explore` needs `stepped`"));
        assert_eq!(misuse("--cores 99"), "--cores is a number from 1 to 64, not `99`");
        // A program that is on threads by itself can be explored.
        let threads = Options { mode: Mode::Threads, ..Options::default() };
        assert!(threads.exploration(0, args("--seeds 3")).is_ok());
    }
}
