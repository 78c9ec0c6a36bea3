//! `cargo xtask targets`: the kernel compiles for every kind of machine it is meant for, with each of its features.

use crate::{
    args::{Args, Misuse},
    invocation::Invocation,
    no_alloc, rustup,
    step::{Step, Stop, run_steps},
};
use std::process::ExitCode;

/// The targets, and what each stands for.
const TARGETS: &[(&str, &str)] = &[
    ("thumbv6m-none-eabi", "Cortex-M0+ without compare-and-swap: RP2040"),
    ("thumbv8m.main-none-eabihf", "Cortex-M33: RP2350"),
    ("riscv32imac-unknown-none-elf", "RISC-V: RP2350's other cores, ESP32-C6"),
    ("aarch64-linux-android", "phones"),
];

/// A choice of the kernel's features.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    /// The arguments of cargo that choose it.
    pub(crate) args: &'static [&'static str],
}

/// The choices that are built, linted and searched for an allocator.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant { name: "default", args: &[] },
    Variant { name: "bare", args: &["--no-default-features"] },
    Variant { name: "trace", args: &["--features", "trace"] },
    Variant { name: "defmt", args: &["--features", "defmt"] },
    Variant { name: "everything", args: &["--features", "trace,defmt"] },
];

pub(crate) fn run(args: Args) -> Result<ExitCode, Misuse> {
    run_steps(steps(), args)
}

pub(crate) fn steps() -> Vec<Step> {
    let build =
        |&(target, about): &(&'static str, &str)| Step::new(format!("targets/{target}"), about, move || build(target));
    let mut steps: Vec<Step> = TARGETS.iter().map(build).collect();
    steps.push(Step::new("targets/no-alloc", "nothing the kernel depends on needs an allocator", no_alloc::check));
    steps
}

fn build(target: &str) -> Result<(), Stop> {
    rustup::target(target)?;
    // The probe stands for a final image: only that may choose how a core without compare-and-swap gets one.
    let build = Invocation::cargo("build -p flockwork -p flockwork-no-alloc-probe");
    VARIANTS.iter().try_for_each(|variant| build.clone().args(["--target", target]).args(variant.args).run())
}
