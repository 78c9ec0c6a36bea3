//! `flockwork-emulator ELF [--cycles LIMIT] [--json]`: runs an image and prints what it wrote to UART0.

use flockwork_emulator::{Ended, Image, Machine, couples::Row, profile::Names};
use serde_json::{Value, json};
use std::{env, path::PathBuf, process::ExitCode};

/// Half a minute of the chip's time, some minutes of ours.
const LIMIT: u64 = 125_000_000 * 30;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("flockwork-emulator: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let Arguments { path, limit, json } = arguments(env::args().skip(1))?;
    let image = Image::read(&path).map_err(|error| error.to_string())?;
    let mut machine = Machine::new(&image);
    let ended = machine.run(limit, |_, _| {});
    let log = String::from_utf8_lossy(machine.uart0()).into_owned();
    if json {
        println!("{:#}", figures(&log, &machine));
    } else {
        print!("{log}");
        println!(
            "[{} cycles; awake {} on core 0, {} on core 1; {} critical sections]",
            machine.now(),
            machine.awake_cycles(0),
            machine.awake_cycles(1),
            machine.critical_sections()
        );
    }
    if ended == Ended::Passed {
        return Ok(());
    }
    let names = Names::of(&image);
    let mut why = ended.to_string();
    for core in 0..2 {
        why += &format!("\n  core {core} is in {}", names.at(machine.program_counter(core), 2));
        if let Some(address) = machine.fault(core) {
            why += &format!("; it took a hard fault in {}", names.at(address, 2));
        }
    }
    Err(why)
}

/// What happened, for programs: the log, what was counted, and the rows of the showcase's table if the log has one.
fn figures(log: &str, machine: &Machine) -> Value {
    let rows: Vec<Value> = Row::all(log).iter().flat_map(Row::figures).collect();
    json!({
        "log": log.lines().collect::<Vec<_>>(), "cycles": machine.now(),
        "awake": [machine.awake_cycles(0), machine.awake_cycles(1)], "critical_sections": machine.critical_sections(),
        "rows": rows,
    })
}

struct Arguments {
    path: PathBuf,
    limit: u64,
    json: bool,
}

fn arguments(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let usage = "usage: flockwork-emulator ELF [--cycles LIMIT] [--json]";
    let (mut path, mut limit, mut json) = (None, LIMIT, false);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--cycles" => {
                let value = words.next().and_then(|value| value.parse().ok());
                limit = value.ok_or_else(|| format!("--cycles needs a number\n{usage}"))?;
            }
            "--json" => json = true,
            _ if path.is_none() && !word.starts_with('-') => path = Some(PathBuf::from(word)),
            _ => return Err(format!("what is `{word}`?\n{usage}")),
        }
    }
    Ok(Arguments { path: path.ok_or(usage)?, limit, json })
}
