//! The command line of the showcase, with the real program.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn showcase(line: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_showcase")).args(line).output().expect("the program can be run")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What it prints for people.
fn text(line: &[&str]) -> String {
    let output = showcase(line);
    assert_eq!(output.status.code(), Some(0), "{line:?}: {}", said(&output.stderr));
    said(&output.stdout)
}

/// What it prints for machines.
fn figures(line: &[&str]) -> Value {
    let printed = text(&[line, &["--json"]].concat());
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{line:?}: {error}\n{printed}"))
}

/// Bad input: one line on the standard error output, nothing else, exit code 2.
#[track_caller]
fn assert_misuse(line: &[&str], starts: &str) {
    let output = showcase(line);
    let error = said(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line:?}: {error}");
    assert!(error.starts_with(&format!("error: {starts}")), "{line:?}: {error}");
    assert_eq!((error.lines().count(), said(&output.stdout)), (1, String::new()), "{line:?}: {error}");
}

#[test]
fn bad_input_is_one_line_and_exit_code_2() {
    assert_misuse(&["urbiflok"], "there is no command `urbiflok`; there are: figure, urbiflock, dictionary");
    assert_misuse(&["--people", "3"], "--people: the figure has no such option; `cargo run -- urbiflock` has");
    assert_misuse(&["--mode", "threads"], "--mode: the figure has no such option");
    assert_misuse(&["urbiflock", "--cores", "0"], "--cores is a number from 1 to 64, not `0`");
    assert_misuse(&["urbiflock", "--seed", "0"], "--seed is a number from 1 to 0xffffffff, not `0`");
    assert_misuse(&["urbiflock", "--seed", "0x100000000"], "--seed is a number from 1 to 0xffffffff");
    assert_misuse(&["urbiflock", "--mode", "fast"], "--mode is `threads` or `stepped`, not `fast`");
    assert_misuse(
        &["urbiflock", "--monitor", "none"],
        "--monitor is `default`, `mutex` or `readers-writer`, not `none`",
    );
    assert_misuse(&["urbiflock", "--people", "513"], "--people is a number from 0 to 512, not `513`");
    assert_misuse(&["urbiflock", "--people"], "--people needs a value");
    assert_misuse(&["urbiflock", "--batch", "0"], "--batch is a number from 1 to 512, not `0`");
    assert_misuse(&["urbiflock", "--people", "5", "--leave", "6"], "--leave is a number from 0 to 5, not `6`");
    assert_misuse(&["urbiflock", "--flock", "isNearby and hobby(golf)"], "--flock, column 20: expected a hobby");
    assert_misuse(&["urbiflock", "--flock", ""], "--flock, column 1: ");
    assert_misuse(&["urbiflock", "--events", "no/such/file"], "--events: no/such/file: ");
    assert_misuse(&["urbiflock", "--world", "0"], "--world is a number from 1 to 0xffffffff, not `0`");
    assert_misuse(&["dictionary", "--cores", "2"], "what is `--cores`?");
}

#[test]
fn a_file_that_cannot_be_written_is_named_before_anything_runs() {
    for option in ["--trace", "--report"] {
        let starts = format!("{option}: no/such/folder/file: cannot be written: ");
        assert_misuse(&["urbiflock", option, "no/such/folder/file"], &starts);
        assert_misuse(&[option, "no/such/folder/file"], &starts);
    }
}

#[test]
fn a_live_view_needs_a_terminal_in_either_mode() {
    assert_misuse(&["urbiflock", "--top"], "--top: the live view needs a terminal");
    assert_misuse(&["urbiflock", "--top", "--mode", "threads"], "--top: the live view needs a terminal");
}

/// What was in a file that was written, which is gone then.
fn taken(file: &std::path::Path) -> Vec<u8> {
    let content = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    std::fs::remove_file(file).expect("it was just read");
    content
}

#[test]
fn a_report_and_a_trace_are_written_in_both_modes() {
    for mode in ["stepped", "threads"] {
        let file = |kind: &str| std::env::temp_dir().join(format!("flockwork-{mode}-{}.{kind}", std::process::id()));
        let (report, trace) = (file("html"), file("trace"));
        let (report_name, trace_name) = (report.to_str().expect("plain"), trace.to_str().expect("plain"));
        let line = ["urbiflock", "--people", "60", "--mode", mode, "--flock", "isNearby and age < 30"];
        let files = ["--report", report_name, "--trace", trace_name];
        let printed = text(&[&line[..], &files].concat());
        assert!(printed.contains(report_name) && printed.contains(trace_name), "{printed}");
        let page = said(&taken(&report));
        assert!(page.starts_with("<!doctype html>") && page.contains("isNearby and age &lt; 30"), "{page}");
        assert!(!taken(&trace).is_empty());
    }
}

#[test]
fn a_bad_event_is_named_by_line_and_column() {
    let file = std::env::temp_dir().join(format!("flockwork-events-{}", std::process::id()));
    std::fs::write(&file, "join 365\nleft nobody\n").expect("there is room for a file");
    let name = file.to_str().expect("a plain name");
    let starts = format!("--events: {name}, line 2, column 6: expected a uid, from 1 to 1023");
    assert_misuse(&["urbiflock", "--events", name], &starts);
    std::fs::remove_file(&file).expect("it was just written");
}

