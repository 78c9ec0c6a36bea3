//! Simulated time against the emulated board: the couples' flock at every size, under every monitor.
//!
//! `bench/cycles/rp2040-urbiflock.json` has what the board takes (`tests/emulator/tests/urbiflock.rs` writes it). Simulated costs are made of
//! single letters measured there (`host-sim/costs/rp2040.toml`) and of what a match and an answer take besides
//! (`flockwork_urbiflock::CYCLES_PER_MATCH` and its neighbours); here both have to come to the same sum.

use std::process::Command;

use serde_json::Value;

const BOARD: &str = include_str!("../../bench/cycles/rp2040-urbiflock.json");
/// How far simulated time may be off.
const WITHIN: f64 = 0.05;

/// The figures of one derivation in simulated time.
fn stepped(people: u64, monitor: &str, cores: u32) -> Value {
    let (people, cores) = (people.to_string(), cores.to_string());
    let line = ["urbiflock", "--json", "--people", &people, "--monitor", monitor, "--cores", &cores];
    let output = Command::new(env!("CARGO_BIN_EXE_showcase")).args(line).output().expect("the program can be run");
    serde_json::from_slice(&output.stdout).expect("figures")
}

#[test]
fn simulated_time_is_the_boards_at_every_size() {
    let board: Value = serde_json::from_str(BOARD).expect("the file is JSON");
    let rows = board["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 10);
    let mut off_limits = Vec::new();
    println!("people         monitor     board   stepped    off");
    for row in rows {
        let people = row["people"].as_u64().expect("a number of people");
        for (monitor, cores) in [("default", 1), ("mutex", 1), ("readers-writer", 2)] {
            let simulated = stepped(people, monitor, cores);
            assert_eq!((&simulated["hash"], &simulated["comparisons"]), (&row["hash"], &row["comparisons"]));
            let cycles = |value: &Value| value.as_f64().expect("a number of cycles");
            let (board, stepped) = (cycles(&row[monitor]), cycles(&simulated["cycles"]));
            let off = stepped / board - 1.0;
            println!("{people:>6}  {monitor:>14}  {board:>8} {stepped:>9} {:>+5.1}%", 100.0 * off);
            if off.abs() > WITHIN {
                off_limits.push((people, monitor));
            }
        }
    }
    assert!(off_limits.is_empty(), "more than {} % off: {off_limits:?}", 100.0 * WITHIN);
}
