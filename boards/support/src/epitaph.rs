//! Epitaphs: what is left of a core that panicked or faulted, for the next boot to report.
//!
//! ```text
//!  panic or fault ──▶ Epitaph::of_… ──▶ leave ──▶ bytes in RAM ──▶ reset ──▶ take, once ──▶ log
//!                        who, in which turn,       (magic, checksum,
//!                        where, why                 no start-up code touches it)
//! ```
//!
//! Each core has a place of its own, so two cores that die at once do not garble each other. The first death of a core since a
//! boot is the one that is kept: what follows (a fault in the panic handler, say) is its consequence. It replaces one from before
//! that boot which nobody took: an image that does not report still leaves the news of its last life to a debugger.
//! A debugger finds the bytes under the name `FLOCKWORK_EPITAPHS`; [`decode`] reads them on a host as well.
#![expect(unsafe_code, reason = "a fixed name, and a section that no start-up code initialises")]

use core::fmt::{self, Display, Write};
use core::panic::Location;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::{CORES, Text};

/// Bytes that an epitaph takes.
pub const SIZE: usize = 256;

/// What a core left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epitaph {
    /// The core that died.
    pub core: u8,
    /// What it was running, if it died in a turn of an actor.
    pub turn: Option<Turn>,
    /// What it died of.
    pub cause: Cause,
}

/// A letter that was being run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The actor's name: the end of it, if it is long, for it may begin with the path of a module.
    pub actor: Text<40>,
    /// The letter: the name of the method it asks for. None if it died while the actor's monitor decided.
    pub letter: Option<Text<24>>,
}

impl Turn {
    /// A turn of `actor`, in `letter` or in its monitor.
    pub fn new(actor: &str, letter: Option<&str>) -> Self {
        Self { actor: Text::end_of(actor), letter: letter.map(Text::beginning_of) }
    }
}

/// Why a core died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Rust code panicked.
    Panic {
        /// Where, if the compiler kept it.
        place: Option<Place>,
        /// What the panic said.
        message: Text<96>,
    },
    /// The processor faulted.
    Fault(Registers),
}

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The end of the file's path.
    pub file: Text<48>,
    /// The line, counted from 1.
    pub line: u32,
}

/// What a Cortex-M puts on the stack when it faults, and what it says about the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// Where the program was.
    pub pc: u32,
    /// Where the function would have returned to.
    pub lr: u32,
    /// The stack pointer before the fault.
    pub sp: u32,
    /// The program status.
    pub xpsr: u32,
    /// The registers r0 to r3.
    pub r: [u32; 4],
    /// The register r12.
    pub r12: u32,
    /// The fault status (CFSR); 0 on cores that have none.
    pub status: u32,
    /// The address that could not be accessed; 0 on cores that do not tell.
    pub address: u32,
}

impl Epitaph {
    /// The last words of a core that panicked.
    pub fn of_panic(core: u8, turn: Option<Turn>, place: Option<&Location<'_>>, message: &dyn Display) -> Self {
        let mut text = Text::new();
        // A text takes what fits and never fails; a message that fails to format itself is kept as far as it came.
        let _ = write!(text, "{message}");
        let place = place.map(|place| Place { file: Text::end_of(place.file()), line: place.line() });
        Self { core, turn, cause: Cause::Panic { place, message: text } }
    }

    /// The last words of a core that faulted.
    pub fn of_fault(core: u8, turn: Option<Turn>, registers: Registers) -> Self {
        Self { core, turn, cause: Cause::Fault(registers) }
    }
}

impl Display for Epitaph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "core {} died ", self.core)?;
        match &self.turn {
            Some(Turn { actor, letter: Some(letter) }) => write!(f, "in {actor}, letter {letter}: ")?,
            Some(Turn { actor, letter: None }) => write!(f, "in the monitor of {actor}: ")?,
            None => f.write_str("outside a turn: ")?,
        }
        match &self.cause {
            Cause::Panic { place: Some(place), message } => write!(f, "{message}, at {}:{}", place.file, place.line),
            Cause::Panic { place: None, message } => write!(f, "{message}"),
            Cause::Fault(Registers { pc, lr, sp, xpsr, r, r12, status, address }) => {
                write!(f, "fault at pc {pc:#010x}, lr {lr:#010x}, sp {sp:#010x}, xpsr {xpsr:#010x}")?;
                write!(f, ", r0 {:#x}, r1 {:#x}, r2 {:#x}, r3 {:#x}, r12 {r12:#x}", r[0], r[1], r[2], r[3])?;
                write!(f, ", status {status:#010x}, address {address:#010x}")
            }
        }
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Epitaph {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "core {} died ", self.core);
        match &self.turn {
            Some(Turn { actor, letter: Some(letter) }) => {
                defmt::write!(f, "in {=str}, letter {=str}: ", actor.as_str(), letter.as_str());
            }
            Some(Turn { actor, letter: None }) => defmt::write!(f, "in the monitor of {=str}: ", actor.as_str()),
            None => defmt::write!(f, "outside a turn: "),
        }
        match &self.cause {
            Cause::Panic { place: Some(Place { file, line }), message } => {
                defmt::write!(f, "{=str}, at {=str}:{}", message.as_str(), file.as_str(), line);
            }
            Cause::Panic { place: None, message } => defmt::write!(f, "{=str}", message.as_str()),
            Cause::Fault(Registers { pc, lr, sp, xpsr, r, r12, status, address }) => {
                defmt::write!(f, "fault at pc {:#010x}, lr {:#010x}, sp {:#010x}, xpsr {:#010x}", pc, lr, sp, xpsr);
                defmt::write!(f, ", r0 {:#x}, r1 {:#x}, r2 {:#x}, r3 {:#x}, r12 {:#x}", r[0], r[1], r[2], r[3], r12);
                defmt::write!(f, ", status {:#010x}, address {:#010x}", status, address);
            }
        }
    }
}

