//! The one table, for people and as JSON.

use std::fmt::Write;

use serde_json::json;
use workloads::Workload;

use crate::rounds::{Row, WORKERS};

/// The systems that ratios may refer to; the first that was measured is taken.
const BASES: [&str; 2] = ["flockwork", "embassy"];

/// The time of one system on one workload, if it was measured.
pub(crate) fn time(rows: &[Row], workload: Workload, system: &str, workers: usize) -> Option<f64> {
    find(rows, workload, system, workers)?.time()
}

fn find<'a>(rows: &'a [Row], workload: Workload, system: &str, workers: usize) -> Option<&'a Row> {
    rows.iter().find(|row| row.workload == workload && row.system == system && row.workers == workers)
}

fn base(rows: &[Row]) -> Option<&'static str> {
    BASES.into_iter().find(|base| rows.iter().any(|row| row.system == *base))
}

/// The table as text: a block for each workload, a line for each system.
pub(crate) fn text(rows: &[Row]) -> String {
    let base = base(rows);
    let mut text = String::from("\nns per message");
    if let Some(base) = base {
        let _ = write!(text, "; ratio = time / {base}'s time, so more than 1 is slower than {base}");
    }
    let counts = if rows.iter().any(|row| row.best) { "the fastest round" } else { "the median of the rounds" };
    let _ =
        writeln!(text, "\ntime = {counts}; ± = half the range of the rounds; gain = time with one worker / with two\n");
    let _ = writeln!(text, "{:<20}{:>24}{:>27}", "", "one worker", "two workers");
    let heading = format!("{:>10} {:>6} {:>7}", "ns", "±", "ratio");
    let _ = writeln!(text, "{:<20}{heading}  {heading}{:>8}", "", "gain");
    for workload in Workload::ALL {
        let systems: Vec<_> = rows.iter().filter(|row| row.workload == workload && row.workers == WORKERS[0]).collect();
        if systems.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{workload}");
        for system in systems.into_iter().map(|row| row.system.as_str()) {
            let _ = write!(text, "  {system:<18}");
            for (index, workers) in WORKERS.into_iter().enumerate() {
                let reference = base.and_then(|base| time(rows, workload, base, workers));
                let cells = cells(find(rows, workload, system, workers), reference);
                let _ = write!(text, "{}{cells}", if index == 0 { "" } else { "  " });
            }
            let [one, two] = WORKERS.map(|workers| time(rows, workload, system, workers));
            let gain = one.zip(two).map_or_else(|| "-".to_owned(), |(one, two)| format!("{:.2}", one / two));
            let _ = writeln!(text, "{gain:>8}");
        }
    }
    text
}

fn cells(row: Option<&Row>, reference: Option<f64>) -> String {
    let Some((time, spread)) = row.and_then(|row| row.time().zip(row.spread())) else {
        return format!("{:>10} {:>6} {:>7}", "failed", "-", "-");
    };
    let ratio = reference.map_or_else(|| "-".to_owned(), |reference| format!("{:.2}", time / reference));
    format!("{time:>10.1} {:>5.0}% {ratio:>7}", spread * 100.0)
}

/// The table as JSON, with the times of every round.
pub(crate) fn json(rows: &[Row]) -> String {
    let base = base(rows);
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let reference = base.and_then(|base| time(rows, row.workload, base, row.workers));
            json!({
                "workload": row.workload.name(),
                "system": row.system,
                "workers": row.workers,
                "messages": row.messages,
                "time": row.time(),
                "rounds": row.times,
                "ratio": row.time().zip(reference).map(|(time, reference)| time / reference),
                "failed": row.failed,
            })
        })
        .collect();
    let table = json!({ "unit": "nanoseconds per message", "base": base, "rows": rows });
    serde_json::to_string_pretty(&table).expect("strings and numbers always serialise")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(system: &str, workers: usize, times: &[f64]) -> Row {
        Row {
            workload: Workload::Ask,
            system: system.into(),
            workers,
            messages: 100,
            times: times.to_vec(),
            failed: times.is_empty(),
            best: false,
        }
    }

    #[test]
    fn ratios_refer_to_flockwork() {
        let rows = [
            row("flockwork", 1, &[20.0]),
            row("flockwork", 2, &[40.0]),
            row("tokio", 1, &[80.0]),
            row("tokio", 2, &[]),
        ];
        let text = text(&rows);
        let line = |system: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.trim_start().starts_with(&format!("{system} ")));
            line.unwrap().split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(line("flockwork"), ["flockwork", "20.0", "0%", "1.00", "40.0", "0%", "1.00", "0.50"]);
        assert_eq!(line("tokio"), ["tokio", "80.0", "0%", "4.00", "failed", "-", "-", "-"]);
    }

    #[test]
    fn without_flockwork_ratios_refer_to_embassy() {
        let rows = [row("embassy", 1, &[20.0]), row("tokio", 1, &[80.0])];
        let table: serde_json::Value = serde_json::from_str(&json(&rows)).unwrap();
        assert_eq!(table["base"], "embassy");
        assert_eq!(table["rows"][1]["ratio"], 4.0);
    }
}
