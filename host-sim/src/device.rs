//! A device: some cores, made of threads or stepped, and what they run.

use std::thread;
use std::time::Instant;

use crate::costs::Costs;
use crate::faults::Faults;
use crate::recording::{Recording, Watched};
use crate::run::{Circumstances, Recorder, Run, Snapshot};
use crate::stepped::{self, Deadlock, Setting, Watcher};
use crate::threads;

/// How the cores of a device are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A core is an OS thread: races are real, time is the host's.
    Threads,
    /// All cores are on one thread, in virtual time: the same seed, the same run.
    Stepped,
}

/// A device to run actors on.
///
/// ```
/// use flockwork::{Actor, Eventually, ReadersWriter, actor};
/// use flockwork_host_sim::{Device, charge};
///
/// pub struct Map([u32; 16]);
///
/// #[actor]
/// impl Map {
///     pub fn look_up(&self, place: u8) -> u32 {
///         charge(20_000); // what the work takes, in cycles
///         self.0[usize::from(place) % 16]
///     }
/// }
///
/// #[actor]
/// static MAP: Actor<Map, ReadersWriter, 8, 8> = Map([7; 16]);
///
/// let cycles = |cores| {
///     let run = Device::stepped(cores).seed(1).run(|| {
///         let asked = [1, 2, 3, 4].map(|place| MAP.look_up(place).ask().unwrap());
///         asked.into_iter().for_each(|answer| assert_eq!(answer.get(), Ok(7)));
///     });
///     assert_eq!(run.letters(), 4);
///     run.cycles
/// };
/// let speed_up = cycles(1) as f64 / cycles(2) as f64;
/// assert!(speed_up > 1.7, "readers run on both cores at once");
/// ```
#[derive(Clone, Debug)]
#[must_use = "a device does nothing until it is run"]
pub struct Device {
    mode: Mode,
    cores: usize,
    seed: u64,
    costs: Costs,
    faults: Faults,
    limit: u64,
    keep_events: bool,
}

impl Device {
    /// A device whose cores are threads.
    pub fn threads(cores: usize) -> Self {
        Self::new(Mode::Threads, cores)
    }

    /// A device with virtual cores, in virtual time.
    pub fn stepped(cores: usize) -> Self {
        Self::new(Mode::Stepped, cores)
    }

    /// A device of either mode.
    pub fn new(mode: Mode, cores: usize) -> Self {
        Self {
            mode,
            cores,
            seed: 0,
            costs: Costs::rp2040(),
            faults: Faults::none(),
            limit: u64::MAX,
            keep_events: true,
        }
    }

    /// What chance is made of in stepped mode. The same seed gives the same run.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// What the kernel's steps cost in stepped mode; those of an RP2040 otherwise.
    pub fn costs(self, costs: Costs) -> Self {
        Self { costs, ..self }
    }

    /// What goes wrong in stepped mode, and how often.
    pub fn faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// How long `main` may take in stepped mode, in cycles. A program that goes on for ever without ever sleeping is no deadlock, and
    /// cannot be unwound: if it takes longer, the process says what each core does and ends with exit code 101.
    pub fn limit(self, cycles: u64) -> Self {
        Self { limit: cycles, ..self }
    }

    /// Whether the record of the run keeps every event: 24 bytes each, four to six a letter. If not, there are only figures; on
    /// threads not even those of actors, and letters run undisturbed. Then [`flockwork::trace::drain`] has nothing to show either.
    pub fn keep_events(self, keep_events: bool) -> Self {
        Self { keep_events, ..self }
    }

    /// Runs `main` on core 0 and workers on all cores, until `main` returns.
    ///
    /// Letters that are still on their way then stay where they are; wait for what must be done
    /// ([`run_until`](crate::run_until), `get`). One device runs at a time in a process: a second call waits for the first.
    ///
    /// # Panics
    /// If `cores` is 0 or more than the kernel allows, on a thread that is a core already, if `main` panics, and in stepped
    /// mode if all cores come to wait for one another.
    #[track_caller]
    pub fn run<R>(self, main: impl FnOnce() -> R) -> Run<R> {
        match self.try_run(main) {
            Ok(run) => run,
            Err(deadlock) => panic!("{deadlock}"),
        }
    }

