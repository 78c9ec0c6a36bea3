//! Where the cycles of a span went: by function, inlined ones included.

use crate::{image::Image, machine::Step};
use addr2line::{Context, gimli};
use std::collections::HashMap;

/// Files whose functions are so small that what they do belongs to whoever called them: the standard library, atomics, registers.
const PLUMBING: &[&str] = &["/rustc/", "kernel/src/sync.rs", "/rp-pac-"];

/// Cycles by instruction.
#[derive(Default)]
pub struct Profile {
    instructions: HashMap<u32, Count>,
    entries: Count,
}

#[derive(Clone, Copy, Default)]
struct Count {
    times: u64,
    cycles: u64,
}

/// What was spent at one place.
pub struct Line {
    /// How many instructions.
    pub times: u64,
    /// How many cycles.
    pub cycles: u64,
    /// The function, with those it was inlined into behind it.
    pub place: String,
}

impl Profile {
    /// Counts a step.
    pub fn count(&mut self, step: Step) {
        let count = if step.entered { &mut self.entries } else { self.instructions.entry(step.address).or_default() };
        count.times += 1;
        count.cycles += step.cycles;
    }

    /// Everything that was counted.
    pub fn cycles(&self) -> u64 {
        self.entries.cycles + self.instructions.values().map(|count| count.cycles).sum::<u64>()
    }

    /// By function, the most expensive first. An instruction belongs to the innermost function that is no mere plumbing; `depth` is
    /// how many functions that it was inlined into are named.
    pub fn lines(&self, image: &Image, depth: usize) -> Vec<Line> {
        let names = Names::of(image);
        let mut lines: HashMap<String, Count> = HashMap::new();
        let entries = (self.entries.times > 0).then(|| ("(entry into an interrupt handler)".to_owned(), self.entries));
        let counted = self.instructions.iter().map(|(&address, &count)| (names.at(address, depth), count));
        for (place, count) in counted.chain(entries) {
            let line = lines.entry(place).or_default();
            line.times += count.times;
            line.cycles += count.cycles;
        }
        let line = |(place, Count { times, cycles })| Line { times, cycles, place };
        let mut lines: Vec<Line> = lines.into_iter().map(line).collect();
        lines.sort_by(|a, b| b.cycles.cmp(&a.cycles).then_with(|| a.place.cmp(&b.place)));
        lines
    }

    /// Every instruction that was executed, in the order of addresses: address, how often, cycles.
    pub fn instructions(&self) -> Vec<(u32, u64, u64)> {
        let mut list: Vec<_> = self.instructions.iter().map(|(&at, count)| (at, count.times, count.cycles)).collect();
        list.sort_unstable();
        list
    }
}

/// The names of functions by address.
pub struct Names<'i> {
    image: &'i Image,
    lines: Option<Context<gimli::EndianSlice<'i, gimli::LittleEndian>>>,
}

impl<'i> Names<'i> {
    /// The names of an image. Without debug information there are only those of the linker's table.
    pub fn of(image: &'i Image) -> Self {
        Self { image, lines: lines(image.elf()) }
    }

    /// The function at an address, and up to `depth` of those it was inlined into.
    pub fn at(&self, address: u32, depth: usize) -> String {
        self.inlined(address, depth).unwrap_or_else(|| {
            self.image.function(address).map_or_else(|| format!("{address:#010x}"), |name| name.to_owned())
        })
    }

    fn inlined(&self, address: u32, depth: usize) -> Option<String> {
        let mut frames = self.lines.as_ref()?.find_frames(u64::from(address)).skip_all_loads().ok()?;
        let mut names: Vec<String> = Vec::new();
        while names.len() <= depth
            && let Ok(Some(frame)) = frames.next()
        {
            let file = frame.location.as_ref().and_then(|place| place.file).unwrap_or_default();
            let name = short(&frame.function?.demangle().ok()?);
            if !PLUMBING.iter().any(|part| file.contains(part)) {
                names.push(name);
            }
        }
        (!names.is_empty()).then(|| names.join(" < "))
    }
}

fn lines(elf: &[u8]) -> Option<Context<gimli::EndianSlice<'_, gimli::LittleEndian>>> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(elf).ok()?;
    let load = |id: gimli::SectionId| {
        let section = file.section_by_name(id.name()).and_then(|section| section.data().ok()).unwrap_or_default();
        Ok::<_, gimli::Error>(gimli::EndianSlice::new(section, gimli::LittleEndian))
    };
    Context::from_dwarf(gimli::Dwarf::load(load).ok()?).ok()
}

/// A demangled name without its hash and without the paths of type parameters.
fn short(name: &str) -> String {
    let name = name.rsplit_once("::h").filter(|(_, hash)| hash.len() == 16).map_or(name, |(name, _)| name);
    name.replace("flockwork::", "")
}
