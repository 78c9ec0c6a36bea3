//! `flockwork-layout ELF`: a line for each actor of the image, with the bytes of its state, monitor, letters, promises and rest.

use flockwork_firmware_tests::layout::actors;
use std::{env, fs, process::ExitCode};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("flockwork-layout: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let path = env::args().nth(1).ok_or("usage: flockwork-layout ELF")?;
    let elf = fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
    for actor in actors(&elf).map_err(|why| format!("{path}: {why}"))? {
        println!(
            "{} {} {} {} {} {}",
            actor.name, actor.state, actor.monitor, actor.letters, actor.promises, actor.rest
        );
    }
    Ok(())
}
