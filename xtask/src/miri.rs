//! `cargo xtask miri`: the kernel's unit tests in an interpreter that knows undefined behaviour and weak memory.

use crate::{
    args::{Args, Misuse},
    invocation::Invocation,
    rustup::{self, NIGHTLY},
    step::{Step, Stop, run_steps},
};
use std::process::ExitCode;

/// Tests with one of these in their names are too slow for an interpreter, or do what it cannot (files, processes).
const SKIPPED: &[&str] = &["stress", "compile_fail"];

/// How many schedules and weak-memory choices `cargo xtask test` explores for each test.
pub(crate) const SEEDS: u32 = 4;

/// Each seed decides about preemptions and about which of the allowed values a relaxed load sees.
const FLAGS: &str = "-Zmiri-strict-provenance -Zmiri-symbolic-alignment-check -Zmiri-preemption-rate=0.05";

pub(crate) fn run(mut args: Args) -> Result<ExitCode, Misuse> {
    let seeds = match args.values("--seeds")?.last() {
        Some(number) => number.parse().map_err(|_| Misuse(format!("--seeds {number}: not a number")))?,
        None => SEEDS,
    };
    if seeds == 0 {
        return Err(Misuse("--seeds 0 would test nothing".to_owned()));
    }
    let filter = args.filter()?;
    let about = format!("the kernel's unit tests under Miri, {seeds} seeds");
    run_steps(vec![Step::new("miri", about, move || kernel(seeds, filter.as_deref()))], Args::new(vec![]))
}

/// Runs the unit tests of the kernel, with one filter or without.
pub(crate) fn kernel(seeds: u32, filter: Option<&str>) -> Result<(), Stop> {
    rustup::nightly(&["miri", "rust-src"])?;
    // Seeds run side by side, and the names of their tests would be mixed beyond reading.
    Invocation::cargo(&format!("+{NIGHTLY} miri test -p flockwork --lib -- --quiet"))
        .variable("MIRIFLAGS", format!("{FLAGS} -Zmiri-many-seeds=0..{seeds}"))
        .args(filter)
        .args(SKIPPED.iter().flat_map(|name| ["--skip", name]))
        .run()
}
