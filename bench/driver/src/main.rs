//! `bench`: builds every benchmarked system, runs them in turn and prints one table.
//!
//! A measurement goes through the files in this order: [`options`] reads the command line, [`systems`] lists who takes
//! part, builds them and runs one as a child process, [`rounds`] repeats that and takes medians, [`table`] prints them
//! and [`bars`] compares them with what is demanded. [`instructions`] is the other way to measure: it counts
//! instructions per message, which a busy machine cannot disturb. [`stepped`] compares simulated time with threads.

mod bars;
mod instructions;
mod options;
mod rounds;
mod stepped;
mod systems;
mod table;

use std::process::ExitCode;

use options::{Options, Task};

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(misuse) => {
            eprintln!("bench: {misuse}\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    let outcome = match options.task {
        Task::Help => {
            println!("{}", options::USAGE);
            return ExitCode::SUCCESS;
        }
        Task::Times => times(&options),
        Task::Instructions => instructions::run(&options),
        Task::Stepped => stepped::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Measures times and prints them. Fails, after printing, when a run failed.
fn times(options: &Options) -> Result<(), String> {
    let built = systems::build(&options.systems(|_| true)?)?;
    let rows = rounds::run(options, &built);
    if options.json {
        println!("{}", table::json(&rows));
    } else {
        print!("{}", table::text(&rows));
        print!("{}", bars::text(&rows));
    }
    match rows.iter().filter(|row| row.failed).count() {
        0 => Ok(()),
        failed => Err(format!("{failed} rows had a run that failed; see above")),
    }
}
