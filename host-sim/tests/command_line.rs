//! The command line as a program has it. This file is both: the program, if it is told so, and its tests.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use std::process::{Command, Output};

use flockwork::{Actor, Serial, actor};
use flockwork_host_sim::{Mode, Options};

/// Set in a process that is a program: which one.
const PROGRAM: &str = "FLOCKWORK_TEST_PROGRAM";

pub struct Adder(u64);

#[actor]
impl Adder {
    pub fn add(&mut self, number: u64) -> u64 {
        self.0 += number;
        self.0
    }
}

#[actor]
static ADDER: Actor<Adder, Serial, 4> = Adder(0);

/// A program that knows nothing of modes.
fn simple_program() {
    let cores = flockwork_host_sim::run(1, || {
        assert_eq!(ADDER.add(1).get(), Ok(1));
        <flockwork_host_sim::ThreadPort as flockwork::port::Port>::cores()
    });
    println!("on {cores} cores");
}

/// A program that has a command line without having written one.
fn given_program() {
    let cores = flockwork_host_sim::program(2, <flockwork_host_sim::ThreadPort as flockwork::port::Port>::cores);
    println!("on {cores} cores");
}

/// A program that never ends, and never sleeps.
fn endless_program() {
    let (options, _) = Options::default().from_command_line();
    options.device().run(|| while ADDER.add(0).get().is_ok() {});
}

/// Adds numbers up, and fails with the seeds it is told to.
fn program() {
    let (options, rest) = Options { cores: 3, ..Options::default() }.from_command_line();
    let fails_at = rest.iter().find_map(|arg| arg.strip_prefix("fail-at=")).map(|seed| seed.parse::<u64>());
    let run = options.device().run(|| [1, 2, 3].map(|number| ADDER.add(number).get().unwrap())[2]);
    assert!(fails_at != Some(Ok(options.seed)), "this seed fails on purpose");
    let mode = match run.mode {
        Mode::Threads => "threads",
        Mode::Stepped => "stepped",
    };
    println!("{} on {} cores, {mode}, seed {}: {rest:?}", run.returned, run.cores.len(), run.seed);
}

fn call(args: &[&str]) -> Output {
    as_program("full").args(args).output().expect("this very file can be run")
}

fn as_program(name: &str) -> Command {
    let this = std::env::current_exe().expect("a test runs from a file");
    let mut command = Command::new(this);
    command.env(PROGRAM, name);
    command
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn options_reach_the_device() {
    let output = call(&["--mode", "threads", "--cores", "2", "more"]);
    assert_eq!(said(&output.stdout), "6 on 2 cores, threads, seed 0: [\"more\"]\n");
    let output = call(&["--seed", "0xff", "--mode=stepped"]);
    assert_eq!(said(&output.stdout), "6 on 3 cores, stepped, seed 255: []\n");
}

fn bad_input_is_one_line_and_exit_code_2() {
    for args in [&["--cores", "0"][..], &["--mode", "fast"], &["--seed"], &["explore", "--seeds", "none"]] {
        let output = call(args);
        let error = said(&output.stderr);
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.starts_with("error: --"), "{error}");
        assert!(output.stdout.is_empty());
    }
}

fn exploring_ends_with_what_it_found() {
    let output = call(&["explore", "--seeds", "5", "--from", "7", "fail-at=3"]);
    assert_eq!(said(&output.stdout), "5 seeds, from 7 to 11: none failed\n", "{}", said(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    let output = call(&["explore", "--seeds", "20", "--cores", "2", "fail-at=3"]);
    let error = said(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.starts_with("seed 3 fails: "), "{error}");
    assert!(error.contains("  | this seed fails on purpose"), "{error}");
    assert!(error.trim_end().ends_with(" --mode stepped --seed 3 --cores 2 fail-at=3"), "{error}");
}

fn the_environment_chooses_for_a_program_that_does_not() {
    let said_with = |variables: &[(&str, &str)]| {
        let output = as_program("simple").envs(variables.iter().copied()).output().expect("this very file can be run");
        (output.status.code(), said(&output.stdout), said(&output.stderr))
    };
    assert_eq!(said_with(&[]).1, "on 1 cores\n");
    assert_eq!(said_with(&[("FLOCKWORK_MODE", "stepped"), ("FLOCKWORK_CORES", "64")]).1, "on 64 cores\n");
    let (code, _, error) = said_with(&[("FLOCKWORK_SEED", "x")]);
    assert_eq!((code, error.lines().count()), (Some(2), 1), "{error}");
    assert!(error.contains("--seed is a whole number"), "{error}");
}

fn any_program_has_a_command_line() {
    let said_with = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = as_program("given");
        let output = command.args(args).envs(variables.iter().copied()).output().expect("this very file can be run");
        (output.status.code(), said(&output.stdout), said(&output.stderr))
    };
    let ok = |text: &str| (Some(0), text.to_owned(), String::new());
    assert_eq!(said_with(&[], &[]), ok("on 2 cores\n"));
    assert_eq!(said_with(&["--mode", "stepped", "--cores", "64", "--seed", "3"], &[]), ok("on 64 cores\n"));
    // The command line has the last word, also about what only one of the modes can do.
    let variables = [("FLOCKWORK_CORES", "3"), ("FLOCKWORK_LIMIT", "1000000")];
    assert_eq!(said_with(&["--mode", "stepped"], &variables), ok("on 3 cores\n"));
    assert_eq!(said_with(&["explore", "--seeds", "3"], &[]), ok("3 seeds, from 0 to 2: none failed\n"));
    let json = "{\n  \"seeds\": 3,\n  \"from\": 5,\n  \"to\": 7,\n  \"failure\": null\n}\n";
    assert_eq!(said_with(&["explore", "--json", "--seeds", "3", "--from", "5"], &[]), ok(json));
    assert!(said_with(&["--help"], &[]).1.contains("--mode threads|stepped"));
    // What every seed complains about is said once, and is nobody's failure.
    for line in [&["--frob"][..], &["explore", "--seeds", "9", "--frob"]] {
        let error = "error: what is `--frob`? `--help` says what there is\n";
        assert_eq!(said_with(line, &[]), (Some(2), String::new(), error.to_owned()), "{line:?}");
    }
}

fn what_never_ends_is_ended() {
    let args = ["--mode", "stepped", "--limit", "100000"];
    let output = as_program("endless").args(args).output().expect("this very file can be run");
    let error = said(&output.stderr);
    assert_eq!(output.status.code(), Some(101), "{error}");
    assert!(error.starts_with("not done after 100000 cycles; core 0 runs "), "{error}");
}

fn main() {
    match std::env::var(PROGRAM).as_deref() {
        Ok("simple") => return simple_program(),
        Ok("given") => return given_program(),
        Ok("endless") => return endless_program(),
        Ok(_) => return program(),
        Err(_) => {}
    }
    the_environment_chooses_for_a_program_that_does_not();
    any_program_has_a_command_line();
    what_never_ends_is_ended();
    options_reach_the_device();
    bad_input_is_one_line_and_exit_code_2();
    exploring_ends_with_what_it_found();
    println!("the command line: ok");
}
