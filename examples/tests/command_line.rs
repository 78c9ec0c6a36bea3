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
    let unknown = "there is no command or example `urbiflok`; there are: figure, urbiflock, dictionary, hello, bank";
    assert_misuse(&["urbiflok"], unknown);
    assert_misuse(&["--mode", "stepped", "urbiflok"], unknown);
    assert_misuse(&["--people", "3"], "--people: figure has no such option; `cargo run -- urbiflock` has");
    assert_misuse(&["--mode", "threads"], "--mode: figure has no such option");
    assert_misuse(&["urbiflock", "--flock", "--json"], "--flock needs a value");
    assert_misuse(&["urbiflock", "--report", "--json"], "--report needs a value");
    assert_misuse(&["urbiflock", "--during"], "--during: nothing happens; add `--bustle N`");
    assert_misuse(&["urbiflock", "--mode", "threads", "--limit", "5"], "--limit: only a stepped device counts cycles");
    assert_misuse(&["hello", "--frob"], "what is `--frob`?");
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
    assert_misuse(&["dictionary", "--world", "2"], "--world: dictionary has no such option");
    assert_misuse(&["dictionary", "--frob"], "what is `--frob`?");
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
fn a_bad_word_leaves_no_file_behind() {
    let file = std::env::temp_dir().join(format!("flockwork-not-written-{}", std::process::id()));
    let name = file.to_str().expect("plain");
    assert_misuse(&["urbiflock", "--trace", name, "--frob"], "what is `--frob`?");
    assert_misuse(&["urbiflock", "--trace", name, "--cores", "0"], "--cores is a number");
    assert_misuse(&["--report", name, "--seed", "0"], "--seed is a number");
    assert!(!file.exists());
}

#[test]
fn every_example_runs_in_both_modes() {
    let said = [
        ("hello", "1 + 2 + 3 + 4 = 10\n"),
        ("bank", "Ann and Cyd have left: Ok((69, 49))\n"),
        ("own_monitor", "the mean is Ok(80) tenths of a degree\n"),
        ("forward", "1000 hops from north: Ok(\"east\")\n"),
        ("tasks", "1000 entries, 500500 in all\n"),
        ("by_hand", "1 + 2 + 3 + 4 = Ok(10)\n"),
    ];
    for (example, line) in said {
        for device in [&[][..], &["--mode", "stepped", "--cores", "4", "--seed", "3"], &["--mode=threads", "--cores=1"]]
        {
            let printed = text(&[&[example], device].concat());
            assert!(printed.contains(line), "{example} {device:?}: {printed}");
        }
    }
    assert_eq!(text(&["explore", "--seeds", "3", "forward"]), "3 seeds, from 1 to 3: none failed\n");
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
        assert!(page.contains("Speed-up over the number of cores") && page.contains("as many times as cores"));
        assert_eq!(page.contains("The same seed gives the same simulated run"), mode == "stepped", "{mode}");
        assert!(!taken(&trace).is_empty());
    }
}

#[test]
fn a_bad_event_is_named_by_line_and_column() {
    let file = std::env::temp_dir().join(format!("flockwork-events-{}", std::process::id()));
    let name = file.to_str().expect("a plain name");
    for (line, mistake) in [
        ("left nobody", "column 6: expected a uid, from 1 to 1023\n"),
        ("change 365 age 33", "column 1: expected `join`, `left`, `friend`, `unfriend`, `changed` or `pass`\n"),
        ("changed 365 hobby chess", "column 13: expected what has changed: `age`, `sex`, `hobbies` or `partner`\n"),
        ("changed 365 hobbies chess golf", "column 27: expected a hobby: badminton, chess, "),
        ("changed 365 partner 365", "column 21: expected the uid of somebody else, from 1 to 1023, or `none`\n"),
    ] {
        std::fs::write(&file, format!("join 365\n{line}\n")).expect("there is room for a file");
        assert_misuse(&["urbiflock", "--events", name], &format!("--events: {name}, line 2, {mistake}"));
    }
    std::fs::remove_file(&file).expect("it was just written");
}

