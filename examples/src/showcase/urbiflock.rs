//! `cargo run -- urbiflock`: one flock of one size.

use std::num::NonZeroU16;

use flockwork_host_sim::report::Report;
use flockwork_host_sim::{Misuse, Mode, Run};
use flockwork_urbiflock::{Definition, Derivation, MAX_NEARBY, Predicate};
use serde_json::json;

use crate::arguments::Arguments;
use crate::couples::{BASE, Measured, Method, Monitor, Series, as_expected, crowd, world};
use crate::files::Files;
use crate::live::{self, Happenings};
use crate::say;

/// How many people are near if nobody says.
const PEOPLE: usize = 120;

pub(crate) fn run(mut arguments: Arguments) -> Result<(), Misuse> {
    let (options, seed) = arguments.device()?;
    let people = arguments.number("--people", 0..=MAX_NEARBY)?.unwrap_or(PEOPLE);
    let monitor = arguments.value("--monitor")?.map_or(Ok(Monitor::ReadersWriter), |name| Monitor::named(&name))?;
    let batch = arguments.number("--batch", 1..=MAX_NEARBY)?;
    let flock = arguments.value("--flock")?.map(|text| definition(&text)).transpose()?;
    let happenings = Happenings::take_from(&mut arguments, world(seed), seed, people)?;
    let files = Files::take_from(&mut arguments)?;
    let top = arguments.flag("--top");
    let json = arguments.flag("--json");
    arguments.nothing_else()?;

    let mut method = Method::on(options.clone(), people);
    if let Some(batch) = batch.and_then(|batch| NonZeroU16::new(batch as u16)) {
        method.batch = batch;
    }
    let series = [BASE, Series { monitor, cores: options.cores }];
    let world = world(seed);

    let lived = live::live(&options, monitor.flockr(), world, people, flock, &happenings);
    let measured = method.measure(&series, |flockr| {
        let couples = crowd(flockr, world, people);
        let flock = flock.map_or(couples, |flock| flockr.define(flock).get().expect("there is room for one more"));
        for event in happenings.events() {
            // What is refused here was refused, and told, before.
            let _ = event.happen(flockr);
        }
        flock
    });
    let [base, chosen] = &measured[..] else { unreachable!("two series, two measurements") };
    let expected = match happenings.is_quiet() && flock.is_none() {
        true => as_expected(seed, people, &chosen.derivation),
        false => None,
    };
    assert_ne!(expected, Some(false), "{:?} is not what the check values say", chosen.derivation);
    let found = chosen.derivation;
    let name = flock.map_or("couples", |flock| flock.name);
    if top {
        method.watch(series[1], chosen.flock).map_err(|trouble| Misuse::new(format!("--top: {trouble}")))?;
    }
    let mut written = String::new();
    if files.are_wanted() {
        let record = method.record(series[1], chosen.flock);
        let report = || page(name, &method, series[1], lived.near, &record, chosen.speed_up(base));
        written = files.write(&record, report)?;
    }
    let unit = if options.mode == Mode::Threads { "nanoseconds" } else { "cycles" };
    if json {
        let mut figures = json!({
            "people": lived.near, "mode": mode_name(options.mode), "cores": options.cores, "monitor": monitor.name(),
            "flock": flock.map_or("isNearby and partnerNearby", |flock| flock.name), "members": found.members.len(),
            "couples": flock.is_none().then(|| found.couples()), "hash": format!("{:08x}", found.hash()),
            "comparisons": found.comparisons, "batch": method.batch, "seed": seed, "events": lived.events,
            "speed_up": chosen.speed_up(base),
        });
        figures[unit] = json!(chosen.spent.round() as u64);
        if !chosen.rounds.is_empty() {
            figures["rounds"] = chosen.rounds.iter().map(|round| json!(round.round() as u64)).collect();
        }
        say(&format!("{figures:#}\n"));
    } else {
        let mut text = lived.tell(name);
        text += &tell(&method, series[1], lived.near, flock.is_none(), base, chosen);
        if expected == Some(true) {
            text += "\nThe couples are those of the workload's check values.\n";
        }
        say(&(text + &written));
    }
    Ok(())
}

