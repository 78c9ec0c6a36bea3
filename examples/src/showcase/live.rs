//! A flock that lives: people come and go, and after each event both engines have to agree.

use std::num::NonZeroU32;
use std::sync::Mutex;

use flockwork::Ref;
use flockwork_host_sim::{Device, Misuse, Options};
use flockwork_urbiflock::{
    Bustle, Definition, Event, FlockId, Flockr, Generator, Listener, MAX_NEARBY, People, Uid, World, derive,
};

use crate::arguments::Arguments;
use crate::couples::crowd;

/// Lines that are printed before the rest is only counted.
const LINES: usize = 24;

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
        if let Some(file) = arguments.value("--events")? {
            events.extend(read(&file)?);
        }
        if let Some(number) = arguments.number("--bustle", 0..=1_000_000)? {
            let mut near: People = world.arrivals()[..people].iter().copied().collect();
            for event in &events {
                match *event {
                    Event::Join(uid) => drop(near.insert(uid)),
                    Event::Left(uid) => drop(near.remove(uid)),
                    _ => {}
                }
            }
            events.extend(Bustle::new(world, Generator::new(seed), near, MAX_NEARBY).take(number));
        }
        Ok(Self(events))
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.0.iter().copied()
    }
}

fn read(file: &str) -> Result<Vec<Event>, Misuse> {
    let text = std::fs::read_to_string(file).map_err(|error| Misuse::new(format!("--events: {file}: {error}")))?;
    let mut events = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let event = Event::parse(line).map_err(|bad| Misuse::new(format!("--events: {file}, line {number}, {bad}")))?;
        events.extend(event);
    }
    Ok(events)
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
    /// How many members the flock had at first.
    first: usize,
    /// Each event that changed the flock: what it was, who came into it and who went, and how many members there are then.
    changes: Vec<(Event, Vec<(bool, Uid)>, usize)>,
    /// Events that could not happen, such as one more person than there is room for.
    refused: Vec<(Event, String)>,
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
    let device = Device::new(options.mode, options.cores).seed(options.seed).keep_events(false);
    let run = device.run(|| {
        let couples = crowd(flockr, world, people);
        let flock = flock.map_or(couples, |flock| flockr.define(flock).get().expect("there is room for one more"));
        flockr.listen(flock, &HEARD).get().expect("there is room for a listener");
        let agreed = |event: Option<Event>| {
            let derived = derive(flockr, flock).expect("the flockr has this flock").members;
            let known = flockr.snapshot(flock).get().expect("the flockr has this flock").members;
            assert_eq!(derived, known, "the engines disagree after {event:?}");
            known.len()
        };
        let mut lived = Lived {
            events: happenings.0.len(),
            near: 0,
            first: agreed(None),
            changes: Vec::new(),
            refused: Vec::new(),
        };
        for event in happenings.events() {
            if let Err(why) = event.happen(flockr) {
                lived.refused.push((event, why.to_string()));
            }
            let members = agreed(Some(event));
            match heard() {
                nothing if nothing.is_empty() => {}
                changes => lived.changes.push((event, changes, members)),
            }
        }
        lived.near = flockr.summary(FlockId::NEARBY).get().expect("everybody has this flock").members.into();
        lived
    });
    run.returned
}

impl Lived {
    /// The story; nothing if nothing happened.
    pub(crate) fn tell(&self, flock: &str) -> String {
        if self.events == 0 {
            return String::new();
        }
        let mut text = format!("{flock}: {} members at first.\n\n", self.first);
        for (event, changes, members) in self.changes.iter().take(LINES) {
            let changes = changes.iter().map(|&(came, who)| format!("{}flockr-{who:05}", if came { '+' } else { '-' }));
            let (event, changes) = (event.to_string(), changes.collect::<Vec<_>>().join(" "));
            text += &format!("  {event:<14} {changes:<28} {members:>4} members\n");
        }
        if self.changes.len() > LINES {
            text += &format!("  … and {} more\n", self.changes.len() - LINES);
        }
        for (event, why) in self.refused.iter().take(LINES) {
            text += &format!("  {event}: {why}\n");
        }
        text + &format!(
            "\n{} events, {} of which changed the flock; after each, both engines agreed.\n",
            self.events,
            self.changes.len()
        )
    }
}
