//! QEMU's dual Cortex-M33 board, in two ways: its cores in an order that is the same every time, and each core in a thread of
//! its own, with real races.

use crate::{
    board::{MPS2_AN521, Profile},
    invocation::{Invocation, seconds},
    step::Stop,
};
use std::{
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

const PROGRAM: &str = "qemu-system-arm";

/// An image ends by itself, also when a case of it makes no progress. One that does not is stopped after this time, which is
/// many times what the longest run takes on a busy machine.
const LONGEST_RUN: Duration = Duration::from_secs(30 * 60);
/// Between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Letters that the largest case of the suite sends.
const LETTERS_IN_ORDER: u32 = 50_000;
const LETTERS_RACING: u32 = 1_000_000;

/// What core 1 is told to die of, and its last words.
const LAST_WORDS: [(&str, &str); 3] = [
    ("die=panic", "core 1 died in suite::Mortal, letter die: as it was told to, at "),
    ("die=fault", "core 1 died in suite::Mortal, letter die: fault at pc "),
    ("die=overflow", "core 1 died in suite::Mortal, letter die: the stack overflowed"),
];

/// How QEMU runs the two cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cores {
    /// One after the other, by counting instructions: every run is the same.
    InOrder,
    /// Each in a thread.
    Racing,
}

/// Runs an image with a thread for each core, with its log on the screen, in the QEMU that [`require`] found.
pub(crate) fn run(elf: &Path) -> Result<(), Stop> {
    run_image(elf, Cores::Racing, &[])
}

/// The step of the tests: the images of the board, in both ways.
pub(crate) fn check() -> Result<(), Stop> {
    require()?;
    let hello = MPS2_AN521.build("hello", Profile::Release)?;
    run_image(&hello, Cores::InOrder, &[])?;
    run_image(&hello, Cores::Racing, &[])?;
    let suite = MPS2_AN521.build("suite", Profile::Release)?;
    LAST_WORDS.iter().try_for_each(|(death, words)| require_last_words(&suite, death, words))?;
    run_image(&suite, Cores::InOrder, &["evenly", &format!("letters={LETTERS_IN_ORDER}")])?;
    run_image(&suite, Cores::Racing, &[&format!("letters={LETTERS_RACING}")])
}

/// Says what to install if QEMU is missing.
pub(crate) fn require() -> Result<(), Stop> {
    match Invocation::new(PROGRAM, "--version").ask() {
        Some(_) => Ok(()),
        None => {
            Err(Stop::Skipped(format!("needs {PROGRAM}: `apt-get install qemu-system-arm`, or from qemu.org/download")))
        }
    }
}

/// Runs an image in which core 1 dies. It fails the step unless the image says so and fails.
fn require_last_words(elf: &Path, death: &str, words: &str) -> Result<(), Stop> {
    let line = Invocation::new(PROGRAM, "").args(arguments(elf, Cores::Racing, &[death]));
    let output = line.output()?;
    let log = String::from_utf8_lossy(&output.stdout);
    print!("{log}");
    if output.status.code() == Some(1) && log.contains(words) {
        return Ok(());
    }
    Err(Stop::Failed(format!("`{line}`: {}, and its log has no line `{words}…`", output.status)))
}

/// Runs an image with these words on its command line. It fails the step unless the image says that all is well.
fn run_image(elf: &Path, cores: Cores, words: &[&str]) -> Result<(), Stop> {
    let arguments = arguments(elf, cores, words);
    let line = Invocation::new(PROGRAM, "").args(&arguments);
    println!("$ {line}");
    let started = Instant::now();
    let failed = |why: &dyn std::fmt::Display| Stop::Failed(format!("`{line}`: {why}"));
    let mut child =
        Command::new(PROGRAM).args(&arguments).stdin(Stdio::null()).spawn().map_err(|error| failed(&error))?;
    let status = wait(&mut child, LONGEST_RUN).map_err(|error| failed(&error))?;
    println!(
        "  {} after {}",
        status.map_or("stopped".to_owned(), |status| status.to_string()),
        seconds(started.elapsed())
    );
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(failed(&status)),
        None => Err(failed(&format_args!("it did not end within {}; its last line says where", seconds(LONGEST_RUN)))),
    }
}

/// Waits for the end of a program; stops it after `longest`, and then there is no status.
fn wait(child: &mut Child, longest: Duration) -> std::io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    while started.elapsed() < longest {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(LOOK);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn arguments(elf: &Path, cores: Cores, words: &[&str]) -> Vec<String> {
    // The image writes its log by semihosting, which would go to the error output.
    let devices = "-machine mps2-an521 -display none -monitor none -serial none -chardev stdio,id=log";
    let order: &[&str] = match cores {
        Cores::InOrder => &["-icount", "shift=0"],
        Cores::Racing => &["-accel", "tcg,thread=multi"],
    };
    // As in a shell, the first word is the program's own name.
    let image = elf.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut host = format!("enable=on,target=native,chardev=log,arg={image}");
    words.iter().for_each(|word| host += &format!(",arg={word}"));
    let mut arguments: Vec<String> = devices.split(' ').map(str::to_owned).collect();
    arguments.extend(order.iter().map(|&word| word.to_owned()));
    arguments.extend(["-semihosting-config".to_owned(), host, "-kernel".to_owned(), elf.display().to_string()]);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_reach_the_image_and_the_order_reaches_qemu() {
        let line = arguments(Path::new("boards/target/suite"), Cores::InOrder, &["evenly", "letters=5"]).join(" ");
        assert!(line.contains("-icount shift=0") && !line.contains("thread=multi"), "{line}");
        assert!(line.contains(",arg=suite,arg=evenly,arg=letters=5 -kernel boards/target/suite"), "{line}");
        let line = arguments(Path::new("suite"), Cores::Racing, &[]).join(" ");
        assert!(line.contains("thread=multi") && !line.contains("-icount"), "{line}");
    }

    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let mut short = Command::new("cargo").args(["--version"]).stdout(Stdio::null()).spawn().unwrap();
        assert!(wait(&mut short, LONGEST_RUN).unwrap().is_some_and(|status| status.success()));
        let mut endless = Command::new("sleep").arg("1000").spawn().unwrap();
        assert_eq!(wait(&mut endless, Duration::ZERO).unwrap(), None);
    }
}
