//! Events as lines of text, and events without end.

use flockwork::{Actor, ReadersWriter, actor};
use flockwork_host_sim::run;
use flockwork_urbiflock::{
    Bustle, Definition, Event, EventError, Field, FlockId, Flockr, Generator, Hobby, NOBODY, People, Predicate,
    Profile, SEED, WORLD, derive, gather,
};

#[actor]
static FLOCKR: Actor<Flockr, ReadersWriter, 16, 8> = Flockr::new();

/// An event among people who present themselves as in the beginning.
fn parse(line: &str) -> Result<Option<Event>, EventError> {
    Event::parse(line, |uid| WORLD.person(uid).copied())
}

#[test]
fn events_are_printed_as_they_are_read() {
    let lines = [
        "join 365",
        "left 365",
        "friend 104",
        "unfriend 104",
        "pass 1500",
        "changed 365 age 33",
        "changed 365 age none",
        "changed 365 sex female",
        "changed 365 sex male",
        "changed 365 hobbies chess",
        "changed 365 hobbies badminton chess cycling film football music reading swimming",
        "changed 365 hobbies none",
        "changed 365 partner 104",
        "changed 365 partner none",
    ];
    for line in lines {
        let event = parse(line).expect("an event").expect("no comment");
        assert_eq!(event.to_string(), line);
        assert_eq!(parse(&format!("  {line}\t# why not")), Ok(Some(event)));
    }
    assert_eq!(parse(""), Ok(None));
    assert_eq!(parse("  # join 3"), Ok(None));
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
        ("changed", 9),
        ("changed 0 age 3", 9),
        ("changed 1024 age 3", 9),
        ("changed 3", 11),
        ("changed 3 uid 4", 11),
        ("changed 3 hobby chess", 11),
        ("changed 3 age", 15),
        ("changed 3 age 256", 15),
        ("changed 3 age old", 15),
        ("changed 3 age 33 34", 18),
        ("changed 3 age none 34", 20),
        ("changed 3 sex none", 15),
        ("changed 3 hobbies", 19),
        ("changed 3 hobbies golf", 19),
        ("changed 3 hobbies chess golf", 25),
        ("changed 3 hobbies chess none", 25),
        ("changed 3 hobbies none chess", 24),
        ("changed 3 partner # 4", 19),
        ("changed 3 partner 0", 19),
        ("changed 3 partner 1024", 19),
        ("changed 3 partner 3", 19),
        ("changed 3 partner 4 5", 21),
    ] {
        let mistake = parse(line).expect_err(line);
        assert_eq!(mistake.column, column, "`{line}`: {mistake}");
    }
}

/// Who makes a mistake reads what is possible in its place.
#[test]
fn a_mistake_says_what_is_possible() {
    let expected = |line: &str| parse(line).expect_err(line).expected;
    assert_eq!(expected("leave 3"), "`join`, `left`, `friend`, `unfriend`, `changed` or `pass`");
    assert_eq!(expected("changed 3 name Ann"), "what has changed: `age`, `sex`, `hobbies` or `partner`");
    assert_eq!(expected("changed 3 age old"), "an age, from 0 to 255, or `none`");
    assert_eq!(expected("changed 3 sex other"), "`female` or `male`");
    assert_eq!(expected("changed 3 partner 3"), "the uid of somebody else, from 1 to 1023, or `none`");
    for hobby in Hobby::ALL {
        assert!(expected("changed 3 hobbies golf").contains(hobby.name()));
        assert!(expected("changed 3 hobbies chess golf").contains(hobby.name()));
    }
}

/// A line is about one field. The others are told as they were before, and so is what is not told.
#[test]
fn a_change_is_one_field_of_the_profile_that_was_told() {
    let secretive = Profile {
        flags: Profile::AGE_MISSING | Profile::HOBBIES_MISSING,
        hobbies: 0,
        sex: 1,
        partner: 104,
        ..*WORLD.person(365).expect("a person")
    };
    let changed = |line: &str| Event::parse(line, |_| Some(secretive)).expect("an event").expect("no comment");
    for (line, field, told) in [
        ("changed 365 age 33", Field::Age, Profile { age: 33, flags: Profile::HOBBIES_MISSING, ..secretive }),
        ("changed 365 age none", Field::Age, secretive),
        ("changed 365 sex male", Field::Sex, Profile { sex: 0, ..secretive }),
        (
            "changed 365 hobbies chess badminton chess",
            Field::Hobbies,
            Profile { hobbies: 0b11, flags: Profile::AGE_MISSING, ..secretive },
        ),
        ("changed 365 partner 7", Field::Partner, Profile { partner: 7, ..secretive }),
        ("changed 365 partner none", Field::Partner, Profile { partner: NOBODY, ..secretive }),
    ] {
        assert_eq!(changed(line), Event::Changed(field, told), "{line}");
    }
}

static YOUNG: Definition = Definition::new("young", Predicate::literal("age < 30"));

/// Whoever is known is heard of: near, a friend, or gone not long ago. Of others nothing is heard.
#[test]
fn a_change_reaches_a_flockr_that_knows_the_person() {
    let mut flockr = Box::new(Flockr::new());
    flockr.begin(&WORLD).expect("a world");
    let young = flockr.define(&YOUNG).expect("room");
    let friend = WORLD.friends()[0];
    let mut strangers = WORLD.arrivals().iter().copied().filter(|uid| !WORLD.friends().contains(uid));
    let [near, gone, stranger] = [(); 3].map(|()| strangers.next().expect("most are strangers"));
    for event in [Event::Join(near), Event::Join(gone), Event::Left(gone)] {
        event.happen_to(&mut flockr).expect("room");
    }
    for (uid, known) in [(near, true), (friend, true), (gone, true), (stranger, false)] {
        for (age, is_young) in [("33", false), ("29", true), ("none", false)] {
            let line = format!("changed {uid} age {age}");
            let event = Event::parse(&line, |uid| flockr.profile(uid)).expect("an event").expect("no comment");
            let before = flockr.summary(young).expect("a flock").version;
            let after = event.happen_to(&mut flockr).expect("it can happen");
            assert_eq!(after != before, known, "{line}");
            let members = flockr.snapshot(young).expect("a flock").members;
            assert_eq!(members.contains(uid), known && is_young, "{line}");
            assert_eq!(members, flockr.extension(young).expect("a flock").members, "{line}");
        }
    }
    // Who was a stranger then presents itself as in the beginning.
    assert_eq!(flockr.profile(stranger), WORLD.person(stranger).copied());
    assert_eq!(flockr.profile(near).and_then(|profile| profile.age()), None);
    assert_eq!(flockr.profile(0), None, "the owner is nobody else");
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
