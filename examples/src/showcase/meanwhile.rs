//! People come and go while a flock is derived: what is right then?
//!
//! A task derives the flock again and again, and `main` lets people come and go at moments that chance chooses, between the letters
//! of a derivation. Each derivation names the version of the flockr that it is about. Afterwards the story is told once more, to
//! another flockr and one event at a time: each derivation has to be what was true at its version.

use std::sync::{Mutex, PoisonError};

use embassy_executor::task;
use flockwork::{Actor, Ref, Serial, actor, worker};
use flockwork_host_sim::run_until;
use flockwork_urbiflock::{
    Definition, Derivation, DerivationError, Event, FlockId, Flockr, Generator, PATIENCE, World, derive_async,
};
use serde_json::{Value, json};

use crate::counted;
use crate::couples::{Method, Series, answered};
use crate::live::{Happenings, begin};

/// An event, and the version of the flockr after it; none if it could not happen.
struct Happened {
    event: Event,
    version: Option<u32>,
}

/// Steps of a core's worker between two events, at most. A derivation among a hundred people takes some six of them.
const LONGEST_PAUSE: u32 = 5;

/// What the task has derived, until somebody takes it.
static DERIVED: Mutex<Option<Result<Derivation, DerivationError>>> = Mutex::new(None);

#[task]
async fn deriver(flockr: Ref<Flockr>, flock: FlockId) {
    let derivation = derive_async(flockr, flock).await;
    *DERIVED.lock().unwrap_or_else(PoisonError::into_inner) = Some(derivation);
}

fn start_to_derive(flockr: Ref<Flockr>, flock: FlockId) {
    worker::spawner().spawn(deriver(flockr, flock).expect("one task at a time"));
}

fn take_derived() -> Option<Derivation> {
    DERIVED.lock().unwrap_or_else(PoisonError::into_inner).take().map(answered)
}

/// To whom the story is told once more.
#[actor]
static WITNESS: Actor<Flockr, Serial, 32, 16> = Flockr::new();

/// What became of the derivations.
pub(crate) struct Meanwhile {
    events: usize,
    derivations: usize,
    /// Derivations that had to begin again, because somebody came or went.
    disturbed: usize,
    /// How often, in all.
    restarts: u32,
    /// Derivations that were disturbed so often that one letter did them alone.
    alone: usize,
}

/// Who and what it is about.
pub(crate) struct Scene {
    pub(crate) world: &'static World,
    pub(crate) people: usize,
    pub(crate) flock: Option<&'static Definition>,
    pub(crate) generator: Generator,
}

/// Derives a flock until everything has happened meanwhile, and checks every derivation.
///
/// # Panics
/// If one is not what was true at its version.
pub(crate) fn derive_meanwhile(method: &Method, series: Series, scene: &Scene, happenings: &Happenings) -> Meanwhile {
    let Scene { world, people, flock, generator } = scene;
    let flockr = series.monitor.flockr();
    let device = method.options(series).device().keep_events(false);
    let (begun, story, derived): (u32, Vec<Happened>, Vec<Derivation>) = device
        .run(|| {
            let mut generator = generator.clone();
            let flock = begin(flockr, world, *people, *flock);
            let begun = answered(flockr.census(flock).get()).version;
            let mut to_come = happenings.events();
            let (mut story, mut derived) = (Vec::new(), Vec::new());
            loop {
                start_to_derive(flockr, flock);
                let is_last = to_come.len() == 0;
                let derivation = loop {
                    let mut steps = 1 + generator.below(LONGEST_PAUSE);
                    let mut found = None;
                    run_until(|| {
                        found = take_derived();
                        let is_time = steps == 0;
                        steps = steps.saturating_sub(1);
                        found.is_some() || is_time
                    });
                    if let Some(derivation) = found {
                        break derivation;
                    }
                    if let Some(event) = to_come.next() {
                        story.push(Happened { event, version: event.happen(flockr).ok() });
                    }
                };
                derived.push(derivation);
                // The last one was not disturbed by anything.
                if is_last {
                    return (begun, story, derived);
                }
            }
        })
        .returned;
    check(method, scene, begun, &story, &derived);
    Meanwhile {
        events: story.len(),
        derivations: derived.len(),
        disturbed: derived.iter().filter(|derivation| derivation.restarts > 0).count(),
        restarts: derived.iter().map(|derivation| derivation.restarts).sum(),
        alone: derived.iter().filter(|derivation| derivation.restarts == PATIENCE).count(),
    }
}

fn check(method: &Method, scene: &Scene, begun: u32, story: &[Happened], derived: &[Derivation]) {
    let Scene { world, people, flock, .. } = scene;
    let device = flockwork_host_sim::Device::new(method.device.mode, 1).keep_events(false);
    device.run(|| {
        let flock: FlockId = begin(&WITNESS, world, *people, *flock);
        let mut story = story.iter().peekable();
        for Derivation { version, members, comparisons, restarts, .. } in derived {
            while let Some(happened) = story.next_if(|happened| {
                happened.version.is_none_or(|after| after.wrapping_sub(begun) <= version.wrapping_sub(begun))
            }) {
                // What was refused then is refused again.
                let _ = happened.event.happen(&WITNESS);
            }
            let at_once = answered(WITNESS.extension(flock).get());
            let known = answered(WITNESS.snapshot(flock).get()).members;
            let what = format!("a derivation of version {version}, after {restarts} restarts");
            assert_eq!((members, *comparisons), (&at_once.members, at_once.comparisons), "{what}, in one letter");
            assert_eq!(members, &known, "{what}, by the incremental engine");
        }
    });
}

impl Meanwhile {
    pub(crate) fn tell(&self) -> String {
        let Self { events, derivations, disturbed, restarts, alone } = self;
        format!(
            "While the flock was derived {}, {} came in between: {disturbed} of the derivations began again ({} in all), and \
             {alone}\nof them ended as one letter. Each found what was true at the version it names.\n\n",
            counted(*derivations as u64, "time"),
            counted(*events as u64, "event"),
            counted(u64::from(*restarts), "restart"),
        )
    }

    pub(crate) fn json(&self) -> Value {
        let Self { events, derivations, disturbed, restarts, alone } = self;
        json!({
            "events": events, "derivations": derivations, "disturbed": disturbed, "restarts": restarts,
            "in_one_letter": alone,
        })
    }
}
