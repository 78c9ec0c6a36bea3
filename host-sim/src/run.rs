//! The record of a run: every hop of every letter in the order of time, and figures per core and per actor.

use std::fmt;
use std::io::{self, Write};
use std::num::NonZeroU32;

use flockwork::trace::{Hop, LetterName};
use flockwork::worker;

use crate::device::Mode;

/// What happened while a device ran.
#[derive(Clone, Debug)]
pub struct Run<R = ()> {
    /// What `main` returned.
    pub returned: R,
    /// How its cores were made.
    pub mode: Mode,
    /// What chance was made of, in stepped mode.
    pub seed: u64,
    /// Cycles per microsecond. On threads a cycle is a nanosecond of the host.
    pub megahertz: u32,
    /// When `main` returned, in cycles since the start.
    pub cycles: u64,
    /// Figures of each core.
    pub cores: Vec<CoreFigures>,
    /// Figures of each actor, by its number: in the order of their first letters in this process.
    pub actors: Vec<ActorFigures>,
    /// Every hop of every letter, in the order of time. Empty if they were not kept.
    pub events: Vec<Event>,
}

/// One hop of one letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// In cycles since the start.
    pub time: u64,
    /// Which letter, counted from 1 over the whole run; none if it never got into a lane.
    pub letter: Option<NonZeroU32>,
    /// The receiver's number.
    pub actor: u16,
    /// The place of its method in the receiver's `METHODS`.
    pub method: Option<u8>,
    /// The core on which it happened.
    pub core: u8,
    /// What happened.
    pub hop: Hop,
}

/// What a core did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreFigures {
    /// Cycles in which it was awake.
    pub awake: u64,
    /// Cycles in which it slept.
    pub asleep: u64,
    /// Cycles in which it was stalled, by faults; it was awake.
    pub stalled: u64,
    /// Letters it ran.
    pub letters: u64,
    /// The longest turn, in cycles, with what was nested in it.
    pub longest_turn: u64,
}

/// What happened to an actor's letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActorFigures {
    /// The type of its state; none if it had no letter in this run.
    pub name: Option<&'static str>,
    /// Letters that got into its mailbox.
    pub sent: u64,
    /// Letters whose method ended.
    pub ended: u64,
    /// Letters that left.
    pub left: u64,
    /// Grants that the gate refused.
    pub refused: u64,
    /// Letters that its overflow policy dropped.
    pub dropped: u64,
    /// The most letters that were in its mailbox at once.
    pub high_water: u64,
    /// Its longest turn, in cycles, with what was nested in it.
    pub longest_turn: u64,
}

/// A device as it is at some moment of its run, for whoever watches it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The time, in cycles since the start.
    pub cycles: u64,
    /// What each core does.
    pub cores: Vec<CoreSnapshot>,
    /// Figures of each actor so far, by its number.
    pub actors: Vec<ActorFigures>,
}

/// What a core does at some moment.
#[derive(Clone, Debug)]
pub struct CoreSnapshot {
    /// Its figures so far.
    pub figures: CoreFigures,
    /// Whether it sleeps.
    pub is_asleep: bool,
    /// The innermost turn it is in: the type of the actor, the method, and the letter.
    pub turn: Option<(&'static str, &'static str, NonZeroU32)>,
}

impl ActorFigures {
    /// Letters that are in its mailbox still, or that run.
    pub fn waiting(&self) -> u64 {
        self.sent.saturating_sub(self.left)
    }

    #[inline(always)]
    fn count_sent(&mut self) {
        self.sent += 1;
        self.high_water = self.high_water.max(self.waiting());
    }
}

impl<R> Run<R> {
    /// The same record of a run that returned something else.
    pub fn map<S>(self, convert: impl FnOnce(R) -> S) -> Run<S> {
        let Self { returned, mode, seed, megahertz, cycles, cores, actors, events } = self;
        Run { returned: convert(returned), mode, seed, megahertz, cycles, cores, actors, events }
    }

