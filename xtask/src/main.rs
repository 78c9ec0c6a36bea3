//! Every developer command of Flockwork: `cargo xtask help` lists them.
//!
//! A command is a variant of [`Command`]; its doc comment is its help. Most commands are a list of [`step::Step`]s,
//! run one after the other with one summary. Each step is made of [`invocation::Invocation`]s, which print the very line
//! they run, so that it can be pasted into a shell. To add a command: a module with a `run(Args)`, a variant below. To
//! add a test: a step in `test.rs`.

mod args;
mod bench;
mod board;
mod cycles;
mod docs;
mod elf;
mod emulate;
mod firmware;
mod flash;
mod invocation;
mod lint;
mod loom;
mod memory;
mod miri;
mod no_alloc;
mod qemu;
mod rp2350;
mod runners;
mod rustup;
mod size;
mod step;
mod targets;
mod test;
mod tsan;
mod uf2;

use args::{Args, Misuse};
use std::{path::Path, process::ExitCode};

/// Makes [`Command`] from variants that carry their usage line and the function that runs them, and keeps each doc
/// comment for `help`.
macro_rules! commands {
    ($( $(#[doc = $line:literal])+ $variant:ident = $usage:literal => $run:path; )+) => {
        /// What `cargo xtask` can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Command { $( $(#[doc = $line])+ $variant, )+ }

        impl Command {
            const ALL: &[Self] = &[$( Self::$variant ),+];

            /// The command line after `cargo xtask`; its first word is the command's name.
            fn usage(self) -> &'static str {
                match self { $( Self::$variant => $usage ),+ }
            }

            /// The lines of the doc comment.
            fn help(self) -> &'static [&'static str] {
                match self { $( Self::$variant => &[$( $line ),+] ),+ }
            }

            fn run(self, args: Args) -> Result<ExitCode, Misuse> {
                match self { $( Self::$variant => $run(args) ),+ }
            }
        }
    };
}

commands! {
    /// Run every test: on the host, in the simulator, on emulated boards; loom models, Miri, every target, sizes.
    ///
    /// `--list` shows the steps, `--list --json` for programs. `--only STEP` (repeatable) runs one of them, or all of a group: `--only targets`.
    /// A failing step does not stop the others, unless `--fail-fast` is given.
    Test = "test [--only STEP]... [--fail-fast] [--list [--json]]" => test::run;

    /// Run the loom models and their mutants, in release mode, in a target directory of their own.
    ///
    /// `--long` adds the models marked `#[ignore]`, which take minutes to hours. FILTER is a part of a model's name.
    Loom = "loom [--long] [FILTER]" => loom::run;

    /// Run every unsafe path of the kernel under Miri, on nightly, which is installed when missing.
    ///
    /// `--seeds N` explores N schedules and weak-memory choices per test, about a minute each. FILTER is a part of a
    /// test's name.
    Miri = "miri [--seeds N] [FILTER]" => miri::run;

    /// Run the stress tests under ThreadSanitizer, on nightly (not part of `test`).
    ///
    /// The standard library is rebuilt with the sanitizer, so the first run takes minutes. ThreadSanitizer does not
    /// understand fences: a report about data that is ordered by one is a false alarm and belongs to loom.
    Tsan = "tsan [FILTER]" => tsan::run;

    /// Build the kernel for every supported target with each of its features, and check that it needs no allocator.
    Targets = "targets [--only STEP]... [--fail-fast] [--list [--json]]" => targets::run;

    /// Check formatting, and run clippy with warnings as errors for each feature and for the loom models.
    Lint = "lint [--only STEP]... [--fail-fast] [--list [--json]]" => lint::run;

    /// Build an image for a board and run it here: the RP2040 on an emulator, the mps2-an521 in QEMU.
    ///
    /// BOARD is a folder in `boards/`, EXAMPLE one of its binaries; a wrong name gets the list of those there are. What the
    /// image logs is printed as it comes, also what it logs with defmt, and the last words of a core that died. Images are built for size, as
    /// they would be flashed, but for `urbiflock` and `cycles`, which are about speed; `--fast` and `--small` say otherwise. `--json` prints
    /// log and figures of the RP2040 as JSON. `--image` runs an ELF file that there is.
    Emulate = "emulate BOARD (EXAMPLE [--fast | --small] | --image ELF) [--json]" => emulate::run;

    /// Print what a letter costs on the emulated RP2040, in cycles, beside the bars it is held to.
    ///
    /// `--json` prints the same as JSON, also with `--trace`. `--profile NAME` says in which functions the cycles of one measurement went (a wrong name
    /// gets the list), `--callers N` names N functions that each was inlined into, `--instructions` adds every instruction, and
    /// `--small` takes the image built for size. `--trace` says what trace events cost. `--update` keeps the figures as the
    /// snapshot that `test` compares with.
    Cycles = "cycles [[--trace] [--json] | --update | --profile NAME [--callers N] [--instructions] [--small]]" => cycles::run;

    /// Flash an example onto a board through a debug probe, and show its log.
    ///
    /// What is logged with defmt over RTT is shown; the examples `log_over_rtt` do that. Needs probe-rs and a probe; `uf2` needs
    /// neither. `--image` flashes an ELF file that there is: so does `cargo run` in the folder of a board.
    Flash = "flash BOARD (EXAMPLE | --image ELF)" => flash::run;

    /// Write an example as a UF2 file, for drag and drop onto a board in its boot loader.
    ///
    /// It lies next to the image, and its last line says where. A board ignores files of another family of chips.
    Uf2 = "uf2 BOARD EXAMPLE" => uf2::run;

    /// Say what images and their actors take of flash and RAM, against their budgets and the kernel's bars.
    ///
    /// `--json` prints it for programs. `--accept` writes what is measured, and 2 % more, into `boards/budgets.toml`.
    Size = "size [--json] [--accept]" => size::run;

    /// Build the documentation with warnings as errors.
    ///
    /// `--open` shows it in a browser.
    Docs = "docs [--open]" => docs::run;

    /// Run the benchmarks, in their own workspace; everything after `bench` goes to their driver.
    Bench = "bench [ARGS]..." => bench::run;
}

