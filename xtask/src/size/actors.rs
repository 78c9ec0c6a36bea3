//! The actors of an image, part by part: asked of `flockwork-layout` (`tests/firmware`), which reads the debug information.

use crate::{invocation::Invocation, step::Stop};
use std::path::Path;

/// Bytes of RAM that an actor takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Actor {
    /// The path of its static.
    pub(crate) name: String,
    pub(crate) state: u32,
    pub(crate) monitor: u32,
    /// The letters in all its lanes.
    pub(crate) letters: u32,
    /// The promises in all its lanes.
    pub(crate) promises: u32,
    /// What the kernel needs beside.
    pub(crate) rest: u32,
}

/// Builds the program that is asked.
pub(crate) fn prepare() -> Result<(), Stop> {
    Invocation::cargo("build --package flockwork-firmware-tests --bin flockwork-layout").run()
}

/// The actors of an image, by name.
pub(crate) fn of(image: &Path) -> Result<Vec<Actor>, Stop> {
    let ask = Invocation::cargo("run --quiet --package flockwork-firmware-tests --bin flockwork-layout --")
        .arg(image.display().to_string());
    let answer = ask.ask().ok_or_else(|| Stop::Failed(format!("`{ask}` failed: run it to see why")))?;
    answer.lines().map(|line| parse(line).ok_or_else(|| Stop::Failed(format!("`{ask}` wrote `{line}`")))).collect()
}

/// A name and five numbers.
fn parse(line: &str) -> Option<Actor> {
    let (name, numbers) = line.split_once(' ')?;
    let numbers: Vec<u32> = numbers.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [state, monitor, letters, promises, rest] = numbers[..] else { return None };
    Some(Actor { name: name.to_owned(), state, monitor, letters, promises, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_five_numbers() {
        let actor =
            Actor { name: "hello::HERE".to_owned(), state: 4, monitor: 0, letters: 104, promises: 256, rest: 100 };
        assert_eq!(parse("hello::HERE 4 0 104 256 100"), Some(actor));
        assert_eq!(parse("hello::HERE 4 0 104 256"), None);
        assert_eq!(parse("hello::HERE 4 0 104 256 many"), None);
    }
}
