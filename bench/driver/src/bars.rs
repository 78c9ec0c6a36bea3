//! What is demanded of flockwork's times, relative to its peers in the same run.

use std::fmt::Write;

use workloads::Workload;

use crate::{rounds::Row, table};

/// One demand and how it came out.
#[derive(Clone, Debug, PartialEq)]
struct Bar {
    demand: String,
    /// Least factor demanded.
    least: f64,
    /// Factor reached.
    reached: f64,
}

/// A line for each demand that the rows can answer; nothing when flockwork did not run.
pub(crate) fn text(rows: &[Row]) -> String {
    let bars = bars(rows);
    if bars.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nbars (two workers)\n");
    for Bar { demand, least, reached } in bars {
        let verdict = if reached >= least { "met" } else { "MISSED" };
        let _ = writeln!(text, "  {verdict:<7} {demand}: {reached:.2}, at least {least:.2}");
    }
    text
}

fn bars(rows: &[Row]) -> Vec<Bar> {
    let time = |workload, system, workers| table::time(rows, workload, system, workers);
    let mut bars = Vec::new();
    let mut demand = |demand: String, least, slower: Option<f64>, faster: Option<f64>| {
        if let Some((slower, faster)) = slower.zip(faster) {
            bars.push(Bar { demand, least, reached: slower / faster });
        }
    };
    for workload in Workload::ALL {
        let least = match workload {
            Workload::PingPong | Workload::Ring | Workload::Ask => 2.0,
            _ => 1.0,
        };
        demand(
            format!("{workload}: times as fast as tokio"),
            least,
            time(workload, "tokio", 2),
            time(workload, "flockwork", 2),
        );
    }
    let (reads, mixed) = (Workload::DictionaryReads, Workload::DictionaryMixed);
    demand(
        format!("{reads}: gain from the second worker"),
        1.9,
        time(reads, "flockwork", 1),
        time(reads, "flockwork", 2),
    );
    demand(format!("{mixed}: times as fast as the RwLock"), 1.0, time(mixed, "rwlock", 2), time(mixed, "flockwork", 2));
    for workload in [reads, mixed] {
        demand(
            format!("{workload}: mutex monitor, times as fast as the default actor"),
            1.0 / 1.03,
            time(workload, "flockwork/default", 2),
            time(workload, "flockwork/mutex", 2),
        );
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(workload: Workload, system: &str, workers: usize, time: f64) -> Row {
        Row { workload, system: system.into(), workers, messages: 1, times: vec![time], failed: false, best: false }
    }

    #[test]
    fn without_flockwork_nothing_is_demanded() {
        assert_eq!(text(&[row(Workload::Ask, "tokio", 2, 100.0)]), "");
    }

    #[test]
    fn bars_are_met_or_missed() {
        let rows = [
            row(Workload::Ask, "tokio", 2, 100.0),
            row(Workload::Ask, "flockwork", 2, 60.0),
            row(Workload::DictionaryReads, "flockwork", 1, 600.0),
            row(Workload::DictionaryReads, "flockwork", 2, 300.0),
        ];
        let text = text(&rows);
        assert!(text.contains("MISSED  ask: times as fast as tokio: 1.67, at least 2.00"), "{text}");
        assert!(text.contains("met     dictionary-100: gain from the second worker: 2.00"), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
    }
}