    /// Letters that were run.
    pub fn letters(&self) -> u64 {
        self.cores.iter().map(|core| core.letters).sum()
    }

    /// Writes the events, a line each: time, core, hop, letter, receiver and method.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_trace(&self, mut out: impl Write) -> io::Result<()> {
        self.events.iter().try_for_each(|event| writeln!(out, "{event}"))
    }

    /// A number made of the trace as [`write_trace`](Self::write_trace) writes it (FNV-1a): the same for the same trace.
    pub fn trace_hash(&self) -> u64 {
        let mut hash = Fnv(0xCBF2_9CE4_8422_2325);
        match self.write_trace(&mut hash) {
            Ok(()) => hash.0,
            Err(_) => unreachable!("hashing does not fail"),
        }
    }
}

impl Event {
    /// The type of the receiver.
    pub fn actor_name(&self) -> &'static str {
        worker::names(self.actor, self.method.unwrap_or(u8::MAX)).map_or("?", |names| names.actor)
    }

    /// The name of the method.
    pub fn method_name(&self) -> Option<&'static str> {
        worker::names(self.actor, self.method?).and_then(|names| names.method)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hop = match self.hop {
            Hop::Sent => "sent",
            Hop::Granted => "granted",
            Hop::Refused => "refused",
            Hop::Started => "started",
            Hop::Ended => "ended",
            Hop::Left => "left",
            Hop::Dropped => "dropped",
        };
        let letter = self.letter.map_or(0, NonZeroU32::get);
        let method = self.method_name().unwrap_or("?");
        write!(f, "{:>10} core {} {hop:<7} #{letter} {}::{method}", self.time, self.core, self.actor_name())
    }
}

struct Fnv(u64);

impl Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes the record while a device runs.
pub(crate) struct Recorder {
    keep_events: bool,
    events: Vec<Event>,
    actors: Vec<ActorRecord>,
    cores: Vec<CoreRecord>,
    letters: u32,
}

#[derive(Default)]
struct ActorRecord {
    figures: ActorFigures,
    /// Whether a monitor ever granted one of its letters: without a monitor nobody does.
    is_monitored: bool,
    letters: InSlots,
}

/// The numbers of the letters in the slots of a mailbox: a row of slots for each lane, and 0 where no letter was seen.
#[derive(Default)]
struct InSlots {
    numbers: Vec<u32>,
    /// A row has two to the power of this many slots.
    row: u32,
}

impl InSlots {
    fn at(&mut self, name: LetterName) -> &mut u32 {
        let (lane, slot) = (usize::from(name.lane), usize::from(name.slot));
        if slot >> self.row != 0 || lane >= self.numbers.len() >> self.row {
            self.grow(lane, slot);
        }
        &mut self.numbers[lane << self.row | slot]
    }

    /// The same if the table is large enough.
    #[inline(always)]
    fn get(&mut self, name: LetterName) -> Option<&mut u32> {
        let (lane, slot) = (usize::from(name.lane), usize::from(name.slot));
        if slot >> self.row != 0 {
            return None;
        }
        self.numbers.get_mut(lane << self.row | slot)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, lane: usize, slot: usize) {
        let lanes = (self.numbers.len() >> self.row).max(lane + 1);
        let row = self.row.max(usize::BITS - slot.leading_zeros());
        let mut numbers = vec![0; lanes << row];
        for (wider, old) in numbers.chunks_mut(1 << row).zip(self.numbers.chunks(1 << self.row)) {
            wider[..old.len()].copy_from_slice(old);
        }
        *self = Self { numbers, row };
    }
}

/// The number of no actor.
const NOBODY: u32 = u32::MAX;

struct CoreRecord {
    figures: CoreFigures,
    /// Turns that have not ended, innermost last.
    turns: Vec<Turn>,
    /// A letter without a monitor that has ended: its slot may be another letter's already, but it leaves next.
    leaving: Option<NonZeroU32>,
    /// The actor that its worker visits, as far as hops tell; or nobody.
    visiting: u32,
}

