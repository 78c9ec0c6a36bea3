//! `cargo xtask lint`: formatting and clippy. Warnings are errors here, never in the source.

use crate::{
    args::{Args, Misuse},
    invocation::Invocation,
    loom,
    step::{Step, run_steps},
    targets::VARIANTS,
};
use std::{path::Path, process::ExitCode};

pub(crate) fn run(args: Args) -> Result<ExitCode, Misuse> {
    run_steps(steps(), args)
}

fn steps() -> Vec<Step> {
    let mut steps = vec![
        Step::new("fmt", "formatting, also of the benchmarks", || {
            Invocation::cargo("fmt --all --check").run()?;
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
    steps.push(Step::new("clippy/loom", "the loom models, and the kernel as they see it", loom::clippy));
    steps
}
