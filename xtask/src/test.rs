//! `cargo xtask test`: the one list of everything that is tested.

use crate::{
    args::{Args, Misuse},
    emulate, firmware,
    invocation::Invocation,
    loom, miri, qemu, rp2350, runners, size,
    step::{Step, run_steps},
    targets,
};
use std::process::ExitCode;

pub(crate) fn run(args: Args) -> Result<ExitCode, Misuse> {
    run_steps(steps(), args)
}

/// The packages whose features switch the kernel's trace events on.
const TRACED: [&str; 3] = ["flockwork-host-sim", "flockwork-examples", "flockwork-urbiflock"];

fn exclude(package: &str) -> String {
    format!("--exclude={package}")
}

/// Cheap and telling ones first.
fn steps() -> Vec<Step> {
    let mut steps = vec![
        Step::new("unit", "unit, integration, property and compile-fail tests on the host", || {
            // Without those that trace: their features would be everybody's.
            Invocation::cargo("test --workspace --all-targets --no-fail-fast").args(TRACED.map(exclude)).run()
        }),
        Step::new("simulator", "virtual cores and virtual time, traces, reports and the live view", || {
            Invocation::cargo("test -p flockwork-host-sim --features show --all-targets --no-fail-fast").run()
        }),
        Step::new("examples", "the showcase, its command line, and UrbiFlock", || {
            Invocation::cargo("test -p flockwork-examples -p flockwork-urbiflock --all-targets --no-fail-fast")
                .args(["--features", "flockwork-urbiflock/stepped"])
                .run()
        }),
        Step::new("suite", "the suite of every device on host threads, in a release build", || {
            Invocation::cargo("test -p flockwork-tests --release --test suite_on_threads").run()
        }),
        Step::new("trace", "the hops of letters, with trace events on", || {
            Invocation::cargo("test -p flockwork-tests --features trace --test tracing").run()
        }),
        Step::new("doc", "the examples in the documentation", || {
            Invocation::cargo("test --workspace --doc --no-fail-fast").args(TRACED.map(exclude)).run()?;
            Invocation::cargo("test -p flockwork-host-sim --features show --doc --no-fail-fast").run()
        }),
    ];
    steps.extend(targets::steps());
    steps.push(Step::new("boards/support", "what every board shares, on the host", || {
        Invocation::cargo("test --manifest-path boards/Cargo.toml --target-dir boards/target")
            .args(["--package", "flockwork-board-support", "--package", "flockwork-defmt-uart"])
            .run()
    }));
    steps.push(Step::new("boards/rp2040", "both cores of the emulated chip, and their cycles", emulate::check_rp2040));
    steps.push(Step::new("boards/firmware", "last words, refusals and logs, on the emulator", firmware::check));
    steps.push(Step::new(
        "boards/mps2-an521",
        "two cores with compare-and-swap in QEMU, a million letters",
        qemu::check,
    ));
    steps.push(Step::new("boards/rp2350", "images that the boot ROM would find", rp2350::check));
    steps.push(Step::new("boards/runners", "`cargo run` in the folder of each board", runners::check));
    steps.push(Step::new("boards/size", "flash and RAM of every image within budget", size::check));
    steps.push(Step::new("loom", "the loom models and their mutants", || loom::models(false, None)));
    steps.push(Step::new("miri", miri::ABOUT, || miri::kernel(miri::SEEDS, None)));
    steps
}