/// Who changes tells a whole profile: what changed before is still so. Of who is not known, nothing is heard.
#[test]
fn people_change() {
    let file = std::env::temp_dir().join(format!("flockwork-changes-{}", std::process::id()));
    let name = file.to_str().expect("a plain name");
    let content = "\
        changed 104 hobbies chess      # a stranger\n\
        join 104\n\
        changed 104 hobbies film chess\n\
        changed 104 age none\n\
        changed 104 sex female\n\
        changed 104 age 29             # all three are told now\n\
        left 104\n\
        changed 104 hobbies none       # gone, but not for long\n\
        join 104\n\
        changed 104 hobbies chess\n";
    std::fs::write(&file, content).expect("room");
    let flock = "isNearby and hobby(chess) and sex == female and age < 30";
    for mode in ["stepped", "threads"] {
        let line = ["urbiflock", "--people", "0", "--flock", flock, "--events", name, "--during", "--mode", mode];
        let story = text(&line);
        let expected = "\
            \n  changed 104 age 29        +flockr-00104                   1 member\n\
            \x20 left 104                  -flockr-00104                   0 members\n\
            \x20 changed 104 hobbies chess +flockr-00104                   1 member\n\
            \x20 changed 104 hobbies chess: nothing changes: this person is neither near, nor a friend, nor gone not long ago\n\n\
            10 events, 3 of which changed the flock; after each, both engines agreed.\n";
        assert!(story.contains(expected), "{expected} is not in:\n{story}");
        assert!(story.contains("Of 1 person nearby: 1 member,"), "{story}");
    }
    std::fs::remove_file(&file).expect("it was just written");
}

/// They are a couple as soon as each names the other, and until one does not any more.
#[test]
fn couples_find_each_other_and_part() {
    let file = std::env::temp_dir().join(format!("flockwork-couples-{}", std::process::id()));
    let name = file.to_str().expect("a plain name");
    std::fs::write(
        &file,
        "join 336\njoin 365\nchanged 365 partner 336\nchanged 336 partner 365\nchanged 365 partner none\n",
    )
    .expect("room");
    let changes = figures(&["urbiflock", "--people", "0", "--events", name])["events"]["changes"].clone();
    std::fs::remove_file(&file).expect("it was just written");
    let change = |event: &str, added: &[u16], removed: &[u16]| serde_json::json!({ "event": event, "added": added, "removed": removed, "members": added.len() });
    let expected =
        [change("changed 336 partner 365", &[336, 365], &[]), change("changed 365 partner none", &[], &[365, 336])];
    assert_eq!(changes, Value::from(expected.to_vec()));
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
    assert!(["figure", "urbiflock", "dictionary", "explore", "bank"].iter().all(|command| help.contains(command)));
    let help = text(&["urbiflock", "--help"]);
    for part in
        ["--during", "stall_cycles", "wasNearby(MILLISECONDS)", "unfriend 104", "changed 365 age 33", "--limit CYCLES"]
    {
        assert!(help.contains(part), "{part} is not in:\n{help}");
    }
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
    assert_eq!(printed, "4 seeds, from 1 to 4: none failed\n");
    // The same people with each seed, if nothing else is said; a seed of 0 makes none.
    assert_eq!(text(&["explore", "--seeds", "3", "urbiflock", "--people", "9"]), "3 seeds, from 1 to 3: none failed\n");
    let others = ["explore", "--seeds", "3", "urbiflock", "--people", "9", "--world", "seed"];
    assert_eq!(text(&others), "3 seeds, from 1 to 3: none failed\n");
    let explored = figures(&["explore", "--seeds", "2", "--from", "7", "urbiflock", "--people", "9"]);
    assert_eq!(explored, serde_json::json!({ "seeds": 2, "from": 7, "to": 8, "failure": null }));
}

