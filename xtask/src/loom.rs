//! `cargo xtask loom`: every interleaving of the small models in `tests/loom`, and the mutants that must not survive.

use crate::{
    args::{Args, Misuse},
    invocation::Invocation,
    step::{Step, Stop, run_steps},
};
use std::process::ExitCode;

/// Everything built with `--cfg loom` lives apart, or each switch between the two would rebuild the world.
const TARGET_DIR: &str = "target/loom";
/// The same with ready sets as hosts have them.
const RINGS_TARGET_DIR: &str = "target/loom-rings";
/// The models that rest on the kind of ready set.
const ABOUT_READY_SETS: &str = "latch::";

pub(crate) fn run(mut args: Args) -> Result<ExitCode, Misuse> {
    let long = args.flag("--long");
    let filter = args.filter()?;
    let about = if long { "all loom models, also the long ones" } else { "the loom models and their mutants" };
    run_steps(vec![Step::new("loom", about, move || models(long, filter.as_deref()))], Args::new(vec![]))
}

/// Runs the models. Their output is shown, because each says whether it was exhaustive or bounded.
pub(crate) fn models(long: bool, filter: Option<&str>) -> Result<(), Stop> {
    modelled("test -p flockwork-tests --release --test loom")
        .args(["--target-dir", TARGET_DIR, "--"])
        .args(filter)
        .arg("--nocapture")
        .args(long.then_some("--include-ignored"))
        .run()?;
    match filter {
        Some(_) => Ok(()),
        None => with_rings(long),
    }
}

/// The models have a chip's ready sets; those about ready sets are run once more with a host's. Their mutants, if asked for long ones.
fn with_rings(long: bool) -> Result<(), Stop> {
    Invocation::cargo("test -p flockwork-tests --release --test loom")
        .variable("RUSTFLAGS", "--cfg loom --cfg flockwork_rings")
        .args(["--target-dir", RINGS_TARGET_DIR, "--", ABOUT_READY_SETS, "--nocapture"])
        .args(long.then_some("mutants::"))
        .run()
}

/// Clippy over the models and over the kernel as they see it.
pub(crate) fn clippy() -> Result<(), Stop> {
    modelled("clippy -p flockwork-tests --test loom").args(["--target-dir", TARGET_DIR, "--", "-D", "warnings"]).run()
}

fn modelled(cargo: &str) -> Invocation {
    Invocation::cargo(cargo).variable("RUSTFLAGS", "--cfg loom")
}
