//! The images of `boards/rp2040`, run here. `cargo xtask test --only boards/rp2040` builds them first.

use flockwork_emulator::{
    Ended, Image, Machine, MarkKind,
    log::{Log, Texts},
};
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Ten seconds of the chip's time.
const LIMIT: u64 = 125_000_000 * 10;

fn image(name: &str) -> Image {
    Image::read(&path(name))
        .unwrap_or_else(|error| panic!("{error}; `cargo xtask test --only boards/rp2040` builds the images"))
}

fn log(machine: &mut Machine) -> String {
    String::from_utf8_lossy(machine.uart0()).into_owned()
}

/// What a machine has counted so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    cycles: u64,
    awake: [u64; 2],
    critical_sections: u64,
}

impl Counts {
    fn of(machine: &Machine) -> Self {
        Self {
            cycles: machine.now(),
            awake: [machine.awake_cycles(0), machine.awake_cycles(1)],
            critical_sections: machine.critical_sections(),
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            cycles: self.cycles - before.cycles,
            awake: [self.awake[0] - before.awake[0], self.awake[1] - before.awake[1]],
            critical_sections: self.critical_sections - before.critical_sections,
        }
    }
}

/// What was counted between the marks of an image.
fn between_marks(name: &str, spans: &[&str]) -> Vec<Counts> {
    let image = image(name);
    let mut counts = vec![(None, None); spans.len()];
    let mut machine = Machine::new(&image);
    let ended = machine.run(LIMIT, |machine, step| {
        for mark in image.marks().iter().filter(|mark| mark.address == step.address) {
            let Some(place) = spans.iter().position(|span| *span == mark.name) else { continue };
            let (before, after) = &mut counts[place];
            match mark.kind {
                MarkKind::Begin => *before = Some(Counts::of(machine)),
                MarkKind::End => *after = Some(Counts::of(machine)),
                MarkKind::Lap => {}
            }
        }
    });
    assert_eq!(ended, Ended::Passed, "{}", log(&mut machine));
    let difference = |((before, after), span): ((Option<Counts>, Option<Counts>), &&str)| match (before, after) {
        (Some(before), Some(after)) => after.since(before),
        _ => panic!("{name} passed without `{span}`"),
    };
    counts.into_iter().zip(spans).map(difference).collect()
}

#[test]
fn hello_is_heard_from_both_cores() {
    let mut machine = Machine::new(&image("hello"));
    assert_eq!(machine.run(LIMIT, |_, _| {}), Ended::Passed);
    assert_eq!(log(&mut machine), "hello from (Core0, 0), hello from (Core1, 0)\n");
}

/// The examples that log with defmt, over RTT and over UART0, are read as their users read them.
#[test]
fn what_is_logged_with_defmt_can_be_read() {
    for name in ["log_over_rtt", "log_over_uart"] {
        let image = image(name);
        let texts = Texts::of(&image).expect("texts of this version");
        let mut log = Log::of(&image, texts.as_ref());
        let mut machine = Machine::new(&image);
        assert_eq!(machine.run(2 * LIMIT, |_, _| {}), Ended::Passed, "{name}");
        let text = String::from_utf8(log.news(&mut machine)).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "INFO beat 1 on core 1", "{name}");
        assert!(lines[1].starts_with("INFO stacks: ") && lines[1].contains(" bytes of "), "{name}: {}", lines[1]);
        assert_eq!(lines[2], "INFO mailbox: 1 of 2 letters", "{name}");
        assert_eq!(lines.len(), 9, "{name}: {text}");
    }
}

fn emulator() -> Command {
    Command::new(env!("CARGO_BIN_EXE_flockwork-emulator"))
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boards/target/thumbv6m-none-eabi/release").join(name)
}

#[test]
fn the_log_is_shown_while_the_image_runs() {
    let mut child = emulator().arg(path("suite")).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert!(first.starts_with("case "), "{first}");
    assert!(child.try_wait().expect("it can be asked").is_none(), "the suite takes seconds more");
    child.kill().expect("it can be stopped");
    child.wait().expect("it ends");
}

#[test]
fn the_last_words_of_an_image_are_told() {
    let output = emulator().arg(path("panic-in-turn")).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("core 1 died in panic_in_turn::Words, letter get: index out of bounds"), "{said}");
    let output = emulator().arg(path("panic-in-turn")).arg("--json").output().expect("it starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(json["epitaphs"][0].as_str().is_some_and(|words| words.starts_with("core 1 died in ")), "{json}");
}

#[test]
fn misuse_of_the_emulator_is_one_line() {
    for words in [&["--jsom"][..], &[], &["--cycles", "many"]] {
        let output = emulator().args(words).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "{words:?}");
    }
}

#[test]
fn a_run_is_always_the_same() {
    let image = image("hello");
    let run = || {
        let mut machine = Machine::new(&image);
        machine.run(LIMIT, |_, _| {});
        (Counts::of(&machine), machine.clock(0), machine.clock(1))
    };
    assert_eq!(run(), run());
}

#[test]
fn a_run_that_does_not_end_is_ended() {
    let mut machine = Machine::new(&image("hello"));
    assert_eq!(machine.run(1000, |_, _| {}), Ended::OutOfCycles(1000));
}

#[test]
fn no_letter_takes_a_critical_section() {
    let counts = between_marks("quiet", &["one critical section", "letters"]);
    assert_eq!(counts[0].critical_sections, 1, "the emulator counts them");
    assert_eq!(counts[1].critical_sections, 0);
}

#[test]
fn cores_without_work_sleep() {
    let [rest] = between_marks("quiet", &["rest"])[..] else { panic!("one span") };
    // Ten milliseconds, of which core 0 needs some microseconds to go to sleep and to wake up.
    assert!(rest.cycles >= 1_250_000, "{rest:?}");
    assert!(rest.awake[0] < 5_000, "{rest:?}");
    assert!(rest.awake[1] < 1_000, "{rest:?}");
}

#[test]
fn core_1_can_be_paused_and_resumed() {
    let [paused] = between_marks("quiet", &["core 1 paused"])[..] else { panic!("one span") };
    assert!(paused.awake[0] >= 1000, "{paused:?}");
    assert!(paused.awake[1] < 100, "{paused:?}");
}

/// A reader behind writers leaves the lock once, more letters than a visit runs are run, and so are those that were listed.
#[test]
fn straight_lines_end_where_they_must() {
    let mut machine = Machine::new(&image("straight"));
    assert_eq!(machine.run(LIMIT, |_, _| {}), Ended::Passed);
}

#[test]
fn the_suite_passes() {
    let mut machine = Machine::new(&image("suite"));
    let ended = machine.run(LIMIT, |_, _| {});
    let log = log(&mut machine);
    assert_eq!(ended, Ended::Passed, "{log}");
    for case in
        ["letters/both-directions", "letters/timer-into-busy-actor", "letters/timers-of-both-cores", "idle/sleeps"]
    {
        let mut lines = log.lines().skip_while(|line| !line.starts_with(&format!("case {case} ")));
        assert!(lines.next().is_some(), "no case {case}:\n{log}");
        let outcome = lines.find(|line| *line == "  ok" || line.starts_with("case "));
        assert_eq!(outcome, Some("  ok"), "{case}:\n{log}");
    }
    let summary = log.lines().last().unwrap_or_default();
    assert!(summary.starts_with("suite: ") && summary.ends_with(" passed, 0 failed, 0 skipped"), "{log}");
}
