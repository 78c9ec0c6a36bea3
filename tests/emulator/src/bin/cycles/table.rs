//! The table: each figure at O3 and s, beside its bar.

use crate::figures::Figures;
use serde_json::{Value, json};
use std::fmt;

/// A row: the name of a span, what it is, and what it must keep.
struct Row {
    span: &'static str,
    text: &'static str,
    bars: &'static [Bar],
}

/// What a figure is held to. All but the last are for O3.
enum Bar {
    /// So many cycles.
    AtMost(u64),
    /// So many times another figure.
    Times(f64, &'static str),
    /// Less than another figure.
    Below(&'static str),
    /// At both levels, so many times another figure at most.
    AtBothTimes(f64, &'static str),
    /// At both levels, another figure is at least so many times this one.
    AtBothFaster(f64, &'static str),
}
use Bar::{AtBothFaster, AtBothTimes, AtMost, Below, Times};

const CHANNEL: &str = "channel";

/// Singles under a monitor against the default actor, and bursts.
const SINGLE: f64 = 1.2;
const BURST: f64 = 1.6;

const ROWS: &[(&str, &[Row])] = &[
    (
        "Building blocks, in the same image",
        &[
            Row { span: "critical section", text: "critical_section::with", bars: &[] },
            Row { span: CHANNEL, text: "embassy Channel, try_send + try_receive", bars: &[] },
            Row { span: "spsc", text: "heapless spsc, enqueue + dequeue", bars: &[] },
            Row { span: "channel, one way", text: "embassy Channel to a polling core 1", bars: &[] },
        ],
    ),
    (
        "A whole letter: send, schedule, grant, run an empty method, leave",
        &[
            Row {
                span: "default, in turns",
                text: "default actor, sent in a turn",
                bars: &[AtMost(200), Below(CHANNEL)],
            },
            Row {
                span: "default, from a thread",
                text: "default actor, sent from a thread",
                bars: &[AtMost(220), Below(CHANNEL)],
            },
            Row { span: "default, burst of 8", text: "default actor, each of 8", bars: &[Below(CHANNEL)] },
            Row {
                span: "pinned, in turns",
                text: "pinned actor, sent in a turn",
                bars: &[AtMost(160), Below(CHANNEL)],
            },
            Row { span: "pinned, from a thread", text: "pinned actor, sent from a thread", bars: &[Below(CHANNEL)] },
            Row { span: "pinned, burst of 8", text: "pinned actor, each of 8", bars: &[Below(CHANNEL)] },
            Row { span: "mutex, in turns", text: "Mutex, sent in a turn", bars: &[Times(SINGLE, "default, in turns")] },
            Row {
                span: "mutex, from a thread",
                text: "Mutex, sent from a thread",
                bars: &[Times(SINGLE, "default, from a thread")],
            },
            Row { span: "mutex, burst of 8", text: "Mutex, each of 8", bars: &[Times(BURST, "default, burst of 8")] },
            Row {
                span: "reader, in turns",
                text: "ReadersWriter, reader, sent in a turn",
                bars: &[Times(SINGLE, "default, in turns")],
            },
            Row {
                span: "reader, from a thread",
                text: "ReadersWriter, reader, sent from a thread",
                bars: &[Times(SINGLE, "default, from a thread")],
            },
            Row {
                span: "reader, burst of 8",
                text: "ReadersWriter, reader, each of 8",
                bars: &[Times(BURST, "default, burst of 8")],
            },
            Row {
                span: "writer, in turns",
                text: "ReadersWriter, writer, sent in a turn",
                bars: &[Times(SINGLE, "default, in turns")],
            },
            Row {
                span: "writer, from a thread",
                text: "ReadersWriter, writer, sent from a thread",
                bars: &[Times(SINGLE, "default, from a thread")],
            },
            Row {
                span: "writer, burst of 8",
                text: "ReadersWriter, writer, each of 8",
                bars: &[Times(BURST, "default, burst of 8")],
            },
        ],
    ),
    (
        "Parts and round trips",
        &[
            Row { span: "send, in a turn", text: "send alone, in a turn", bars: &[AtMost(60)] },
            Row { span: "send, from a thread", text: "send alone, from a thread", bars: &[AtMost(80)] },
            Row { span: "send, from an interrupt", text: "send alone, from an interrupt", bars: &[AtMost(100)] },
            Row { span: "ask and reply", text: "ask → reply", bars: &[AtMost(350)] },
            Row { span: "ask and reply, in a task", text: "ask → reply, awaited by a task", bars: &[] },
            Row {
                span: "ask and reply, in a task, across",
                text: "ask → reply, awaited by a task, actor on core 1",
                bars: &[],
            },
            Row { span: "forward, the call", text: "forward alone, in a turn", bars: &[] },
            Row { span: "ask, forward and reply", text: "ask → forward → reply", bars: &[] },
        ],
    ),
    (
        "From core 0 to core 1, until the method begins",
        &[
            Row { span: "across to a pinned actor, awake", text: "pinned actor, core 1 awake", bars: &[AtMost(203)] },
            Row { span: "across to a pinned actor, asleep", text: "pinned actor, core 1 asleep", bars: &[AtMost(240)] },
            Row {
                span: "across to an unpinned actor, awake",
                text: "unpinned actor, core 1 awake",
                bars: &[AtMost(260)],
            },
            Row {
                span: "across to an unpinned actor, asleep",
                text: "unpinned actor, core 1 asleep",
                bars: &[AtMost(260)],
            },
            Row { span: "across to a mutex, awake", text: "Mutex, core 1 awake", bars: &[] },
            Row { span: "across to a mutex, asleep", text: "Mutex, core 1 asleep", bars: &[] },
            Row { span: "across to a reader, awake", text: "ReadersWriter, reader, core 1 awake", bars: &[] },
            Row { span: "across to a reader, asleep", text: "ReadersWriter, reader, core 1 asleep", bars: &[] },
            Row { span: "across to a writer, awake", text: "ReadersWriter, writer, core 1 awake", bars: &[] },
            Row { span: "across to a writer, asleep", text: "ReadersWriter, writer, core 1 asleep", bars: &[] },
            Row { span: "across and back, in turns", text: "to and fro between pinned actors, each way", bars: &[] },
        ],
    ),
    (
        "1000 reads of a dictionary of 4096 entries, by two cores",
        &[
            Row { span: "dictionary, default", text: "default actor", bars: &[] },
            Row { span: "dictionary, mutex", text: "Mutex", bars: &[AtBothTimes(1.03, "dictionary, default")] },
            Row {
                span: "dictionary, readers and writer",
                text: "ReadersWriter",
                bars: &[AtBothFaster(1.93, "dictionary, default")],
            },
        ],
    ),
];

/// The figures of both images, beside their bars.
pub(crate) struct Table<'f> {
    fast: &'f Figures,
    small: &'f Figures,
}

impl<'f> Table<'f> {
    pub(crate) fn of(fast: &'f Figures, small: &'f Figures) -> Self {
        Self { fast, small }
    }

    /// The same as objects.
    pub(crate) fn to_json(&self) -> Value {
        let object = |group: &str, row: &Row| {
            let bars: Vec<Judged> = self.judge(row);
            json!({
                "group": group,
                "what": row.text,
                "O3": self.fast.of(row.span),
                "s": self.small.of(row.span),
                "bars": bars.iter().map(|bar| bar.text.as_str()).collect::<Vec<_>>(),
                "met": (!bars.is_empty()).then(|| bars.iter().all(|bar| bar.met)),
            })
        };
        ROWS.iter().flat_map(|(group, rows)| rows.iter().map(|row| object(group, row))).collect()
    }

    fn judge(&self, row: &Row) -> Vec<Judged> {
        row.bars.iter().filter_map(|bar| bar.judge(row.span, self.fast, self.small)).collect()
    }
}

/// A bar, and whether it is met.
struct Judged {
    text: String,
    met: bool,
}

impl Bar {
    /// None if a figure is missing.
    fn judge(&self, span: &str, fast: &Figures, small: &Figures) -> Option<Judged> {
        let ratio = |figures: &Figures, other| Some(figures.of(span)? as f64 / figures.of(other)? as f64);
        Some(match *self {
            AtMost(most) => Judged { text: format!("≤ {most}"), met: fast.of(span)? <= most },
            Times(factor, other) => {
                let times = ratio(fast, other)?;
                Judged { text: format!("≤ {factor} × default ({times:.2})"), met: times <= factor }
            }
            Below(other) => Judged { text: format!("< {other}"), met: fast.of(span)? < fast.of(other)? },
            AtBothTimes(factor, other) => {
                let (fast, small) = (ratio(fast, other)?, ratio(small, other)?);
                let text = format!("≤ {factor} × default ({fast:.3}, s {small:.3})");
                Judged { text, met: fast <= factor && small <= factor }
            }
            AtBothFaster(factor, other) => {
                let (fast, small) = (1.0 / ratio(fast, other)?, 1.0 / ratio(small, other)?);
                let text = format!("{factor} × faster than default ({fast:.3}, s {small:.3})");
                Judged { text, met: fast >= factor && small >= factor }
            }
        })
    }
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut met, mut bars) = (0, 0);
        for (group, rows) in ROWS {
            writeln!(f, "{group:<68} {:>9} {:>9}", "O3", "s")?;
            for row in *rows {
                let figure =
                    |figures: &Figures| figures.of(row.span).map_or("?".to_owned(), |cycles| cycles.to_string());
                write!(f, "  {:<66} {:>9} {:>9}", row.text, figure(self.fast), figure(self.small))?;
                for bar in self.judge(row) {
                    write!(f, "   {} {}", bar.text, if bar.met { "✓" } else { "✗" })?;
                    met += usize::from(bar.met);
                    bars += 1;
                }
                writeln!(f)?;
            }
            writeln!(f)?;
        }
        writeln!(
            f,
            "{met} of {bars} bars are met. Cycles are those of the emulator: relative costs, not silicon truth."
        )
    }
}
