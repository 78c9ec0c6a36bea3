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

/// A board: a folder in `boards/`, whose binaries are its examples. They are in the package of that folder, next to the
/// library that firmware links, and in packages of folders in it, where an image needs more than firmware does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Board {
    /// The name of its folder; its package is called `flockwork-` and this.
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    /// What is flashed, if the board can be bought.
    pub(crate) chip: Option<Chip>,
    /// What runs its images here, if anything does.
    pub(crate) emulator: Option<Emulator>,
}

/// A chip that can be flashed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chip {
    /// Its name at probe-rs.
    pub(crate) probe_rs: &'static str,
    /// Its UF2 family: a chip ignores the blocks of others.
    pub(crate) family: u32,
}

/// What runs images without a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emulator {
    /// `tests/emulator`.
    Rp2040,
    /// QEMU's machine of the board's name.
    Qemu,
}

pub(crate) const RP2040: Board = Board {
    name: "rp2040",
    target: "thumbv6m-none-eabi",
    chip: Some(Chip { probe_rs: "RP2040", family: 0xE48B_FF56 }),
    emulator: Some(Emulator::Rp2040),
};
// The family is that of images for the Arm cores in secure state, in which they start.
pub(crate) const RP2350: Board = Board {
    name: "rp2350",
    target: "thumbv8m.main-none-eabihf",
    chip: Some(Chip { probe_rs: "RP235x", family: 0xE48B_FF59 }),
    emulator: None,
};
pub(crate) const MPS2_AN521: Board =
    Board { name: "mps2-an521", target: "thumbv8m.main-none-eabi", chip: None, emulator: Some(Emulator::Qemu) };

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

/// A package with images: what its manifest says of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The names of its binaries.
    images: Vec<String>,
}

impl Package {
    fn read(manifest: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(manifest).ok()?)
    }

    /// Each table that has a name begins with it. (`xtask` has no dependencies, so no reader of TOML.)
    fn parse(manifest: &str) -> Option<Self> {
        let mut table = "";
        let (mut package, mut images) = (None, Vec::new());
        for line in manifest.lines() {
            if line.starts_with('[') {
                table = line;
            }
            let name = line.strip_prefix("name = \"").and_then(|rest| rest.strip_suffix('"'));
            match (table, name) {
                ("[package]", Some(name)) => package = Some(name.to_owned()),
                ("[[bin]]", Some(name)) => images.push(name.to_owned()),
                _ => {}
            }
        }
        Some(Self { name: package?, images })
    }
}

/// What an image is, on a command line.
pub(crate) enum Image {
    /// An example of the board, which is built first.
    Example(String),
    /// An ELF file that there is.
    File(PathBuf),
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

    /// The board that a command line names, and one of its examples, or `--image ELF`.
    pub(crate) fn and_image(mut args: Args) -> Result<(&'static Self, Image), Misuse> {
        let files = args.files("--image")?;
        let [file] = &files[..] else {
            return Self::and_example(args).map(|(board, example)| (board, Image::Example(example)));
        };
        let words = args.rest();
        let [board] = &words[..] else {
            return Err(Misuse("with --image, a board and no example is needed".to_owned()));
        };
        let board = Self::named(board)?;
        match file.is_file() {
            true => Ok((board, Image::File(file.clone()))),
            false => Err(Misuse(format!("--image: there is no file {}", file.display()))),
        }
    }

    /// Its chip; a misuse if it has none that could be flashed.
    pub(crate) fn chip(&self) -> Result<&Chip, Misuse> {
        let there_is_none =
            || Misuse(format!("{0} exists in an emulator only: `cargo xtask emulate {0} EXAMPLE`", self.name));
        self.chip.as_ref().ok_or_else(there_is_none)
    }

    /// Its emulator; a misuse if it has none.
    pub(crate) fn emulator(&self) -> Result<Emulator, Misuse> {
        let there_is_none = || {
            Misuse(format!(
                "there is no emulator for {0}: `cargo xtask flash {0} EXAMPLE` runs it on a board",
                self.name
            ))
        };
        self.emulator.ok_or_else(there_is_none)
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> PathBuf {
        Path::new("boards").join(self.name)
    }

    /// Its packages with images, that of its library first.
    pub(crate) fn packages(&self) -> Vec<Package> {
        let folders = fs::read_dir(self.folder()).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
        folders.sort();
        folders.insert(0, self.folder());
        folders.iter().filter_map(|folder| Package::read(&folder.join("Cargo.toml"))).collect()
    }

    /// The names of its examples, in order.
    pub(crate) fn examples(&self) -> Vec<String> {
        let mut names: Vec<String> = self.packages().into_iter().flat_map(|package| package.images).collect();
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

    /// The same without a word on the screen; none if it failed.
    pub(crate) fn build_quietly(&self, example: &str, profile: Profile) -> Result<Option<PathBuf>, Stop> {
        rustup::target(self.target)?;
        let built = self.build_command(example, profile).arg("--quiet").ask();
        Ok(built.map(|_| self.image(example, profile)))
    }

    /// What builds an image.
    pub(crate) fn build_command(&self, example: &str, profile: Profile) -> Invocation {
        let packages = self.packages();
        let has_it = |package: &&Package| package.images.iter().any(|name| name == example);
        // Cargo complains about an image that no package has.
        let package = packages.iter().find(has_it).or(packages.first()).map_or("", |package| &package.name);
        build_command(package, self.target, profile).args(["--bin", example])
    }

    /// Where an image is when it is built.
    pub(crate) fn image(&self, example: &str, profile: Profile) -> PathBuf {
        ["boards", "target", self.target, profile.name(), example].iter().collect()
    }
}

/// What builds a package of the boards' workspace.
pub(crate) fn build_command(package: &str, target: &str, profile: Profile) -> Invocation {
    Invocation::cargo("build --manifest-path boards/Cargo.toml --target-dir boards/target")
        .args(["--package", package, "--target", target, "--profile", profile.name()])
        // As in each board's `.cargo/config.toml`: without it defmt compiles everything but errors out.
        .variable("DEFMT_LOG", "info")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_known_by_the_names_of_their_folders() {
        for board in BOARDS {
            assert_eq!(Board::named(board.name), Ok(board));
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(board.folder()).is_dir());
        }
    }

    #[test]
    fn an_unknown_board_is_a_misuse_that_names_the_known_ones() {
        let Err(Misuse(why)) = Board::named("rp2042") else { panic!("there is no such board") };
        assert!(why.contains("`rp2042`") && why.contains("rp2040, rp2350"), "{why}");
    }

    #[test]
    fn a_board_without_silicon_points_to_its_emulator_and_one_without_an_emulator_to_the_board() {
        assert!(RP2040.chip().is_ok() && RP2040.emulator().is_ok());
        let Err(Misuse(why)) = MPS2_AN521.chip() else { panic!("nobody can buy it") };
        assert!(why.contains("cargo xtask emulate mps2-an521"), "{why}");
        let Err(Misuse(why)) = RP2350.emulator() else { panic!("nothing runs it here") };
        assert!(why.contains("cargo xtask flash rp2350"), "{why}");
    }

    #[test]
    fn the_images_of_a_package_are_its_binaries() {
        let manifest = "[package]\nname = \"a\"\n[lib]\nname = \"b\"\n[[bin]]\nname = \"c\"\npath = \"d.rs\"\n";
        let package = Package { name: "a".to_owned(), images: vec!["c".to_owned()] };
        assert_eq!(Package::parse(manifest), Some(package));
        assert_eq!(Package::parse("[workspace]\nname = \"a\"\n"), None);
    }
}
