//! The files that a command writes: a trace for Perfetto, and a report.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use flockwork_host_sim::report::Report;
use flockwork_host_sim::{Misuse, Run, perfetto};
use serde_json::{Value, json};

use crate::arguments::Arguments;

/// Which files there will be.
pub(crate) struct Files {
    trace: Option<PathBuf>,
    report: Option<PathBuf>,
}

impl Files {
    /// Takes `--trace FILE` and `--report FILE` out.
    pub(crate) fn take_from(arguments: &mut Arguments) -> Result<Self, Misuse> {
        let mut file = |name: &str| Ok(arguments.value(name)?.map(PathBuf::from));
        Ok(Self { trace: file("--trace")?, report: file("--report")? })
    }

    /// What was not named gets a name beside this program.
    pub(crate) fn or_beside_the_program(self) -> Self {
        let program = std::env::current_exe().unwrap_or_default();
        let beside = |file: &str| Some(program.with_file_name(file));
        Self {
            trace: self.trace.or_else(|| beside("showcase.perfetto-trace")),
            report: self.report.or_else(|| beside("showcase.html")),
        }
    }

    /// Complains about a file that cannot be written: when all words are understood, and before anything is measured.
    pub(crate) fn check(&self) -> Result<(), Misuse> {
        for (name, path) in [("--trace", &self.trace), ("--report", &self.report)] {
            let Some(path) = path else { continue };
            let is_new = !path.exists();
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .map_err(|error| Misuse::new(format!("{name}: {}: cannot be written: {error}", path.display())))?;
            if is_new {
                // It was only a try; if something fails before there is anything to write, nothing is left behind.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(())
    }

    /// Whether anything has to be recorded.
    pub(crate) fn are_wanted(&self) -> bool {
        self.trace.is_some() || self.report.is_some()
    }

    /// Whether a report has to be made.
    pub(crate) fn have_report(&self) -> bool {
        self.report.is_some()
    }

    /// Writes what is wanted.
    pub(crate) fn write<R>(&self, run: &Run<R>, report: impl FnOnce() -> Report) -> Result<(), Misuse> {
        let failed = |name: &'static str| move |error: std::io::Error| Misuse::new(format!("{name}: {error}"));
        if let Some(path) = &self.report {
            report().write(path).map_err(failed("--report"))?;
        }
        if let Some(path) = &self.trace {
            perfetto::write(run, path).map_err(failed("--trace"))?;
        }
        Ok(())
    }

    /// A line for each file that was written.
    pub(crate) fn tell(&self) -> String {
        let report = self.report.iter().map(|path| format!("Report: {}\n", shown(path)));
        let trace = self.trace.iter().map(|path| format!("Trace:  {}, for https://ui.perfetto.dev\n", shown(path)));
        report.chain(trace).collect()
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Value {
        let name = |path: &Option<PathBuf>| path.as_ref().map(|path| shown(path));
        json!({ "report": name(&self.report), "trace": name(&self.trace) })
    }
}

/// A path as one would type it here.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// The command that this process was started with, as one types it at the root of the repository.
pub(crate) fn command() -> String {
    let words: Vec<String> = std::env::args().skip(1).map(|word| quoted(&word)).collect();
    if words.is_empty() { "cargo run".to_owned() } else { format!("cargo run -- {}", words.join(" ")) }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
