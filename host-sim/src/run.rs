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
    /// By lane and slot.
    letters: Vec<Vec<InSlot>>,
}

/// The letter in a slot.
#[derive(Clone, Copy, Default)]
struct InSlot {
    letter: Option<NonZeroU32>,
    granted: bool,
}

#[derive(Default)]
struct CoreRecord {
    figures: CoreFigures,
    /// Turns that have not ended, innermost last.
    turns: Vec<Turn>,
    /// A letter without a monitor that has ended: its slot may be another letter's already, but it leaves next.
    leaving: Option<NonZeroU32>,
    /// The actor that its worker visits, as far as hops tell.
    visiting: Option<u16>,
}

impl CoreRecord {
    /// Whether a hop is the first of a visit. Visits have no hop of their own: one has begun if the last hop on this core was
    /// another actor's, or if something outside of all turns sent a letter since, which the worker does not do.
    #[inline(always)]
    fn begins_visit(&mut self, hop: Hop, actor: u16) -> bool {
        if hop == Hop::Sent {
            if self.turns.is_empty() {
                self.visiting = None;
            }
            return false;
        }
        self.visiting.replace(actor) != Some(actor) && hop != Hop::Ended
    }
}

/// A turn that has not ended.
struct Turn {
    actor: u16,
    method: u8,
    letter: NonZeroU32,
    started: u64,
    granted: bool,
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
            cores: (0..cores).map(|_| CoreRecord::default()).collect(),
            letters: 0,
        }
    }

    /// Finds out which letter it is: slots are used again, so a name alone does not tell.
    #[inline(always)]
    pub(crate) fn reach(&mut self, core: u8, hop: Hop, actor: u16, letter: Option<LetterName>) -> Reached {
        let Some(name) = letter else {
            return Reached { core, hop, actor, method: None, letter: None, granted: false, begins_visit: false };
        };
        let lanes = &mut at(&mut self.actors, usize::from(actor)).letters;
        let in_slot = at(at(lanes, usize::from(name.lane)), usize::from(name.slot));
        let record = &mut self.cores[usize::from(core)];
        // A letter that was sent before this run gets its number where it is first seen.
        if hop == Hop::Sent || in_slot.letter.is_none() {
            self.letters += 1;
            *in_slot = InSlot { letter: NonZeroU32::new(self.letters), granted: false };
        }
        in_slot.granted |= hop == Hop::Granted;
        let InSlot { mut letter, mut granted } = *in_slot;
        match hop {
            Hop::Started => {
                let letter = letter.unwrap_or(NonZeroU32::MIN);
                record.turns.push(Turn { actor, method: name.method, letter, started: 0, granted });
            }
            Hop::Ended => {
                if let Some(turn) = record.turns.last() {
                    (letter, granted) = (Some(turn.letter), turn.granted);
                }
                record.leaving = letter.filter(|_| !granted);
            }
            Hop::Left => {
                if let Some(leaving) = record.leaving.take() {
                    (letter, granted) = (Some(leaving), false);
                }
            }
            _ => {}
        }
        let begins_visit = record.begins_visit(hop, actor);
        Reached { core, hop, actor, method: Some(name.method), letter, granted, begins_visit }
    }

    pub(crate) fn stall(&mut self, core: usize, cycles: u64) {
        self.cores[core].figures.stalled += cycles;
    }

    /// The core sleeps: whatever comes next is another visit.
    pub(crate) fn end_visit(&mut self, core: usize) {
        self.cores[core].visiting = None;
    }

    /// Notes a hop at its time.
    #[inline(always)]
    pub(crate) fn note(&mut self, time: u64, reached: &Reached) {
        let &Reached { core, hop, actor, method, letter, .. } = reached;
        let receiver = &mut at(&mut self.actors, usize::from(actor)).figures;
        let record = &mut self.cores[usize::from(core)];
        match hop {
            Hop::Sent => {
                receiver.sent += 1;
                receiver.high_water = receiver.high_water.max(receiver.waiting());
            }
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
        Some((names.map_or("?", |names| names.actor), method, turn.letter))
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
