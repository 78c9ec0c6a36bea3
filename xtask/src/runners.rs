//! The step that types `cargo run` in the folder of each board, as its user does: the runner that the board configures must be
//! the one that cargo finds and uses.

use crate::{
    board::{BOARDS, Board},
    invocation::Invocation,
    qemu, rustup,
    step::Stop,
};
use std::{env, fs, path::Path};

/// Where the stand-in for probe-rs lies: nobody flashes a board in a test.
const STAND_IN: &str = "target/stand-in";

/// Says what it was called with, and that there is a probe.
const PROBE_RS: &str = "#!/bin/sh\necho \"[0]: stand-in for probe-rs: $*\"\n";

pub(crate) fn check() -> Result<(), Stop> {
    if !cfg!(unix) {
        return Err(Stop::Skipped("the stand-in for probe-rs is a script for a Unix shell".to_owned()));
    }
    let path = with_stand_in().map_err(|error| Stop::Failed(format!("{STAND_IN}: {error}")))?;
    BOARDS.iter().try_for_each(|board| {
        rustup::target(board.target)?;
        if board.chip.is_none() {
            qemu::require()?;
        }
        let run = Invocation::cargo("run --release").within(board.folder()).variable("PATH", &path);
        let output = run.output()?;
        let (said, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        print!("{said}");
        let expected = expected(board);
        match output.status.success() && said.contains(&expected) {
            true => Ok(()),
            false => Err(Stop::Failed(format!("`{run}`: {}, without `{expected}`: {log}", output.status))),
        }
    })
}

/// What the runner of a board makes visible: probe-rs is called for its chip, or its example ran.
fn expected(board: &Board) -> String {
    match &board.chip {
        Some(chip) => format!("stand-in for probe-rs: run --chip {} ", chip.probe_rs),
        None => "hello from core 0, hello from core 1".to_owned(),
    }
}

/// Writes the stand-in, and returns a search path in which it comes first.
fn with_stand_in() -> std::io::Result<String> {
    let folder = Path::new(STAND_IN);
    fs::create_dir_all(folder)?;
    let program = folder.join("probe-rs");
    fs::write(&program, PROBE_RS)?;
    make_executable(&program)?;
    let rest = env::var("PATH").unwrap_or_default();
    Ok(format!("{}:{rest}", folder.canonicalize()?.display()))
}

#[cfg(unix)]
fn make_executable(program: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}