// ---- the bytes ----

/// At the beginning of an epitaph. What RAM holds after power-up, or an image of another layout, does not look like it.
const MAGIC: u32 = u32::from_le_bytes(*b"RIP1");
/// Magic and checksum.
const HEADER: usize = 8;

/// The epitaph as bytes: magic, checksum of the rest, then the fields in order, texts with their length in front.
pub fn encode(epitaph: &Epitaph) -> [u8; SIZE] {
    let grave = [const { AtomicU32::new(0) }; SIZE / 4];
    write(&grave, epitaph);
    read(&grave)
}

/// Writes an epitaph into its grave, without a copy: whoever does has little stack left.
fn write(grave: &Grave, epitaph: &Epitaph) {
    clear(grave);
    let mut field = Writer { grave, next: HEADER };
    field.byte(epitaph.core);
    match &epitaph.turn {
        None => field.byte(NO_TURN),
        Some(Turn { actor, letter: None }) => {
            field.byte(IN_MONITOR);
            field.text(actor);
        }
        Some(Turn { actor, letter: Some(letter) }) => {
            field.byte(IN_LETTER);
            field.text(actor);
            field.text(letter);
        }
    }
    match &epitaph.cause {
        Cause::Panic { place, message } => {
            field.byte(if place.is_some() { PANIC_WITH_PLACE } else { PANIC });
            if let Some(place) = place {
                field.text(&place.file);
                field.word(place.line);
            }
            field.text(message);
        }
        Cause::Fault(registers) => {
            field.byte(FAULT);
            let Registers { pc, lr, sp, xpsr, r: [r0, r1, r2, r3], r12, status, address } = *registers;
            for register in [pc, lr, sp, xpsr, r0, r1, r2, r3, r12, status, address] {
                field.word(register);
            }
        }
    }
    grave[1].store(checksum(grave), Ordering::Relaxed);
    // Last: what is not complete is no epitaph.
    grave[0].store(MAGIC, Ordering::Relaxed);
}

/// The epitaph in these bytes, if there is one.
pub fn decode(bytes: &[u8; SIZE]) -> Option<Epitaph> {
    let grave = buried(bytes);
    if !is_intact(&grave) {
        return None;
    }
    let mut field = Reader { bytes, next: HEADER };
    let core = field.byte()?;
    let turn = match field.byte()? {
        NO_TURN => None,
        IN_MONITOR => Some(Turn { actor: field.text()?, letter: None }),
        IN_LETTER => Some(Turn { actor: field.text()?, letter: Some(field.text()?) }),
        _ => return None,
    };
    let cause = match field.byte()? {
        PANIC => Cause::Panic { place: None, message: field.text()? },
        PANIC_WITH_PLACE => {
            let place = Place { file: field.text()?, line: field.word()? };
            Cause::Panic { place: Some(place), message: field.text()? }
        }
        FAULT => {
            let mut word = || field.word();
            let (pc, lr, sp, xpsr) = (word()?, word()?, word()?, word()?);
            let r = [word()?, word()?, word()?, word()?];
            Cause::Fault(Registers { pc, lr, sp, xpsr, r, r12: word()?, status: word()?, address: word()? })
        }
        _ => return None,
    };
    Some(Epitaph { core, turn, cause })
}

/// Whether somebody wrote an epitaph here and nobody has touched it since.
fn is_intact(grave: &Grave) -> bool {
    grave[0].load(Ordering::Relaxed) == MAGIC && grave[1].load(Ordering::Relaxed) == checksum(grave)
}

