//! `flockwork-cycles FAST SMALL`: what a letter costs, measured in the two images of the RP2040's example `cycles`.
//!
//! FAST is built for speed (O3), SMALL for size (s). `cargo xtask cycles` builds both and calls this.

mod figures;
mod snapshot;
mod table;

use figures::Figures;
use flockwork_emulator::{
    Image, Machine,
    profile::{Names, Profile},
    spans::Spans,
};
use serde_json::json;
use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};
use table::Table;

/// Many times what the images need.
const LIMIT: u64 = 1_000_000_000;

/// A profile is done when no span of its name has ended for so long.
const QUIET: u64 = 200_000;

const USAGE: &str = "flockwork-cycles FAST SMALL [--json | --check SNAPSHOT | --update SNAPSHOT], \
                     or IMAGE --profile NAME [--callers N] [--instructions], or FAST TRACED --trace [--json]";

fn main() -> ExitCode {
    let complain = |why: &str| eprintln!("flockwork-cycles: {why}");
    match Task::from_arguments(env::args().skip(1)).map(Task::run) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(why)) => {
            complain(&why);
            ExitCode::FAILURE
        }
        Err(misuse) => {
            complain(&format!("{misuse} (usage: {USAGE})"));
            ExitCode::from(2)
        }
    }
}

/// What the command line asks for.
enum Task {
    Show {
        fast: PathBuf,
        small: PathBuf,
        what: Show,
    },
    /// What trace events cost: the same image with and without them.
    Trace {
        plain: PathBuf,
        traced: PathBuf,
        json: bool,
    },
    Profile {
        image: PathBuf,
        name: String,
        callers: usize,
        instructions: bool,
    },
}

enum Show {
    Table,
    Json,
    Check(PathBuf),
    Update(PathBuf),
}

impl Task {
    fn from_arguments(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut images, mut what, mut trace) = (Vec::new(), Show::Table, false);
        let (mut profile, mut callers, mut instructions) = (None, 1, false);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--json" => what = Show::Json,
                "--check" => what = Show::Check(value()?.into()),
                "--update" => what = Show::Update(value()?.into()),
                "--profile" => profile = Some(value()?),
                "--callers" => callers = value()?.parse().map_err(|_| "--callers needs a number")?,
                "--instructions" => instructions = true,
                "--trace" => trace = true,
                _ if !word.starts_with('-') => images.push(PathBuf::from(word)),
                _ => return Err(format!("what is `{word}`?")),
            }
        }
        let mut images = images.into_iter();
        match (profile, images.next(), images.next(), images.next()) {
            (Some(name), Some(image), None, None) => Ok(Self::Profile { image, name, callers, instructions }),
            (None, Some(plain), Some(traced), None) if trace => {
                Ok(Self::Trace { plain, traced, json: matches!(what, Show::Json) })
            }
            (None, Some(fast), Some(small), None) => Ok(Self::Show { fast, small, what }),
            _ => Err("as many images as the task needs are wanted".to_owned()),
        }
    }

    fn run(self) -> Result<(), String> {
        match self {
            Self::Show { fast, small, what } => show(&fast, &small, what),
            Self::Trace { plain, traced, json } => trace_costs(&plain, &traced, json),
            Self::Profile { image, name, callers, instructions } => profile(&image, &name, callers, instructions),
        }
    }
}

