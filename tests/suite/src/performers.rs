//! Every ready-made monitor on a real actor: its golden trace on core 1, with letters from core 0.
//!
//! Core 1 is held while core 0 sends the letters of an act, so the monitor sees them all at once. Then the actor, which is
//! pinned to core 1, plays them one after the other. The monitor is wrapped in [`Traced`], which writes down what it does.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::SeqCst};

use flockwork::{
    Actor, Affinity, Category, CollectiveBound, Id, Inbox, Join, JoinLeft, JoinRight, Letter, Methods, Monitor, Mutex,
    Philosophers, Pinned, Post, ReadersFirst, ReadersWriter, Ref, Rejected, Release, Report, Request, Resources,
    RuleBook, Rules, Several, Synchronizer, Writers, WritersFirst, actor,
};

use crate::golden::{self, Cue, Letters, Line, Script};
use crate::hold::hold_core_1;
use crate::patience::reach;
use crate::{Case, Device, Stop, require, require_equal};

// ---- the trace, written by core 1 alone ----

const LENGTH: usize = 128;
static TRACE: [AtomicU8; LENGTH] = [const { AtomicU8::new(0) }; LENGTH];
static WRITTEN: AtomicU32 = AtomicU32::new(0);
/// The letter whose method ran last: the one that leaves, since they run one after the other.
static LAST_RUN: AtomicU32 = AtomicU32::new(0);

fn note(event: core::fmt::Arguments<'_>) {
    let mut line = Line::<24>::new();
    line.word(event);
    let written = WRITTEN.load(SeqCst);
    let blank: &[u8] = if written == 0 { b"" } else { b" " };
    let bytes = blank.iter().chain(line.as_str().as_bytes());
    let mut place = written;
    for &byte in bytes {
        if let Some(cell) = TRACE.get(place as usize) {
            cell.store(byte, SeqCst);
            place += 1;
        }
    }
    WRITTEN.store(place, SeqCst);
}

fn note_run(number: u32) {
    LAST_RUN.store(number, SeqCst);
    note(format_args!("!{number}"));
}

/// The trace so far.
fn trace() -> Line<LENGTH> {
    let mut line = Line::new();
    for cell in TRACE.iter().take(WRITTEN.load(SeqCst) as usize) {
        let byte = [cell.load(SeqCst)];
        let _ = core::fmt::Write::write_str(&mut line, core::str::from_utf8(&byte).unwrap_or("?"));
    }
    line
}

/// A message that says which letter of the script it is.
pub(crate) trait Numbered {
    /// Its number.
    fn number(&self) -> u32;
}

/// The monitor `M` of an actor `A` on core 1, with a trace of what it grants and hears.
pub(crate) struct Traced<M, A> {
    monitor: M,
    actor: PhantomData<fn() -> A>,
}

impl<M: Monitor, A: Methods<Message: Numbered>> Traced<M, A> {
    fn waiting(inbox: Inbox<'_>) -> Letters {
        let mut letters = Letters::default();
        inbox.letters().filter_map(|letter| letter.message::<A>()).for_each(|message| letters.insert(message.number()));
        letters
    }
}

impl<M: Monitor, A: Methods<Message: Numbered>> Monitor for Traced<M, A> {
    type Discipline = M::Discipline;
    const NEW: Self = Self { monitor: M::NEW, actor: PhantomData };
    const AFFINITY: Affinity = Affinity::Pinned(1);

    fn schedule(&mut self, inbox: Inbox<'_>) {
        let before = Self::waiting(inbox);
        self.monitor.schedule(inbox);
        let granted = before.without(Self::waiting(inbox));
        if !granted.is_empty() {
            note(format_args!("+{granted}"));
        }
    }

    fn leave(&mut self, letter: Letter<'_>) {
        self.monitor.leave(letter);
        note(format_args!("-{}", LAST_RUN.load(SeqCst)));
    }
}

// ---- the actors ----

static RED: Category = Category::new("red");
static BLUE: Category = Category::new("blue");

