//! The generator, and the people it makes.

mod support;

use std::num::NonZeroU32;

use flockwork_urbiflock::{FRIENDS, Generator, OWNER, Profile, SEED, UNIVERSE, WORLD, World};
use support::Hall;

#[test]
fn the_generator_begins_as_described() {
    let mut generator = Generator::new(SEED);
    let drawn: Vec<u32> = (0..4).map(|_| generator.draw()).collect();
    assert_eq!(drawn, [0xa08e_40c2, 0x7a50_a5a9, 0xb253_e9bb, 0x23f9_2f29]);
}

#[test]
fn the_first_people_are_as_described() {
    let traits = |uid| WORLD.person(uid).map(|person| (person.age, person.sex, person.hobbies));
    assert_eq!([traits(0), traits(1), traits(2)], [Some((48, 0, 0x02)), Some((48, 0, 0xfd)), Some((23, 1, 0x0c))]);
    assert_eq!(WORLD.arrivals()[..8], [365, 104, 336, 139, 142, 584, 804, 411]);
    assert_eq!(WORLD.friends()[..4], [825, 902, 506, 759]);
}

/// Every person of several worlds, against the model.
#[test]
fn whole_worlds_agree_with_the_model() {
    for seed in [SEED.get(), 1, 0xdead_beef, u32::MAX] {
        let world = Box::new(World::generate(NonZeroU32::new(seed).expect("not zero")));
        let hall = Hall::new(seed);
        for (uid, expected) in hall.people.iter().enumerate() {
            let person = world.person(uid as u16).expect("a person");
            assert_eq!(usize::from(person.uid), uid);
            assert_eq!(person.username.to_string(), expected.name);
            let partner = person.partner().map(|partner| world.person(partner).expect("a person").username.to_string());
            assert_eq!(partner, expected.partner);
            assert_eq!((u32::from(person.age), u32::from(person.sex)), (expected.age, expected.sex));
            assert_eq!((0..8).filter(|bit| person.hobbies & 1 << bit != 0).collect::<Vec<_>>(), expected.hobbies);
        }
        assert!(world.friends().iter().map(|&uid| usize::from(uid)).eq(hall.friends));
        assert!(world.arrivals().iter().map(|&uid| usize::from(uid)).eq(hall.arrivals));
    }
}

#[test]
fn everybody_but_the_owner_arrives_once() {
    let mut arrivals = WORLD.arrivals().to_vec();
    arrivals.sort();
    assert!(arrivals.iter().map(|&uid| usize::from(uid)).eq(1..UNIVERSE));
    assert!(!WORLD.friends().contains(&OWNER));
    assert_eq!(WORLD.friends().len(), FRIENDS);
    assert_eq!(WORLD.person(UNIVERSE as u16), None);
}

#[test]
fn partners_are_symmetric() {
    let people = || (0..UNIVERSE as u16).filter_map(|uid| WORLD.person(uid));
    let paired = people().filter_map(Profile::partner).count();
    assert_eq!(paired, 614);
    for person in people() {
        if let Some(partner) = person.partner() {
            assert_eq!(WORLD.person(partner).and_then(Profile::partner), Some(person.uid));
        }
    }
}

/// Mandatory fields are there for everybody, and agree with each other.
#[test]
fn birthdays_agree_with_ages() {
    for person in (0..UNIVERSE as u16).filter_map(|uid| WORLD.person(uid)) {
        let born = person.birth_date();
        assert!(born.exists(), "{born}");
        let (year, rest) = born.to_string().split_once('-').map(|(y, r)| (y.to_owned(), r.to_owned())).expect("a date");
        // On 2014-01-01 the birthday of this year is still to come.
        assert_ne!(rest, "01-01");
        assert_eq!(2014 - year.parse::<u16>().expect("a year") - 1, u16::from(person.age));
        assert!(person.first_name().len() <= 12 && person.last_name().len() <= 12, "a predicate can name it");
    }
}
