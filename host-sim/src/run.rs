//! The record of a run: every hop of every letter in the order of time, and figures per core and per actor.

use std::fmt;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::slice;

use flockwork::trace::{Hop, LetterName};
use flockwork::worker;

use crate::costs::HopCosts;
use crate::device::Mode;
use crate::journal::{Kind, Note};

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
    /// The longest turn, in cycles, without what was nested in it and without sleep: what it did itself.
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
    /// Its longest turn, in cycles, without what was nested in it and without sleep.
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

    /// So many one after the other.
    #[inline(always)]
    fn count_sent(&mut self, letters: u64) {
        self.sent += letters;
        self.high_water = self.high_water.max(self.waiting());
    }

    /// Turns of letters that have left, too.
    #[inline(always)]
    fn count_turns(&mut self, turns: u64, longest: u64) {
        self.ended += turns;
        self.left += turns;
        self.longest_turn = self.longest_turn.max(longest);
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

/// The numbers of the letters in the slots of a mailbox, by lane, and 0 where no letter was seen.
#[derive(Default)]
struct InSlots {
    lanes: Vec<Vec<u32>>,
}

impl InSlots {
    fn at(&mut self, name: LetterName) -> &mut u32 {
        at(at(&mut self.lanes, usize::from(name.lane)), usize::from(name.slot))
    }

    /// Those in a lane, up to the last slot that was seen.
    #[inline(always)]
    fn in_lane(&mut self, lane: u8) -> &mut [u32] {
        self.lanes.get_mut(usize::from(lane)).map(Vec::as_mut_slice).unwrap_or_default()
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

    /// The innermost turn ends at a time. Returns it with the cycles that it took itself.
    #[inline(always)]
    fn end_turn(&mut self, time: u64) -> Option<(Turn, u64)> {
        let turn = self.turns.pop()?;
        let length = time - turn.started;
        self.wait(length);
        let own = length.saturating_sub(turn.waited);
        Some((turn, own))
    }

    /// The innermost turn, if there is one, had to wait so long.
    #[inline(always)]
    fn wait(&mut self, cycles: u64) {
        if let Some(turn) = self.turns.last_mut() {
            turn.waited += cycles;
        }
    }

    #[inline(always)]
    fn count_turns(&mut self, turns: u64, longest: u64) {
        self.figures.letters += turns;
        self.figures.longest_turn = self.figures.longest_turn.max(longest);
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
    /// Cycles of turns that were nested in it, and of sleep: it waited for something.
    waited: u64,
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
                record.turns.push(Turn { actor, method: name.method, letter, started: 0, waited: 0 });
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

    pub(crate) fn stall(&mut self, core: usize, cycles: u64) {
        self.cores[core].figures.stalled += cycles;
    }

    /// The core sleeps: whatever comes next is another visit.
    pub(crate) fn end_visit(&mut self, core: usize) {
        self.cores[core].visiting = NOBODY;
    }

    /// The core has slept so long, if it was in a turn, inside it.
    pub(crate) fn slept(&mut self, core: usize, cycles: u64) {
        self.cores[core].wait(cycles);
    }

    /// Notes a hop at its time.
    pub(crate) fn note(&mut self, time: u64, reached: &Reached) {
        let &Reached { core, hop, actor, method, letter, .. } = reached;
        let receiver = &mut at(&mut self.actors, usize::from(actor)).figures;
        let record = &mut self.cores[usize::from(core)];
        match hop {
            Hop::Sent => receiver.count_sent(1),
            Hop::Granted => {}
            Hop::Refused => receiver.refused += 1,
            Hop::Started => {
                if let Some(turn) = record.turns.last_mut() {
                    turn.started = time;
                }
            }
            Hop::Ended => {
                let length = record.end_turn(time).map_or(0, |(_, own)| own);
                receiver.ended += 1;
                receiver.longest_turn = receiver.longest_turn.max(length);
                record.count_turns(1, length);
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

// ---- the notes of a journal ----

impl Recorder {
    /// Records what one core has noted, which has no time yet, and lets its time pass.
    ///
    /// How fast a stepped device runs is decided here. So steps that are alike are recorded together, and a letter that starts and
    /// leaves before anything else happens is no turn of its own, but a part of sums.
    pub(crate) fn work_off(&mut self, core: usize, notes: &[Note], pace: &mut Pace<'_>) {
        let mut notes = notes.iter();
        while let Some(note) = self.work_off_common(core, &mut notes, pace) {
            for hop in note.kind().hops() {
                let reached = self.reach(core as u8, *hop, note.kind().actor(), Some(note.letter()));
                pace.step(pace.least.of(*hop, reached.granted, reached.begins_visit));
                self.note(pace.time, &reached);
            }
        }
    }

    /// Works off what is common, while nothing is seen for the first time. Returns the first note that has to be seen to otherwise.
    #[inline(always)]
    fn work_off_common<'n>(
        &mut self,
        core: usize,
        notes: &mut slice::Iter<'n, Note>,
        pace: &mut Pace<'_>,
    ) -> Option<&'n Note> {
        let Self { actors, cores, letters, .. } = self;
        let mut books = Books { actors, core: &mut cores[core], letters };
        while let Some(note) = notes.next() {
            let is_recorded = match note.kind() {
                kind if kind.is(Hop::Sent) => books.send(note, notes, pace),
                kind if kind.is_whole_turn() => books.run(note, notes, pace),
                kind if kind.is(Hop::Started) => books.start(note, pace),
                Kind::LEFT_AT_ONCE => books.leave_at_once(pace),
                Kind::WAITED => pace.wait(),
                _ => None,
            };
            if is_recorded.is_none() {
                return Some(note);
            }
        }
        None
    }
}

/// What common steps are recorded in.
struct Books<'a> {
    actors: &'a mut [ActorRecord],
    core: &'a mut CoreRecord,
    letters: &'a mut u32,
}

/// Each of these works off a note, and those that come next if they are alike. If it returns none, nothing has happened.
impl Books<'_> {
    /// Letters that are sent through the same lane, one after the other.
    #[inline(always)]
    fn send(&mut self, first: &Note, next: &mut slice::Iter<'_, Note>, pace: &mut Pace<'_>) -> Option<()> {
        let (kind, LetterName { lane, slot, .. }) = (first.kind(), first.letter());
        let receiver = self.actors.get_mut(usize::from(kind.actor()))?;
        let number = receiver.letters.in_lane(lane).get_mut(usize::from(slot))?;
        *self.letters += 1;
        *number = *self.letters;
        pace.step(pace.least.of(Hop::Sent, false, false));
        if self.core.turns.is_empty() {
            self.core.visiting = NOBODY;
        }
        receiver.figures.count_sent(1);
        if next.as_slice().first().is_some_and(|note| note.kind() == kind) {
            self.send_more(first, next, pace);
        }
        Some(())
    }

    #[inline(never)]
    fn send_more(&mut self, first: &Note, next: &mut slice::Iter<'_, Note>, pace: &mut Pace<'_>) {
        let (kind, lane) = (first.kind(), first.letter().lane);
        let receiver = &mut self.actors[usize::from(kind.actor())];
        let numbers = receiver.letters.in_lane(lane);
        let mut letter = *self.letters;
        for note in next.as_slice().iter().take_while(|note| note.kind() == kind && note.letter().lane == lane) {
            let Some(number) = numbers.get_mut(usize::from(note.letter().slot)) else { break };
            letter += 1;
            *number = letter;
        }
        let more = (letter - *self.letters) as usize;
        *self.letters = letter;
        *next = next.as_slice()[more..].iter();
        pace.steps(more, pace.least.of(Hop::Sent, false, false));
        receiver.figures.count_sent(more as u64);
    }

    /// Letters without a monitor, through the same lane, that start, end and leave, one after the other.
    #[inline(always)]
    fn run(&mut self, first: &Note, next: &mut slice::Iter<'_, Note>, pace: &mut Pace<'_>) -> Option<()> {
        let (kind, LetterName { lane, slot, .. }) = (first.kind(), first.letter());
        let receiver = self.actors.get_mut(usize::from(kind.actor()))?;
        NonZeroU32::new(*receiver.letters.in_lane(lane).get(usize::from(slot))?)?;
        let begins_visit = self.core.visiting != u32::from(kind.actor());
        self.core.visiting = u32::from(kind.actor());
        pace.step(pace.least.of(Hop::Started, false, begins_visit));
        let length = pace.end_turn();
        self.core.wait(length);
        self.core.count_turns(1, length);
        receiver.figures.count_turns(1, length);
        if next.as_slice().first().is_some_and(|note| note.kind() == kind) {
            self.run_more(first, next, pace);
        }
        Some(())
    }

    #[inline(never)]
    fn run_more(&mut self, first: &Note, next: &mut slice::Iter<'_, Note>, pace: &mut Pace<'_>) {
        let (kind, lane) = (first.kind(), first.letter().lane);
        let receiver = &mut self.actors[usize::from(kind.actor())];
        let numbers = receiver.letters.in_lane(lane);
        let is_alike = |note: &&Note| {
            let name = note.letter();
            let has_number = numbers.get(usize::from(name.slot)).is_some_and(|number| *number != 0);
            note.kind() == kind && name.lane == lane && has_number
        };
        let more = next.as_slice().iter().take_while(is_alike).count();
        if more == 0 {
            return;
        }
        *next = next.as_slice()[more..].iter();
        let (longest, all) = pace.turns(more);
        self.core.wait(all);
        self.core.count_turns(more as u64, longest);
        receiver.figures.count_turns(more as u64, longest);
    }

    /// A letter that starts.
    #[inline(always)]
    fn start(&mut self, note: &Note, pace: &mut Pace<'_>) -> Option<()> {
        let (actor, LetterName { lane, slot, method }) = (note.kind().actor(), note.letter());
        let receiver = self.actors.get_mut(usize::from(actor))?;
        let letter = NonZeroU32::new(*receiver.letters.in_lane(lane).get(usize::from(slot))?)?;
        let begins_visit = self.core.visiting != u32::from(actor);
        self.core.visiting = u32::from(actor);
        pace.step(pace.least.of(Hop::Started, receiver.is_monitored, begins_visit));
        self.core.turns.push(Turn { actor, method, letter: Some(letter), started: pace.time, waited: 0 });
        Some(())
    }

    /// The innermost turn ends, of a letter without a monitor.
    #[inline(always)]
    fn leave_at_once(&mut self, pace: &mut Pace<'_>) -> Option<()> {
        let ended = pace.time + pace.end_turn();
        let Some((turn, length)) = self.core.end_turn(ended) else { unreachable!("a turn that ends has begun") };
        self.core.visiting = u32::from(turn.actor);
        self.core.count_turns(1, length);
        self.actors[usize::from(turn.actor)].figures.count_turns(1, length);
        Some(())
    }
}

/// How the time of a core passes, whose clock shows `time`, while nobody looks at it.
pub(crate) struct Pace<'a> {
    pub(crate) time: u64,
    /// What hops take at least.
    pub(crate) least: &'a HopCosts,
    pub(crate) cost_of_wait: u32,
    /// By how much more than that the next hops take: enough for all of them.
    pub(crate) jitters: slice::Iter<'a, u64>,
}

impl Pace<'_> {
    #[inline(always)]
    fn wait(&mut self) -> Option<()> {
        self.time += u64::from(self.cost_of_wait);
        Some(())
    }

    #[inline(always)]
    fn step(&mut self, cycles: u32) {
        self.time += u64::from(cycles) + self.jitter();
    }

    #[inline(always)]
    fn steps(&mut self, count: usize, cycles: u32) {
        self.time += count as u64 * u64::from(cycles) + self.jitters(count).iter().sum::<u64>();
    }

    /// A letter without a monitor ends and leaves. Returns what the end took.
    #[inline(always)]
    fn end_turn(&mut self) -> u64 {
        let [end, leave] =
            [Hop::Ended, Hop::Left].map(|hop| u64::from(self.least.of(hop, false, false)) + self.jitter());
        self.time += end + leave;
        end
    }

    /// Turns of letters without a monitor, with nothing in between. Returns how long the longest took, and all of them.
    #[inline(always)]
    fn turns(&mut self, count: usize) -> (u64, u64) {
        let (mut sum, mut longest, mut ends) = (0, 0, 0);
        for [at_start, at_end, at_leave] in self.jitters(3 * count).as_chunks().0 {
            sum += at_start + at_end + at_leave;
            ends += at_end;
            longest = longest.max(*at_end);
        }
        let [start, end, leave] =
            [Hop::Started, Hop::Ended, Hop::Left].map(|hop| u64::from(self.least.of(hop, false, false)));
        self.time += count as u64 * (start + end + leave) + sum;
        (end + longest, count as u64 * end + ends)
    }

    #[inline(always)]
    fn jitter(&mut self) -> u64 {
        let Some(jitter) = self.jitters.next() else { unreachable!("there are enough") };
        *jitter
    }

    #[inline(always)]
    fn jitters(&mut self, count: usize) -> &[u64] {
        let (jitters, later) = self.jitters.as_slice().split_at(count);
        self.jitters = later.iter();
        jitters
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