/// `… | head`: who has read enough closes the pipe, and that is no reason to panic.
#[test]
fn a_reader_who_has_had_enough_is_no_trouble() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_showcase"))
        .args(["urbiflock", "--people", "50"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be run");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(said(&output.stderr), "");
}

#[test]
fn help_names_every_command() {
    let help = text(&["--help"]);
    assert!(["figure", "urbiflock", "dictionary"].iter().all(|command| help.contains(command)), "{help}");
}

#[test]
fn the_couples_are_those_of_the_check_values_everywhere() {
    for mode in ["stepped", "threads"] {
        for monitor in ["default", "mutex", "readers-writer"] {
            for cores in ["1", "2", "3"] {
                let line = ["urbiflock", "--people", "100", "--mode", mode, "--monitor", monitor, "--cores", cores];
                let found = figures(&line);
                assert_eq!(found["couples"], 33, "{found}");
                assert_eq!(found["hash"], "25b77bd3", "{found}");
                assert_eq!(found["comparisons"], 29_654, "{found}");
                assert_eq!((&found["mode"], &found["monitor"]), (&mode.into(), &monitor.into()));
                assert_eq!(found["cores"].to_string(), cores);
                let unit = if mode == "stepped" { "cycles" } else { "nanoseconds" };
                assert!(found[unit].as_u64().is_some_and(|spent| spent > 0), "{found}");
                assert!(found["speed_up"].as_f64().is_some_and(|speed_up| speed_up > 0.0), "{found}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let line = ["urbiflock", "--people", "77", "--seed", "0x1234", "--bustle", "30"];
    assert_eq!(text(&line), text(&line));
    let other = ["urbiflock", "--people", "77", "--seed", "0x1235", "--bustle", "30"];
    assert_ne!(figures(&line)["hash"], figures(&other)["hash"], "other people, another flock");
}

#[test]
fn many_seeds_are_explored() {
    let line = ["explore", "--seeds", "4", "urbiflock", "--people", "40", "--bustle", "5", "--faults", "some"];
    let printed = text(&[&line[..], &["--world", "0x20140080"]].concat());
    assert_eq!(printed, "4 seeds, from 0 to 3: none failed\n");
    assert_misuse(&line, "explore: say `--world S`");
}

#[test]
fn people_leave() {
    let found = figures(&["urbiflock", "--people", "100", "--leave", "50"]);
    assert_eq!((&found["couples"], &found["hash"], &found["people"]), (&18.into(), &"24e65090".into(), &50.into()));
}

#[test]
fn any_flock_lives_as_people_come_and_go() {
    let badminton = "isNearby and hobby(badminton)";
    let found = figures(&["urbiflock", "--people", "100", "--flock", badminton]);
    assert_eq!((&found["members"], &found["couples"]), (&24.into(), &Value::Null));

    let file = std::env::temp_dir().join(format!("flockwork-story-{}", std::process::id()));
    std::fs::write(&file, "# two who come, one of whom goes\njoin 365\njoin 104\npass 100\nleft 365\n").expect("room");
    let name = file.to_str().expect("a plain name");
    let story = text(&["urbiflock", "--people", "0", "--flock", "isNearby", "--events", name]);
    std::fs::remove_file(&file).expect("it was just written");
    for line in [
        "join 365       +flockr-00365                   1 members",
        "join 104       +flockr-00104                   2 members",
        "left 365       -flockr-00365                   1 members",
        "4 events, 3 of which changed the flock; after each, both engines agreed.",
        "Of 1 people nearby: 1 members",
    ] {
        assert!(story.contains(line), "{line} is not in:\n{story}");
    }
}

#[test]
fn the_dictionary_has_a_row_for_each_monitor() {
    let rows = figures(&["dictionary"]);
    let monitors: Vec<&str> =
        rows["rows"].as_array().expect("rows").iter().filter_map(|row| row["monitor"].as_str()).collect();
    assert_eq!(monitors, ["default", "mutex", "readers-writer"]);
}

/// The figure for people names the two files it wrote, and shows the board's points.
#[test]
fn the_figure_names_its_files() {
    let file = |kind: &str| std::env::temp_dir().join(format!("flockwork-figure-{}.{kind}", std::process::id()));
    let (report, trace) = (file("html"), file("trace"));
    let (report_name, trace_name) = (report.to_str().expect("plain"), trace.to_str().expect("plain"));
    let printed = text(&["--report", report_name, "--trace", trace_name]);
    assert!(printed.contains(&format!("Report: {report_name}\n")), "{printed}");
    assert!(printed.contains(&format!("Trace:  {trace_name}, ")), "{printed}");
    assert!(printed.contains("All hashes agree") && printed.contains("◆ emulated RP2040"), "{printed}");
    let page = said(&taken(&report));
    for part in ["emulated RP2040", "the paper, two cores", "43fad0b4", "<svg"] {
        assert!(page.contains(part), "no {part} in the report");
    }
    assert!(!taken(&trace).is_empty());
}

/// The whole figure, with every hash compared inside: 10 sizes, two modes, three monitors.
#[test]
fn the_figure_has_a_row_for_everything() {
    let figure = figures(&[]);
    let rows = figure["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 10 * 2 * 3);
    let stepped = |people: u64| {
        let row = rows.iter().find(|row| {
            row["people"] == people
                && row["mode"] == "stepped"
                && row["monitor"] == "readers-writer"
                && row["cores"] == 2
        });
        row.unwrap_or_else(|| panic!("no row for {people} people"))
    };
    assert_eq!(stepped(400)["hash"], "43fad0b4");
    assert_eq!(stepped(400)["comparisons"], 164_640);
    // Simulated time does not depend on this machine.
    assert!(stepped(400)["speed_up"].as_f64().is_some_and(|speed_up| speed_up > 1.7), "{}", stepped(400));
}
