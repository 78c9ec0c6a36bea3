//! The line of JSON that a run prints.

use serde::{Deserialize, Serialize};

/// One finished run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the workload.
    pub workload: String,
    /// Name of the system, followed by `/` and the variant if there is one.
    pub system: String,
    /// Worker threads.
    pub workers: usize,
    /// Messages, counted as the workload counts them.
    pub messages: u64,
    /// Time from the first message to the answer.
    pub nanoseconds: u64,
    /// Whether the answer was the right one.
    pub checked: bool,
}

impl Record {
    /// The record as one line of JSON, without the line's end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("strings and integers always serialise")
    }

    /// Reads what [`Record::to_line`] wrote.
    ///
    /// # Errors
    /// When the line is something else.
    pub fn from_line(line: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line.trim())
    }

    /// Nanoseconds per message.
    pub fn nanoseconds_per_message(&self) -> f64 {
        self.nanoseconds as f64 / self.messages as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Record;

    #[test]
    fn a_line_reads_back() {
        let record = Record {
            workload: "ask".into(),
            system: "tokio".into(),
            workers: 2,
            messages: 10,
            nanoseconds: 1230,
            checked: true,
        };
        let line = r#"{"workload":"ask","system":"tokio","workers":2,"messages":10,"nanoseconds":1230,"checked":true}"#;
        assert_eq!(record.to_line(), line);
        assert_eq!(Record::from_line(line).unwrap(), record);
        assert_eq!(record.nanoseconds_per_message(), 123.0);
    }
}
