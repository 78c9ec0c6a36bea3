//! Simulated time beside threads: letters per second of the host, one core, both in the same run.
//!
//! A thread's speed is that of the kernel as it is shipped, in a build of its own. Simulated time needs a build in which every hop
//! of a letter is traced; threads in that build are measured, too, since that is what a program with both modes has.

use std::fmt::Write;

use serde_json::json;
use workloads::Workload;

use crate::{
    instructions,
    options::Options,
    rounds::Row,
    systems::{self, Built},
};

/// What is measured: letters that do next to nothing, so that what simulated time takes of the host's is seen best.
const WORKLOADS: [Workload; 3] = [Workload::Counting, Workload::PingPong, Workload::Ask];

/// Letters per run, unless the options say otherwise.
const LETTERS: u64 = 1_000_000;

/// Simulated time is to reach this part of a thread's speed, with the cheapest letter of all.
const BAR: (Workload, f64) = (Workload::Counting, 1.0 / 3.0);

/// A way to run a workload.
struct Way {
    name: &'static str,
    /// Whether in the build with simulated time.
    is_traced: bool,
    /// The number of virtual cores; none for threads.
    virtual_cores: Option<usize>,
}

const THREADS: &str = "threads";
const TRACED: &str = "threads that trace";
const STEPPED: &str = "stepped";

const WAYS: [Way; 4] = [
    Way { name: THREADS, is_traced: false, virtual_cores: None },
    Way { name: TRACED, is_traced: true, virtual_cores: None },
    Way { name: STEPPED, is_traced: true, virtual_cores: Some(1) },
    Way { name: "stepped, 2 cores", is_traced: true, virtual_cores: Some(2) },
];

/// Measures and prints. Fails, after printing, when a run failed.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let workloads: Vec<_> = WORKLOADS.into_iter().filter(|&workload| options.wants(workload)).collect();
    if workloads.is_empty() {
        return Err("simulated time is compared for counting, ping-pong and ask only".to_owned());
    }
    if options.instructions {
        instructions::check_valgrind()?;
    }
    let built = systems::build_with_and_without_stepped()?;
    let mut rows = Vec::new();
    for workload in workloads {
        rows.extend(WAYS.iter().map(|way| (way, empty(workload, way, options))));
    }
    // Instructions are the same in every round.
    let rounds = if options.instructions { 1 } else { options.rounds };
    for round in 1..=rounds {
        for (way, row) in &mut rows {
            let what = format!("[round {round}/{rounds}] {} {}", row.workload, way.name);
            match measure(&built[usize::from(way.is_traced)], way, row, options) {
                Ok(time) => {
                    eprintln!("{what}: {time:.1} {}", unit(options));
                    row.times.push(time);
                }
                Err(failure) => {
                    eprintln!("{what}: {failure}");
                    row.failed = true;
                }
            }
        }
    }
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    if options.json {
        let json = json(&rows, options);
        println!("{}", serde_json::to_string_pretty(&json).expect("strings and numbers always serialise"));
    } else {
        print!("{}", text(&rows, options));
    }
    match rows.iter().filter(|row| row.failed).count() {
        0 => Ok(()),
        failed => Err(format!("{failed} rows had a run that failed; see above")),
    }
}

fn empty(workload: Workload, way: &Way, options: &Options) -> Row {
    Row {
        workload,
        system: way.name.to_owned(),
        workers: way.virtual_cores.unwrap_or(1),
        messages: workload.round_up(options.messages.unwrap_or(LETTERS)),
        times: Vec::new(),
        failed: false,
        best: options.best,
    }
}

/// What a letter takes is counted in these.
fn unit(options: &Options) -> &'static str {
    if options.instructions { "instructions/letter" } else { "ns/letter" }
}

/// Nanoseconds or instructions per letter of one run, in a process of its own.
fn measure(built: &Built, way: &Way, row: &Row, options: &Options) -> Result<f64, String> {
    let command = |prefix: &[&str], letters| {
        let mut command = built.command(prefix, row.workload, row.workers, letters);
        if way.virtual_cores.is_some() {
            command.env("FLOCKWORK_MODE", "stepped");
        }
        command
    };
    if options.instructions {
        return instructions::per_message(|letters| command(&instructions::VALGRIND, letters));
    }
    Ok(built.finish(command(&[], row.messages))?.nanoseconds_per_message())
}

