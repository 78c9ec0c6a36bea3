//! Events as lines of text, and events without end.

use flockwork::{Actor, ReadersWriter, actor};
use flockwork_host_sim::run;
use flockwork_urbiflock::{
    Bustle, Definition, Event, FlockId, Flockr, Generator, People, Predicate, SEED, WORLD, derive, gather,
};

#[actor]
static FLOCKR: Actor<Flockr, ReadersWriter, 16, 8> = Flockr::new();

#[test]
fn events_are_printed_as_they_are_read() {
    let lines = ["join 365", "left 365", "friend 104", "unfriend 104", "pass 1500"];
    for line in lines {
        let event = Event::parse(line).expect("an event").expect("no comment");
        assert_eq!(event.to_string(), line);
        assert_eq!(Event::parse(&format!("  {line}\t# why not")), Ok(Some(event)));
    }
    assert_eq!(Event::parse(""), Ok(None));
    assert_eq!(Event::parse("  # join 3"), Ok(None));
}

#[test]
fn a_mistake_has_a_column() {
    for (line, column) in [
        ("leave 3", 1),
        ("  leave 3", 3),
        ("join", 6),
        ("join # 3", 6),
        ("join x", 6),
        ("join 0", 6),
        ("join 1024", 6),
        ("join 3 4", 8),
        ("pass -1", 6),
        ("é 3", 1),
        ("join é", 6),
    ] {
        let mistake = Event::parse(line).expect_err(line);
        assert_eq!(mistake.column, column, "`{line}`: {mistake}");
    }
}

static LATELY: Definition =
    Definition::new("lately", Predicate::literal("isFriend and not isNearby or wasNearby(100)"));

/// Flocks that reach beyond who is near are derived by letters as well, and follow every event.
#[test]
fn both_engines_follow_what_happens() {
    run(2, || {
        FLOCKR.begin(&WORLD).get().expect("a world");
        gather(&FLOCKR, &WORLD, 30).expect("room");
        let lately = FLOCKR.define(&LATELY).get().expect("room");
        let near: People = WORLD.arrivals()[..30].iter().copied().collect();
        let bustle = Bustle::new(&WORLD, Generator::new(SEED), near, 40);
        let (mut joined, mut left) = (0, 0);
        for event in bustle.take(300) {
            event.happen(&FLOCKR).expect("it can happen");
            Event::Pass(7).happen(&FLOCKR).expect("it can happen");
            match event {
                Event::Join(_) => joined += 1,
                _ => left += 1,
            }
            for flock in [lately, FlockId::COUPLES, FlockId::NEARBY] {
                let snapshot = FLOCKR.snapshot(flock).get().expect("a flock");
                let derived = derive(&FLOCKR, flock).expect("a flock");
                assert_eq!((derived.version, derived.members), (snapshot.version, snapshot.members));
            }
        }
        let near = FLOCKR.snapshot(FlockId::NEARBY).get().expect("a flock").members.len();
        assert_eq!(near, 30 + joined - left);
        assert!(left > 100 && near <= 40, "{left} left, {near} are near");
    });
}