impl CoreRecord {
    fn new() -> Self {
        Self { figures: CoreFigures::default(), turns: Vec::new(), leaving: None, visiting: NOBODY }
    }

    /// Whether a hop is the first of a visit. Visits have no hop of their own: one has begun if the last hop on this core was
    /// another actor's, or if something outside of all turns sent a letter since, which the worker does not do.
    #[inline(always)]
    fn begins_visit(&mut self, hop: Hop, actor: u16) -> bool {
        if hop == Hop::Sent {
            if self.turns.is_empty() {
                self.visiting = NOBODY;
            }
            return false;
        }
        let visited = std::mem::replace(&mut self.visiting, u32::from(actor));
        visited != u32::from(actor) && hop != Hop::Ended
    }
}

/// A turn that has not ended.
struct Turn {
    actor: u16,
    method: u8,
    letter: Option<NonZeroU32>,
    started: u64,
    /// Its letter was sent in this run, and no monitor granted it: it leaves as soon as it ends.
    leaves_at_once: bool,
}

/// A hop whose letter is known, but not its time.
pub(crate) struct Reached {
    core: u8,
    hop: Hop,
    actor: u16,
    method: Option<u8>,
    letter: Option<NonZeroU32>,
    /// Whether its receiver's monitor granted it: without a monitor nobody does.
    pub(crate) granted: bool,
    /// Whether it is the first hop of a worker's visit to the receiver.
    pub(crate) begins_visit: bool,
}

impl Recorder {
    pub(crate) fn new(cores: usize, keep_events: bool) -> Self {
        Self {
            keep_events,
            events: Vec::new(),
            actors: Vec::new(),
            cores: (0..cores).map(|_| CoreRecord::new()).collect(),
            letters: 0,
        }
    }

    /// Whether every event is kept.
    #[inline(always)]
    pub(crate) fn keeps_events(&self) -> bool {
        self.keep_events
    }

    /// Finds out which letter it is: slots are used again, so a name alone does not tell.
    pub(crate) fn reach(&mut self, core: u8, hop: Hop, actor: u16, letter: Option<LetterName>) -> Reached {
        let Some(name) = letter else {
            return Reached { core, hop, actor, method: None, letter: None, granted: false, begins_visit: false };
        };
        let receiver = at(&mut self.actors, usize::from(actor));
        let record = &mut self.cores[usize::from(core)];
        let letters = &mut self.letters;
        // A letter that was sent before this run gets its number where it is first seen.
        let mut in_slot = |is_new: bool| {
            let number = receiver.letters.at(name);
            if is_new || *number == 0 {
                *letters += 1;
                *number = *letters;
            }
            NonZeroU32::new(*number)
        };
        let (letter, granted) = match hop {
            Hop::Sent => (in_slot(true), false),
            Hop::Granted => {
                let letter = in_slot(false);
                receiver.is_monitored = true;
                (letter, true)
            }
            Hop::Started => {
                let letter = in_slot(false);
                let turn = Turn { actor, method: name.method, letter, started: 0, leaves_at_once: false };
                record.turns.push(turn);
                (letter, receiver.is_monitored)
            }
            Hop::Ended => {
                let letter = match record.turns.last() {
                    Some(turn) => turn.letter,
                    None => in_slot(false),
                };
                if !receiver.is_monitored {
                    record.leaving = letter;
                }
                (letter, receiver.is_monitored)
            }
            Hop::Left => match record.leaving.take() {
                Some(leaving) => (Some(leaving), false),
                None => (in_slot(false), receiver.is_monitored),
            },
            Hop::Refused | Hop::Dropped => (in_slot(false), false),
        };
        let begins_visit = record.begins_visit(hop, actor);
        Reached { core, hop, actor, method: Some(name.method), letter, granted, begins_visit }
    }

