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

/// Examples whose point is speed: built for size, they would be compared with what they are not.
const ABOUT_SPEED: &[&str] = &["cycles", "urbiflock"];

pub(crate) fn run(mut args: Args) -> Result<ExitCode, Misuse> {
    let (fast, small) = (args.flag("--fast"), args.flag("--small"));
    let json = args.flag("--json");
    let (board, example) = Board::and_example(args)?;
    let profile = profile(&example, fast, small)?;
    if json && board.name != RP2040.name {
        return Err(Misuse(format!("--json: only the emulator of {} counts", RP2040.name)));
    }
    if json {
        return Ok(exit_code("emulate", as_json(board, &example, profile)));
    }
    eprintln!(
        "{}",
        match profile {
            Profile::Fast => "built for speed; `--small` builds it for size, as it would be flashed",
            Profile::Release => "built for size, as it would be flashed; `--fast` builds it for speed",
        }
    );
    Ok(exit_code("emulate", board.build(&example, profile).and_then(|elf| emulate(board, &elf))))
}

/// How an example is built: as it is asked for, or as suits it.
fn profile(example: &str, fast: bool, small: bool) -> Result<Profile, Misuse> {
    match (fast, small) {
        (true, true) => Err(Misuse("--fast and --small: an image is built for speed or for size".to_owned())),
        (true, false) => Ok(Profile::Fast),
        (false, false) if ABOUT_SPEED.contains(&example) => Ok(Profile::Fast),
        (false, _) => Ok(Profile::Release),
    }
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

/// The log and the figures of an image, and nothing else on the screen.
fn as_json(board: &Board, example: &str, profile: Profile) -> Result<(), Stop> {
    let built = board.build_command(example, profile).arg("--quiet").ask();
    let figures = built.and_then(|_| {
        let elf = board.image(example, profile).display().to_string();
        emulator().arg(elf).arg("--json").ask()
    });
    let figures = figures.ok_or_else(|| Stop::Failed("it failed; without --json it says why".to_owned()))?;
    print!("{figures}");
    Ok(())
}

fn emulator() -> Invocation {
    Invocation::cargo("run --quiet --package flockwork-emulator --bin flockwork-emulator --")
}

/// Runs an image of a board until it ends, with its log on the screen.
pub(crate) fn emulate(board: &Board, elf: &Path) -> Result<(), Stop> {
    match board.name {
        name if name == RP2040.name => emulator().arg(elf.display().to_string()).run(),
        name if name == MPS2_AN521.name => qemu::run(elf),
        name => Err(Stop::Failed(format!(
            "there is no emulator for {name}: `cargo xtask flash {name} EXAMPLE` runs it on a board"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_showcase_is_built_for_speed_unless_one_asks_for_size() {
        assert_eq!(profile("urbiflock", false, false), Ok(Profile::Fast));
        assert_eq!(profile("urbiflock", false, true), Ok(Profile::Release));
        assert_eq!(profile("hello", false, false), Ok(Profile::Release));
        assert_eq!(profile("hello", true, false), Ok(Profile::Fast));
        assert!(profile("hello", true, true).is_err());
    }
}
