//! `cargo xtask tsan`: real threads under ThreadSanitizer.

use crate::{
    args::{Args, Misuse},
    invocation::Invocation,
    rustup::{self, NIGHTLY},
    step::{Step, Stop, run_steps},
};
use std::process::ExitCode;

/// The test target that runs the kernel on threads for long enough to race.
const STRESS: &str = "stress";

pub(crate) fn run(args: Args) -> Result<ExitCode, Misuse> {
    let filter = args.filter()?;
    let about = "the stress tests under ThreadSanitizer";
    run_steps(vec![Step::new("tsan", about, move || stress(filter.as_deref()))], Args::new(vec![]))
}

fn stress(filter: Option<&str>) -> Result<(), Stop> {
    rustup::nightly(&["rust-src"])?;
    // The standard library must be instrumented as well, or every lock and channel in it is reported.
    Invocation::cargo(&format!("+{NIGHTLY} test -Zbuild-std -p flockwork-tests --release --test {STRESS}"))
        .variable("RUSTFLAGS", "-Zsanitizer=thread")
        .args(["--target", &rustup::host()?, "--target-dir", "target/tsan", "--"])
        .args(filter)
        .run()
}