    /// What a quick step is about; none if it was not seen before.
    #[inline(always)]
    pub(crate) fn entry(&mut self, core: usize, actor: u16) -> Option<Entry<'_>> {
        let Self { actors, cores, letters, .. } = self;
        let receiver = actors.get_mut(usize::from(actor))?;
        Some(Entry { actor: u32::from(actor), receiver, core: cores.get_mut(core)?, letters })
    }

    pub(crate) fn stall(&mut self, core: usize, cycles: u64) {
        self.cores[core].figures.stalled += cycles;
    }

    /// The core sleeps: whatever comes next is another visit.
    pub(crate) fn end_visit(&mut self, core: usize) {
        self.cores[core].visiting = NOBODY;
    }

    /// Notes a hop at its time.
    pub(crate) fn note(&mut self, time: u64, reached: &Reached) {
        let &Reached { core, hop, actor, method, letter, .. } = reached;
        let receiver = &mut at(&mut self.actors, usize::from(actor)).figures;
        let record = &mut self.cores[usize::from(core)];
        match hop {
            Hop::Sent => receiver.count_sent(),
            Hop::Granted => {}
            Hop::Refused => receiver.refused += 1,
            Hop::Started => {
                if let Some(turn) = record.turns.last_mut() {
                    turn.started = time;
                }
            }
            Hop::Ended => {
                receiver.ended += 1;
                record.figures.letters += 1;
                if let Some(turn) = record.turns.pop() {
                    let length = time - turn.started;
                    receiver.longest_turn = receiver.longest_turn.max(length);
                    record.figures.longest_turn = record.figures.longest_turn.max(length);
                }
            }
            Hop::Left => receiver.left += 1,
            Hop::Dropped => receiver.dropped += 1,
        }
        if self.keep_events {
            self.events.push(Event { time, letter, actor, method, core, hop });
        }
    }

    /// The innermost turn of a core: actor, method and letter.
    pub(crate) fn turn_on(&self, core: usize) -> Option<(&'static str, &'static str, NonZeroU32)> {
        let turn = self.cores[core].turns.last()?;
        let names = worker::names(turn.actor, turn.method);
        let method = names.and_then(|names| names.method).unwrap_or("?");
        Some((names.map_or("?", |names| names.actor), method, turn.letter?))
    }

    /// How it is now; `times` are cycles awake and asleep of each core, and whether it sleeps.
    pub(crate) fn snapshot(&self, cycles: u64, times: impl Iterator<Item = (u64, u64, bool)>) -> Snapshot {
        let cores = self.cores.iter().enumerate().zip(times);
        let cores = cores.map(|((number, core), (awake, asleep, is_asleep))| CoreSnapshot {
            figures: CoreFigures { awake, asleep, ..core.figures.clone() },
            is_asleep,
            turn: self.turn_on(number),
        });
        let actors = (0..).zip(&self.actors).map(|(number, actor)| named(number, actor.figures.clone()));
        Snapshot { cycles, cores: cores.collect(), actors: actors.collect() }
    }

    /// Actors with letters that have not left: their number and how many.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = (u16, u64)> {
        let waiting = self.actors.iter().map(|actor| actor.figures.waiting());
        (0..).zip(waiting).filter(|(_, waiting)| *waiting > 0)
    }

    /// The record of a run that took so long; `times` are cycles awake and asleep of each core.
    pub(crate) fn finish<R>(self, returned: R, of: Circumstances, times: &[(u64, u64)]) -> Run<R> {
        let Circumstances { mode, seed, megahertz, cycles } = of;
        let cores = self.cores.into_iter().zip(times);
        let actors = (0..).zip(self.actors);
        Run {
            returned,
            mode,
            seed,
            megahertz,
            cycles,
            cores: cores.map(|(core, &(awake, asleep))| CoreFigures { awake, asleep, ..core.figures }).collect(),
            actors: actors.map(|(number, actor)| named(number, actor.figures)).collect(),
            events: self.events,
        }
    }
}

