//! Repetition: every system runs once per round, so that a slow minute of the machine falls on all alike.

use workloads::Workload;

use crate::{options::Options, systems::Built};

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
}

impl Row {
    /// The median time per message; none if no run succeeded.
    pub(crate) fn median(&self) -> Option<f64> {
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
    for workload in Workload::ALL
        .into_iter()
        .filter(|&workload| options.wants(workload))
    {
        for workers in WORKERS {
            for built in built
                .iter()
                .filter(|built| built.system.workloads.contains(&workload))
            {
                let messages = options.messages.unwrap_or(workload.default_messages());
                let row = Row {
                    workload,
                    system: built.system.to_string(),
                    workers,
                    messages: workload.round_up(messages),
                    times: Vec::new(),
                    failed: false,
                };
                plan.push((built, row));
            }
        }
    }
    let steps = plan.len();
    for round in 1..=options.rounds {
        for (step, (built, row)) in plan.iter_mut().enumerate() {
            let what = format!(
                "[round {round}/{}, {:>2}/{steps}] {} {} w{}",
                options.rounds,
                step + 1,
                row.workload,
                row.system,
                row.workers
            );
            match built.run(row.workload, row.workers, row.messages) {
                Ok(record) => {
                    let time = record.nanoseconds_per_message();
                    eprintln!("{what}: {time:.1} ns/message");
                    row.times.push(time);
                }
                Err(failure) => {
                    eprintln!("{what}: {failure}");
                    row.failed = true;
                }
            }
        }
    }
    plan.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(times: &[f64]) -> Row {
        Row {
            workload: Workload::Ask,
            system: "tokio".into(),
            workers: 1,
            messages: 1,
            times: times.to_vec(),
            failed: false,
        }
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
