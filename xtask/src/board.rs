//! The boards, and the images that can be built for them.

use crate::{
    args::{Args, Misuse},
    invocation::Invocation,
    rustup,
    step::Stop,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A board: a folder in `boards/`, whose binaries are its examples.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Board {
    /// The name of its folder; its package is called `flockwork-` and this.
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    /// What is flashed, if the board can be bought.
    pub(crate) chip: Option<Chip>,
}

/// A chip that can be flashed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chip {
    /// Its name at probe-rs.
    pub(crate) probe_rs: &'static str,
    /// Its UF2 family: a chip ignores the blocks of others.
    pub(crate) family: u32,
}

pub(crate) const RP2040: Board = Board {
    name: "rp2040",
    target: "thumbv6m-none-eabi",
    chip: Some(Chip { probe_rs: "RP2040", family: 0xE48B_FF56 }),
};
// The family is that of images for the Arm cores in secure state, in which they start.
pub(crate) const RP2350: Board = Board {
    name: "rp2350",
    target: "thumbv8m.main-none-eabihf",
    chip: Some(Chip { probe_rs: "RP235x", family: 0xE48B_FF59 }),
};
pub(crate) const MPS2_AN521: Board = Board { name: "mps2-an521", target: "thumbv8m.main-none-eabi", chip: None };

pub(crate) const BOARDS: &[Board] = &[RP2040, RP2350, MPS2_AN521];

/// How an image is optimised: the profiles of the boards' workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// What is flashed: for size.
    Release,
    /// For speed.
    Fast,
}

impl Profile {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Fast => "fast",
        }
    }
}

impl Board {
    /// The board of this name.
    pub(crate) fn named(name: &str) -> Result<&'static Self, Misuse> {
        BOARDS.iter().find(|board| board.name == name).ok_or_else(|| {
            let names: Vec<&str> = BOARDS.iter().map(|board| board.name).collect();
            Misuse(format!("there is no board `{name}`; there are: {}", names.join(", ")))
        })
    }

    /// The board and the example that a command line names, both of which there are.
    pub(crate) fn and_example(args: Args) -> Result<(&'static Self, String), Misuse> {
        let words = args.rest();
        let [board, example] = &words[..] else {
            return Err(Misuse("a board and one of its examples are needed".to_owned()));
        };
        let board = Self::named(board)?;
        board.has(example)?;
        Ok((board, example.clone()))
    }

    /// Its chip; a misuse if it has none that could be flashed.
    pub(crate) fn chip(&self) -> Result<&Chip, Misuse> {
        let there_is_none =
            || Misuse(format!("{0} exists in an emulator only: `cargo xtask emulate {0} EXAMPLE`", self.name));
        self.chip.as_ref().ok_or_else(there_is_none)
    }

    /// The names of its examples, in order.
    pub(crate) fn examples(&self) -> Vec<String> {
        let folder = Path::new("boards").join(self.name).join("src/bin");
        let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let rust = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
        let mut names: Vec<String> = rust.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
        names.sort();
        names
    }

    /// Complains about an example that the board does not have, with those that it has.
    pub(crate) fn has(&self, example: &str) -> Result<(), Misuse> {
        let examples = self.examples();
        if examples.iter().any(|name| name == example) {
            return Ok(());
        }
        Err(Misuse(format!("{} has no example `{example}`; there are: {}", self.name, examples.join(", "))))
    }

    /// Builds an image, adding the target where it is missing, and returns where it is.
    pub(crate) fn build(&self, example: &str, profile: Profile) -> Result<PathBuf, Stop> {
        rustup::target(self.target)?;
        self.build_command(example, profile).run()?;
        Ok(self.image(example, profile))
    }

    /// What builds an image.
    pub(crate) fn build_command(&self, example: &str, profile: Profile) -> Invocation {
        Invocation::cargo("build --manifest-path boards/Cargo.toml --target-dir boards/target")
            .args(["--package", &format!("flockwork-{}", self.name), "--bin", example])
            .args(["--target", self.target, "--profile", profile.name()])
    }

    /// Where an image is when it is built.
    pub(crate) fn image(&self, example: &str, profile: Profile) -> PathBuf {
        ["boards", "target", self.target, profile.name(), example].iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_known_by_the_names_of_their_folders() {
        for board in BOARDS {
            assert_eq!(Board::named(board.name), Ok(board));
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("../boards").join(board.name).is_dir());
        }
    }

    #[test]
    fn an_unknown_board_is_a_misuse_that_names_the_known_ones() {
        let Err(Misuse(why)) = Board::named("rp2042") else { panic!("there is no such board") };
        assert!(why.contains("`rp2042`") && why.contains("rp2040, rp2350"), "{why}");
    }

    #[test]
    fn a_board_without_silicon_points_to_its_emulator() {
        assert!(RP2040.chip().is_ok());
        let Err(Misuse(why)) = MPS2_AN521.chip() else { panic!("nobody can buy it") };
        assert!(why.contains("cargo xtask emulate mps2-an521"), "{why}");
    }
}
