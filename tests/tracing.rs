//! KER-10: every hop of a letter is traced, in order, under its own name. Needs the feature `trace`.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use flockwork::trace::{Event, Hop, drain};
use flockwork::{
    Actor, Any, DropNewest, Inbox, Letter, Methods, Monitor, Mutex, OneAtATime, Pinned, ReadersWriter, Ref, Serial,
    actor,
};
use support::{device, lock, require, run_until, step};

/// This core's events since the last call.
fn events() -> Vec<Event> {
    let mut events = Vec::new();
    assert_eq!(drain(|event| events.push(event)), 0, "none was overwritten");
    events
}

fn hops(events: &[Event]) -> Vec<Hop> {
    events.iter().map(|event| event.hop).collect()
}

/// The place of a method, as events name it.
fn place(method: &str) -> u8 {
    Worker::METHODS.iter().position(|entry| entry.name() == method).expect("a method of the worker") as u8
}

/// Works, and sends itself more work.
pub struct Worker;

#[actor]
impl Worker {
    pub fn work(&mut self) {}
    pub fn look(&self) {}
    pub fn go_on(&mut self, me: Ref<Worker>) {
        require(me.work().tell().is_ok(), "there is room");
    }
    pub fn fail(&mut self) {
        std::panic::resume_unwind(Box::new("a method fails on purpose, without a message"));
    }
}

/// KER-10: the life of one letter under a monitor: sent, granted, started, ended, left; all under one name.
#[test]
fn one_letter_under_a_monitor_ker_10() {
    #[actor]
    static MUTEX: Actor<Worker, Mutex, 4> = Worker;
    #[actor]
    static PARALLEL: Actor<Worker, ReadersWriter, 4> = Worker;
    for worker in [&MUTEX as Ref<Worker>, &PARALLEL] {
        device(1, || {
            drain(|_| ());
            worker.look().get().unwrap();
            while step() {}
            let events = events();
            assert_eq!(hops(&events), [Hop::Sent, Hop::Granted, Hop::Started, Hop::Ended, Hop::Left]);
            let names: Vec<_> = events.iter().map(|event| (event.actor, event.letter)).collect();
            assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
            assert_eq!(names[0].1.map(|letter| letter.method), Some(place("look")));
            assert!(events.is_sorted_by_key(|event| event.time), "time does not go back");
        });
    }
}

/// KER-10: without a monitor nobody grants; all else is the same.
#[test]
fn one_letter_without_a_monitor_ker_10() {
    #[actor]
    static WORKER: Actor<Worker, Serial, 4> = Worker;
    device(1, || {
        drain(|_| ());
        WORKER.look().get().unwrap();
        while step() {}
        let events = events();
        assert_eq!(hops(&events), [Hop::Sent, Hop::Started, Hop::Ended, Hop::Left]);
        assert!(events.iter().all(|event| event.letter == events[0].letter && event.actor == events[0].actor));
    });
}

/// KER-10: a letter keeps its name until it has left, also if its slot is used again meanwhile.
#[test]
fn a_letter_keeps_its_name_ker_10() {
    #[actor]
    static WORKER: Actor<Worker, Serial, 1> = Worker;
    device(1, || {
        drain(|_| ());
        WORKER.go_on(&WORKER).tell().unwrap();
        while step() {}
        let events: Vec<_> =
            events().iter().map(|event| (event.hop, event.letter.map(|letter| letter.method))).collect();
        let (first, second) = (Some(place("go_on")), Some(place("work")));
        let wanted = [
            (Hop::Sent, first),
            (Hop::Started, first),
            (Hop::Sent, second),
            (Hop::Ended, first),
            (Hop::Left, first),
            (Hop::Started, second),
            (Hop::Ended, second),
            (Hop::Left, second),
        ];
        assert_eq!(events, wanted);
    });
}

/// KER-10: a letter whose method panics leaves as well.
#[test]
fn a_letter_that_fails_leaves_ker_10() {
    #[actor]
    static MUTEX: Actor<Worker, Mutex, 4> = Worker;
    #[actor]
    static ALONE: Actor<Worker, Serial, 4> = Worker;
    for (worker, granted) in [(&MUTEX as Ref<Worker>, true), (&ALONE, false)] {
        device(1, || {
            drain(|_| ());
            worker.fail().tell().unwrap();
            while step() {}
            let mut wanted = vec![Hop::Sent, Hop::Granted, Hop::Started, Hop::Ended, Hop::Left];
            wanted.retain(|hop| granted || *hop != Hop::Granted);
            assert_eq!(hops(&events()), wanted);
        });
    }
}

