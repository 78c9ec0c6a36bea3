//! `cargo xtask flash`: an image onto a board through a debug probe, and its log back.

use crate::{
    args::{Args, Misuse},
    board::{Board, Image, Profile},
    invocation::Invocation,
    step::{Stop, exit_code},
};
use std::process::ExitCode;

pub(crate) fn run(args: Args) -> Result<ExitCode, Misuse> {
    let (board, image) = Board::and_image(args)?;
    let chip = board.chip()?;
    let flash = || {
        // Before the build, which takes longer.
        tool_and_probe(
            Invocation::new("probe-rs", "--version").ask().as_deref(),
            Invocation::new("probe-rs", "list").ask().as_deref(),
        )
        .map_err(|missing| Stop::Failed(format!("{missing}, or use {}", without_a_probe(board, &image))))?;
        let image = match image {
            Image::Example(example) => board.build(&example, Profile::Release)?,
            Image::File(elf) => elf,
        };
        Invocation::new("probe-rs", "run --chip").arg(chip.probe_rs).arg(image.to_string_lossy()).run()
    };
    Ok(exit_code("flash", flash()))
}

/// The command for those without a probe.
fn without_a_probe(board: &Board, image: &Image) -> String {
    let example = match image {
        Image::Example(example) => example.as_str(),
        Image::File(_) => "EXAMPLE",
    };
    format!("`cargo xtask uf2 {} {example}`", board.name)
}

/// Whether there is probe-rs and a probe, from what `probe-rs --version` and `probe-rs list` wrote; what to do if not.
fn tool_and_probe(version: Option<&str>, list: Option<&str>) -> Result<(), &'static str> {
    if version.is_none() {
        return Err("probe-rs is not installed: run `cargo install probe-rs-tools --locked`");
    }
    // A list has a line `[0]: …` for each probe.
    if !list.is_some_and(|list| list.lines().any(|line| line.trim_start().starts_with('['))) {
        return Err(
            "no debug probe was found: connect one (any with CMSIS-DAP; a Pico with the debugprobe firmware is one)",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "The following debug probes were found:\n[0]: Debug Probe -- 2e8a:000c:E661 (CMSIS-DAP)\n";

    #[test]
    fn a_missing_tool_and_a_missing_probe_say_what_to_get() {
        assert_eq!(tool_and_probe(Some("probe-rs 0.32.0"), Some(ONE)), Ok(()));
        assert!(tool_and_probe(None, None).unwrap_err().contains("cargo install probe-rs-tools"));
        for nothing in [None, Some("No debug probes were found.\n")] {
            assert!(tool_and_probe(Some("probe-rs 0.32.0"), nothing).unwrap_err().contains("connect one"));
        }
    }
}
