//! People come and go while flocks are derived. Each derivation is right: its members, and what it cost, are those of the
//! version it names, whatever ran between its matches.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use embassy_executor::task;
use flockwork::{Actor, Mutex, Pinned, ReadersWriter, Ref, Serial, actor, worker};
use flockwork_host_sim::{run, run_until};
use flockwork_urbiflock::{
    Derivation, FlockId, Flockr, Helper, PATIENCE, SEED, WORLD, derive_async, derive_with, gather,
};
use support::Hall;

// Less room than the derivation's window, so that it has to wait for room among others.
#[actor]
static DEFAULT: Actor<Flockr, Serial, 16, 8> = Flockr::new();
#[actor]
static LOCKED: Actor<Flockr, Mutex, 16, 8> = Flockr::new();
#[actor]
static SHARED: Actor<Flockr, ReadersWriter, 32, 24> = Flockr::new();

#[actor]
static HELPER: Actor<Helper, Pinned<1>, 1, 1> = Helper;

/// What happened, and the version after it.
#[derive(Debug)]
struct Logged {
    version: u32,
    uid: usize,
    came: bool,
}

/// People who are there from the beginning and stay.
const RESIDENTS: usize = 80;
/// Who comes and goes again and again, for each of the threads that bring them.
const VISITORS: [std::ops::Range<usize>; 2] = [80..100, 100..120];

/// Lets visitors come and go until told to stop.
fn bustle(flockr: Ref<Flockr>, visitors: std::ops::Range<usize>, stop: &AtomicBool) -> Vec<Logged> {
    let mut log = Vec::new();
    let mut came = true;
    while !stop.load(Ordering::SeqCst) {
        for &uid in &WORLD.arrivals()[visitors.clone()] {
            let version = if came { flockr.join(uid).get() } else { flockr.left(uid).get() };
            log.push(Logged { version: version.expect("room"), uid: usize::from(uid), came });
        }
        came = !came;
    }
    log
}

/// Derives until there were enough derivations, with and without interference, with and without help.
fn derive_often(flockr: Ref<Flockr>, helpers: &[Ref<Helper>]) -> Vec<Derivation> {
    let mut derived = Vec::new();
    let mut disturbed = 0;
    while derived.len() < 40 || disturbed == 0 && derived.len() < 10_000 {
        let helpers = if derived.len() % 2 == 0 { helpers } else { &[] };
        let derivation = derive_with(flockr, FlockId::COUPLES, helpers).expect("a flock");
        disturbed += u32::from(derivation.restarts > 0);
        derived.push(derivation);
    }
    derived
}

#[test]
fn derivations_are_right_while_people_come_and_go() {
    let hall = Hall::new(SEED.get());
    let flockrs: [Ref<Flockr>; 3] = [&DEFAULT, &LOCKED, &SHARED];
    let helpers: [Ref<Helper>; 1] = [&HELPER];
    for cores in [1, 2, 4] {
        for flockr in flockrs {
            let stop = AtomicBool::new(false);
            let (begun, derived, mut log) = run(cores, || {
                flockr.begin(&WORLD).get().expect("a world");
                gather(flockr, &WORLD, RESIDENTS).expect("room");
                let begun = flockr.census(FlockId::COUPLES).get().expect("a flock").version;
                thread::scope(|scope| {
                    let visitors = VISITORS.map(|some| scope.spawn(|| bustle(flockr, some, &stop)));
                    let derived = derive_often(flockr, &helpers[..usize::from(cores > 1)]);
                    stop.store(true, Ordering::SeqCst);
                    // The core goes on working, or the threads' last letters would wait for ever.
                    run_until(|| visitors.iter().all(|visitor| visitor.is_finished()));
                    let log: Vec<_> =
                        visitors.into_iter().flat_map(|visitor| visitor.join().expect("no panic")).collect();
                    (begun, derived, log)
                })
            });
            assert!(derived.iter().any(|derivation| derivation.restarts > 0), "no derivation was disturbed");
            check(&hall, begun, &derived, &mut log);
        }
    }
}

/// Tells the story again from the log, and compares each derivation with what was true at its version.
fn check(hall: &Hall, begun: u32, derived: &[Derivation], log: &mut [Logged]) {
    log.sort_by_key(|logged| logged.version);
    assert!(log.iter().map(|logged| logged.version).eq((begun + 1..).take(log.len())), "a version for each event");
    let mut near = hall.arrivals[..RESIDENTS].to_vec();
    let mut log = log.iter().peekable();
    for derivation in derived {
        while let Some(logged) = log.next_if(|logged| logged.version <= derivation.version) {
            if logged.came {
                near.push(logged.uid);
            } else {
                near.retain(|uid| *uid != logged.uid);
            }
        }
        let expected = hall.couples(&near);
        let members: Vec<u16> = derivation.members.iter().collect();
        assert_eq!(members, expected.uids, "version {}, {} restarts", derivation.version, derivation.restarts);
        assert_eq!(derivation.comparisons, expected.comparisons, "version {}", derivation.version);
    }
}

static TASK_DERIVED: std::sync::Mutex<Option<Derivation>> = std::sync::Mutex::new(None);

#[task]
async fn deriver() {
    let derivation = derive_async(&SHARED, FlockId::COUPLES).await.expect("a flock");
    *TASK_DERIVED.lock().expect("one task") = Some(derivation);
}

/// On one core, a task derives while `main` lets somebody come at each step: the order is the same every time, and
/// there is never an undisturbed moment. In the end one letter derives alone.
#[test]
fn a_task_that_is_always_disturbed_ends_all_the_same() {
    let hall = Hall::new(SEED.get());
    run(1, || {
        SHARED.begin(&WORLD).get().expect("a world");
        gather(&SHARED, &WORLD, RESIDENTS).expect("room");
        let begun = SHARED.census(FlockId::COUPLES).get().expect("a flock").version;
        let taken = || TASK_DERIVED.lock().expect("one task").take();

        worker::spawner().spawn(deriver().expect("a task"));
        let mut visitors = WORLD.arrivals()[RESIDENTS..].iter();
        let mut arrived = 0;
        let derivation = loop {
            worker::step_once();
            if let Some(derivation) = taken() {
                break derivation;
            }
            SHARED.join(*visitors.next().expect("the derivation ends before everybody is there")).get().expect("room");
            arrived += 1;
        };
        assert_eq!(derivation.restarts, PATIENCE, "disturbed by {arrived} arrivals");
        let near = RESIDENTS + (derivation.version - begun) as usize;
        let expected = hall.couples(&hall.arrivals[..near]);
        assert_eq!(derivation.members.iter().collect::<Vec<_>>(), expected.uids);

        // Undisturbed, it needs no second attempt.
        worker::spawner().spawn(deriver().expect("a task"));
        let mut found = None;
        run_until(|| {
            found = taken();
            found.is_some()
        });
        let found = found.expect("just seen");
        let expected = hall.couples(&hall.arrivals[..RESIDENTS + arrived]);
        assert_eq!((found.restarts, found.members.iter().collect::<Vec<_>>()), (0, expected.uids));
        assert_eq!(found.comparisons, expected.comparisons);
    });
}