/// An actor with a method for every label.
pub(crate) struct Performer;

#[actor]
impl Performer {
    /// A reader.
    pub fn get(&self, number: u32) {
        note_run(number);
    }
    /// A writer.
    pub fn put(&mut self, number: u32) {
        note_run(number);
    }
    /// A reader that is red.
    #[category(RED)]
    pub fn red(&self, number: u32) {
        note_run(number);
    }
    /// A reader that is blue.
    #[category(BLUE)]
    pub fn blue(&self, number: u32) {
        note_run(number);
    }
    /// A reader that a bound counts.
    #[category(Request::CATEGORY)]
    pub fn request(&self, number: u32) {
        note_run(number);
    }
    /// A reader that makes room under a bound.
    #[category(Release::CATEGORY)]
    pub fn release(&self, number: u32) {
        note_run(number);
    }
    /// One side of a join.
    #[category(JoinLeft::CATEGORY)]
    pub fn left(&self, number: u32) {
        note_run(number);
    }
    /// The other side.
    #[category(JoinRight::CATEGORY)]
    pub fn right(&self, number: u32) {
        note_run(number);
    }
}

impl Numbered for PerformerMessage {
    fn number(&self) -> u32 {
        match self {
            Self::Get(number, _)
            | Self::Put(number, _)
            | Self::Red(number, _)
            | Self::Blue(number, _)
            | Self::Request(number, _)
            | Self::Release(number, _)
            | Self::Left(number, _)
            | Self::Right(number, _) => *number,
        }
    }
}

/// What a philosopher sits on, or takes.
pub(crate) struct Seat;
/// The table's seats.
pub(crate) type Seats = Several<Seat, 5>;

/// An actor with five objects.
pub(crate) struct Table;

#[actor(objects = Several<Seat, 5>)]
impl Table {
    /// Needs one seat.
    pub fn eat(&self, number: u32, _seat: &mut Seat) {
        note_run(number);
    }
    /// Needs two.
    pub fn take(&self, number: u32, _left: &mut Seat, _right: &mut Seat) {
        note_run(number);
    }
}

impl Numbered for TableMessage {
    fn number(&self) -> u32 {
        match self {
            Self::Eat(number, ..) | Self::Take(number, ..) => *number,
        }
    }
}

/// Red and blue only together; no third red before a writer has come.
pub(crate) struct Colours {
    reds: u32,
}

impl Rules for Colours {
    const NEW: Self = Self { reds: 0 };

    fn rules(rules: &mut RuleBook<'_, Self>) {
        rules.when(&RED).update(|colours| colours.reds += 1);
        rules.when(Writers).update(|colours| colours.reds = 0);
        rules.when(|colours: &Self| colours.reds >= 2).disable(&RED);
        rules.atomic(&[&RED, &BLUE]);
    }
}

const fn seats() -> Seats {
    Several::new([const { Seat }; 5])
}

#[actor]
static SERIAL: Actor<Performer, Pinned<1>, 8> = Performer;
#[actor]
static MUTEX: Actor<Performer, Traced<Mutex, Performer>, 8> = Performer;
#[actor]
static READERS_WRITER: Actor<Performer, Traced<ReadersWriter, Performer>, 8> = Performer;
#[actor]
static READERS_FIRST: Actor<Performer, Traced<ReadersFirst, Performer>, 8> = Performer;
#[actor]
static WRITERS_FIRST: Actor<Performer, Traced<WritersFirst, Performer>, 8> = Performer;
#[actor]
static BOUND: Actor<Performer, Traced<CollectiveBound<2>, Performer>, 8> = Performer;
#[actor]
static SYNCHRONIZER: Actor<Performer, Traced<Synchronizer<Colours>, Performer>, 8> = Performer;
#[actor]
static JOIN: Actor<Performer, Traced<Join, Performer>, 8> = Performer;
#[actor]
static PHILOSOPHERS: Actor<Table, Traced<Philosophers<5>, Table>, 8> = (Table, seats());
#[actor]
static RESOURCES: Actor<Table, Traced<Resources, Table>, 8> = (Table, seats());

