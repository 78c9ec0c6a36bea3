//! How fast the couples are found on real threads: `urbiflock-speed [PEOPLE [DERIVATIONS]]`.
//!
//! Each line is one monitor on so many cores; the tables differ in how many candidates a letter matches. Every configuration is
//! measured many times in turn and the best time counts, since only noise makes one longer.

use std::num::NonZeroU16;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use flockwork::{Actor, Mutex, ReadersWriter, Ref, Serial, actor};
use flockwork_host_sim::run;
use flockwork_urbiflock::{Derivation, FlockId, Flockr, MAX_NEARBY, WORLD, derive, derive_in_batches, gather};

// The same actor three times. The second word of each type is all that differs.
#[actor]
static DEFAULT: Actor<Flockr, Serial, 32, 16> = Flockr::new();
#[actor]
static LOCKED: Actor<Flockr, Mutex, 32, 16> = Flockr::new();
#[actor]
static SHARED: Actor<Flockr, ReadersWriter, 32, 16> = Flockr::new();

const ROUNDS: usize = 40;
/// Candidates per letter.
const BATCHES: [u16; 4] = [1, 10, 25, 50];

fn main() -> ExitCode {
    match arguments() {
        Ok((people, derivations)) => {
            measure(people, derivations);
            ExitCode::SUCCESS
        }
        Err(mistake) => {
            eprintln!("urbiflock-speed: {mistake}");
            ExitCode::from(2)
        }
    }
}

fn arguments() -> Result<(usize, u32), String> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u32, most: usize, what: &str| match arguments.next() {
        None => Ok(default),
        Some(text) => match text.parse() {
            Ok(number) if (1..=most as u32).contains(&number) => Ok(number),
            _ => Err(format!("{what} must be a number from 1 to {most}, not `{text}`")),
        },
    };
    let people = number(400, MAX_NEARBY, "PEOPLE")?;
    let derivations = number(25, 1_000_000, "DERIVATIONS")?;
    match arguments.next() {
        None => Ok((people as usize, derivations)),
        Some(text) => Err(format!("`{text}` is one argument too many; they are PEOPLE and DERIVATIONS")),
    }
}

/// One line of a table.
struct Line {
    monitor: &'static str,
    flockr: Ref<Flockr>,
    cores: usize,
    batch: u16,
    best: Duration,
}

fn measure(people: usize, derivations: u32) {
    let flockrs: [(&str, Ref<Flockr>); 3] = [("default", &DEFAULT), ("mutex", &LOCKED), ("readers-writer", &SHARED)];
    let mut lines = Vec::new();
    for batch in BATCHES {
        for (monitor, flockr) in flockrs {
            lines.extend([1, 2].map(|cores| Line { monitor, flockr, cores, batch, best: Duration::MAX }));
        }
    }
    let mut found: Option<Derivation> = None;
    for _ in 0..ROUNDS {
        for line in &mut lines {
            let (time, derivation) = run(line.cores, || derive_often(line, people, derivations));
            line.best = line.best.min(time);
            let first = found.get_or_insert(derivation);
            assert_eq!((first.members, first.comparisons), (derivation.members, derivation.comparisons));
        }
    }
    let Some(found) = found else { return };
    println!(
        "{people} people: {} couples, hash {:08x}, {} comparisons; {derivations} derivations, best of {ROUNDS}",
        found.couples(),
        found.hash(),
        found.comparisons
    );
    for table in lines.chunk_by(|one, other| one.batch == other.batch) {
        let [serial, ..] = table else { continue };
        println!("\n  letters for {} each\n  monitor          cores   derivation      match   speed-up", serial.batch);
        for Line { monitor, cores, best, .. } in table {
            let derivation = *best / derivations;
            let one = derivation.as_nanos() as f64 / people as f64;
            let speed_up = serial.best.as_secs_f64() / best.as_secs_f64();
            let time = derivation.as_secs_f64() * 1e6;
            println!("  {monitor:<15} {cores:>6} {time:>9.1} µs {one:>7.0} ns {speed_up:>8.2} ×");
        }
    }
}

fn derive_often(line: &Line, people: usize, derivations: u32) -> (Duration, Derivation) {
    let flockr = line.flockr;
    flockr.begin(&WORLD).get().expect("there is a world");
    gather(flockr, &WORLD, people).expect("there is room for as many");
    let couples = || match NonZeroU16::new(line.batch) {
        Some(batch) if batch.get() > 1 => derive_in_batches(flockr, FlockId::COUPLES, batch),
        _ => derive(flockr, FlockId::COUPLES),
    };
    let mut derivation = couples().expect("there is such a flock");
    let start = Instant::now();
    for _ in 0..derivations {
        derivation = couples().expect("there is such a flock");
    }
    (start.elapsed(), derivation)
}