/// How many times as fast as another way a row is, in the same workload.
fn of(rows: &[Row], row: &Row, other: &str) -> Option<f64> {
    let other = rows.iter().find(|one| one.workload == row.workload && one.system == other)?;
    Some(other.time()? / row.time()?)
}

/// The part of a thread's speed that the bar is about; none if it was not measured.
fn reached(rows: &[Row]) -> Option<f64> {
    let row = rows.iter().find(|row| row.workload == BAR.0 && row.system == STEPPED)?;
    of(rows, row, THREADS)
}

fn json(rows: &[Row], options: &Options) -> serde_json::Value {
    let lines: Vec<_> = rows
        .iter()
        .map(|row| {
            let timed = !options.instructions;
            json!({
                "workload": row.workload.name(), "mode": row.system, "cores": row.workers,
                "letters": timed.then_some(row.messages),
                "letters_per_second": row.time().filter(|_| timed).map(|time| (1e9 / time).round()),
                "runs_ns_per_letter": timed.then_some(&row.times),
                "instructions_per_letter": row.time().filter(|_| !timed),
                "of_threads": of(rows, row, THREADS), "of_threads_that_trace": of(rows, row, TRACED),
            })
        })
        .collect();
    json!({ "rows": lines, "bar": { "workload": BAR.0.name(), "least": BAR.1, "reached": reached(rows) } })
}

fn text(rows: &[Row], options: &Options) -> String {
    let (title, column) = if options.instructions {
        ("instructions a letter".to_owned(), "a letter")
    } else {
        let which = if options.best { "fastest" } else { "median" };
        (format!("millions of letters a second, {which} of {} rounds", options.rounds), "million/s")
    };
    let speed = |row: &Row| row.time().map(|time| if options.instructions { time } else { 1e3 / time });
    let mut text = format!("\nsimulated time beside threads, {title}\n\n");
    let _ = writeln!(text, "{:<12}{:<20}{column:>10}{:>14}{:>22}", "workload", "", "of threads", "of those that trace");
    let figure = |figure: Option<f64>| figure.map_or("failed".to_owned(), |figure| format!("{figure:.2}"));
    for row in rows {
        let _ = writeln!(
            text,
            "{:<12}{:<20}{:>10}{:>14}{:>22}",
            if row.system == THREADS { row.workload.name() } else { "" },
            row.system,
            figure(speed(row)),
            figure(of(rows, row, THREADS)),
            figure(of(rows, row, TRACED)),
        );
    }
    text += "\nthreads: one core, in a build without trace events. The other lines are of one build, with them: on threads each hop of \
             a letter\nreads the host's clock there; stepped, it takes its simulated time. Every run is a process of its own.\n";
    if let Some(reached) = reached(rows) {
        let verdict = if reached >= BAR.1 { "met" } else { "MISSED" };
        let _ =
            writeln!(text, "\nbar\n  {verdict:<7} {}: stepped, of threads: {reached:.2}, at least {:.2}", BAR.0, BAR.1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(times: [f64; 4]) -> Vec<Row> {
        let options = Options::parse(["stepped".to_owned()]).expect("these are options");
        let filled = |(way, time): (&Way, f64)| Row { times: vec![time], ..empty(Workload::Counting, way, &options) };
        WAYS.iter().zip(times).map(filled).collect()
    }

    #[test]
    fn speeds_are_those_of_threads_in_the_same_run() {
        let options = Options::parse(["stepped".to_owned()]).expect("these are options");
        let text = text(&rows([10.0, 200.0, 25.0, 40.0]), &options);
        let line = text.lines().find(|line| line.trim().starts_with("stepped  ")).expect("a line for it");
        assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["stepped", "40.00", "0.40", "8.00"]);
        assert!(text.contains("met     counting: stepped, of threads: 0.40, at least 0.33"), "{text}");
    }

    #[test]
    fn the_bar_can_be_missed_and_a_failed_run_is_no_figure() {
        assert_eq!(reached(&rows([10.0, 200.0, 40.0, 40.0])), Some(0.25));
        let mut failed = rows([10.0, 200.0, 40.0, 40.0]);
        failed[0].times.clear();
        assert_eq!(reached(&failed), None);
        let options = Options::parse(["stepped".to_owned()]).expect("these are options");
        assert_eq!(json(&failed, &options)["rows"][0]["letters_per_second"], serde_json::Value::Null);
    }
}
