//! `cargo xtask bench`: the benchmarks, which are a workspace of their own and bring the peers as dependencies. Its
//! default member is the driver that builds and runs them.

use crate::{
    args::{Args, Misuse},
    invocation::Invocation,
};
use std::process::ExitCode;

pub(crate) fn run(args: Args) -> Result<ExitCode, Misuse> {
    let driver = Invocation::cargo("run --release --manifest-path bench/Cargo.toml --").args(args.rest());
    Ok(if driver.run().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
