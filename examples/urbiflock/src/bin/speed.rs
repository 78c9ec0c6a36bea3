//! How fast the couples are found on real threads: `urbiflock-speed [PEOPLE [DERIVATIONS]]`.
//!
//! Each line is one monitor on so many cores. Every configuration is measured several times in turn and the best time counts,
//! since only noise makes one longer.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use flockwork::{Actor, Mutex, Pinned, ReadersWriter, Ref, Serial, actor};
use flockwork_host_sim::run;
use flockwork_urbiflock::{Derivation, FlockId, Flockr, Helper, MAX_NEARBY, WORLD, derive_with, gather};

// The same actor three times. The second word of each type is all that differs.
#[actor]
static DEFAULT: Actor<Flockr, Serial, 64, 64> = Flockr::new();
#[actor]
static LOCKED: Actor<Flockr, Mutex, 64, 64> = Flockr::new();
#[actor]
static SHARED: Actor<Flockr, ReadersWriter, 64, 64> = Flockr::new();

// The second core asks for its share of the matches.
#[actor]
static HELPER: Actor<Helper, Pinned<1>, 1, 1> = Helper;

const ROUNDS: usize = 40;

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

fn measure(people: usize, derivations: u32) {
    let flockrs: [(&str, Ref<Flockr>); 3] = [("default", &DEFAULT), ("mutex", &LOCKED), ("readers-writer", &SHARED)];
    let mut lines: Vec<(&str, Ref<Flockr>, usize, Duration)> = Vec::new();
    for (name, flockr) in flockrs {
        for cores in [1, 2] {
            lines.push((name, flockr, cores, Duration::MAX));
        }
    }
    let mut found: Option<Derivation> = None;
    for _ in 0..ROUNDS {
        for (_, flockr, cores, best) in &mut lines {
            let (time, derivation) = run(*cores, || derive_often(flockr, *cores, people, derivations));
            *best = (*best).min(time);
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
    println!("  monitor          cores   derivation     letter   speed-up");
    let serial = lines[0].3;
    for (name, _, cores, best) in lines {
        let derivation = best / derivations;
        let letter = derivation.as_nanos() as f64 / people as f64;
        let speed_up = serial.as_secs_f64() / best.as_secs_f64();
        println!(
            "  {name:<15} {cores:>6} {:>9.1} µs {letter:>7.0} ns {speed_up:>8.2} ×",
            derivation.as_secs_f64() * 1e6
        );
    }
}

fn derive_often(flockr: Ref<Flockr>, cores: usize, people: usize, derivations: u32) -> (Duration, Derivation) {
    let helpers: [Ref<Helper>; 1] = [&HELPER];
    let helpers = &helpers[..usize::from(cores > 1)];
    let couples = || derive_with(flockr, FlockId::COUPLES, helpers).expect("there is such a flock");
    flockr.begin(&WORLD).get().expect("there is a world");
    gather(flockr, &WORLD, people).expect("there is room for as many");
    let mut derivation = couples();
    let start = Instant::now();
    for _ in 0..derivations {
        derivation = couples();
    }
    (start.elapsed(), derivation)
}
