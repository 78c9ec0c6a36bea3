//! ELF files of 32-bit little-endian chips, as far as the commands need them: what is loaded where, and sections.
//!
//! Read here rather than with a crate: it is two tables of fixed layout, and `xtask` has no dependencies.

use crate::step::Stop;
use std::path::Path;

/// An image.
pub(crate) struct Elf {
    bytes: Vec<u8>,
    segments: Table,
    sections: Table,
}

/// Where a table is, and how it is divided.
#[derive(Clone, Copy)]
struct Table {
    offset: usize,
    entry: usize,
    count: usize,
}

/// Bytes that are loaded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Loaded<'a> {
    /// Where they are stored: for initialised variables that is in flash.
    pub(crate) address: u32,
    pub(crate) bytes: &'a [u8],
}

/// A part of the image that takes memory of the chip.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    pub(crate) name: &'a str,
    pub(crate) address: u32,
    pub(crate) size: u32,
    pub(crate) is_writable: bool,
    /// Whether it has content in the file, and therefore in flash.
    pub(crate) is_stored: bool,
}

const LOAD: u32 = 1;
const NO_BITS: u32 = 8;
const WRITABLE: u32 = 1;
const ALLOCATED: u32 = 2;

impl Elf {
    pub(crate) fn read(path: &Path) -> Result<Self, Stop> {
        let bytes =
            std::fs::read(path).map_err(|error| Stop::Failed(format!("{} cannot be read: {error}", path.display())))?;
        Self::parse(bytes)
            .ok_or_else(|| Stop::Failed(format!("{} is no ELF file of a 32-bit little-endian chip", path.display())))
    }

    fn parse(bytes: Vec<u8>) -> Option<Self> {
        // Magic, 32 bits, little endian.
        if bytes.get(..6)? != b"\x7fELF\x01\x01" {
            return None;
        }
        let table = |offset, entry, count| {
            let offset = word(&bytes, offset)? as usize;
            let (entry, count) = (half(&bytes, entry)?.into(), half(&bytes, count)?.into());
            bytes.get(offset..)?.get(..entry * count)?;
            Some(Table { offset, entry, count })
        };
        let (segments, sections) = (table(28, 42, 44)?, table(32, 46, 48)?);
        Some(Self { bytes, segments, sections })
    }

    fn entries(&self, table: Table) -> impl Iterator<Item = &[u8]> {
        self.bytes[table.offset..][..table.entry * table.count].chunks_exact(table.entry.max(1))
    }

    /// What is loaded, in the order of the file.
    pub(crate) fn loaded(&self) -> impl Iterator<Item = Loaded<'_>> {
        self.entries(self.segments).filter_map(|entry| {
            let (offset, address, size) = (word(entry, 4)?, word(entry, 12)?, word(entry, 16)?);
            let bytes = self.bytes.get(offset as usize..)?.get(..size as usize)?;
            (word(entry, 0)? == LOAD && size > 0).then_some(Loaded { address, bytes })
        })
    }

    /// The sections that take memory of the chip.
    pub(crate) fn sections(&self) -> impl Iterator<Item = Section<'_>> {
        self.named_sections().filter_map(|(name, entry)| {
            let (kind, flags) = (word(entry, 4)?, word(entry, 8)?);
            let (address, size) = (word(entry, 12)?, word(entry, 20)?);
            let (is_writable, is_stored) = (flags & WRITABLE != 0, kind != NO_BITS);
            (flags & ALLOCATED != 0 && size > 0).then_some(Section { name, address, size, is_writable, is_stored })
        })
    }

    /// Whether there is a section of this name, also one that takes no memory.
    pub(crate) fn has_section(&self, name: &str) -> bool {
        self.named_sections().any(|(found, _)| found == name)
    }

    fn named_sections(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let names = self.entries(self.sections).nth(half(&self.bytes, 50).unwrap_or(0).into());
        self.entries(self.sections)
            .filter_map(move |entry| Some((text(self.content(names?)?, word(entry, 0)?)?, entry)))
    }

    fn content(&self, section: &[u8]) -> Option<&[u8]> {
        self.bytes.get(word(section, 16)? as usize..)?.get(..word(section, 20)? as usize)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes)
}

/// The text that begins at an offset of a table of texts.
fn text(texts: &[u8], at: u32) -> Option<&str> {
    let text = texts.get(at as usize..)?;
    let end = text.iter().position(|&byte| byte == 0)?;
    str::from_utf8(&text[..end]).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An ELF file by hand: loaded pieces, and a section for variables.
    pub(crate) fn elf(pieces: &[(u32, &[u8])]) -> Elf {
        const HEADER: usize = 52;
        let texts = b"\0.bss\0";

        let mut content = texts.to_vec();
        let mut segments = Vec::new();
        let base = HEADER + pieces.len() * 32;
        for (address, bytes) in pieces {
            let offset = (base + content.len()) as u32;
            let size = bytes.len() as u32;
            segments.extend([LOAD, offset, *address, *address, size, size, 0, 4].map(u32::to_le_bytes).concat());
            content.extend(*bytes);
        }
        let section = |name, kind, flags, size: usize| {
            [name, kind, flags, 0, base as u32, size as u32, 0, 0, 4, 0].map(u32::to_le_bytes).concat()
        };
        let sections = [section(0, 3, 0, texts.len()), section(1, NO_BITS, ALLOCATED | WRITABLE, 24)].concat();

        let mut bytes = b"\x7fELF\x01\x01".to_vec();
        bytes.resize(HEADER, 0);
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(28, &(HEADER as u32).to_le_bytes());
        put(32, &((base + content.len()) as u32).to_le_bytes());
        put(42, &32_u16.to_le_bytes());
        put(44, &(pieces.len() as u16).to_le_bytes());
        put(46, &40_u16.to_le_bytes());
        put(48, &2_u16.to_le_bytes());
        put(50, &0_u16.to_le_bytes());
        Elf::parse([bytes, segments, content, sections].concat()).expect("a well-formed file")
    }

    #[test]
    fn what_is_loaded_is_found() {
        let elf = elf(&[(0x1000_0000, b"boot"), (0x2000_0000, b"")]);
        assert!(elf.loaded().eq([Loaded { address: 0x1000_0000, bytes: b"boot" }]));
    }

    #[test]
    fn sections_have_their_names_and_sizes() {
        let elf = elf(&[]);
        let bss = Section { name: ".bss", address: 0, size: 24, is_writable: true, is_stored: false };
        assert!(elf.sections().eq([bss]));
        assert!(elf.has_section(".bss") && !elf.has_section(".defmt"));
    }

    #[test]
    fn what_is_no_elf_file_is_refused() {
        for bytes in [b"".as_slice(), b"\x7fELF\x02\x01", b"\x7fELF\x01\x01 and then it ends"] {
            assert!(Elf::parse(bytes.to_vec()).is_none());
        }
    }
}