    /// The same, for a program that may come to a deadlock. On threads it then hangs; only stepped mode can tell.
    ///
    /// # Errors
    /// If all cores sleep, no timer is set, and `main` has not returned.
    ///
    /// # Panics
    /// As [`run`](Self::run), but for deadlocks.
    pub fn try_run<R>(self, main: impl FnOnce() -> R) -> Result<Run<R>, Deadlock> {
        let Self { mode, cores, keep_events, .. } = self;
        match mode {
            Mode::Stepped => self.run_stepped(None, main),
            Mode::Threads if keep_events => Ok(on_recording_threads(cores, true, |_| (), main)),
            Mode::Threads => {
                let start = Instant::now();
                let returned = threads::device_without_events(cores, main);
                let cycles = start.elapsed().as_nanos() as u64;
                Ok(Recorder::new(cores, false).finish(returned, on_threads(cycles), &vec![(cycles, 0); cores]))
            }
        }
    }

    /// The same, while `look` is shown the device every so many cycles. Simulated time stands still while it looks: it may
    /// wait for a key, or for the host's time. It must not send letters.
    ///
    /// On threads time does not stand still, and it is not called; [`run_watched_threads`](Self::run_watched_threads) is for them.
    ///
    /// # Errors
    /// As [`try_run`](Self::try_run).
    ///
    /// # Panics
    /// As [`try_run`](Self::try_run), and if `look` does.
    pub fn try_run_watched<R>(
        self,
        every: u64,
        look: impl FnMut(&Snapshot) + 'static,
        main: impl FnOnce() -> R,
    ) -> Result<Run<R>, Deadlock> {
        match self.mode {
            Mode::Stepped => self.run_stepped(Some(Watcher { every, look: Box::new(look) }), main),
            Mode::Threads => self.try_run(main),
        }
    }

    /// Runs `main` on threads, whatever the mode, while `watch` looks on from a thread that is no core: until
    /// [`Watched::ends_within`] says that it is over.
    ///
    /// # Panics
    /// As [`run`](Self::run), and if `watch` does.
    pub fn run_watched_threads<R>(self, watch: impl FnOnce(&Watched) + Send, main: impl FnOnce() -> R) -> Run<R> {
        on_recording_threads(self.cores, self.keep_events, watch, main)
    }

    fn run_stepped<R>(self, watcher: Option<Watcher>, main: impl FnOnce() -> R) -> Result<Run<R>, Deadlock> {
        let Self { cores, seed, costs, faults, limit, keep_events, .. } = self;
        threads::check(cores);
        let _device = threads::only_device();
        stepped::run(Setting { cores, seed, costs, faults, limit, keep_events, watcher }, main)
    }
}

fn on_recording_threads<R>(
    cores: usize,
    keep_events: bool,
    watch: impl FnOnce(&Watched) + Send,
    main: impl FnOnce() -> R,
) -> Run<R> {
    let recording = Recording::begin(cores);
    let watched = Watched::new(&recording, cores, keep_events);
    let mut cycles = 0;
    let returned = thread::scope(|scope| {
        // Dropped also if `main` panics, so that nobody watches for ever.
        let ended = Ended(&watched);
        scope.spawn(|| watch(&watched));
        let on_core = |core| recording.on_core(core);
        let returned = threads::device(cores, false, on_core, || {
            let returned = main();
            cycles = recording.now();
            returned
        });
        drop(ended);
        returned
    });
    let (recorder, asleep) = watched.into_progress().finish(&recording);
    let times = asleep.into_iter().map(|asleep| (cycles.saturating_sub(asleep), asleep)).collect::<Vec<_>>();
    recorder.finish(returned, on_threads(cycles), &times)
}

struct Ended<'a>(&'a Watched);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn on_threads(cycles: u64) -> Circumstances {
    Circumstances { mode: Mode::Threads, seed: 0, megahertz: 1000, cycles }
}