fn show(fast: &Path, small: &Path, what: Show) -> Result<(), String> {
    let (fast, small) = thread::scope(|scope| {
        let small = scope.spawn(|| Figures::measure(small, LIMIT));
        let fast = Figures::measure(fast, LIMIT);
        (fast, small.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let (fast, small) = (fast?, small?);
    match what {
        Show::Table => print!("{}", Table::of(&fast, &small)),
        Show::Json => println!("{:#}", Table::of(&fast, &small).to_json()),
        Show::Check(path) => snapshot::check(&path, &fast, &small)?,
        Show::Update(path) => snapshot::update(&path, &fast, &small)?,
    }
    Ok(())
}

/// Prints where the cycles went in a typical span of one name.
fn profile(path: &Path, name: &str, callers: usize, instructions: bool) -> Result<(), String> {
    let image = Image::read(path).map_err(|error| error.to_string())?;
    if !image.marks().iter().any(|mark| mark.name == name) {
        let mut names: Vec<&str> = image.marks().iter().map(|mark| mark.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        return Err(format!("the image has no mark `{name}`; there are:\n  {}", names.join("\n  ")));
    }
    let spans = profiles_of(&image, name);
    let Some((cycles, profiles)) = typical(&spans) else {
        return Err(format!("{}: `{name}` was begun but not ended", path.display()));
    };
    println!("{name}: {cycles} cycles, the median of {}", spans.len());
    for (core, profile) in profiles.iter().enumerate().filter(|(_, profile)| profile.cycles() > 0) {
        println!("\ncore {core}: cycles, instructions");
        for line in profile.lines(&image, callers) {
            println!("{:>9} {:>8}  {}", line.cycles, line.times, line.place);
        }
        if instructions {
            println!();
            let names = Names::of(&image);
            for (address, executed, cycles) in profile.instructions() {
                println!("{address:#010x} {cycles:>9} {executed:>8}  {}", names.at(address, callers));
            }
        }
    }
    Ok(())
}

/// The letters whose trace is weighed.
const TRACED: &[&str] =
    &["default, in turns", "pinned, in turns", "mutex, in turns", "reader, in turns", "writer, in turns"];
/// The function that writes an event.
const WRITE_EVENT: &str = "flockwork::trace::rings::write";

fn trace_costs(plain: &Path, traced: &Path, json: bool) -> Result<(), String> {
    let read = |path: &Path| Image::read(path).map_err(|error| error.to_string());
    let (plain, image) = (read(plain)?, read(traced)?);
    let no_events = || format!("{} has no function {WRITE_EVENT}: is the feature `trace` on?", traced.display());
    let write = image.function_named(WRITE_EVENT).ok_or_else(no_events)?;
    let mut table =
        format!("{:<24} {:>8} {:>8} {:>8} {:>12}\n", "a letter, O3", "plain", "traced", "events", "each event");
    let mut rows = Vec::new();
    for name in TRACED {
        let own_work = |image| {
            let spans = profiles_of(image, &format!("{name}{}", figures::OWN_WORK));
            typical(&spans).map_or(0, |(cycles, _)| *cycles)
        };
        let (without, with) = (profiles_of(&plain, name), profiles_of(&image, name));
        let (Some((without, _)), Some((with, profiles))) = (typical(&without), typical(&with)) else {
            return Err(format!("`{name}` is not in both images"));
        };
        // As in the table.
        let (without, with) = (without - own_work(&plain), with - own_work(&image));
        let executed = profiles.iter().flat_map(Profile::instructions);
        let events: u64 = executed.filter(|(address, ..)| *address == write).map(|(_, times, _)| times).sum();
        let each = with.saturating_sub(without) as f64 / events.max(1) as f64;
        table += &format!("{name:<24} {without:>8} {with:>8} {events:>8} {each:>12.1}\n");
        rows.push(json!({
            "name": name, "optimised": "O3", "cycles": without, "cycles_traced": with, "events": events,
            "cycles_per_event": each,
        }));
    }
    if json {
        table = format!("{:#}\n", json!({ "rows": rows }));
    }
    print!("{table}");
    Ok(())
}

/// The cycles of each span of one name, and what both cores did meanwhile.
type Profiled = (u64, [Profile; 2]);

fn profiles_of(image: &Image, name: &str) -> Vec<Profiled> {
    let mut spans = Spans::of(image);
    let mut present = <[Profile; 2]>::default();
    let mut ended: Vec<Profiled> = Vec::new();
    let mut machine = Machine::new(image);
    let mut last = u64::MAX;
    while let Some(step) = machine.step()
        && machine.now() < last.saturating_add(QUIET).min(LIMIT)
    {
        let was_open = spans.is_open(name);
        spans.watch(step);
        if let Some(&cycles) = spans.cycles(name).get(ended.len()) {
            ended.push((cycles, std::mem::take(&mut present)));
            last = machine.now();
        } else if !was_open {
            present = Default::default();
        }
        if spans.is_open(name) {
            present[step.core].count(step);
        }
    }
    ended
}

/// The span that took as long as the median does.
fn typical(spans: &[Profiled]) -> Option<&Profiled> {
    let median = figures::median(&spans.iter().map(|(cycles, _)| *cycles).collect::<Vec<_>>());
    spans.iter().find(|(cycles, _)| *cycles == median)
}