fn definition(text: &str) -> Result<&'static Definition, Misuse> {
    let predicate = Predicate::parse(text).map_err(|mistake| Misuse::new(format!("--flock, {mistake}")))?;
    // A flockr refers to its flocks, and it is a static.
    Ok(Box::leak(Box::new(Definition::new(String::leak(text.to_owned()), predicate))))
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Threads => "threads",
        Mode::Stepped => "stepped",
    }
}

fn tell(method: &Method, series: Series, near: usize, couples: bool, base: &Measured, chosen: &Measured) -> String {
    let found = &chosen.derivation;
    let members = found.members.len();
    let what = match couples {
        true => format!("{} couples", found.couples()),
        false => format!("{members} members"),
    };
    let mut text = format!(
        "Of {near} people nearby: {what}, hash {:08x}, after {} comparisons of names.\n\n",
        found.hash(),
        found.comparisons
    );
    let letters = match method.batch.get() {
        1 => "a letter for each person".to_owned(),
        batch => format!("letters for {batch} people each"),
    };
    text += &format!("  {}, {letters}\n", mode_name(method.device.mode));
    for (series, measured) in [(BASE, base), (series, chosen)] {
        let cores = if series.cores == 1 { "1 core ".to_owned() } else { format!("{} cores", series.cores) };
        let spent = match &measured.run {
            Some(run) => format!("{:>10} cycles {:>9.2} ms", run.cycles, milliseconds(run)),
            None => format!("{:>10.1} µs", measured.spent / 1e3),
        };
        let speed_up = measured.speed_up(base);
        let bar = "▇".repeat((speed_up * 10.0).round() as usize);
        text += &format!("  {:<15} {cores:<8} {spent}  {speed_up:>5.2} ×  {bar}\n", series.monitor.name());
    }
    if let Some(run) = &chosen.run {
        text += "\n";
        for (core, figures) in run.cores.iter().enumerate() {
            let busy = 100.0 * figures.awake as f64 / (figures.awake + figures.asleep).max(1) as f64;
            text += &format!(
                "  core {core:<2} {:>6} letters, awake {busy:>5.1} %, longest turn {} cycles\n",
                figures.letters, figures.longest_turn
            );
        }
    } else {
        text += &format!("\n{}\n", Method::on_threads());
        if let Some(spread) = chosen.spread(base) {
            text += &format!(
                "Within single rounds it was {:.2} to {:.2} times as fast as the default actor, with a median of {:.2}.\n",
                spread.least, spread.most, spread.median
            );
        }
    }
    text
}

/// The report about one derivation.
fn page(name: &str, method: &Method, series: Series, near: usize, run: &Run<Derivation>, speed_up: f64) -> Report {
    let found = &run.returned;
    let cores = if series.cores == 1 { "one core".to_owned() } else { format!("{} cores", series.cores) };
    let report = Report::new(format!("{name}: one flock on {cores}"))
        .introduction(format!(
            "Of {near} people nearby {} belong to the flock (hash {:08x}), after {} comparisons of names.",
            found.members.len(),
            found.hash(),
            found.comparisons
        ))
        .highlight(format!("{speed_up:.2} ×"), "speed-up over the default actor on one core")
        .highlight(format!("{:.2} ms", milliseconds(run)), "for one derivation")
        .replay(
            std::env::args().skip(1).fold("cargo run --".to_owned(), |line, word| line + " " + &quoted(&word)),
            run.seed,
        );
    let heading = format!("{} on {cores}, {}", series.monitor.name(), mode_name(method.device.mode));
    report.run(heading, run).expect("the run kept its events")
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./,".contains(letter);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn milliseconds(run: &Run<Derivation>) -> f64 {
    run.cycles as f64 / f64::from(run.megahertz) / 1e3
}
