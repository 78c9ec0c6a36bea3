//! `cargo xtask cycles`: what a letter costs on the emulated RP2040, beside the bars it is held to.

use crate::{
    args::{Args, Misuse},
    board::{Profile, RP2040},
    invocation::Invocation,
    rustup,
    step::{Stop, exit_code},
};
use std::{fs, path::Path, process::ExitCode};

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
    let asked = [json || trace, update, !profiles.is_empty()].into_iter().filter(|&asked| asked).count();
    if asked > 1 || profiles.len() > 1 {
        return Err(Misuse("one of --json or --trace, --update, and --profile NAME at a time".to_owned()));
    }
    if profiles.is_empty() && (small || instructions || !callers.is_empty()) {
        return Err(Misuse("--small, --instructions and --callers go with --profile NAME".to_owned()));
    }
    if let Some(callers) = callers.iter().find(|callers| callers.parse::<usize>().is_err()) {
        return Err(Misuse(format!("--callers: `{callers}` is no number")));
    }

    let done = match profiles.first() {
        _ if trace => trace_costs(json),
        _ if json => as_json(),
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
    tool_on(&fast, &small).args(options).run()
}

/// The figures and nothing else on the screen.
fn as_json() -> Result<(), Stop> {
    let fast = RP2040.build_quietly(EXAMPLE, Profile::Fast)?;
    let small = RP2040.build_quietly(EXAMPLE, Profile::Release)?;
    print_quietly(fast.zip(small).and_then(|(fast, small)| tool_on(&fast, &small).arg("--json").ask()))
}

fn print_quietly(figures: Option<String>) -> Result<(), Stop> {
    let figures = figures.ok_or_else(|| Stop::Failed("it failed; without --json it says why".to_owned()))?;
    print!("{figures}");
    Ok(())
}

/// What trace events cost, by the difference that they make.
fn trace_costs(json: bool) -> Result<(), Stop> {
    let built = RP2040.image(EXAMPLE, Profile::Fast);
    let traced = built.with_file_name("cycles-traced");
    let keep_traced =
        || fs::copy(&built, &traced).map_err(|error| Stop::Failed(format!("{}: {error}", traced.display()))).map(drop);
    let plain = || RP2040.build_command(EXAMPLE, Profile::Fast);
    let with_trace = || plain().args(["--features", "trace"]);
    rustup::target(RP2040.target)?;
    if json {
        let quietly = |command: Invocation| command.arg("--quiet").ask();
        let is_built = quietly(with_trace()).is_some() && keep_traced().is_ok() && quietly(plain()).is_some();
        let tool = tool_on(&built, &traced).args(["--trace", "--json"]);
        return print_quietly(is_built.then(|| tool.ask()).flatten());
    }
    with_trace().run()?;
    keep_traced()?;
    plain().run()?;
    tool_on(&built, &traced).arg("--trace").run()
}

fn profile(profile: Profile, options: &[&str]) -> Result<(), Stop> {
    let image = RP2040.build(EXAMPLE, profile)?;
    tool().arg(image.display().to_string()).args(options).run()
}

/// The tool on two images.
fn tool_on(one: &Path, other: &Path) -> Invocation {
    tool().arg(one.display().to_string()).arg(other.display().to_string())
}

fn tool() -> Invocation {
    Invocation::cargo("run --quiet --package flockwork-emulator --bin flockwork-cycles --")
}