#[test]
fn what_every_seed_would_complain_about_is_said_once() {
    let explore = |rest: &[&'static str]| [&["explore", "--from", "1", "--seeds", "5"], rest].concat();
    assert_misuse(&explore(&["nosuch"]), "there is no command or example `nosuch`");
    assert_misuse(&explore(&[]), "explore: which command?");
    assert_misuse(&explore(&["figure"]), "explore: not `figure`, but one flock");
    assert_misuse(&explore(&["urbiflock", "--people", "999"]), "--people is a number from 0 to 512, not `999`");
    assert_misuse(&explore(&["urbiflock", "--flock", "isNearby and"]), "--flock, column 13: ");
    assert_misuse(&explore(&["urbiflock", "--trace", "file"]), "explore: --trace: every run would write the same file");
    assert_misuse(&explore(&["bank", "--frob"]), "what is `--frob`?");
}

#[test]
fn a_seed_that_fails_is_replayed_by_the_command_it_names() {
    let line = ["explore", "--seeds", "40", "urbiflock", "--people", "20", "--faults", "lost_answers=30"];
    let output = showcase(&line);
    let error = said(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("  | error: an actor did not answer: "), "{error}");
    let (_, command) = error.trim_end().rsplit_once("run it again: ").expect("a command");
    let again = Command::new("sh").args(["-c", command]).output().expect("a shell");
    assert_eq!((again.status.code(), said(&again.stderr).lines().count()), (Some(1), 1), "{}", said(&again.stderr));
    let json = showcase(&[&line[..], &["--json"]].concat());
    let json: Value = serde_json::from_slice(&json.stdout).expect("figures of a failure");
    assert_eq!(json["failure"]["replay"], command);
}

/// People come and go while derivations are under way, and each of them is right: the program compares them.
#[test]
fn derivations_are_disturbed_and_right_in_both_modes() {
    for (mode, cores) in [("stepped", "1"), ("stepped", "2"), ("stepped", "4"), ("threads", "2")] {
        let line = ["urbiflock", "--people", "100", "--bustle", "60", "--during", "--mode", mode, "--cores", cores];
        let found = figures(&line);
        let during = &found["during"];
        assert_eq!(during["events"], 60, "{found}");
        let count = |name: &str| during[name].as_u64().unwrap_or_else(|| panic!("no {name} in {during}"));
        assert!(count("derivations") > 1 && count("restarts") >= count("disturbed"), "{during}");
        assert!(mode == "threads" || count("disturbed") > 0, "on {cores} cores nobody was disturbed: {during}");
    }
}

/// The same faults and limits hold while people come and go as when it is measured.
#[test]
fn the_device_is_the_same_in_every_phase() {
    let line = ["urbiflock", "--people", "50", "--bustle", "3"];
    let output = showcase(&[&line[..], &["--limit", "1000"]].concat());
    assert_eq!(output.status.code(), Some(101));
    let output = showcase(&[&line[..], &["--faults", "lost_answers=40"]].concat());
    assert_eq!((output.status.code(), said(&output.stderr).lines().count()), (Some(1), 1), "{}", said(&output.stderr));
}

#[test]
fn a_flock_beyond_who_is_near_is_one_of_all_who_are_known() {
    let printed = text(&["urbiflock", "--flock", "not isNearby"]);
    assert!(printed.contains("Of 384 people who are known, 120 of them nearby: 264 members"), "{printed}");
    let printed = text(&["urbiflock", "--flock", "isNearby and not isFriend"]);
    assert!(printed.contains("Of 120 people nearby: "), "{printed}");
}

/// What is printed for people is also there for programs.
#[test]
fn figures_have_all_that_is_printed() {
    let line =
        ["urbiflock", "--people", "60", "--seed", "5", "--world", "9", "--bustle", "30", "--faults", "stalls=90"];
    let (found, printed) = (figures(&line), text(&line));
    assert_eq!((&found["seed"], &found["world"]), (&5.into(), &9.into()));
    let shown =
        |value: &Value| assert!(printed.contains(&value.to_string().replace('"', "")), "{value} in:\n{printed}");
    [&found["cycles"], &found["base"]["cycles"], &found["hash"], &found["comparisons"], &found["faults"]]
        .into_iter()
        .for_each(shown);
    assert!(found["faults"].as_str().is_some_and(|faults| faults.contains("stall_cycles=20000")), "{found}");
    let cores = found["on_cores"].as_array().expect("figures of each core");
    assert_eq!(cores.len(), 2);
    cores.iter().for_each(|core| shown(&core["longest_turn"]));
    let changes = found["events"]["changes"].as_array().expect("what changed the flock");
    assert!(!changes.is_empty(), "{found}");
    changes.iter().take(20).for_each(|change| shown(&change["event"]));
}

#[test]
fn an_event_without_effect_gets_a_remark() {
    let file = std::env::temp_dir().join(format!("flockwork-remarks-{}", std::process::id()));
    std::fs::write(&file, "left 500\njoin 365\njoin 365\nfriend 104\n").expect("room");
    let name = file.to_str().expect("a plain name");
    let story = text(&["urbiflock", "--people", "0", "--flock", "isNearby", "--events", name]);
    std::fs::remove_file(&file).expect("it was just written");
    for line in
        ["left 500: nothing changes: this person is not near", "join 365: nothing changes: this person is near already"]
    {
        assert!(story.contains(line), "{line} is not in:\n{story}");
    }
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
        "join 365       +flockr-00365                   1 member\n",
        "join 104       +flockr-00104                   2 members",
        "left 365       -flockr-00365                   1 member\n",
        "4 events, 3 of which changed the flock; after each, both engines agreed.",
        "Of 1 person nearby: 1 member,",
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
    let rows = figures(&["dictionary", "--mode", "stepped", "--cores", "4"]);
    let readers_writer = &rows["rows"][2];
    assert_eq!((&readers_writer["mode"], &readers_writer["cores"]), (&"stepped".into(), &4.into()));
    assert!(readers_writer["speed_up"].as_f64().is_some_and(|speed_up| speed_up > 3.5), "{rows}");
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
    assert_eq!(rows.len(), 10 * 3 * 3, "stepped, threads and emulated; three monitors");
    assert!(figure["files"]["report"].as_str().is_some_and(|file| file.ends_with("showcase.html")), "{figure}");
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
