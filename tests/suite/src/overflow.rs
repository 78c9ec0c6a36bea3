//! What declared policies do with letters that find no room, sent from one core to the other.
//!
//! Core 1 is held in a turn meanwhile, so that its mailboxes are as full as the case makes them.

use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use flockwork::{Actor, Coalesce, DropNewest, DropOldest, Pinned, Ref, Refused, Report, actor, dead_letters};

use crate::hold::hold_core_1;
use crate::patience::reach;
use crate::{Case, Device, Stop, require, require_equal};

pub(crate) const CASES: &[Case] = &[
    Case { name: "overflow/drop-newest", proves: "KER-2", cores: 2, run: drop_newest },
    Case { name: "overflow/drop-oldest", proves: "KER-2", cores: 2, run: drop_oldest },
    Case { name: "overflow/coalesce", proves: "KER-2", cores: 2, run: coalesce },
];

/// Letters of one core that a shelf has room for.
const ROOM: usize = 2;

/// Holds the books that arrived, in order.
pub(crate) struct Shelf {
    books: [u8; 4],
    count: usize,
}

/// Turns of the shelves, for `main` to look at without a letter. Only core 1 writes it.
static TURNS: AtomicU32 = AtomicU32::new(0);

#[actor]
impl Shelf {
    /// Takes a book.
    pub fn put(&mut self, book: u8) {
        if let Some(place) = self.books.get_mut(self.count) {
            *place = book;
        }
        self.count += 1;
        TURNS.store(TURNS.load(SeqCst) + 1, SeqCst);
    }
    /// Is dusted.
    pub fn dust(&mut self) {
        TURNS.store(TURNS.load(SeqCst) + 1, SeqCst);
    }
    /// Hands all books over: how many came, and the first four.
    pub fn clear(&mut self) -> (usize, [u8; 4]) {
        (core::mem::take(&mut self.count), core::mem::take(&mut self.books))
    }
}

impl Shelf {
    const EMPTY: Self = Self { books: [0; 4], count: 0 };
}

#[actor]
static NEWEST: Actor<Shelf, DropNewest<Pinned<1>>, ROOM> = Shelf::EMPTY;
#[actor]
static OLDEST: Actor<Shelf, DropOldest<Pinned<1>>, ROOM> = Shelf::EMPTY;
#[actor]
static COALESCED: Actor<Shelf, Coalesce<Pinned<1>>, ROOM> = Shelf::EMPTY;

/// Four letters for two places: the last two are dropped.
fn drop_newest(device: &'static dyn Device) -> Result<(), Stop> {
    let before = Report::of(&NEWEST).dropped;
    four_for_two(device, &NEWEST, [1, 2])?;
    require_equal("letters that the shelf dropped", before + 2, Report::of(&NEWEST).dropped)
}

/// Four letters for two places: the first two give way.
fn drop_oldest(device: &'static dyn Device) -> Result<(), Stop> {
    let before = Report::of(&OLDEST).dropped;
    four_for_two(device, &OLDEST, [3, 4])?;
    require_equal("letters that the shelf dropped", before + 2, Report::of(&OLDEST).dropped)
}

fn four_for_two(device: &'static dyn Device, shelf: Ref<Shelf>, expected: [u8; ROOM]) -> Result<(), Stop> {
    let dead = dead_letters();
    TURNS.store(0, SeqCst);
    let held = hold_core_1(device)?;
    let told = (1..=4).all(|book| shelf.put(book).tell().is_ok());
    held.let_go()?;
    require(told, "a shelf that drops letters refused one")?;
    reach(device, "books on the shelf", ROOM as u32, || TURNS.load(SeqCst))?;
    on_shelf(shelf, &expected)?;
    require_equal("letters that died", dead.wrapping_add(2), dead_letters())
}

/// A letter takes the place of one of the same kind; one of another kind comes back.
fn coalesce(device: &'static dyn Device) -> Result<(), Stop> {
    let (dead, before) = (dead_letters(), Report::of(&COALESCED).dropped);
    TURNS.store(0, SeqCst);
    let held = hold_core_1(device)?;
    let told = [COALESCED.put(1).tell(), COALESCED.dust().tell(), COALESCED.put(2).tell()].iter().all(Result::is_ok);
    let other = COALESCED.clear().tell().map_err(|rejected| rejected.why());
    held.let_go()?;
    require(told, "a letter did not take the place of another of its kind")?;
    require(other == Err(Refused::Full), "a letter took the place of one of another kind")?;
    reach(device, "turns of the shelf", 2, || TURNS.load(SeqCst))?;
    on_shelf(&COALESCED, &[2])?;
    require_equal("letters that the shelf dropped", before + 1, Report::of(&COALESCED).dropped)?;
    require_equal("letters that died", dead.wrapping_add(1), dead_letters())
}

fn on_shelf(shelf: Ref<Shelf>, expected: &[u8]) -> Result<(), Stop> {
    let Ok((count, books)) = shelf.clear().get() else { return Err(Stop::Wrong("no answer from a shelf")) };
    require_equal("books", expected.len() as u64, count as u64)?;
    require(books[..expected.len()] == *expected, "other books are on the shelf than those that should stay")
}
