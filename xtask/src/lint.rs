//! `cargo xtask lint`: formatting and clippy. Warnings are errors here, never in the source.

use crate::{
    args::{Args, Misuse},
    board::{BOARDS, RP2040},
    firmware,
    invocation::Invocation,
    loom, rustup, size,
    step::{Step, Stop, run_steps},
    targets::VARIANTS,
};
use std::{path::Path, process::ExitCode};

pub(crate) fn run(args: Args) -> Result<ExitCode, Misuse> {
    run_steps(steps(), args)
}

fn steps() -> Vec<Step> {
    let mut steps = vec![
        Step::new("fmt", "formatting, also of the boards and the benchmarks", || {
            Invocation::cargo("fmt --all --check").run()?;
            Invocation::cargo("fmt --all --check --manifest-path boards/Cargo.toml").run()?;
            if Path::new("bench/Cargo.toml").exists() {
                Invocation::cargo("fmt --all --check --manifest-path bench/Cargo.toml").run()?;
            }
            Ok(())
        }),
        Step::new("clippy/workspace", "every crate and every target of the workspace", || {
            Invocation::cargo("clippy --workspace --all-targets -- -D warnings").run()
        }),
    ];
    // The workspace has just shown the first variant, the default.
    for variant in &VARIANTS[1..] {
        let about = format!("the kernel with `{}`", variant.args.join(" "));
        steps.push(Step::new(format!("clippy/{}", variant.name), about, || {
            Invocation::cargo("clippy -p flockwork --all-targets")
                .args(variant.args)
                .args(["--", "-D", "warnings"])
                .run()
        }));
    }
    steps.push(Step::new("clippy/boards", "every image and what it links, for its chip", boards));
    steps.push(Step::new("clippy/loom", "the loom models, and the kernel as they see it", loom::clippy));
    steps
}

/// Each package of the boards' workspace alone: features are those of all that is looked at together, and chips exclude each
/// other.
fn boards() -> Result<(), Stop> {
    let boards =
        BOARDS.iter().flat_map(|board| board.packages().into_iter().map(|package| (package.name, board.target)));
    let images = firmware::PACKAGES.iter().chain(&[size::PROBES]).map(|&package| (package.to_owned(), RP2040.target));
    boards.chain(images).try_for_each(|(package, target)| {
        rustup::target(target)?;
        Invocation::cargo("clippy --release --manifest-path boards/Cargo.toml --target-dir boards/target")
            .args(["--package", &package, "--target", target, "--", "-D", "warnings"])
            .run()
    })?;
    Invocation::cargo("clippy --manifest-path boards/Cargo.toml --target-dir boards/target --all-targets")
        .args(["--package", "flockwork-board-support", "--package", "flockwork-defmt-uart", "--", "-D", "warnings"])
        .run()?;
    // The workspace leaves the tests out that need images.
    Invocation::cargo("clippy --package flockwork-firmware-tests --package flockwork-emulator --all-targets")
        .args(["--features", "flockwork-firmware-tests/images,flockwork-emulator/images", "--", "-D", "warnings"])
        .run()
}
