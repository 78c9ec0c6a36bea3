//! The step that runs images which go wrong, or log, and looks at what they say.

use crate::{board::RP2040, invocation::Invocation, rustup, step::Stop};

/// The packages of the images. Each is built alone: features are those of all that is built at once, and these differ in
/// what they link.
const PACKAGES: &[&str] = &["flockwork-check-fates", "flockwork-check-single-core"];

/// Builds the images and runs the tests of what they say.
pub(crate) fn check() -> Result<(), Stop> {
    rustup::target(RP2040.target)?;
    for package in PACKAGES {
        Invocation::cargo("build --manifest-path boards/Cargo.toml --target-dir boards/target --release")
            .args(["--package", package, "--target", RP2040.target])
            .run()?;
    }
    Invocation::cargo("test --package flockwork-firmware-tests --features images").run()
}
