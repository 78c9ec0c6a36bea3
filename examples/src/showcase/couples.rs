//! Derivations that are measured: one actor under three monitors, in simulated time or on threads.

use std::fmt;
use std::num::{NonZeroU16, NonZeroU32};
use std::time::{Duration, Instant};

use flockwork::{Actor, Mutex, Pinned, ReadersWriter, Ref, Serial, actor};
use flockwork_host_sim::top::{self, Trouble};
use flockwork_host_sim::{Device, Misuse, Mode, Options, Run, record_from_here};
use flockwork_urbiflock::{
    Derivation, FlockId, Flockr, Helper, MAX_HELPERS, SEED, WINDOW, WORLD, World, derive_in_batches, derive_with,
    gather,
};

// The same actor three times. The second word of each type is all that differs. As many letters and promises as on the board.
#[actor]
static DEFAULT: Actor<Flockr, Serial, 32, 16> = Flockr::new();
#[actor]
static LOCKED: Actor<Flockr, Mutex, 32, 16> = Flockr::new();
#[actor]
static SHARED: Actor<Flockr, ReadersWriter, 32, 16> = Flockr::new();

macro_rules! helpers {
    ($($name:ident on $core:literal),*) => {
        $(#[actor] static $name: Actor<Helper, Pinned<$core>, 1, 1> = Helper;)*
        /// One for each further core, as many as a derivation can have.
        static HELPERS: [Ref<Helper>; MAX_HELPERS] = [$(&$name),*];
    };
}
helpers!(
    HELPER_1 on 1, HELPER_2 on 2, HELPER_3 on 3, HELPER_4 on 4, HELPER_5 on 5, HELPER_6 on 6, HELPER_7 on 7
);

/// On threads, derivations are repeated for so long, and their mean is one measurement: long enough for the clock, and short enough
/// that a busy machine lets some of them pass undisturbed.
const MEASUREMENT: Duration = Duration::from_micros(400);
/// Measurements in a row.
const ROUND: usize = 25;
/// Every series has so many rounds, in turn with the others, so that a slow moment of the machine falls on all alike; the best
/// measurement counts, since only noise makes one longer.
const ROUNDS: usize = 24;
/// On threads, a derivation is recorded when one takes no longer than so many times what was measured: recording itself takes some
/// time, but a cold cache, or a core that was not there yet, takes more.
const TYPICAL: f64 = 1.5;
/// Not before so long: until then threads start and caches fill.
const WARM_UP: Duration = Duration::from_millis(20);
/// And for so long at most; then the last one is taken as it was.
const PATIENCE_TO_RECORD: Duration = Duration::from_millis(300);
/// How many letters a derivation has on threads: as many as can be under way. A single match takes a quarter of a microsecond there,
/// less than a letter takes from one core's cache to the other's.
pub(crate) const LETTERS_ON_THREADS: usize = WINDOW;

/// Which letters of the flockr may run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Monitor {
    Default,
    Mutex,
    ReadersWriter,
}

impl Monitor {
    pub(crate) const ALL: [Self; 3] = [Self::Default, Self::Mutex, Self::ReadersWriter];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Mutex => "mutex",
            Self::ReadersWriter => "readers-writer",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, Misuse> {
        Self::ALL
            .into_iter()
            .find(|monitor| monitor.name() == name)
            .ok_or_else(|| Misuse::new(format!("--monitor is `default`, `mutex` or `readers-writer`, not `{name}`")))
    }

    pub(crate) fn flockr(self) -> Ref<Flockr> {
        match self {
            Self::Default => &DEFAULT,
            Self::Mutex => &LOCKED,
            Self::ReadersWriter => &SHARED,
        }
    }
}

/// One monitor on so many cores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series {
    pub(crate) monitor: Monitor,
    pub(crate) cores: usize,
}

/// What is compared with: no monitor, one core.
pub(crate) const BASE: Series = Series { monitor: Monitor::Default, cores: 1 };

/// A derivation, and what it took.
pub(crate) struct Measured {
    pub(crate) derivation: Derivation,
    /// Cycles of the simulated device, or nanoseconds of the host.
    pub(crate) spent: f64,
    /// What happened on the simulated device.
    pub(crate) run: Option<Run<Derivation>>,
    /// Which flock of its flockr it was.
    pub(crate) flock: FlockId,
    /// On threads: the best of each round. The best of them is what counts.
    pub(crate) rounds: Vec<f64>,
}

