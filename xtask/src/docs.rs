//! `cargo xtask docs`: the documentation, in which a broken link is an error.

use crate::{
    args::{Args, Misuse},
    invocation::Invocation,
    step::{Step, run_steps},
};
use std::process::ExitCode;

pub(crate) fn run(mut args: Args) -> Result<ExitCode, Misuse> {
    let open = args.flag("--open").then_some("--open");
    args.nothing_else()?;
    let build =
        move || Invocation::cargo("doc --workspace --no-deps").variable("RUSTDOCFLAGS", "-D warnings").args(open).run();
    run_steps(vec![Step::new("docs", "the documentation of every crate", build)], Args::new(vec![]))
}
