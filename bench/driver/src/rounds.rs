//! Repetition: every system runs once per round, so that a slow minute of the machine falls on all alike.

use std::time::Duration;

use workloads::{Record, Workload};

use crate::{options::Options, systems::Built};

/// A run of a system that is slow on a workload is shortened to about this long.
const LONGEST: Duration = Duration::from_secs(1);

/// The run that finds out how slow a system is has this part of the messages.
const TRIAL: u64 = 50;

/// The worker counts that are measured.
pub(crate) const WORKERS: [usize; 2] = [1, 2];

/// All runs of one system on one workload with one number of workers.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) workload: Workload,
    /// The system's name, with its variant.
    pub(crate) system: String,
    pub(crate) workers: usize,
    pub(crate) messages: u64,
    /// Nanoseconds per message of each run that succeeded.
    pub(crate) times: Vec<f64>,
    /// Whether some run did not.
    pub(crate) failed: bool,
    /// Whether the fastest run counts, not the median.
    pub(crate) best: bool,
}

impl Row {
    /// The time per message that counts; none if no run succeeded.
    pub(crate) fn time(&self) -> Option<f64> {
        if self.best { self.times.iter().copied().min_by(f64::total_cmp) } else { self.median() }
    }

    fn median(&self) -> Option<f64> {
        let mut times = self.times.clone();
        times.sort_by(f64::total_cmp);
        let middle = times.len() / 2;
        match times.len() {
            0 => None,
            odd if odd % 2 == 1 => Some(times[middle]),
            _ => Some((times[middle - 1] + times[middle]) / 2.0),
        }
    }

    /// Half the distance between the fastest and the slowest run, as a part of the median.
    pub(crate) fn spread(&self) -> Option<f64> {
        let least = self.times.iter().copied().min_by(f64::total_cmp)?;
        let most = self.times.iter().copied().max_by(f64::total_cmp)?;
        Some((most - least) / 2.0 / self.median()?)
    }
}

/// Runs all rounds. A run that fails is reported at once and marked in its row.
pub(crate) fn run(options: &Options, built: &[Built]) -> Vec<Row> {
    let mut plan = Vec::new();
    for workload in Workload::ALL.into_iter().filter(|&workload| options.wants(workload)) {
        for workers in WORKERS {
            for built in built.iter().filter(|built| built.system.workloads.contains(&workload)) {
                let messages = options.messages.unwrap_or(workload.default_messages());
                let row = Row {
                    workload,
                    system: built.system.to_string(),
                    workers,
                    messages: workload.round_up(messages),
                    times: Vec::new(),
                    failed: false,
                    best: options.best,
                };
                plan.push((built, row));
            }
        }
    }
    let steps = plan.len();
    let step = |built: &Built, row: &mut Row, phase: &str, step: usize, messages: u64| {
        let (workload, workers) = (row.workload, row.workers);
        let what = format!("[{phase}, {step:>2}/{steps}] {workload} {} w{workers}", row.system);
        match built.run(workload, workers, messages) {
            Ok(record) => {
                eprintln!("{what}: {:.1} ns/message", record.nanoseconds_per_message());
                Some(record)
            }
            Err(failure) => {
                eprintln!("{what}: {failure}");
                row.failed = true;
                None
            }
        }
    };
    if options.messages.is_none() {
        for (index, (built, row)) in plan.iter_mut().enumerate() {
            let messages = row.workload.round_up(row.messages / TRIAL);
            if let Some(record) = step(built, row, "trial", index + 1, messages) {
                row.messages = shortened(row, &record);
            }
        }
    }
    for round in 1..=options.rounds {
        let phase = format!("round {round}/{}", options.rounds);
        for (index, (built, row)) in plan.iter_mut().enumerate() {
            let messages = row.messages;
            if let Some(record) = step(built, row, &phase, index + 1, messages) {
                row.times.push(record.nanoseconds_per_message());
            }
        }
    }
    plan.into_iter().map(|(_, row)| row).collect()
}

/// The messages of a row after a trial: as many as planned, or as many as fit into the longest run.
fn shortened(row: &Row, trial: &Record) -> u64 {
    let fitting = LONGEST.as_nanos() as f64 / trial.nanoseconds_per_message();
    row.workload.round_up(row.messages.min(fitting as u64).max(trial.messages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slow_systems_are_shortened() {
        let row = Row { messages: 250_000, ..row(&[]) };
        let trial = |nanoseconds| Record {
            workload: "ask".into(),
            system: "tokio".into(),
            workers: 1,
            messages: 5_000,
            nanoseconds,
            checked: true,
        };
        assert_eq!(shortened(&row, &trial(5_000 * 100)), 250_000);
        assert_eq!(shortened(&row, &trial(5_000 * 50_000)), 20_000);
        assert_eq!(shortened(&row, &trial(5_000 * 1_000_000)), 5_000);
    }

    fn row(times: &[f64]) -> Row {
        Row {
            workload: Workload::Ask,
            system: "tokio".into(),
            workers: 1,
            messages: 1,
            times: times.to_vec(),
            failed: false,
            best: false,
        }
    }

    #[test]
    fn the_best_run_is_the_fastest() {
        assert_eq!(Row { best: true, ..row(&[3.0, 100.0, 1.0]) }.time(), Some(1.0));
        assert_eq!(row(&[3.0, 100.0, 1.0]).time(), Some(3.0));
    }

    #[test]
    fn the_median_ignores_one_slow_run() {
        assert_eq!(row(&[3.0, 100.0, 1.0]).median(), Some(3.0));
        assert_eq!(row(&[4.0, 2.0]).median(), Some(3.0));
        assert_eq!(row(&[]).median(), None);
    }

    #[test]
    fn the_spread_is_half_the_range() {
        assert_eq!(row(&[8.0, 10.0, 12.0]).spread(), Some(0.2));
    }
}
