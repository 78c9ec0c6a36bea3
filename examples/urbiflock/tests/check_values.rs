//! The numbers of the workload, on threads: 1, 2 and 4 cores, without a monitor, under `Mutex` and under `ReadersWriter`.

mod actors;
mod support;

use std::num::NonZeroU16;

use actors::{FLOCKRS, HELPERS, arrive};
use flockwork::Ref;
use flockwork_host_sim::run;
use flockwork_urbiflock::{
    Definition, Derivation, FlockId, Flockr, Predicate, SEED, WORLD, derive, derive_in_batches, derive_with,
};
use support::{Hall, fnv};

static FRIENDS_NEAR: Definition = Definition::new("friends near", Predicate::literal("isNearby and isFriend"));
static BADMINTON_NEAR: Definition = Definition::new("badminton", Predicate::literal("isNearby and hobby(badminton)"));

/// Runs a scenario on every number of cores under every monitor.
fn everywhere(scenario: impl Fn(Ref<Flockr>)) {
    for cores in [1, 2, 4] {
        run(cores, || FLOCKRS.into_iter().for_each(&scenario));
    }
}

fn couples(flockr: Ref<Flockr>) -> Derivation {
    derive(flockr, FlockId::COUPLES).expect("a flock")
}

#[test]
fn the_table() {
    everywhere(|flockr| {
        for (people, couples_near, hash, friends_near, badminton_near, comparisons) in [
            (50, 13, 0x047f_4ee3, 18, 11, 13373),
            (100, 33, 0x25b7_7bd3, 30, 24, 29654),
            (200, 61, 0x6f5f_7ef4, 60, 38, 65796),
            (300, 88, 0x5a41_c210, 84, 63, 111_812),
            (400, 118, 0x43fa_d0b4, 115, 89, 164_640),
        ] {
            arrive(flockr, people);
            let found = couples(flockr);
            assert_eq!(
                (found.couples(), found.hash(), found.friends, found.comparisons, found.restarts),
                (couples_near, hash, friends_near, comparisons, 0),
                "{people} people"
            );
            let friends = flockr.define(&FRIENDS_NEAR).get().expect("room");
            let badminton = flockr.define(&BADMINTON_NEAR).get().expect("room");
            assert_eq!(derive(flockr, friends).expect("a flock").members.len(), friends_near as usize);
            assert_eq!(derive(flockr, badminton).expect("a flock").members.len(), badminton_near);
            let incremental = flockr.snapshot(FlockId::COUPLES).get().expect("a flock");
            assert_eq!((incremental.version, incremental.members), (found.version, found.members));
        }
    });
}

#[test]
fn a_hundred_join_and_the_first_fifty_leave() {
    everywhere(|flockr| {
        arrive(flockr, 100);
        for &uid in &WORLD.arrivals()[..50] {
            flockr.left(uid).get().expect("somebody");
        }
        let found = couples(flockr);
        assert_eq!((found.couples(), found.hash()), (18, 0x24e6_5090));
        assert_eq!(flockr.snapshot(FlockId::COUPLES).get().expect("a flock").members, found.members);
    });
}

#[test]
fn derived_again_at_every_join() {
    everywhere(|flockr| {
        arrive(flockr, 0);
        let mut comparisons = 0;
        for &uid in &WORLD.arrivals()[..100] {
            flockr.join(uid).get().expect("somebody");
            comparisons += couples(flockr).comparisons;
        }
        assert_eq!(comparisons, 1_405_536);
    });
}

/// However many candidates a letter matches, the answer and what it cost are the same.
#[test]
fn batches_change_nothing_but_the_time() {
    everywhere(|flockr| {
        for people in [0, 1, 137] {
            arrive(flockr, people);
            for batch in [1, 2, 50, 136, 137, u16::MAX] {
                let batch = NonZeroU16::new(batch).expect("not zero");
                let found = derive_in_batches(flockr, FlockId::COUPLES, batch).expect("a flock");
                assert_eq!(found, couples(flockr), "{people} people, {batch} at a time");
            }
        }
    });
}

/// However many cores ask, the answer and what it cost are the same.
#[test]
fn helpers_change_nothing_but_the_time() {
    for cores in [1, 2, 4] {
        run(cores, || {
            for flockr in FLOCKRS {
                for people in [0, 1, 7, 200] {
                    arrive(flockr, people);
                    let found = derive_with(flockr, FlockId::COUPLES, &HELPERS[..cores - 1]).expect("a flock");
                    assert_eq!(found, couples(flockr), "{people} people on {cores} cores");
                }
            }
        });
    }
}

/// Sizes that no table has, from a model that shares nothing with the library.
#[test]
fn other_sizes_agree_with_the_model() {
    let hall = Hall::new(SEED.get());
    everywhere(|flockr| {
        for people in [0, 1, 2, 51, 137, 500, 512] {
            arrive(flockr, people);
            let found = couples(flockr);
            let expected = hall.couples(&hall.arrivals[..people]);
            assert_eq!(found.members.iter().collect::<Vec<_>>(), expected.uids, "{people} people");
            assert_eq!(found.comparisons, expected.comparisons, "{people} people");
            assert_eq!(found.hash(), fnv(&expected.uids), "{people} people");
        }
    });
}
