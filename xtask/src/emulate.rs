//! `cargo xtask emulate BOARD EXAMPLE`: runs an image here, without the board.

use crate::{
    args::{Args, Misuse},
    board::{Board, MPS2_AN521, Profile, RP2040},
    cycles,
    invocation::Invocation,
    qemu,
    step::{Stop, exit_code},
};
use std::{path::Path, process::ExitCode};

pub(crate) fn run(mut args: Args) -> Result<ExitCode, Misuse> {
    let fast = args.flag("--fast");
    let (board, example) = Board::and_example(args)?;
    let profile = if fast { Profile::Fast } else { Profile::Release };
    Ok(exit_code("emulate", board.build(&example, profile).and_then(|elf| emulate(board, &elf))))
}

/// Runs the images of the RP2040 and looks at what they do, and at what it costs.
pub(crate) fn check_rp2040() -> Result<(), Stop> {
    for example in ["hello", "quiet", "suite"] {
        RP2040.build(example, Profile::Release)?;
    }
    // The showcase is about speed.
    RP2040.build("urbiflock", Profile::Fast)?;
    Invocation::cargo("test --package flockwork-emulator --features images").run()?;
    cycles::check()
}

/// Runs an image of a board until it ends, with its log on the screen.
pub(crate) fn emulate(board: &Board, elf: &Path) -> Result<(), Stop> {
    match board.name {
        name if name == RP2040.name => {
            Invocation::cargo("run --quiet --package flockwork-emulator --bin flockwork-emulator --")
                .arg(elf.display().to_string())
                .run()
        }
        name if name == MPS2_AN521.name => qemu::run(elf),
        name => Err(Stop::Failed(format!(
            "there is no emulator for {name}: `cargo xtask flash {name} EXAMPLE` runs it on a board"
        ))),
    }
}
