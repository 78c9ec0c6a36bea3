//! The table of the showcase, on the emulated RP2040: hashes, cycles, and the bars it is held to.
//!
//! `cargo xtask test --only boards/rp2040` builds the image first. What is measured is kept in `bench/cycles/rp2040-urbiflock.json`,
//! for the showcase to draw and for simulated time to be compared with; this writes it anew:
//!
//!     FLOCKWORK_BLESS=1 cargo test -p flockwork-emulator --features images --test urbiflock

use std::path::{Path, PathBuf};

use flockwork_emulator::couples::{MONITORS, Row};
use flockwork_emulator::{Ended, Image, Machine};
use serde_json::{Value, json};

/// Ten seconds of the chip's time.
const LIMIT: u64 = 125_000_000 * 10;
/// Set to keep what is measured.
const BLESS: &str = "FLOCKWORK_BLESS";

/// Hash of the couples and comparisons, from the description of the workload.
const CHECK_VALUES: [(u64, &str, u64); 5] = [
    (50, "047f4ee3", 13_373),
    (100, "25b77bd3", 29_654),
    (200, "6f5f7ef4", 65_796),
    (300, "5a41c210", 111_812),
    (400, "43fad0b4", 164_640),
];
/// The least speed-up at so many people, and the most that a mutex may cost there.
const BARS: [(u64, f64); 2] = [(100, 1.90), (400, 1.95)];
const MUTEX_BAR: f64 = 0.03;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the image prints.
fn table() -> String {
    let image = repository().join("boards/target/thumbv6m-none-eabi/fast/urbiflock");
    let image = Image::read(&image)
        .unwrap_or_else(|error| panic!("{error}; `cargo xtask test --only boards/rp2040` builds the images"));
    let mut machine = Machine::new(&image);
    let ended = machine.run(LIMIT, |_, _| {});
    let table = String::from_utf8_lossy(machine.uart0()).into_owned();
    assert_eq!(ended, Ended::Passed, "{table}");
    table
}

#[test]
fn the_couples_are_found_by_both_cores() {
    let table = table();
    let rows = Row::all(&table);
    println!("{table}");
    let people: Vec<u64> = rows.iter().map(|row| row.people).collect();
    assert_eq!(people, (50..=500).step_by(50).collect::<Vec<_>>(), "{table}");
    let row_of = |people: u64| rows.iter().find(|row| row.people == people).expect("a row, as was just seen");
    for (people, hash, comparisons) in CHECK_VALUES {
        assert_eq!((&*row_of(people).hash, row_of(people).comparisons), (hash, comparisons), "{people} people");
    }
    for (people, bar) in BARS {
        let row = row_of(people);
        let ([_, _, speed_up], overhead) = (row.speed_ups(), row.mutex_overhead());
        let met = |met: bool| if met { "met" } else { "missed" };
        println!(
            "{people} people: {speed_up:.2} times as fast on two cores (bar {bar:.2}, {}), the mutex {:.1} % more (bar {:.1} %, {})",
            met(speed_up >= bar),
            100.0 * overhead,
            100.0 * MUTEX_BAR,
            met(overhead < MUTEX_BAR)
        );
        assert!(speed_up > 1.5, "two cores do not help: {table}");
    }
    // What the chip prints is rounded as the host rounds it.
    for row in &rows {
        let printed = table.lines().find(|line| line.split_whitespace().next() == Some(&row.people.to_string()));
        let expected = format!("{:.1}%{:>9.2} x", 100.0 * row.mutex_overhead(), row.speed_ups()[2]);
        assert!(printed.is_some_and(|line| line.ends_with(&expected)), "{printed:?} does not end with {expected}");
    }
    compare_with_what_is_kept(&rows);
}

/// What is kept has to be what is measured, or the showcase would draw something else than what there is.
fn compare_with_what_is_kept(rows: &[Row]) {
    let file = repository().join("bench/cycles/rp2040-urbiflock.json");
    if std::env::var_os(BLESS).is_some() {
        let text = format!("{:#}\n", json!({ "rows": rows.iter().map(kept).collect::<Vec<_>>() }));
        return std::fs::write(&file, text).expect("the file can be written");
    }
    let text = std::fs::read_to_string(&file).expect("the file is there");
    let keeps: Value = serde_json::from_str(&text).expect("the file is JSON");
    let keeps = keeps["rows"].as_array().expect("rows");
    assert_eq!(keeps.len(), rows.len());
    for (row, keeps) in rows.iter().zip(keeps) {
        for ((monitor, _), measured) in MONITORS.iter().zip(row.cycles) {
            let kept = keeps[monitor].as_f64().expect("a number of cycles");
            assert!(
                (measured as f64 / kept - 1.0).abs() < 0.01,
                "{} people, {monitor}: {measured} cycles, but {kept} are kept: run this test with {BLESS}=1, and then \
                 `cargo test -p flockwork-examples --test board`",
                row.people
            );
        }
    }
}

/// A row as it is kept.
fn kept(row: &Row) -> Value {
    let Row { people, couples, hash, comparisons, cycles } = row;
    let mut kept = json!({ "people": people, "couples": couples, "hash": hash, "comparisons": comparisons });
    for ((monitor, _), cycles) in MONITORS.iter().zip(cycles) {
        kept[monitor] = json!(cycles);
    }
    kept
}
