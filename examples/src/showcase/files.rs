//! The files that a command writes: a trace for Perfetto, and a report.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use flockwork_host_sim::report::Report;
use flockwork_host_sim::{Misuse, Run, perfetto};

use crate::arguments::Arguments;

/// Which files there will be.
pub(crate) struct Files {
    trace: Option<PathBuf>,
    report: Option<PathBuf>,
}

impl Files {
    /// Takes `--trace FILE` and `--report FILE` out. Complains at once about a file that cannot be written, not when all is measured.
    pub(crate) fn take_from(arguments: &mut Arguments) -> Result<Self, Misuse> {
        let mut file = |name: &str| match arguments.value(name)? {
            Some(path) => writable(name, PathBuf::from(path)).map(Some),
            None => Ok(None),
        };
        Ok(Self { trace: file("--trace")?, report: file("--report")? })
    }

    /// What was not named gets a name beside this program.
    pub(crate) fn or_beside_the_program(self) -> Result<Self, Misuse> {
        let program = std::env::current_exe().unwrap_or_default();
        let beside = |name: &str, file: &str| writable(name, program.with_file_name(file)).map(Some);
        Ok(Self {
            trace: self.trace.map_or_else(|| beside("--trace", "showcase.perfetto-trace"), |file| Ok(Some(file)))?,
            report: self.report.map_or_else(|| beside("--report", "showcase.html"), |file| Ok(Some(file)))?,
        })
    }

    /// Whether anything has to be recorded.
    pub(crate) fn are_wanted(&self) -> bool {
        self.trace.is_some() || self.report.is_some()
    }

    /// Writes what is wanted; gives a line for each file.
    pub(crate) fn write<R>(&self, run: &Run<R>, report: impl FnOnce() -> Report) -> Result<String, Misuse> {
        let failed = |name: &'static str| move |error: std::io::Error| Misuse::new(format!("{name}: {error}"));
        let mut text = String::new();
        if let Some(path) = &self.report {
            report().write(path).map_err(failed("--report"))?;
            text += &format!("Report: {}\n", shown(path));
        }
        if let Some(path) = &self.trace {
            perfetto::write(run, path).map_err(failed("--trace"))?;
            text += &format!("Trace:  {}, for https://ui.perfetto.dev\n", shown(path));
        }
        Ok(text)
    }
}

fn writable(name: &str, path: PathBuf) -> Result<PathBuf, Misuse> {
    match OpenOptions::new().create(true).append(true).open(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(Misuse::new(format!("{name}: {}: cannot be written: {error}", path.display()))),
    }
}

/// A path as one would type it here.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
