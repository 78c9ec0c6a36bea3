//! `cargo run`: the couples among 50 to 500 people, one core against several, in simulated time and on threads.

use std::io::IsTerminal;

use flockwork_host_sim::Misuse;
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::chart::{Points, draw};
use crate::couples::{BASE, BATCH_ON_THREADS, Measured, Method, Monitor, Series, as_expected, crowd, world};

/// People per row.
const SIZES: [usize; 10] = [50, 100, 150, 200, 250, 300, 350, 400, 450, 500];
/// What the paper measured: people, and the speed-up of a readers-writer monitor on two cores over one core.
const PAPER: [(usize, f64); 2] = [(100, 1.88), (400, 1.96)];

/// One size, in both modes: default, mutex, readers-writer.
struct Row {
    people: usize,
    stepped: Vec<Measured>,
    threads: Vec<Measured>,
    /// Whether it was compared with a check value.
    checked: bool,
}

pub(crate) fn run(mut arguments: Arguments) -> Result<(), Misuse> {
    for option in ["--mode", "--faults", "--costs", "--limit"] {
        arguments.refuse(option, "the figure has no such option; `cargo run -- urbiflock` has")?;
    }
    let (options, seed) = arguments.device()?;
    let json = arguments.flag("--json");
    arguments.nothing_else()?;

    let series = [
        BASE,
        Series { monitor: Monitor::Mutex, cores: 1 },
        Series { monitor: Monitor::ReadersWriter, cores: options.cores },
    ];
    let world = world(seed);
    let live = std::io::stderr().is_terminal();
    let measure = |people| {
        if live {
            eprint!("\rderiving, {people} people ");
        }
        let arrive = |flockr| crowd(flockr, world, people);
        let stepped = Method::stepped(options.seed).measure(&series, arrive);
        let threads = Method::threads().measure(&series, arrive);
        let (one, other) = (&stepped[0].derivation, &threads[0].derivation);
        assert_eq!((one.members, one.comparisons), (other.members, other.comparisons), "{people} people in both modes");
        let checked = as_expected(seed, people, one);
        assert_ne!(checked, Some(false), "{people} people: {one:?} is not what the check values say");
        Row { people, stepped, threads, checked: checked.is_some() }
    };
    let rows: Vec<Row> = SIZES.into_iter().map(measure).collect();
    if live {
        eprint!("\r{:30}\r", "");
    }
    if json {
        println!(
            "{:#}",
            json!({ "seed": seed, "rows": rows.iter().flat_map(|row| row.json(&series)).collect::<Vec<_>>() })
        );
    } else {
        print!("{}", tell(&rows, options.cores));
    }
    Ok(())
}

impl Row {
    fn json(&self, series: &[Series]) -> Vec<Value> {
        let mut rows = Vec::new();
        for (mode, unit, measured) in [("stepped", "cycles", &self.stepped), ("threads", "nanoseconds", &self.threads)]
        {
            for (series, one) in series.iter().zip(measured) {
                let mut row = json!({
                    "people": self.people, "mode": mode, "cores": series.cores, "monitor": series.monitor.name(),
                    "couples": one.derivation.couples(), "hash": format!("{:08x}", one.derivation.hash()),
                    "comparisons": one.derivation.comparisons, "speed_up": one.speed_up(&measured[0]),
                });
                row[unit] = json!(one.spent.round() as u64);
                rows.push(row);
            }
        }
        rows
    }
}

/// The speed-up of the readers-writer monitor.
fn gain(measured: &[Measured]) -> f64 {
    measured[2].speed_up(&measured[0])
}

/// What the mutex monitor costs, in per cent of the default actor.
fn overhead(measured: &[Measured]) -> f64 {
    100.0 * (measured[1].spent / measured[0].spent - 1.0)
}

/// The table, the chart, and what one sees.
fn tell(rows: &[Row], cores: usize) -> String {
    let mut text = format!(
        "UrbiFlock: which of the people nearby came as a couple? A device asks its flock actor once for each person.\n\
         The actor's source is the same in every column; only the monitor in its declaration differs.\n\n\
         {:39}│ RP2040, stepped: 1000 cycles      │ threads of this machine: µs\n\
         people  couples      hash  comparisons │ default  mutex   r-w/{cores}  speed-up │ default  mutex   r-w/{cores}  speed-up\n\
         ───────────────────────────────────────┼───────────────────────────────────┼──────────────────────────────────\n",
        ""
    );
    for Row { people, stepped, threads, .. } in rows {
        let found = &stepped[0].derivation;
        text += &format!("{people:>6} {:>8}  {:08x} {:>12} ", found.couples(), found.hash(), found.comparisons);
        for measured in [stepped, threads] {
            text += &format!(
                "│{:>8.1} {:>+5.1}% {:>7.1} {:>8.2} × ",
                measured[0].spent / 1e3,
                overhead(measured),
                measured[2].spent / 1e3,
                gain(measured)
            );
        }
        text = text.trim_end().to_owned() + "\n";
    }
    let points = |sign, name, of: fn(&Row) -> &[Measured]| Points {
        sign,
        name,
        points: rows.iter().map(|row| (row.people, gain(of(row)))).collect(),
    };
    text += &format!("\nSpeed-up of the readers-writer monitor on {cores} cores over the default actor on one:\n\n");
    text += &draw(
        &SIZES,
        &[
            points('●', "stepped", |row| &row.stepped),
            points('○', "threads", |row| &row.threads),
            Points { sign: '×', name: "the paper, two cores", points: PAPER.to_vec() },
        ],
    );
    let range = |of: fn(&Row) -> f64, digits: usize| {
        let (least, most) = rows.iter().map(of).fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
        format!("{least:.digits$} to {most:.digits$}")
    };
    let checked: Vec<String> = rows.iter().filter(|row| row.checked).map(|row| row.people.to_string()).collect();
    let checked = match checked.is_empty() {
        true => String::new(),
        false => format!(", and those of {} people with the workload's check values", checked.join(", ")),
    };
    text + &format!(
        "\nWhat one sees: with `ReadersWriter` instead of no monitor, {cores} simulated cores are {} times as fast as one,\n\
         threads {} times; the paper measured 1.88 and 1.96 with two cores. `Mutex` takes {} % more than no monitor (stepped).\n\
         All hashes agree: both modes, all monitors, and the incremental engine{checked}.\n\n\
         Stepped: a letter for each person; cycles are those of the table of costs, not of a chip. Threads: letters for {BATCH_ON_THREADS}\n\
         people each, best of many rounds; they include the kernel's trace events, which stepped mode needs, and suffer from\n\
         whatever else this machine does.\n",
        range(|row| gain(&row.stepped), 2),
        range(|row| gain(&row.threads), 2),
        range(|row| overhead(&row.stepped), 1),
    )
}
