//! What the actors of an image take of RAM, part by part, as the compiler laid them out.
//!
//! `#[actor] static NAME` makes two statics: `NAME`, with state and monitor, and inside it `MAIL`, with the mailbox. Their
//! types are in the image's debug information; the parts are fields of the kernel's structs, found by their names. A kernel that
//! renames one is told so.

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianArcSlice, Reader, RunTimeEndian, Unit, UnitOffset,
    constants as dw,
};
use object::{Object, ObjectSection};
use std::{collections::BTreeMap, sync::Arc};

/// Bytes of RAM that an actor takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The path of its static.
    pub name: String,
    /// Its state.
    pub state: u64,
    /// Its monitor.
    pub monitor: u64,
    /// The letters in all its lanes.
    pub letters: u64,
    /// The promises in all its lanes.
    pub promises: u64,
    /// What the kernel needs beside.
    pub rest: u64,
}

/// The fields of a lane that are its letters, and those that are its promises.
const LETTERS: [&str; 2] = [ORDER, "letters"];
/// Nothing, and then not always told of, where letters leave in order: for an actor without a monitor.
const ORDER: &str = "order";
const PROMISES: [&str; 1] = ["replies"];

/// The actors of an image, by name.
///
/// # Errors
/// If it has no debug information, or the kernel's structs have other fields than this knows.
pub fn actors(elf: &[u8]) -> Result<Vec<Layout>, String> {
    let types = Types::read(elf)?;
    let mut actors = Vec::new();
    for (path, &mail) in &types.statics {
        let Some(name) = path.strip_suffix("::MAIL") else { continue };
        let Some(&front) = types.statics.get(name) else { continue };
        actors.push(types.layout(name, front, mail).map_err(|error| format!("{name}: {error}"))?);
    }
    Ok(actors)
}

type Bytes = EndianArcSlice<RunTimeEndian>;

/// A type: the unit it is described in, and where there.
#[derive(Clone, Copy)]
struct Type {
    unit: usize,
    offset: UnitOffset,
}

/// The types of an image, and its statics.
struct Types {
    dwarf: Dwarf<Bytes>,
    units: Vec<Unit<Bytes>>,
    /// The type of each static, by its path.
    statics: BTreeMap<String, Type>,
}

impl Types {
    fn read(elf: &[u8]) -> Result<Self, String> {
        let file = object::File::parse(elf).map_err(|error| error.to_string())?;
        let load = |section: gimli::SectionId| {
            let bytes = file.section_by_name(section.name()).and_then(|section| section.uncompressed_data().ok());
            Ok::<_, gimli::Error>(Bytes::new(Arc::from(bytes.unwrap_or_default().as_ref()), RunTimeEndian::Little))
        };
        let dwarf = Dwarf::load(load).map_err(|error| error.to_string())?;
        let mut types = Self { dwarf, units: Vec::new(), statics: BTreeMap::new() };
        types.find_statics().map_err(|error| error.to_string())?;
        if types.units.is_empty() {
            return Err("the image has no debug information".to_owned());
        }
        Ok(types)
    }

    fn find_statics(&mut self) -> gimli::Result<()> {
        let mut headers = self.dwarf.units();
        while let Some(header) = headers.next()? {
            let unit = self.dwarf.unit(header)?;
            let index = self.units.len();
            let mut entries = unit.entries();
            while let Some((_, entry)) = entries.next_dfs()? {
                if entry.tag() != dw::DW_TAG_variable {
                    continue;
                }
                let linkage = entry.attr_value(dw::DW_AT_linkage_name)?;
                let offset = entry.attr_value(dw::DW_AT_type)?;
                if let (Some(linkage), Some(AttributeValue::UnitRef(offset))) = (linkage, offset) {
                    let mangled = self.dwarf.attr_string(&unit, linkage)?;
                    let path = format!("{:#}", rustc_demangle::demangle(&mangled.to_string_lossy()?));
                    self.statics.insert(path, Type { unit: index, offset });
                }
            }
            self.units.push(unit);
        }
        Ok(())
    }

    fn layout(&self, name: &str, front: Type, mail: Type) -> Result<Layout, String> {
        let body = self.field(front, "body")?;
        let lanes = self.field(mail, "lanes")?;
        let (lane, count) = self.array(lanes)?;
        let sum = |fields: &[&str]| -> Result<u64, String> {
            let sizes = fields.iter().map(|&field| match self.field(lane, field) {
                Err(_) if field == ORDER => Ok(0),
                found => self.size(found?),
            });
            Ok(count * sizes.sum::<Result<u64, String>>()?)
        };
        let (letters, promises) = (sum(&LETTERS)?, sum(&PROMISES)?);
        let state = self.size(self.field(body, "whole")?)?;
        let monitor = self.size(self.field(body, "monitor")?)?;
        let all = self.size(front)? + self.size(mail)?;
        let rest = all - state - monitor - letters - promises;
        Ok(Layout { name: name.to_owned(), state, monitor, letters, promises, rest })
    }

    /// The type of a field of a struct.
    fn field(&self, of: Type, name: &str) -> Result<Type, String> {
        let found = self.children(of, |unit, entry| {
            let Some(text) = entry.attr_value(dw::DW_AT_name)? else { return Ok(None) };
            let is_it =
                entry.tag() == dw::DW_TAG_member && self.dwarf.attr_string(unit, text)?.to_string_lossy()? == name;
            if is_it { entry.attr_value(dw::DW_AT_type) } else { Ok(None) }
        });
        match found.map_err(|error| error.to_string())? {
            Some(AttributeValue::UnitRef(offset)) => Ok(Type { unit: of.unit, offset }),
            _ => {
                Err(format!("a struct of the kernel has no field `{name}`: tests/firmware/src/layout.rs knows another"))
            }
        }
    }

    /// What an array is made of, and how many of them.
    fn array(&self, of: Type) -> Result<(Type, u64), String> {
        let because = |error: gimli::Error| error.to_string();
        let unit = &self.units[of.unit];
        let element = unit.entry(of.offset).and_then(|entry| entry.attr_value(dw::DW_AT_type)).map_err(because)?;
        let count = self
            .children(of, |_, entry| Ok(entry.attr_value(dw::DW_AT_count)?.and_then(|count| count.udata_value())))
            .map_err(because)?;
        match (element, count) {
            (Some(AttributeValue::UnitRef(offset)), Some(count)) => Ok((Type { unit: of.unit, offset }, count)),
            _ => {
                Err("a mailbox of the kernel has no array of lanes: tests/firmware/src/layout.rs knows one".to_owned())
            }
        }
    }

    fn size(&self, of: Type) -> Result<u64, String> {
        let unit = &self.units[of.unit];
        let size = unit.entry(of.offset).and_then(|entry| entry.attr_value(dw::DW_AT_byte_size));
        match size.map_err(|error| error.to_string())?.and_then(|size| size.udata_value()) {
            Some(size) => Ok(size),
            // An array says how many there are, not how large it is.
            None => self.array(of).and_then(|(element, count)| Ok(count * self.size(element)?)),
        }
    }

    /// What `look` finds first in the children of an entry.
    fn children<R>(
        &self,
        of: Type,
        mut look: impl FnMut(&Unit<Bytes>, &DebuggingInformationEntry<'_, '_, Bytes>) -> gimli::Result<Option<R>>,
    ) -> gimli::Result<Option<R>> {
        let unit = &self.units[of.unit];
        let mut tree = unit.entries_tree(Some(of.offset))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            if let Some(found) = look(unit, child.entry())? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