/// How a speed-up differs from round to round.
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

impl Measured {
    /// Speed-ups over another series, each within one round of both; none if there were no rounds.
    pub(crate) fn spread(&self, over: &Self) -> Option<Spread> {
        let mut ratios: Vec<f64> = over.rounds.iter().zip(&self.rounds).map(|(over, own)| over / own).collect();
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (*ratios.first()?, *ratios.last()?);
        Some(Spread { least, median: ratios[ratios.len() / 2], most })
    }

    /// How many times as fast as another.
    pub(crate) fn speed_up(&self, over: &Self) -> f64 {
        over.spent / self.spent
    }
}

/// How derivations are measured.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    /// The device; the number of cores is that of a series.
    pub(crate) device: Options,
    /// How many people a letter matches.
    pub(crate) batch: NonZeroU16,
}

impl Method {
    /// With letters as large as suits the mode, for flocks among so many people.
    pub(crate) fn on(device: Options, people: usize) -> Self {
        let people_per_letter = match device.mode {
            Mode::Threads => people.div_ceil(LETTERS_ON_THREADS),
            Mode::Stepped => 1,
        };
        Self { device, batch: NonZeroU16::new(people_per_letter as u16).unwrap_or(NonZeroU16::MIN) }
    }

    /// Measures a derivation in each series. `arrive` brings the people before the clock starts, and says which flock it is about.
    ///
    /// The series have to find the same, with as many comparisons, and the flockr's other engine has to know the same members.
    pub(crate) fn measure(&self, series: &[Series], arrive: impl Fn(Ref<Flockr>) -> FlockId) -> Vec<Measured> {
        let flocks: Vec<FlockId> = series
            .iter()
            .map(|series| {
                let before = Device::new(self.device.mode, 1).keep_events(false);
                before.run(|| arrive(series.monitor.flockr())).returned
            })
            .collect();
        let entries = || series.iter().zip(&flocks).map(|(&series, &flock)| (series, flock));
        let measured: Vec<Measured> = match self.device.mode {
            Mode::Stepped => entries().map(|(series, flock)| self.step(series, flock)).collect(),
            Mode::Threads => {
                let mut best: Vec<Measured> = entries().map(|(series, flock)| self.time(series, flock)).collect();
                for _ in 1..ROUNDS {
                    for ((series, flock), best) in entries().zip(&mut best) {
                        let round = self.time(series, flock);
                        assert_eq!(found(&round), found(best), "the same people, the same flock");
                        best.spent = best.spent.min(round.spent);
                        best.rounds.extend(round.rounds);
                    }
                }
                best
            }
        };
        for (one, (series, flock)) in measured.iter().zip(entries()) {
            assert_eq!(found(one), found(&measured[0]), "{series:?} finds what {:?} finds", BASE);
            let after = Device::new(self.device.mode, 1).keep_events(false);
            let members = after.run(|| answered(series.monitor.flockr().snapshot(flock).get())).returned.members;
            assert_eq!(one.derivation.members, members, "{series:?}: the incremental engine has the same members");
        }
        measured
    }

    /// The device for a series.
    pub(crate) fn options(&self, series: Series) -> Options {
        Options { cores: series.cores, ..self.device.clone() }
    }

    fn step(&self, series: Series, flock: FlockId) -> Measured {
        let run = self.options(series).device().run(|| self.derive(series, flock));
        Measured { derivation: run.returned, spent: run.cycles as f64, run: Some(run), flock, rounds: Vec::new() }
    }

    /// One more derivation like one that was measured, with a record of every letter, in either mode.
    pub(crate) fn record(&self, series: Series, measured: &Measured) -> Run<Derivation> {
        self.options(series).device().run(|| {
            let began = Instant::now();
            loop {
                record_from_here();
                let start = Instant::now();
                let derivation = self.derive(series, measured.flock);
                let took_typically_long = start.elapsed().as_nanos() as f64 <= TYPICAL * measured.spent;
                let is_typical = took_typically_long && began.elapsed() > WARM_UP;
                if self.device.mode == Mode::Stepped || is_typical || began.elapsed() > PATIENCE_TO_RECORD {
                    return derivation;
                }
            }
        })
    }

