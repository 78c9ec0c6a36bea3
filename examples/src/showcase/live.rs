//! A flock that lives: people come and go, and after each event both engines have to agree.

use std::num::NonZeroU32;
use std::sync::Mutex;

use flockwork::Ref;
use flockwork_host_sim::{Misuse, Options};
use flockwork_urbiflock::{
    Bustle, Definition, Event, FlockId, Flockr, Generator, Listener, MAX_NEARBY, People, Predicate, Uid, World, derive,
};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::counted;
use crate::couples::{answered, crowd};

/// Lines that are printed before the rest is only counted.
const LINES: usize = 24;

/// Everybody who is known: near, a friend, or gone not long ago.
static KNOWN: Definition = Definition::new("known", Predicate::literal("true"));

/// What happens after the first people have come.
pub(crate) struct Happenings(Vec<Event>);

impl Happenings {
    /// Takes `--leave N`, `--events FILE` and `--bustle N` out: who leaves, in the order they came; then what a file says; then
    /// what chance makes.
    pub(crate) fn take_from(
        arguments: &mut Arguments,
        world: &'static World,
        seed: NonZeroU32,
        people: usize,
    ) -> Result<Self, Misuse> {
        let leave = arguments.number("--leave", 0..=people)?.unwrap_or(0);
        let mut events: Vec<Event> = world.arrivals()[..leave].iter().map(|&uid| Event::Left(uid)).collect();
        let mut ahead = Ahead::new(world, people);
        events.iter().for_each(|event| ahead.happen(*event));
        if let Some(file) = arguments.value("--events")? {
            events.extend(read(&file, &mut ahead)?);
        }
        if let Some(number) = arguments.number("--bustle", 0..=1_000_000)? {
            events.extend(Bustle::new(world, Generator::new(seed), ahead.near(), MAX_NEARBY).take(number));
        }
        Ok(Self(events))
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn events(&self) -> impl ExactSizeIterator<Item = Event> + '_ {
        self.0.iter().copied()
    }
}

fn read(file: &str, ahead: &mut Ahead) -> Result<Vec<Event>, Misuse> {
    let text = std::fs::read_to_string(file).map_err(|error| Misuse::new(format!("--events: {file}: {error}")))?;
    let mut events = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let event = Event::parse(line, |uid| ahead.0.profile(uid));
        let event = event.map_err(|bad| Misuse::new(format!("--events: {file}, line {number}, {bad}")))?;
        event.iter().for_each(|event| ahead.happen(*event));
        events.extend(event);
    }
    Ok(events)
}

/// A flockr to which everything happens ahead, without a device: what comes next depends on who is near then, and on what people
/// have told.
struct Ahead(Box<Flockr>);

impl Ahead {
    fn new(world: &'static World, people: usize) -> Self {
        let mut flockr = Box::new(Flockr::new());
        flockr.begin(world).expect("a flockr has room for its first flocks and friends");
        let mut ahead = Self(flockr);
        world.arrivals()[..people].iter().for_each(|&uid| ahead.happen(Event::Join(uid)));
        ahead
    }

    fn happen(&mut self, event: Event) {
        // What is refused here is refused, and told, when it happens on the device.
        let _ = event.happen_to(&mut self.0);
    }

    fn near(&self) -> People {
        self.0.snapshot(FlockId::NEARBY).expect("a default flock").members
    }
}

/// Starts a flockr anew among so many people; gives the flock that it is about, the couples if none is defined.
pub(crate) fn begin(
    flockr: Ref<Flockr>,
    world: &'static World,
    people: usize,
    flock: Option<&'static Definition>,
) -> FlockId {
    let couples = crowd(flockr, world, people);
    flock.map_or(couples, |flock| answered(flockr.define(flock).get()))
}

/// What a flockr was told about its flock since somebody looked.
struct Heard(Mutex<Vec<(bool, Uid)>>);

impl Heard {
    fn note(&self, came: bool, who: Uid) {
        self.0.lock().expect("nobody panics here").push((came, who));
    }
}

impl Listener for Heard {
    fn added(&'static self, _: FlockId, who: Uid) {
        self.note(true, who);
    }

    fn removed(&'static self, _: FlockId, who: Uid) {
        self.note(false, who);
    }
}

/// What happened to a flock.
pub(crate) struct Lived {
    /// Events after the first people had come.
    pub(crate) events: usize,
    /// How many people are near in the end.
    pub(crate) near: usize,
    /// How many are known: near, friends, or gone not long ago.
    pub(crate) known: usize,
    /// How many members the flock had at first.
    first: usize,
    /// Each event that changed the flock.
    changes: Vec<Change>,
    /// Events that could not happen, such as one more person than there is room for, or that changed nothing at all.
    remarks: Vec<(Event, String)>,
}

