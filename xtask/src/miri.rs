//! `cargo xtask miri`: the unsafe paths of the kernel in an interpreter that knows undefined behaviour and weak memory.

use crate::{
    args::{Args, Misuse},
    invocation::Invocation,
    rustup::{self, NIGHTLY},
    step::{Step, Stop, run_steps},
};
use std::process::ExitCode;

/// What the command and the step of `cargo xtask test` say about themselves.
pub(crate) const ABOUT: &str = "every unsafe path of the kernel under Miri";

/// How many schedules and weak-memory choices `cargo xtask test` explores.
pub(crate) const SEEDS: u32 = 2;

/// Each seed decides about preemptions and about which of the allowed values a relaxed load sees.
const FLAGS: &str = "-Zmiri-strict-provenance -Zmiri-symbolic-alignment-check -Zmiri-preemption-rate=0.05";

/// The only test that needs the kernel's feature `trace`.
const TRACED: &str = "hops_are_traced";

pub(crate) fn run(mut args: Args) -> Result<ExitCode, Misuse> {
    let seeds = match args.values("--seeds")?.last() {
        Some(number) => number.parse().map_err(|_| Misuse(format!("--seeds {number}: not a number")))?,
        None => SEEDS,
    };
    if seeds == 0 {
        return Err(Misuse("--seeds 0 would test nothing".to_owned()));
    }
    let filter = args.filter()?;
    let about = format!("{ABOUT}, {seeds} seeds");
    run_steps(vec![Step::new("miri", about, move || kernel(seeds, filter.as_deref()))], Args::new(vec![]))
}

/// Runs the tests that are small enough for an interpreter, with one filter or without.
pub(crate) fn kernel(seeds: u32, filter: Option<&str>) -> Result<(), Stop> {
    rustup::nightly(&["miri", "rust-src"])?;
    // Without threads every seed is the same.
    interpret("-p flockwork -p flockwork-tests --lib --test monitors", 1, filter)?;
    interpret("-p flockwork-tests --test interpreted", seeds, filter)?;
    if filter.is_none_or(|part| TRACED.contains(part)) {
        interpret("-p flockwork-tests --features trace --test interpreted", seeds, Some(TRACED))?;
    }
    Ok(())
}

/// Runs test targets. Miri builds in a target directory of its own, `target/miri`.
fn interpret(targets: &str, seeds: u32, filter: Option<&str>) -> Result<(), Stop> {
    // Seeds run side by side, and the names of their tests would be mixed beyond reading.
    Invocation::cargo(&format!("+{NIGHTLY} miri test {targets} -- --quiet"))
        .variable("MIRIFLAGS", format!("{FLAGS} -Zmiri-many-seeds=0..{seeds}"))
        .args(filter)
        .run()
}
