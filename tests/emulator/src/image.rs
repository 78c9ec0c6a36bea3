//! A firmware image: what of it is flashed, where its statics are, and the marks it carries.

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind, elf, read::elf::ProgramHeader};
use std::{collections::HashMap, fmt, fs, path::Path};

/// Where flash begins.
const FLASH: u32 = 0x1000_0000;
/// How much of it a Pico has.
const FLASH_SIZE: usize = 2 << 20;
/// The section with the marks; see `boards/rp2040/src/marks.rs`.
const MARKS: &str = ".flockwork_marks";

/// A firmware image, read from its ELF file.
pub struct Image {
    /// The bytes of the file.
    elf: Vec<u8>,
    /// What is written to flash, from its first byte.
    flash: Vec<u8>,
    symbols: HashMap<String, u32>,
    functions: Vec<Function>,
    marks: Vec<Mark>,
    sections: Vec<String>,
}

struct Function {
    address: u32,
    size: u32,
    name: String,
}

/// An address that the image marked: execution that arrives there begins or ends something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The instruction behind the mark.
    pub address: u32,
    /// What begins or ends.
    pub kind: MarkKind,
    /// Its name.
    pub name: String,
}

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A span begins.
    Begin,
    /// A span ends.
    End,
    /// A lap ends and the next one begins.
    Lap,
}

/// Why a file is no image.
#[derive(Debug)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl Image {
    /// Reads an ELF file.
    pub fn read(path: &Path) -> Result<Self, Unreadable> {
        let because = |why: &dyn fmt::Display| Unreadable(format!("{}: {why}", path.display()));
        let elf = fs::read(path).map_err(|error| because(&error))?;
        Self::parse(elf).map_err(|why| because(&why))
    }

    fn parse(elf: Vec<u8>) -> Result<Self, String> {
        let file =
            object::read::elf::ElfFile32::<object::Endianness>::parse(&*elf).map_err(|error| error.to_string())?;
        let flash = flash(&file)?;
        let mut symbols = HashMap::new();
        let mut functions = Vec::new();
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            match symbol.kind() {
                SymbolKind::Text if symbol.size() > 0 => functions.push(Function {
                    address: symbol.address() as u32 & !1,
                    size: symbol.size() as u32,
                    name: format!("{:#}", rustc_demangle::demangle(name)),
                }),
                SymbolKind::Data => {
                    symbols.insert(name.to_owned(), symbol.address() as u32);
                }
                _ => {}
            }
        }
        functions.sort_by_key(|function| function.address);
        let marks = match file.section_by_name(MARKS) {
            Some(section) => marks(section.data().map_err(|error| error.to_string())?)?,
            None => Vec::new(),
        };
        let sections = file.sections().filter_map(|section| section.name().ok().map(str::to_owned)).collect();
        Ok(Self { flash, symbols, functions, marks, sections, elf })
    }

    /// An image with nothing but marks.
    #[cfg(test)]
    pub(crate) fn with_marks(marks: &[(u32, MarkKind, &str)]) -> Self {
        let mark = |&(address, kind, name): &(u32, MarkKind, &str)| Mark { address, kind, name: name.to_owned() };
        Self {
            elf: Vec::new(),
            flash: Vec::new(),
            symbols: HashMap::new(),
            functions: Vec::new(),
            marks: marks.iter().map(mark).collect(),
            sections: Vec::new(),
        }
    }

    /// The bytes of the ELF file.
    pub fn elf(&self) -> &[u8] {
        &self.elf
    }

    /// What is written to flash, from its first byte.
    pub fn flash(&self) -> &[u8] {
        &self.flash
    }

    /// The address of a static with a fixed name.
    pub fn symbol(&self, name: &str) -> Option<u32> {
        self.symbols.get(name).copied()
    }

    /// Whether there is a section of this name, also one that is not loaded.
    pub fn has_section(&self, name: &str) -> bool {
        self.sections.iter().any(|section| section == name)
    }

    /// The function an instruction belongs to, by the linker's table.
    pub fn function(&self, address: u32) -> Option<&str> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let function = &self.functions[after.checked_sub(1)?];
        (address < function.address + function.size).then_some(&*function.name)
    }

    /// Where the function begins whose name ends with this.
    pub fn function_named(&self, name: &str) -> Option<u32> {
        self.functions.iter().find(|function| function.name.ends_with(name)).map(|function| function.address)
    }

    /// The marks of the image.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }
}

/// Puts the loadable segments where they are stored.
fn flash(file: &object::read::elf::ElfFile32<'_>) -> Result<Vec<u8>, String> {
    let endian = file.endian();
    let mut flash = Vec::new();
    for segment in file.elf_program_headers() {
        let data = segment.data(endian, file.data()).map_err(|()| "a segment lies outside of the file".to_owned())?;
        if segment.p_type(endian) != elf::PT_LOAD || data.is_empty() {
            continue;
        }
        let stored = segment.p_paddr(endian);
        let start =
            stored.checked_sub(FLASH).map(|offset| offset as usize).filter(|start| start + data.len() <= FLASH_SIZE);
        let Some(start) = start else {
            return Err(format!(
                "{} bytes are to be stored at {stored:#x}, which is not flash: is it an RP2040 image?",
                data.len()
            ));
        };
        // Erased flash reads as ones.
        flash.resize(flash.len().max(start + data.len()), 0xFF);
        flash[start..][..data.len()].copy_from_slice(data);
    }
    if flash.is_empty() { Err("nothing in it is stored in flash".to_owned()) } else { Ok(flash) }
}

/// An entry is an address, a letter for the kind, and a name that ends with a zero. One whose function the linker dropped
/// has no address.
fn marks(mut data: &[u8]) -> Result<Vec<Mark>, String> {
    let mut marks = Vec::new();
    while let [a, b, c, d, kind, rest @ ..] = data {
        let broken = || format!("the marks in section {MARKS} are broken");
        let end = rest.iter().position(|&byte| byte == 0).ok_or_else(broken)?;
        let kind = match kind {
            b'B' => MarkKind::Begin,
            b'E' => MarkKind::End,
            b'L' => MarkKind::Lap,
            _ => return Err(broken()),
        };
        let address = u32::from_le_bytes([*a, *b, *c, *d]) & !1;
        if address >= FLASH {
            marks.push(Mark { address, kind, name: String::from_utf8_lossy(&rest[..end]).into_owned() });
        }
        data = &rest[end + 1..];
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_one_after_the_other_and_dropped_ones_left_out() {
        let data = b"\x01\x01\x00\x10Bsend\0\x00\x00\x00\x00Lgone\0\x20\x01\x00\x20Esend\0";
        let mark = |address, kind| Mark { address, kind, name: "send".to_owned() };
        assert_eq!(marks(data).unwrap(), [mark(0x1000_0100, MarkKind::Begin), mark(0x2000_0120, MarkKind::End)]);
    }

    #[test]
    fn broken_marks_are_an_error() {
        assert!(marks(b"\x01\x01\x00\x10Bsend").is_err());
        assert!(marks(b"\x01\x01\x00\x10?send\0").is_err());
    }

    #[test]
    fn what_is_no_elf_is_an_error_with_the_name_of_the_file() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let Err(why) = Image::read(&here) else { panic!("a manifest is no image") };
        assert!(why.to_string().contains("Cargo.toml"), "{why}");
    }
}
