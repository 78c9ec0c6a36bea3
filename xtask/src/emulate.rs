//! `cargo xtask emulate BOARD EXAMPLE`: runs an image here, without the board.

use crate::{
    args::{Args, Misuse},
    board::{Board, Emulator, Image, Profile, RP2040, build_command},
    cycles,
    elf::Elf,
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
    let (board, image) = Board::and_image(args)?;
    let emulator = board.emulator()?;
    let profile = match &image {
        Image::Example(example) => profile(example, fast, small)?,
        Image::File(_) if fast || small => {
            return Err(Misuse("--fast and --small: an image that there is was built as it was".to_owned()));
        }
        Image::File(_) => Profile::Release,
    };
    if json && emulator != Emulator::Rp2040 {
        return Err(Misuse(format!("--json: only the emulator of {} counts", RP2040.name)));
    }
    let emulate = || {
        // Before the build, which takes longer.
        if emulator == Emulator::Qemu {
            qemu::require()?;
        }
        if json {
            return as_json(board, image, profile);
        }
        let elf = match image {
            Image::Example(example) => {
                eprintln!("{}", how_built(profile));
                board.build(&example, profile)?
            }
            Image::File(elf) => elf,
        };
        match emulator {
            Emulator::Rp2040 => on_rp2040(&elf)?.arg(elf.display().to_string()).run(),
            Emulator::Qemu => qemu::run(&elf),
        }
    };
    Ok(exit_code("emulate", emulate()))
}

fn how_built(profile: Profile) -> &'static str {
    match profile {
        Profile::Fast => "built for speed; `--small` builds it for size, as it would be flashed",
        Profile::Release => "built for size, as it would be flashed; `--fast` builds it for speed",
    }
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
    for example in ["hello", "log_over_rtt", "log_over_uart", "quiet", "straight", "suite"] {
        RP2040.build(example, Profile::Release)?;
    }
    build_command("flockwork-check-fates", RP2040.target, Profile::Release).args(["--bin", "panic-in-turn"]).run()?;
    // The showcase is about speed.
    RP2040.build("urbiflock", Profile::Fast)?;
    Invocation::cargo("test --package flockwork-emulator --features images").run()?;
    cycles::check()
}

/// The log and the figures of an image, and nothing else on the screen.
fn as_json(board: &Board, image: Image, profile: Profile) -> Result<(), Stop> {
    let elf = match image {
        Image::Example(example) => board.build_quietly(&example, profile)?,
        Image::File(elf) => Some(elf),
    };
    let figures = match &elf {
        Some(elf) => on_rp2040(elf)?.arg(elf.display().to_string()).arg("--json").ask(),
        None => None,
    };
    let figures = figures.ok_or_else(|| Stop::Failed("it failed; without --json it says why".to_owned()))?;
    print!("{figures}");
    Ok(())
}

/// The emulator for an image. One that logs with defmt needs its decoder, which brings some seventy crates along.
fn on_rp2040(elf: &Path) -> Result<Invocation, Stop> {
    let decoder = Elf::read(elf)?.has_section(DEFMT_TABLE).then_some(["--features", "defmt"]);
    let emulator = Invocation::cargo("run --quiet --package flockwork-emulator --bin flockwork-emulator");
    Ok(emulator.args(decoder.into_iter().flatten()).arg("--"))
}

/// The section with the texts that an image logs.
const DEFMT_TABLE: &str = ".defmt";

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