    /// One more derivation, shown in the terminal while it happens. On threads one is over before anybody could see it: there are
    /// as many as fit in until the view is closed.
    pub(crate) fn watch(&self, series: Series, flock: FlockId) -> Result<Run<Derivation>, Trouble> {
        let title = format!("urbiflock, {}", series.monitor.name());
        top::run(&self.options(series), &title, || {
            loop {
                let derivation = self.derive(series, flock);
                if self.device.mode == Mode::Stepped || !top::is_open() {
                    return derivation;
                }
            }
        })
    }

    /// How it is measured on threads, in words.
    pub(crate) fn on_threads() -> String {
        format!(
            "How threads are measured: {ROUNDS} rounds, the series in turn. A round starts its threads (the default actor has one \
             core, so no\nother thread waits or spins beside it), derives once to warm up, and then measures {ROUND} times what a \
             derivation takes, as a mean\nover {} ms. The best of all counts. The hooks for simulated time are compiled in, but no \
             events are kept.",
            MEASUREMENT.as_secs_f64() * 1e3
        )
    }

    /// One round on threads.
    fn time(&self, series: Series, flock: FlockId) -> Measured {
        let device = Device::threads(series.cores).keep_events(false);
        let round = device.run(|| {
            let derivation = self.derive(series, flock);
            let mut best = Measured { derivation, spent: f64::MAX, run: None, flock, rounds: Vec::new() };
            for _ in 0..ROUND {
                let (start, mut derivations) = (Instant::now(), 0);
                while start.elapsed() < MEASUREMENT {
                    best.derivation = self.derive(series, flock);
                    derivations += 1;
                }
                best.spent = best.spent.min(start.elapsed().as_nanos() as f64 / f64::from(derivations));
            }
            best.rounds.push(best.spent);
            best
        });
        round.returned
    }

    /// A derivation, on the device that runs.
    pub(crate) fn derive(&self, series: Series, flock: FlockId) -> Derivation {
        let Series { monitor, cores } = series;
        let derived = match self.batch.get() {
            1 => derive_with(monitor.flockr(), flock, &HELPERS[..(cores - 1).min(MAX_HELPERS)]),
            _ => derive_in_batches(monitor.flockr(), flock, self.batch),
        };
        answered(derived)
    }
}

/// What an actor answered. If it did not, as some faults of a device make it, there is nothing to show: one line says why, and the
/// process ends with exit code 1.
pub(crate) fn answered<T, E: fmt::Display>(outcome: Result<T, E>) -> T {
    outcome.unwrap_or_else(|why| {
        eprintln!("error: an actor did not answer: {why}");
        std::process::exit(1)
    })
}

fn found(measured: &Measured) -> (u32, u32, u32) {
    let Derivation { comparisons, restarts, .. } = measured.derivation;
    (measured.derivation.hash(), comparisons, restarts)
}

/// The world that a seed makes.
pub(crate) fn world(seed: NonZeroU32) -> &'static World {
    // Actors have references to it, and they are statics.
    if seed == SEED { &WORLD } else { Box::leak(Box::new(World::generate(seed))) }
}

/// Starts a flockr anew among so many people; gives the flock of the couples.
pub(crate) fn crowd(flockr: Ref<Flockr>, world: &'static World, people: usize) -> FlockId {
    answered(flockr.begin(world).get());
    answered(gather(flockr, world, people));
    FlockId::COUPLES
}

/// What the description of the workload says about the couples of [`WORLD`]: people, couples, hash and comparisons.
const CHECK_VALUES: [(usize, usize, u32, u32); 5] = [
    (50, 13, 0x047f_4ee3, 13_373),
    (100, 33, 0x25b7_7bd3, 29_654),
    (200, 61, 0x6f5f_7ef4, 65_796),
    (300, 88, 0x5a41_c210, 111_812),
    (400, 118, 0x43fa_d0b4, 164_640),
];

/// Whether the couples among so many people are those of the check values; none if there are none for them.
pub(crate) fn as_expected(seed: NonZeroU32, people: usize, derivation: &Derivation) -> Option<bool> {
    let values = CHECK_VALUES.iter().find(|values| seed == SEED && values.0 == people)?;
    let &(_, couples, hash, comparisons) = values;
    Some((couples, hash, comparisons) == (derivation.couples(), derivation.hash(), derivation.comparisons))
}