impl Command {
    fn name(self) -> &'static str {
        self.usage().split(' ').next().unwrap_or_default()
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|command| command.name() == name)
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "help".to_owned());
    let rest: Vec<String> = words.collect();
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", overview());
        return ExitCode::SUCCESS;
    }
    let Some(command) = Command::named(&name) else {
        eprintln!("xtask: there is no command `{name}`; `cargo xtask help` lists them");
        return ExitCode::from(2);
    };
    if matches!(rest.first().map(String::as_str), Some("--help" | "-h")) {
        print!("{}", details(command));
        return ExitCode::SUCCESS;
    }

    let args = Args::new(rest);
    // Every command runs at the root of the workspace, so that the lines it prints are short and can be pasted.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if let Err(error) = std::env::set_current_dir(&root) {
        eprintln!("xtask: cannot enter the root of the workspace, {}: {error}", root.display());
        return ExitCode::FAILURE;
    }
    command.run(args).unwrap_or_else(|Misuse(message)| {
        eprintln!("{}", complaint(command, &message));
        ExitCode::from(2)
    })
}

/// The line about a command line that makes no sense.
fn complaint(command: Command, message: &str) -> String {
    format!("xtask {}: {message} (usage: cargo xtask {})", command.name(), command.usage())
}

/// One line for each command.
fn overview() -> String {
    let mut text = String::from("Usage: cargo xtask COMMAND\n\n");
    for command in Command::ALL {
        text += &format!("  {:<8} {}\n", command.name(), command.help()[0].trim());
    }
    text + "\n`cargo xtask COMMAND --help` says more about one.\n"
}

/// Everything there is to say about one command.
fn details(command: Command) -> String {
    let mut text = format!("Usage: cargo xtask {}\n\n", command.usage());
    for line in command.help() {
        text += line.strip_prefix(' ').unwrap_or(line);
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_found_by_its_name_and_has_help() {
        for command in Command::ALL {
            assert_eq!(Command::named(command.name()), Some(*command));
            assert!(overview().contains(command.name()));
            assert!(details(*command).contains(command.help()[0].trim()));
        }
        assert_eq!(Command::named("tests"), None);
    }

    #[test]
    fn a_misuse_is_told_in_one_line_with_the_usage() {
        for command in Command::ALL {
            let line = complaint(*command, "what is `x`?");
            assert!(line.lines().count() == 1 && line.contains(command.usage()), "{line}");
        }
    }

    #[test]
    fn the_first_line_of_help_is_one_sentence() {
        for command in Command::ALL {
            let first = command.help()[0];
            assert!(first.len() < 120 && first.ends_with('.'), "{}: {first}", command.name());
        }
    }
}
