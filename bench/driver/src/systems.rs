//! The systems: who they are, how they are built, and how one of them runs a workload.

use std::{
    fmt,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use workloads::{Record, Workload};

/// The workloads that only a dictionary's lock or monitor makes a difference to.
const DICTIONARIES: &[Workload] = &[Workload::DictionaryReads, Workload::DictionaryMixed];

/// A run that takes longer than this is stopped and counts as failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// One line under each workload of the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct System {
    /// The package `<name>-bench` in the folder `<name>` of the workspace.
    pub(crate) name: &'static str,
    /// What `--variant` is given, if anything.
    pub(crate) variant: Option<&'static str>,
    /// The workloads it runs.
    pub(crate) workloads: &'static [Workload],
}

/// All systems, in the order of the table. Those whose folder is missing are left out of a run.
pub(crate) static ALL: &[System] = &[
    System::new("flockwork", None, &Workload::ALL),
    System::new("flockwork", Some("mutex"), DICTIONARIES),
    System::new("flockwork", Some("default"), DICTIONARIES),
    System::new("embassy", None, &Workload::ALL),
    System::new("tokio", None, &Workload::ALL),
    System::new("actix", None, &Workload::ALL),
    System::new("ractor", None, &Workload::ALL),
    System::new("kameo", None, &Workload::ALL),
    System::new("rwlock", None, DICTIONARIES),
];

impl System {
    const fn new(name: &'static str, variant: Option<&'static str>, workloads: &'static [Workload]) -> Self {
        Self { name, variant, workloads }
    }

    /// Whether its package is in the workspace.
    pub(crate) fn exists(&self) -> bool {
        workspace().join(self.name).join("Cargo.toml").is_file()
    }
}

impl fmt::Display for System {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.variant {
            Some(variant) => formatter.pad(&format!("{}/{variant}", self.name)),
            None => formatter.pad(self.name),
        }
    }
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the driver's folder lies in the workspace")
}

/// A system whose binary is ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) system: &'static System,
    pub(crate) binary: PathBuf,
}

/// Builds the systems in release mode, one cargo call for each, so that no two share features.
pub(crate) fn build(systems: &[&'static System]) -> Result<Vec<Built>, String> {
    let mut built: Vec<Built> = Vec::new();
    for (index, &system) in systems.iter().enumerate() {
        let earlier = built.iter().find(|earlier| earlier.system.name == system.name);
        let binary = match earlier {
            Some(earlier) => earlier.binary.clone(),
            None => {
                eprintln!("[build {}/{}] {}-bench", index + 1, systems.len(), system.name);
                build_one(system.name, &[])?
            }
        };
        built.push(Built { system, binary });
    }
    Ok(built)
}

/// This project's kernel in two builds: as it is shipped, and with simulated time, which needs the hops of letters to be traced.
pub(crate) fn build_with_and_without_stepped() -> Result<[Built; 2], String> {
    let system = &ALL[0];
    eprintln!("[build 1/2] {}-bench", system.name);
    let shipped = build_one(system.name, &[])?;
    eprintln!("[build 2/2] {}-bench with simulated time", system.name);
    // In a folder of its own: the two builds would otherwise replace one another.
    let stepped = build_one(system.name, &["--features", "stepped", "--target-dir", "target/stepped"])?;
    Ok([shipped, stepped].map(|binary| Built { system, binary }))
}

fn build_one(name: &str, options: &[&str]) -> Result<PathBuf, String> {
    let package = format!("{name}-bench");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", &package])
        .args(options)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(workspace())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("building {package} failed; see above"));
    }
    // Cargo itself says where the binary is: the target folder may be anywhere.
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == package.as_str())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| format!("{package} has no binary of that name"))
}

impl Built {
    /// The command line for one run, to be put behind `prefix` (a tool to run it under, or nothing).
    pub(crate) fn command(&self, prefix: &[&str], workload: Workload, workers: usize, messages: u64) -> Command {
        let mut words = prefix.iter().map(|&word| word.into()).collect::<Vec<std::ffi::OsString>>();
        words.push(self.binary.clone().into_os_string());
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .arg(workload.name())
            .args(["--workers", &workers.to_string()])
            .args(["--messages", &messages.to_string()]);
        if let Some(variant) = self.system.variant {
            command.args(["--variant", variant]);
        }
        command
    }

    /// Runs a workload once in a child process.
    pub(crate) fn run(&self, workload: Workload, workers: usize, messages: u64) -> Result<Record, String> {
        self.finish(self.command(&[], workload, workers, messages))
    }

    /// Waits for a command of this system to end.
    pub(crate) fn finish(&self, mut command: Command) -> Result<Record, String> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.binary.display()))?;
        let success = wait(&mut child, PATIENCE)?;
        let mut line = String::new();
        if let Some(stdout) = &mut child.stdout {
            stdout.read_to_string(&mut line).map_err(|error| format!("unreadable output: {error}"))?;
        }
        if !success {
            return Err("the run failed".to_owned());
        }
        accept(&line)
    }
}

/// The record of a line, if the run's answer was right.
pub(crate) fn accept(line: &str) -> Result<Record, String> {
    let record = Record::from_line(line).map_err(|error| format!("no record in `{}`: {error}", line.trim()))?;
    if record.checked { Ok(record) } else { Err("the answer was wrong".to_owned()) }
}

/// Waits for the end of a child, whose output is too short to fill a pipe, and says whether it succeeded.
fn wait(child: &mut Child, patience: Duration) -> Result<bool, String> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if start.elapsed() < patience => thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no end after {} s; stopped", patience.as_secs()));
            }
            Err(error) => return Err(format!("cannot wait for the run: {error}")),
        }
    }
}