// ---- the cases ----

macro_rules! perform {
    ($($name:literal, $proves:literal: $actor:ident, $post:ident, $script:ident;)*) => {
        pub(crate) const CASES: &[Case] = &[$(
            Case {
                name: concat!("monitors/", $name),
                proves: $proves,
                cores: 2,
                run: |device| {
                    perform(device, &golden::$script, |number, cue| $post(&$actor, number, cue))?;
                    // The last letter's slot is free a moment after its monitor heard of it.
                    reach(device, "mailboxes without letters", 1, || u32::from(Report::of(&$actor).letters == 0))?;
                    require_equal("refused grants", 0u32, Report::of(&$actor).refused_grants)
                },
            },
        )*];
    };
}

perform! {
    "serial", "PAM-5, KER-5": SERIAL, post, UNMONITORED;
    "mutex", "PAM-L1, PAM-13": MUTEX, post, MUTEX;
    "readers-writer", "PAM-L3": READERS_WRITER, post, READERS_WRITER;
    "readers-first", "PAM-L3": READERS_FIRST, post, READERS_FIRST;
    "writers-first", "PAM-L3": WRITERS_FIRST, post, WRITERS_FIRST;
    "philosophers", "PAM-L5, SAFE-2": PHILOSOPHERS, post_at_table, PHILOSOPHERS;
    "resources", "PAM-L5, SAFE-2": RESOURCES, post_at_table, RESOURCES;
    "collective-bound", "PAM-L6": BOUND, post, COLLECTIVE_BOUND;
    "synchronizer", "PAM-L7, PAM-L8": SYNCHRONIZER, post, SYNCHRONIZER;
    "join", "PAM-F2": JOIN, post, JOIN;
}

/// Plays a script on an actor of core 1.
fn perform(
    device: &'static dyn Device,
    script: &Script,
    post: impl Fn(u32, &Cue) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut number = 0;
    for act in script.acts {
        let held = hold_core_1(device)?;
        WRITTEN.store(0, SeqCst);
        for cue in act.letters {
            post(number, cue)?;
            number += 1;
        }
        held.let_go()?;
        let played = reach(device, "bytes of the trace", act.trace.len() as u32, || WRITTEN.load(SeqCst));
        let trace = trace();
        if trace.as_str() != act.trace {
            device.log(format_args!("  expected {}", act.trace));
            device.log(format_args!("  found    {}", trace.as_str()));
            return Err(Stop::Wrong("the trace is not the golden one"));
        }
        played?;
    }
    Ok(())
}

fn post(actor: Ref<Performer>, number: u32, cue: &Cue) -> Result<(), Stop> {
    match cue.method {
        "get" => sent(actor.get(number).tell()),
        "put" => sent(actor.put(number).tell()),
        "red" => sent(actor.red(number).tell()),
        "blue" => sent(actor.blue(number).tell()),
        "request" => sent(actor.request(number).tell()),
        "release" => sent(actor.release(number).tell()),
        "left" => sent(actor.left(number).tell()),
        "right" => sent(actor.right(number).tell()),
        _ => Err(Stop::Wrong("the script calls a method that there is not")),
    }
}

fn post_at_table(actor: Ref<Table>, number: u32, cue: &Cue) -> Result<(), Stop> {
    match (cue.method, cue.objects) {
        ("eat", [seat]) => sent(actor.eat(number, Id::new(*seat)).tell()),
        ("take", [left, right]) => sent(actor.take(number, Id::new(*left), Id::new(*right)).tell()),
        _ => Err(Stop::Wrong("the script calls a method that there is not")),
    }
}

/// A script's letters all find room, or the monitor would not see them at once.
fn sent<A: Methods, B: ?Sized + Post<A>>(told: Result<(), Rejected<A, B>>) -> Result<(), Stop> {
    require(told.is_ok(), "a letter of the script found no room")
}
