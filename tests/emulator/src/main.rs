//! `flockwork-emulator ELF [--cycles LIMIT] [--json]`: runs an image and prints what it logs, as it comes.

use flockwork_emulator::{
    Ended, Image, Machine,
    couples::Row,
    log::{Log, Texts},
    profile::Names,
};
use serde_json::{Value, json};
use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

/// Half a minute of the chip's time, some minutes of ours.
const LIMIT: u64 = 125_000_000 * 30;
/// Between two looks at the log: a millisecond of the chip's time.
const LOOK: u64 = 125_000;

const USAGE: &str = "usage: flockwork-emulator ELF [--cycles LIMIT] [--json]";

fn main() -> ExitCode {
    let complain = |why: String| eprintln!("flockwork-emulator: {why}");
    let arguments = match arguments(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            complain(format!("{why} ({USAGE})"));
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            complain(why);
            ExitCode::FAILURE
        }
    }
}

fn run(Arguments { path, limit, json }: &Arguments) -> Result<(), String> {
    let image = Image::read(path).map_err(|error| error.to_string())?;
    let texts = Texts::of(&image).map_err(|why| format!("{}: {why}", path.display()))?;
    let mut machine = Machine::new(&image);
    let mut log = Log::of(&image, texts.as_ref());
    let mut logged = Vec::new();
    let ended = loop {
        let ended = machine.run((machine.now() + LOOK).min(*limit), |_, _| {});
        let news = log.news(&mut machine);
        if !json {
            show(&news).map_err(|error| format!("the log cannot be shown: {error}"))?;
        }
        logged.extend(news);
        let goes_on = matches!(ended, Ended::OutOfCycles(_)) && machine.now() < *limit;
        if !goes_on {
            break ended;
        }
    };
    if *json {
        println!("{:#}", figures(&String::from_utf8_lossy(&logged), &machine));
    } else {
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
    Err(post_mortem(&image, &machine, &ended))
}

fn show(news: &[u8]) -> io::Result<()> {
    let mut screen = io::stdout().lock();
    screen.write_all(news)?;
    screen.flush()
}

/// Why the run ended, the last words of cores that died, and where both cores are.
fn post_mortem(image: &Image, machine: &Machine, ended: &Ended) -> String {
    let names = Names::of(image);
    let mut why = ended.to_string();
    for epitaph in machine.epitaphs() {
        why += &format!("\n  {epitaph}");
    }
    for core in 0..2 {
        why += &format!("\n  core {core} is in {}", names.at(machine.program_counter(core), 2));
        if let Some(address) = machine.fault(core) {
            why += &format!("; it took a hard fault in {}", names.at(address, 2));
        }
    }
    why
}

/// What happened, for programs: the log, what was counted, last words, and the rows of the showcase's table if the log has one.
fn figures(log: &str, machine: &Machine) -> Value {
    let rows: Vec<Value> = Row::all(log).iter().flat_map(Row::figures).collect();
    let epitaphs: Vec<String> = machine.epitaphs().iter().map(ToString::to_string).collect();
    json!({
        "log": log.lines().collect::<Vec<_>>(), "cycles": machine.now(),
        "awake": [machine.awake_cycles(0), machine.awake_cycles(1)], "critical_sections": machine.critical_sections(),
        "epitaphs": epitaphs, "rows": rows,
    })
}

struct Arguments {
    path: PathBuf,
    limit: u64,
    json: bool,
}

fn arguments(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let (mut path, mut limit, mut json) = (None, LIMIT, false);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--cycles" => {
                let value = words.next().and_then(|value| value.parse().ok());
                limit = value.ok_or("--cycles needs a number")?;
            }
            "--json" => json = true,
            _ if path.is_none() && !word.starts_with('-') => path = Some(PathBuf::from(word)),
            _ => return Err(format!("what is `{word}`?")),
        }
    }
    Ok(Arguments { path: path.ok_or("an image is needed")?, limit, json })
}
