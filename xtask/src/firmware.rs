//! The step that runs images which go wrong, or log, and looks at what they say; and those that must not even compile.

use crate::{
    board::{Profile, RP2040, build_command},
    invocation::Invocation,
    rustup,
    step::Stop,
};

/// The packages of the images. Each is built alone: features are those of all that is built at once, and these differ in
/// what they link.
pub(crate) const PACKAGES: &[&str] = &["flockwork-check-fates", "flockwork-check-single-core", "flockwork-check-logs"];

/// Images that the compiler or the linker refuses: their package, their name, and part of what is said.
const REFUSED: &[(&str, &str, &str)] = &[
    ("flockwork-check-fates", "no-stack", "this function takes 4 arguments but 3 arguments were supplied"),
    ("flockwork-check-fates", "small-stack", "core 1 needs a stack of at least 1024 bytes"),
    ("flockwork-check-logs", "two-loggers", "_defmt_acquire"),
];

/// Builds the images and runs the tests of what they say.
pub(crate) fn check() -> Result<(), Stop> {
    rustup::target(RP2040.target)?;
    PACKAGES.iter().try_for_each(|package| build(package).run())?;
    for (package, image, reason) in REFUSED {
        refused(build(package).args(["--features", "does-not-compile", "--bin", image]), reason)?;
    }
    // Two critical sections in one image: one for both cores, one for a single core.
    let both = build("flockwork-check-fates").args(["--package", "flockwork-check-single-core"]);
    refused(both, "at most one of these Cargo features: restore-state-none")?;
    Invocation::cargo("test --package flockwork-firmware-tests --features images").run()
}

fn build(package: &str) -> Invocation {
    build_command(package, RP2040.target, Profile::Release)
}

/// Fails unless the compiler refuses a build with this reason.
fn refused(build: Invocation, reason: &str) -> Result<(), Stop> {
    let output = build.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && said.contains(reason) {
        return Ok(());
    }
    print!("{said}");
    Err(Stop::Failed(format!("`{build}` was not refused with `{reason}`")))
}
