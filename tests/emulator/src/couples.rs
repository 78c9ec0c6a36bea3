//! The table that the image `urbiflock` prints, read back.

use serde_json::{Value, json};

/// The monitors, in the order of their columns, each with the cores that take part.
pub const MONITORS: [(&str, u32); 3] = [("default", 1), ("mutex", 1), ("readers-writer", 2)];

/// A row: so many people, what was found, and the cycles under each of [`MONITORS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// How many people were near.
    pub people: u64,
    /// How many couples they were.
    pub couples: u64,
    /// The hash of the couples' uids.
    pub hash: String,
    /// How many names were compared.
    pub comparisons: u64,
    /// The cycles under each monitor.
    pub cycles: [u64; 3],
}

impl Row {
    /// The rows of a log. Other lines are none.
    pub fn all(log: &str) -> Vec<Self> {
        log.lines().filter_map(Self::read).collect()
    }

    fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "|").collect();
        let [people, couples, hash, comparisons, default, mutex, readers_writer, ..] = words[..] else { return None };
        let number = |word: &str| word.parse().ok();
        Some(Self {
            people: number(people)?,
            couples: number(couples)?,
            hash: hash.to_owned(),
            comparisons: number(comparisons)?,
            cycles: [number(default)?, number(mutex)?, number(readers_writer)?],
        })
    }

    /// How many times as fast as the default actor each monitor is.
    pub fn speed_ups(&self) -> [f64; 3] {
        self.cycles.map(|cycles| self.cycles[0] as f64 / cycles as f64)
    }

    /// What the mutex monitor takes more than the default actor, as a part of that.
    pub fn mutex_overhead(&self) -> f64 {
        self.cycles[1] as f64 / self.cycles[0] as f64 - 1.0
    }

    /// The figures of each monitor, for programs.
    pub fn figures(&self) -> Vec<Value> {
        let Self { people, couples, hash, comparisons, cycles } = self;
        let figures = MONITORS.iter().zip(cycles).zip(self.speed_ups()).map(|((&(monitor, cores), cycles), speed_up)| {
            json!({
                "people": people, "mode": "emulated", "cores": cores, "monitor": monitor, "couples": couples, "hash": hash,
                "comparisons": comparisons, "cycles": cycles, "speed_up": speed_up,
            })
        });
        figures.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
people  couples      hash  comparisons |   default     mutex  readers-writer | mutex  speed-up
    50       13  047f4ee3        13373 |    355000    380625          220625 |  7.2%     1.61 x
cycles; all hashes checked
";

    #[test]
    fn rows_are_read_and_nothing_else() {
        let row = Row {
            people: 50,
            couples: 13,
            hash: "047f4ee3".to_owned(),
            comparisons: 13_373,
            cycles: [355_000, 380_625, 220_625],
        };
        assert_eq!(Row::all(LOG), [row]);
    }

    #[test]
    fn each_monitor_has_its_figures() {
        let figures = Row::all(LOG)[0].figures();
        assert_eq!(
            (figures.len(), &figures[2]["monitor"], &figures[2]["cores"]),
            (3, &"readers-writer".into(), &2.into())
        );
        assert!(figures[2]["speed_up"].as_f64().is_some_and(|speed_up| (1.60..1.61).contains(&speed_up)));
    }
}
