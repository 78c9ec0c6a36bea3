//! Images that were built for the RP2040, run here: what the tests of this crate share.

pub mod layout;

use flockwork_board_support::epitaph::Epitaph;
#[cfg(feature = "images")]
use flockwork_emulator::log::{Log, Texts};
use flockwork_emulator::{Ended, Image, Machine};
use object::{Object, ObjectSymbol};
use std::path::Path;

/// Ten seconds of the chip's time.
const LIMIT: u64 = 125_000_000 * 10;

/// A board with an image in its flash.
pub struct Board {
    image: Image,
    machine: Machine,
}

impl Board {
    /// A board that was just switched on.
    ///
    /// # Panics
    /// If there is no such image.
    pub fn with(image: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boards/target/thumbv6m-none-eabi/release");
        let image = Image::read(&folder.join(image))
            .unwrap_or_else(|error| panic!("{error}; `cargo xtask test --only boards/firmware` builds the images"));
        let machine = Machine::new(&image);
        Self { image, machine }
    }

    /// Runs until the image says that it is done, or cannot go on.
    pub fn run(&mut self) -> Ended {
        self.machine.run(LIMIT, |_, _| {})
    }

    /// Resets the chip; memory stays as it is.
    pub fn reset(&mut self) {
        self.machine.reset(&self.image);
    }

    /// What was sent over the serial line since the last reset, as text.
    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.machine.uart0()).into_owned()
    }

    /// The epitaph that a core left in memory.
    pub fn epitaph(&self, core: u32) -> Option<Epitaph> {
        self.machine.epitaph(core)
    }

    /// Bytes of memory.
    pub fn memory(&self, start: u32, count: usize) -> Vec<u8> {
        self.machine.memory(start, count)
    }

    /// What was logged with defmt since the last reset, a line for each frame, and what UART0 sent as text.
    #[cfg(feature = "images")]
    pub fn log(&mut self) -> Vec<String> {
        let texts = Texts::of(&self.image).expect("texts of this version");
        let mut log = Log::of(&self.image, texts.as_ref());
        let text = log.news(&mut self.machine);
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// Where the static of this path is, and how large.
    ///
    /// # Panics
    /// If the image has none.
    pub fn place_of(&self, path: &str) -> (u32, usize) {
        let file = object::File::parse(self.image.elf()).expect("an ELF file");
        let is_it = |name: &str| format!("{:#}", rustc_demangle::demangle(name)) == path;
        let symbol = file.symbols().find(|symbol| symbol.name().is_ok_and(is_it));
        let symbol = symbol.unwrap_or_else(|| panic!("the image has no `{path}`"));
        (symbol.address() as u32, symbol.size() as usize)
    }

    /// The image in its flash.
    pub fn image(&self) -> &Image {
        &self.image
    }
}
