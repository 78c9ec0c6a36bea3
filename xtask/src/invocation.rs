//! One program run by a step: prints the line it runs, shows that it is alive, says how long it took. All this goes to
//! stderr, so that what a command prints can be piped.

use crate::step::Stop;
use std::{
    fmt,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// A program that prints nothing for this long is said to be running still.
const SIGN_OF_LIFE: Duration = Duration::from_secs(30);

/// A program, its arguments, and the variables that differ from ours. It displays as a line for a shell.
#[derive(Clone)]
pub(crate) struct Invocation {
    program: &'static str,
    args: Vec<String>,
    variables: Vec<(&'static str, String)>,
    /// Where it is run; at the root of the workspace if nothing is said.
    folder: Option<PathBuf>,
}

impl Invocation {
    /// `cargo ARGS`, the arguments separated by blanks: the proxy of rustup if there is one, so that `+nightly` works.
    pub(crate) fn cargo(args: &str) -> Self {
        Self::new("cargo", args)
    }

    pub(crate) fn new(program: &'static str, args: &str) -> Self {
        Self {
            program,
            args: args.split_whitespace().map(str::to_owned).collect(),
            variables: Vec::new(),
            folder: None,
        }
    }

    /// Adds one argument, which may contain blanks.
    pub(crate) fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Runs it in a folder; the printed line shows it.
    pub(crate) fn within(mut self, folder: PathBuf) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Sets an environment variable; the printed line shows it.
    pub(crate) fn variable(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Runs it with its output shown; anything but success fails the step.
    pub(crate) fn run(&self) -> Result<(), Stop> {
        eprintln!("$ {self}");
        let started = Instant::now();
        let mut child = self.command().spawn().map_err(|error| self.not_started(&error))?;
        let status = self.with_signs_of_life(started, || child.wait()).map_err(|error| self.not_started(&error))?;
        eprintln!("  {status} after {}", seconds(started.elapsed()));
        if status.success() { Ok(()) } else { Err(Stop::Failed(format!("`{self}`: {status}"))) }
    }

    /// Runs it with its output kept, whatever its outcome.
    pub(crate) fn output(&self) -> Result<Output, Stop> {
        eprintln!("$ {self}  (output kept)");
        let started = Instant::now();
        let output = self
            .with_signs_of_life(started, || self.command().stdin(Stdio::null()).output())
            .map_err(|error| self.not_started(&error))?;
        eprintln!("  {} after {}", output.status, seconds(started.elapsed()));
        Ok(output)
    }

    /// Asks a question without a word on the screen: what it wrote to stdout, if it succeeded.
    pub(crate) fn ask(&self) -> Option<String> {
        let output = self.command().stdin(Stdio::null()).output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command.args(&self.args).envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    fn not_started(&self, error: &std::io::Error) -> Stop {
        Stop::Failed(format!("`{}` could not be run: {error}", self.program))
    }

    /// Calls `wait`, and prints a line now and then until it returns.
    fn with_signs_of_life<T>(&self, started: Instant, wait: impl FnOnce() -> T) -> T {
        let (done, is_done) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                while is_done.recv_timeout(SIGN_OF_LIFE) == Err(mpsc::RecvTimeoutError::Timeout) {
                    eprintln!("  … still running after {}", seconds(started.elapsed()));
                }
            });
            let result = wait();
            drop(done);
            result
        })
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.folder.iter().try_for_each(|folder| write!(f, "cd {} && ", quoted(&folder.display().to_string())))?;
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quoted(value))?;
        }
        write!(f, "{}", self.program)?;
        self.args.iter().try_for_each(|arg| write!(f, " {}", quoted(arg)))
    }
}

/// As a shell needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A time for people.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        whole => format!("{} min {:02} s", whole / 60, whole % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_line_can_be_pasted() {
        let line = Invocation::cargo("test  -p a").variable("RUSTFLAGS", "--cfg loom").arg("it's").to_string();
        assert_eq!(line, r"RUSTFLAGS='--cfg loom' cargo test -p a 'it'\''s'");
        assert_eq!(Invocation::cargo("run").within("a/b".into()).to_string(), "cd a/b && cargo run");
    }

    #[test]
    fn times_read_well() {
        assert_eq!(seconds(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 05 s");
    }

    #[test]
    fn a_program_that_is_missing_fails_the_step_with_its_name() {
        let missing = Invocation::new("flockwork-has-no-such-program", "");
        assert!(matches!(missing.run(), Err(Stop::Failed(why)) if why.contains("no-such-program")));
        assert_eq!(missing.ask(), None);
    }
}