/// An event that changed the flock: who came into it (true) and who went, and how many members there are then.
struct Change {
    event: Event,
    who: Vec<(bool, Uid)>,
    members: usize,
}

/// Lets everything happen, and derives the flock after each event: it has to be what the incremental engine says.
pub(crate) fn live(
    options: &Options,
    flockr: Ref<Flockr>,
    world: &'static World,
    people: usize,
    flock: Option<&'static Definition>,
    happenings: &Happenings,
) -> Lived {
    static HEARD: Heard = Heard(Mutex::new(Vec::new()));
    let heard = || std::mem::take(&mut *HEARD.0.lock().expect("nobody panics here"));
    let run = options.device().keep_events(false).run(|| {
        let flock = begin(flockr, world, people, flock);
        let known = answered(flockr.define(&KNOWN).get());
        answered(flockr.listen(flock, &HEARD).get());
        let agreed = |event: Option<Event>| {
            let derived = answered(derive(flockr, flock)).members;
            let known = answered(flockr.snapshot(flock).get()).members;
            assert_eq!(derived, known, "the engines disagree after {event:?}");
            known.len()
        };
        let version = || answered(flockr.summary(flock).get()).version;
        let mut lived = Lived {
            events: happenings.0.len(),
            near: 0,
            known: 0,
            first: agreed(None),
            changes: Vec::new(),
            remarks: Vec::new(),
        };
        let mut before = version();
        for event in happenings.events() {
            match event.happen(flockr) {
                Ok(after) if after == before => lived.remarks.extend(without_effect(event).map(|why| (event, why))),
                Ok(after) => before = after,
                Err(why) => lived.remarks.push((event, why.to_string())),
            }
            let members = agreed(Some(event));
            match heard() {
                nothing if nothing.is_empty() => {}
                who => lived.changes.push(Change { event, who, members }),
            }
        }
        let members = |flock: FlockId| usize::from(answered(flockr.summary(flock).get()).members);
        (lived.near, lived.known) = (members(FlockId::NEARBY), members(known));
        lived
    });
    run.returned
}

/// Why an event that happened changed nothing, if that is worth a word.
fn without_effect(event: Event) -> Option<String> {
    let why = match event {
        Event::Join(_) => "is near already",
        Event::Left(_) => "is not near",
        Event::AddFriend(_) => "is a friend already",
        Event::RemoveFriend(_) => "is no friend",
        Event::Changed(..) => "is neither near, nor a friend, nor gone not long ago",
        Event::Pass(_) => return None,
    };
    Some(format!("nothing changes: this person {why}"))
}

impl Lived {
    /// The story; nothing if nothing happened.
    pub(crate) fn tell(&self, flock: &str) -> String {
        if self.events == 0 {
            return String::new();
        }
        let mut text = format!("{flock}: {} at first.\n\n", counted(self.first as u64, "member"));
        let told = || self.changes.iter().take(LINES);
        let width = told().map(|change| change.event.to_string().len()).fold(14, usize::max);
        for Change { event, who, members } in told() {
            let who = who.iter().map(|&(came, who)| format!("{}flockr-{who:05}", if came { '+' } else { '-' }));
            let (event, who) = (event.to_string(), who.collect::<Vec<_>>().join(" "));
            let plural = if *members == 1 { "" } else { "s" };
            text += &format!("  {event:<width$} {who:<28} {members:>4} member{plural}\n");
        }
        if self.changes.len() > LINES {
            text += &format!("  … and {} more\n", self.changes.len() - LINES);
        }
        for (event, why) in self.remarks.iter().take(LINES) {
            text += &format!("  {event}: {why}\n");
        }
        if self.remarks.len() > LINES {
            text += &format!("  … and {} more such remarks\n", self.remarks.len() - LINES);
        }
        text + &format!(
            "\n{}, {} of which changed the flock; after each, both engines agreed.\n",
            counted(self.events as u64, "event"),
            self.changes.len()
        )
    }

    /// The same for programs: every change and every remark.
    pub(crate) fn json(&self) -> Value {
        let changes = self.changes.iter().map(|Change { event, who, members }| {
            let people = |came: bool| who.iter().filter(|one| one.0 == came).map(|one| one.1).collect::<Vec<_>>();
            json!({ "event": event.to_string(), "added": people(true), "removed": people(false), "members": members })
        });
        let remarks = self.remarks.iter().map(|(event, why)| json!({ "event": event.to_string(), "remark": why }));
        json!({
            "number": self.events, "members_at_first": self.first, "changes": changes.collect::<Vec<_>>(),
            "remarks": remarks.collect::<Vec<_>>(),
        })
    }
}
