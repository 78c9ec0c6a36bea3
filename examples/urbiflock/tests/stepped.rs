//! The same actor in virtual time: what the cores gain, and many interleavings of people who come and go.

mod actors;
mod support;

use std::sync::{MutexGuard, PoisonError};

use actors::{DEFAULT, FLOCKRS, HELPERS, LOCKED, SHARED, arrive};
use flockwork::{Actor, Eventually, Pinned, Ref, actor};
use flockwork_host_sim::{Device, Faults, Run};
use flockwork_urbiflock::{Derivation, FlockId, Flockr, SEED, Uid, WORLD, derive_with};
use support::Hall;

/// The actors belong to one test at a time, also between two devices.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn couples(flockr: Ref<Flockr>, people: usize, cores: usize) -> Run<Derivation> {
    // The crowd comes before the clock starts; what is measured is the derivation.
    Device::stepped(1).run(|| arrive(flockr, people));
    Device::stepped(cores)
        .seed(7)
        .run(|| derive_with(flockr, FlockId::COUPLES, &HELPERS[..cores - 1]).expect("a flock"))
}

#[test]
fn two_cores_are_faster_and_find_the_same() {
    let _alone = alone();
    for (people, hash, comparisons) in [(100, 0x25b7_7bd3, 29654), (400, 0x43fa_d0b4, 164_640)] {
        let serial = couples(&DEFAULT, people, 1);
        let locked = couples(&LOCKED, people, 1);
        let both = couples(&SHARED, people, 2);
        let four = couples(&SHARED, people, 4);
        for run in [&serial, &locked, &both, &four] {
            let found = run.returned;
            assert_eq!((found.hash(), found.comparisons, found.restarts), (hash, comparisons, 0), "{people} people");
        }
        let gain = |run: &Run<Derivation>| serial.cycles as f64 / run.cycles as f64;
        println!(
            "{people} people: {} cycles; mutex {:.3}, two cores {:.3}, four {:.3}",
            serial.cycles,
            gain(&locked),
            gain(&both),
            gain(&four)
        );
        assert!(gain(&locked) <= 1.0, "a monitor costs something");
        assert!(gain(&both) > 1.7, "{people} people on two cores: {}", gain(&both));
        assert!(gain(&four) > gain(&both), "{people} people on four cores: {}", gain(&four));
        assert_eq!(couples(&SHARED, people, 2).trace_hash(), both.trace_hash(), "the same seed, the same run");
    }
}

/// Brings people, and takes them away again.
pub struct Crowd;

/// The version after an event, who it was about, and whether it came.
type Logged = (u32, Uid, bool);

#[actor]
impl Crowd {
    /// Lets these people come, and then go, as often as this. Returns what happened.
    pub fn stir(&mut self, flockr: Ref<Flockr>, people: std::ops::Range<usize>, times: u32) -> Vec<Logged> {
        let mut log = Vec::new();
        for come in (0..times).flat_map(|_| [true, false]) {
            for &uid in &WORLD.arrivals()[people.clone()] {
                let version = if come { flockr.join(uid).get() } else { flockr.left(uid).get() };
                log.push((version.expect("room"), uid, come));
            }
        }
        log
    }
}

#[actor]
static CROWD: Actor<Crowd, Pinned<1>, 1, 1> = Crowd;

const RESIDENTS: usize = 40;

/// Every derivation while people come and go is right for its version, for many seeds, also when things go wrong.
#[test]
fn derivations_are_right_in_any_interleaving() {
    let _alone = alone();
    let hall = Hall::new(SEED.get());
    // Core 1 is the crowd's.
    let helper_on_core_2 = &HELPERS[1..2];
    let mut disturbed = 0;
    for seed in 0..30 {
        let flockr = FLOCKRS[seed as usize % 3];
        let faults = if seed % 2 == 0 { Faults::none() } else { Faults::some() };
        let run = Device::stepped(3).seed(seed).faults(faults).run(|| {
            arrive(flockr, RESIDENTS);
            let begun = flockr.census(FlockId::COUPLES).get().expect("a flock").version;
            let mut stirring = CROWD.stir(flockr, RESIDENTS..RESIDENTS + 12, 2).ask().expect("room");
            let mut derived = Vec::new();
            while !stirring.is_ready() {
                derived.push(derive_with(flockr, FlockId::COUPLES, helper_on_core_2).expect("a flock"));
            }
            (begun, derived, stirring.get().expect("the crowd answers"))
        });
        let (begun, derived, log) = run.returned;
        assert!(log.iter().map(|logged| logged.0).eq((begun + 1..).take(log.len())), "a version for each event");
        for derivation in derived {
            disturbed += u32::from(derivation.restarts > 0);
            let mut near = hall.arrivals[..RESIDENTS].to_vec();
            for &(_, uid, came) in log.iter().take_while(|logged| logged.0 <= derivation.version) {
                if came {
                    near.push(usize::from(uid));
                } else {
                    near.retain(|other| *other != usize::from(uid));
                }
            }
            let expected = hall.couples(&near);
            assert_eq!(derivation.members.iter().collect::<Vec<_>>(), expected.uids, "seed {seed}");
            assert_eq!(derivation.comparisons, expected.comparisons, "seed {seed}");
        }
    }
    assert!(disturbed > 0, "no derivation was disturbed: there is nothing to see");
}