const NO_TURN: u8 = 0;
const IN_MONITOR: u8 = 1;
const IN_LETTER: u8 = 2;
const PANIC: u8 = 1;
const PANIC_WITH_PLACE: u8 = 2;
const FAULT: u8 = 3;

// The longest there is: a panic in a turn, with its place, every text full.
const _: () = assert!(HEADER + 2 + (1 + 40) + (1 + 24) + 1 + (1 + 48) + 4 + (1 + 96) <= SIZE);

/// Of what is behind the header. FNV-1a: a few instructions, and no table in flash. What it guards against is chance, not malice.
fn checksum(grave: &Grave) -> u32 {
    let bytes = grave[HEADER / 4..].iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes());
    bytes.fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

struct Writer<'a> {
    grave: &'a Grave,
    next: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.byte(byte));
    }

    /// Into a byte that is zero.
    fn byte(&mut self, byte: u8) {
        // What is written always fits, as is asserted above; a last word is no place for a panic of its own.
        if let Some(word) = self.grave.get(self.next / 4) {
            word.store(word.load(Ordering::Relaxed) | u32::from(byte) << (self.next % 4 * 8), Ordering::Relaxed);
        }
        self.next += 1;
    }

    fn word(&mut self, word: u32) {
        self.put(&word.to_le_bytes());
    }

    fn text<const N: usize>(&mut self, text: &Text<N>) {
        self.byte(text.as_str().len() as u8);
        self.put(text.as_str().as_bytes());
    }
}

struct Reader<'a> {
    bytes: &'a [u8; SIZE],
    next: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.next..self.next + count)?;
        self.next += count;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn text<const N: usize>(&mut self) -> Option<Text<N>> {
        let length = self.byte()?.into();
        let text = str::from_utf8(self.take(length)?).ok()?;
        (length <= N).then(|| Text::beginning_of(text))
    }
}

// ---- where they survive ----

/// The words of an epitaph in memory. Atomic because that is what memory is that several cores may look at; a place is written
/// by its own core when it dies, and by the core that boots.
type Grave = [AtomicU32; SIZE / 4];

/// What stays of cores that died, and the stacks on which they say their last words.
///
/// The linker puts this memory right below the stack of core 0. The last stacks come between, so that a stack that overflowed by
/// what a fault puts on it does not reach an epitaph.
#[doc(hidden)]
#[repr(C, align(8))]
pub struct Remains {
    graves: [Grave; CORES],
    #[cfg(target_os = "none")]
    last_stacks: [LastStack; CORES],
}

/// Memory that is the stack of a core that dies, and nothing else.
#[cfg(target_os = "none")]
struct LastStack {
    _memory: core::cell::UnsafeCell<core::mem::MaybeUninit<[u64; LAST_STACK / 8]>>,
}

// SAFETY: Rust code never looks at it; as a stack it belongs to one core.
#[cfg(target_os = "none")]
unsafe impl Sync for LastStack {}

impl Remains {
    /// Where the last stacks are, one for each core: bytes from the beginning.
    #[cfg(target_os = "none")]
    pub const LAST_STACKS: usize = core::mem::offset_of!(Self, last_stacks);
}

/// Bytes of a last stack. A panic whose message formats a struct takes some 1200 of them; a `Display` of the program's may take more.
#[doc(hidden)]
pub const LAST_STACK: usize = 2048;

// `.uninit` is left alone by the start-up code, so what was there before the reset is there after it.
#[doc(hidden)]
#[cfg_attr(target_os = "none", unsafe(link_section = ".uninit.FLOCKWORK_EPITAPHS"))]
#[unsafe(no_mangle)]
pub static FLOCKWORK_EPITAPHS: Remains = Remains {
    graves: [const { [const { AtomicU32::new(0) }; SIZE / 4] }; CORES],
    #[cfg(target_os = "none")]
    last_stacks: [const { LastStack { _memory: core::cell::UnsafeCell::new(core::mem::MaybeUninit::uninit()) } };
        CORES],
};

/// Which cores have died since this boot.
static DIED: [AtomicBool; CORES] = [const { AtomicBool::new(false) }; CORES];

/// What is in a grave, as bytes.
fn read(grave: &Grave) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    for (word, bytes) in grave.iter().zip(bytes.as_chunks_mut().0) {
        *bytes = word.load(Ordering::Relaxed).to_le_bytes();
    }
    bytes
}

/// The grave with these bytes.
fn buried(bytes: &[u8; SIZE]) -> Grave {
    let grave = [const { AtomicU32::new(0) }; SIZE / 4];
    for (word, bytes) in grave.iter().zip(bytes.as_chunks().0) {
        word.store(u32::from_le_bytes(*bytes), Ordering::Relaxed);
    }
    grave
}

