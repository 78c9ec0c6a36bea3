//! `cargo xtask cycles`: what a letter costs on the emulated RP2040, beside the bars it is held to.

use crate::{
    args::{Args, Misuse},
    board::{Profile, RP2040},
    invocation::Invocation,
    rustup,
    step::{Stop, exit_code},
};
use std::{fs, process::ExitCode};

/// The example that is measured.
const EXAMPLE: &str = "cycles";
/// The figures that are kept.
const SNAPSHOT: &str = "bench/cycles/rp2040.json";

pub(crate) fn run(mut args: Args) -> Result<ExitCode, Misuse> {
    let json = args.flag("--json");
    let update = args.flag("--update");
    let small = args.flag("--small");
    let trace = args.flag("--trace");
    let instructions = args.flag("--instructions");
    let profiles = args.values("--profile")?;
    let callers = args.values("--callers")?;
    args.nothing_else()?;
    let asked = [json, update, trace, !profiles.is_empty()].into_iter().filter(|&asked| asked).count();
    if asked > 1 || profiles.len() > 1 {
        return Err(Misuse("one of --json, --update, --trace and --profile NAME at a time".to_owned()));
    }
    if profiles.is_empty() && (small || instructions || !callers.is_empty()) {
        return Err(Misuse("--small, --instructions and --callers go with --profile NAME".to_owned()));
    }
    if let Some(callers) = callers.iter().find(|callers| callers.parse::<usize>().is_err()) {
        return Err(Misuse(format!("--callers: `{callers}` is no number")));
    }

    let done = match profiles.first() {
        _ if json => as_json(),
        _ if trace => trace_costs(),
        _ if update => measure(&["--update", SNAPSHOT]),
        Some(name) => {
            let mut options = vec!["--profile", name];
            options.extend(instructions.then_some("--instructions"));
            options.extend(callers.iter().flat_map(|callers| ["--callers", callers]));
            profile(if small { Profile::Release } else { Profile::Fast }, &options)
        }
        None => measure(&[]),
    };
    Ok(exit_code("cycles", done))
}

/// Fails if a figure differs from the one that is kept.
pub(crate) fn check() -> Result<(), Stop> {
    measure(&["--check", SNAPSHOT])
}

/// Measures both images.
fn measure(options: &[&str]) -> Result<(), Stop> {
    let fast = RP2040.build(EXAMPLE, Profile::Fast)?;
    let small = RP2040.build(EXAMPLE, Profile::Release)?;
    tool().arg(fast.display().to_string()).arg(small.display().to_string()).args(options).run()
}

/// The figures and nothing else on the screen.
fn as_json() -> Result<(), Stop> {
    let fast = RP2040.build_quietly(EXAMPLE, Profile::Fast)?;
    let small = RP2040.build_quietly(EXAMPLE, Profile::Release)?;
    let figures = fast.zip(small).and_then(|(fast, small)| {
        tool().arg(fast.display().to_string()).arg(small.display().to_string()).arg("--json").ask()
    });
    let figures = figures.ok_or_else(|| Stop::Failed("it failed; without --json it says why".to_owned()))?;
    print!("{figures}");
    Ok(())
}

/// What trace events cost, by the difference that they make.
fn trace_costs() -> Result<(), Stop> {
    let built = RP2040.image(EXAMPLE, Profile::Fast);
    let traced = built.with_file_name("cycles-traced");
    rustup::target(RP2040.target)?;
    RP2040.build_command(EXAMPLE, Profile::Fast).args(["--features", "trace"]).run()?;
    fs::copy(&built, &traced).map_err(|error| Stop::Failed(format!("{}: {error}", traced.display())))?;
    let plain = RP2040.build(EXAMPLE, Profile::Fast)?;
    tool().arg(plain.display().to_string()).arg(traced.display().to_string()).arg("--trace").run()
}

fn profile(profile: Profile, options: &[&str]) -> Result<(), Stop> {
    let image = RP2040.build(EXAMPLE, profile)?;
    tool().arg(image.display().to_string()).args(options).run()
}

fn tool() -> Invocation {
    Invocation::cargo("run --quiet --package flockwork-emulator --bin flockwork-cycles --")
}