/// KER-10: a grant that would alias, and a letter that is dropped, leave a trace.
#[test]
fn refused_and_dropped_ker_10() {
    /// Grants everything, although one at a time is allowed.
    struct Careless;
    impl Monitor for Careless {
        type Discipline = OneAtATime;
        const NEW: Self = Self;
        fn schedule(&mut self, inbox: Inbox<'_>) {
            inbox.execute_all(Any);
        }
        fn leave(&mut self, _: Letter<'_>) {}
    }
    #[actor]
    static CARELESS: Actor<Worker, Careless, 4> = Worker;
    #[actor]
    static DROPS: Actor<Worker, DropNewest<Serial>, 1> = Worker;
    device(1, || {
        drain(|_| ());
        CARELESS.work().tell().unwrap();
        CARELESS.work().tell().unwrap();
        while step() {}
        let refused = events();
        assert_eq!(hops(&refused).iter().filter(|hop| **hop == Hop::Refused).count(), 1);
        assert_eq!(hops(&refused).iter().filter(|hop| **hop == Hop::Left).count(), 2);
        DROPS.work().tell().unwrap();
        DROPS.look().tell().unwrap();
        while step() {}
        assert_eq!(hops(&events()), [Hop::Sent, Hop::Dropped, Hop::Started, Hop::Ended, Hop::Left]);
    });
}

/// KER-10: on two cores, each has a ring of its own; together they tell the life of every letter, in order of time.
#[test]
fn hops_on_two_cores_ker_10() {
    static FAR_EVENTS: std::sync::Mutex<Vec<Event>> = std::sync::Mutex::new(Vec::new());
    static RAN: AtomicU32 = AtomicU32::new(0);
    /// Reads its core's ring.
    pub struct Scribe;
    #[actor]
    impl Scribe {
        pub fn read(&mut self) {
            drain(|event| lock(&FAR_EVENTS).push(event));
        }
        pub fn work(&mut self) {
            RAN.fetch_add(1, SeqCst);
        }
    }
    #[actor]
    static SCRIBE: Actor<Scribe, Pinned<1>, 4> = Scribe;
    #[actor]
    static FAR: Actor<Worker, Pinned<1>, 2> = Worker;
    device(2, || {
        SCRIBE.read().get().unwrap();
        for _ in 0..100 {
            drain(|_| ());
            SCRIBE.read().get().unwrap();
            drain(|_| ());
            lock(&FAR_EVENTS).clear();
            FAR.work().tell().unwrap();
            run_until(|| flockwork::Report::of(&FAR).letters == 0);
            // It is freed before it has left: one more letter behind it makes sure.
            FAR.look().get().unwrap();
            SCRIBE.read().get().unwrap();
            let here: Vec<_> = events().into_iter().filter(is_work).collect();
            let there: Vec<_> = lock(&FAR_EVENTS).iter().copied().filter(is_work).collect();
            let actor = here[0].actor;
            let here: Vec<_> = here.into_iter().filter(|event| event.actor == actor).collect();
            let there: Vec<_> = there.into_iter().filter(|event| event.actor == actor).collect();
            assert_eq!(hops(&here), [Hop::Sent], "the sender's core");
            assert_eq!(hops(&there), [Hop::Started, Hop::Ended, Hop::Left], "the receiver's core");
            assert!(here[0].time <= there[0].time, "it was sent before it started");
        }
    });
}

/// Whether it is about a letter that calls `work`.
fn is_work(event: &Event) -> bool {
    event.letter.is_some_and(|letter| letter.method == place("work"))
}

static SEEN: std::sync::Mutex<Vec<Option<flockwork::worker::Turn>>> = std::sync::Mutex::new(Vec::new());

fn see_turn() {
    lock(&SEEN).push(flockwork::worker::in_turn(0));
}

/// Looks whose turn it is.
pub struct Observer;

#[actor]
impl Observer {
    pub fn observe(&mut self) {
        see_turn();
    }
    pub fn observe_nested(&self) {
        see_turn();
        require(OTHER.observe().get().is_ok(), "the other observes");
        see_turn();
    }
}

#[actor]
static OTHER: Actor<Observer, Serial, 2> = Observer;

/// A monitor that looks as well.
pub struct Curious;

impl Monitor for Curious {
    type Discipline = OneAtATime;
    const NEW: Self = Self;
    fn schedule(&mut self, inbox: Inbox<'_>) {
        see_turn();
        inbox.execute_oldest(Any);
    }
    fn leave(&mut self, _: Letter<'_>) {}
}

/// The kernel knows whose turn a core is in, also below a `get`, and what its numbers are called.
#[test]
fn whose_turn_it_is() {
    #[actor]
    static OBSERVER: Actor<Observer, Curious, 2> = Observer;
    device(1, || {
        lock(&SEEN).clear();
        drain(|_| ());
        see_turn();
        OBSERVER.observe_nested().get().unwrap();
        see_turn();
        let turns: Vec<_> = lock(&SEEN).iter().map(|turn| turn.map(|turn| turn.method)).collect();
        let nested = Some(Some("observe_nested"));
        assert_eq!(turns, [None, Some(None), nested, Some(Some("observe")), nested, None]);
        let actor = lock(&SEEN)[2].expect("in a turn").actor;
        assert!(actor.ends_with("Observer"), "{actor}");
        let started = events().into_iter().find(|event| event.hop == Hop::Started).expect("a letter was run");
        let method = started.letter.expect("it has a name").method;
        let names = flockwork::worker::names(started.actor, method).expect("it has a number");
        assert_eq!((names.actor, names.method), (actor, Some("observe_nested")));
        assert_eq!(flockwork::worker::names(u16::MAX, 0), None);
    });
}
