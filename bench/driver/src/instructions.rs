//! Instructions per message, counted by callgrind on one worker.
//!
//! Each system runs twice with different numbers of messages. The difference in instructions, divided by the
//! difference in messages, is the cost of a message: starting and ending the process cancel out.

use std::process::{Command, Stdio};

use serde_json::json;
use workloads::Workload;

use crate::{options::Options, systems};

/// The workloads and the instructions per message that flockwork may take, which is what bare embassy channels take.
const BARS: [(Workload, u32); 3] = [(Workload::Counting, 84), (Workload::PingPong, 197), (Workload::Ask, 237)];

/// The systems worth counting: those without a bar to hold are there for comparison.
const SYSTEMS: [&str; 3] = ["flockwork", "embassy", "tokio"];

/// Messages of the short and of the long run.
const MESSAGES: [u64; 2] = [20_000, 120_000];

/// What a command line begins with to be counted.
pub(crate) const VALGRIND: [&str; 3] = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];

/// Counts and prints.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    check_valgrind()?;
    let bars: Vec<_> = BARS.into_iter().filter(|&(workload, _)| options.wants(workload)).collect();
    if bars.is_empty() {
        return Err("instructions are counted for counting, ping-pong and ask only".to_owned());
    }
    let systems = options.systems(|system| system.variant.is_none() && SYSTEMS.contains(&system.name))?;
    let built = systems::build(&systems)?;
    let mut counts = Vec::new();
    for (workload, bar) in bars {
        for built in &built {
            eprintln!("[callgrind] {workload} {}", built.system);
            let count = per_message(|messages| built.command(&VALGRIND, workload, 1, messages))
                .map_err(|failure| format!("{} {workload} {failure}", built.system))?;
            counts.push((workload, bar, built.system.name, count));
        }
    }
    if options.json {
        let rows: Vec<_> = counts
            .iter()
            .map(|(workload, bar, system, count)| {
                json!({ "workload": workload.name(), "system": system, "instructions": count, "bar": bar })
            })
            .collect();
        let table = json!({ "unit": "instructions per message", "workers": 1, "rows": rows });
        println!("{}", serde_json::to_string_pretty(&table).expect("strings and numbers always serialise"));
        return Ok(());
    }
    println!("\ninstructions per message, one worker\n");
    println!("{:<12}{:<12}{:>12}{:>8}{:>12}", "workload", "system", "per message", "bar", "of the bar");
    for (workload, bar, system, count) in counts {
        let part = format!("{:.0}%", 100.0 * count / f64::from(bar));
        println!("{workload:<12}{system:<12}{count:>12.1}{bar:>8}{part:>12}");
    }
    Ok(())
}

/// An error that says what to do, if valgrind cannot be run.
pub(crate) fn check_valgrind() -> Result<(), String> {
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err("valgrind is missing: install the package `valgrind` (for example `apt install valgrind`)".to_owned())
}

/// Instructions per message of what `command` runs under [`VALGRIND`] with so many messages.
pub(crate) fn per_message(command: impl Fn(u64) -> Command) -> Result<f64, String> {
    let [short, long] = MESSAGES.map(|messages| count(command(messages)));
    Ok((long? - short?) / (MESSAGES[1] - MESSAGES[0]) as f64)
}

/// The instructions of a whole run.
fn count(mut command: Command) -> Result<f64, String> {
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("cannot start under valgrind: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("failed under valgrind:\n{log}"));
    }
    systems::accept(&String::from_utf8_lossy(&output.stdout))
        .map_err(|failure| format!("under valgrind: {failure}"))?;
    collected(&log).ok_or_else(|| format!("has no instruction count in valgrind's output:\n{log}"))
}

/// Finds the total in callgrind's log: a line that ends in `Collected : 12345`.
fn collected(log: &str) -> Option<f64> {
    log.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_total_is_found() {
        let log = "==7== Events    : Ir\n==7== Collected : 3622631\n==7==\n";
        assert_eq!(collected(log), Some(3_622_631.0));
        assert_eq!(collected("==7== nothing"), None);
    }
}