fn clear(grave: &Grave) {
    grave.iter().for_each(|word| word.store(0, Ordering::Relaxed));
}

/// Leaves an epitaph for the next boot, unless this core left one since this boot. Called by the core that dies, with its interrupts
/// off.
pub fn leave(epitaph: &Epitaph) {
    let core = usize::from(epitaph.core);
    if let (Some(grave), Some(died)) = (FLOCKWORK_EPITAPHS.graves.get(core), DIED.get(core))
        && !died.load(Ordering::Relaxed)
    {
        died.store(true, Ordering::Relaxed);
        write(grave, epitaph);
    }
}

/// An epitaph from before the reset, each once. Called at boot by the first core, before the others start, until there is
/// none left.
pub fn take() -> Option<Epitaph> {
    FLOCKWORK_EPITAPHS.graves.iter().find_map(|grave| {
        let found = decode(&read(grave))?;
        clear(grave);
        Some(found)
    })
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::ToString;

    fn panicked(core: u8) -> Epitaph {
        let turn = Turn::new("dictionary::Dictionary", Some("put"));
        Epitaph::of_panic(core, Some(turn), Some(Location::caller()), &format_args!("no room for {} words", 7))
    }

    fn faulted() -> Epitaph {
        let registers =
            Registers { pc: 0x1000_0234, lr: 0x1000_0199, sp: 0x2000_0fe0, r: [1, 2, 3, 4], ..Default::default() };
        Epitaph::of_fault(1, None, registers)
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let longest = Turn::new(&"actor".repeat(20), Some(&"letter".repeat(20)));
        let long = Epitaph::of_panic(1, Some(longest), Some(Location::caller()), &"message".repeat(40));
        let nowhere = Epitaph::of_panic(0, None, None, &"no place");
        let deciding = Epitaph::of_panic(0, Some(Turn::new("Bank", None)), None, &"undecided");
        for epitaph in [panicked(0), faulted(), long, nowhere, deciding] {
            assert_eq!(decode(&encode(&epitaph)), Some(epitaph));
        }
    }

    #[test]
    fn it_reads_as_a_sentence() {
        let text = panicked(1).to_string();
        assert!(
            text.starts_with("core 1 died in dictionary::Dictionary, letter put: no room for 7 words, at "),
            "{text}"
        );
        assert!(text.contains("epitaph.rs:"), "{text}");
        let deciding = Epitaph::of_panic(0, Some(Turn::new("Bank", None)), None, &"undecided");
        assert_eq!(deciding.to_string(), "core 0 died in the monitor of Bank: undecided");
        let text = faulted().to_string();
        assert!(text.starts_with("core 1 died outside a turn: fault at pc 0x10000234, lr 0x10000199"), "{text}");
    }

    #[test]
    fn memory_that_was_never_written_is_no_epitaph() {
        for filling in [0x00, 0x55, 0xaa, 0xff] {
            assert_eq!(decode(&[filling; SIZE]), None);
        }
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes = encode(&panicked(0));
        for bit in 0..SIZE * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn a_record_that_claims_impossible_fields_is_refused_not_read_past_its_end() {
        // With the checksum right: an image of another version may have left it.
        let forge = |change: fn(&mut [u8; SIZE])| {
            let mut bytes = encode(&panicked(0));
            change(&mut bytes);
            let sum = checksum(&buried(&bytes));
            bytes[4..HEADER].copy_from_slice(&sum.to_le_bytes());
            decode(&bytes)
        };
        assert_eq!(forge(|bytes| bytes[HEADER + 2] = 255), None, "a name longer than any");
        assert_eq!(forge(|bytes| bytes[HEADER + 3] = 0xff), None, "a name that is no text");
        assert_eq!(forge(|bytes| bytes[HEADER + 1..].fill(0xff)), None, "nothing but nonsense");
    }

    /// Another boot: what start-up code sets to zero.
    fn boot() {
        DIED.iter().for_each(|died| died.store(false, Ordering::Relaxed));
    }

    /// One test, because there is one memory.
    #[test]
    fn the_first_death_of_each_core_since_a_boot_is_kept_and_taken_once() {
        assert_eq!(take(), None);
        leave(&faulted());
        leave(&panicked(1));
        leave(&panicked(0));
        leave(&panicked(CORES as u8));
        let (first, second) = (take(), take());
        assert!(matches!(first, Some(Epitaph { core: 0, cause: Cause::Panic { .. }, .. })), "{first:?}");
        assert_eq!(second, Some(faulted()));
        assert_eq!(take(), None);

        // What nobody took gives way to what a later life left.
        boot();
        leave(&panicked(1));
        boot();
        leave(&faulted());
        leave(&panicked(1));
        assert_eq!(take(), Some(faulted()));
        assert_eq!(take(), None);
    }
}