/// The same record for the hops that every letter has, if events are not kept and nothing is seen for the first time. What this does
/// for every hop decides how fast simulated time passes: a few loads and stores, and no memory is taken.
///
/// Nothing is changed before the time of a hop is known: `time` gives it, by the costs of a letter that was granted or not and
/// begins a visit or not; none if it cannot happen yet. Then the other way is taken.
pub(crate) struct Entry<'a> {
    actor: u32,
    receiver: &'a mut ActorRecord,
    core: &'a mut CoreRecord,
    letters: &'a mut u32,
}

/// A letter that was granted or not, and begins a visit or not.
#[derive(Clone, Copy)]
pub(crate) struct Circumstance {
    pub(crate) granted: bool,
    pub(crate) begins_visit: bool,
}

impl Entry<'_> {
    #[inline(always)]
    fn circumstance(&self) -> Circumstance {
        Circumstance { granted: self.receiver.is_monitored, begins_visit: self.core.visiting != self.actor }
    }

    #[inline(always)]
    pub(crate) fn sent(self, name: LetterName, time: impl FnOnce(Circumstance) -> Option<u64>) -> Option<()> {
        let Self { receiver, core, letters, .. } = self;
        let number = receiver.letters.get(name)?;
        time(Circumstance { granted: false, begins_visit: false })?;
        *letters += 1;
        *number = *letters;
        if core.turns.is_empty() {
            core.visiting = NOBODY;
        }
        receiver.figures.count_sent();
        Some(())
    }

    #[inline(always)]
    pub(crate) fn started(self, name: LetterName, time: impl FnOnce(Circumstance) -> Option<u64>) -> Option<()> {
        let circumstance = self.circumstance();
        let Self { actor, receiver, core, .. } = self;
        let letter = NonZeroU32::new(*receiver.letters.get(name)?)?;
        if core.turns.len() == core.turns.capacity() {
            return None;
        }
        let started = time(circumstance)?;
        let leaves_at_once = !circumstance.granted;
        core.turns.push(Turn {
            actor: actor as u16,
            method: name.method,
            letter: Some(letter),
            started,
            leaves_at_once,
        });
        core.visiting = actor;
        Some(())
    }

    /// A letter without a monitor leaves as soon as it has ended, and nothing happens in between; so this is both.
    #[inline(always)]
    pub(crate) fn ended_and_left(self, times: impl FnOnce() -> Option<u64>) -> Option<()> {
        let Self { actor, receiver, core, .. } = self;
        let turn = core.turns.last().filter(|turn| turn.leaves_at_once)?;
        let length = times()? - turn.started;
        core.turns.pop();
        core.visiting = actor;
        core.figures.letters += 1;
        core.figures.longest_turn = core.figures.longest_turn.max(length);
        let figures = &mut receiver.figures;
        figures.ended += 1;
        figures.left += 1;
        figures.longest_turn = figures.longest_turn.max(length);
        Some(())
    }
}

/// The entry of a table that grows as needed.
#[inline(always)]
fn at<T: Default>(table: &mut Vec<T>, place: usize) -> &mut T {
    if place >= table.len() {
        grow(table, place);
    }
    &mut table[place]
}

#[cold]
#[inline(never)]
fn grow<T: Default>(table: &mut Vec<T>, place: usize) {
    table.resize_with(place + 1, T::default);
}

/// In which circumstances a run took place.
pub(crate) struct Circumstances {
    pub(crate) mode: Mode,
    pub(crate) seed: u64,
    pub(crate) megahertz: u32,
    pub(crate) cycles: u64,
}

fn named(number: u16, figures: ActorFigures) -> ActorFigures {
    let had_letters = figures.sent + figures.ended + figures.dropped > 0;
    let names = worker::names(number, u8::MAX).filter(|_| had_letters);
    ActorFigures { name: names.map(|names| names.actor), ..figures }
}
