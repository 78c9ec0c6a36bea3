//! The figures of one image.

use flockwork_emulator::{Ended, Image, Machine, spans::Spans};
use std::{collections::BTreeMap, path::Path};

/// What the spans of an image took, by name.
pub(crate) struct Figures(BTreeMap<String, u64>);

/// A span of this name with this behind it is what a method does besides; it is subtracted.
pub(crate) const OWN_WORK: &str = " (own work)";
/// A span with this in its name is about so many letters.
const BURST: (&str, u64) = (", burst of 8", 8);

impl Figures {
    /// Runs an image, and takes the median of each span.
    pub(crate) fn measure(path: &Path, limit: u64) -> Result<Self, String> {
        let image = Image::read(path).map_err(|error| error.to_string())?;
        let mut spans = Spans::of(&image);
        let mut machine = Machine::new(&image);
        let ended = machine.run(limit, |_, step| spans.watch(step));
        if ended != Ended::Passed {
            return Err(format!("{}: {ended}\n{}", path.display(), String::from_utf8_lossy(machine.uart0())));
        }
        let figures = spans.measured().filter(|(name, _)| !name.ends_with(OWN_WORK)).map(|(name, cycles)| {
            let own_work = median(spans.cycles(&format!("{name}{OWN_WORK}")));
            let letters = if name.ends_with(BURST.0) { BURST.1 } else { 1 };
            (name.to_owned(), (median(cycles) - own_work).div_ceil(letters))
        });
        Ok(Self(figures.collect()))
    }

    /// The figure of a name.
    pub(crate) fn of(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// All of them, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, &figure)| (name.as_str(), figure))
    }
}

/// The middle of a list, the higher one of two; zero if there is none.
pub(crate) fn median(cycles: &[u64]) -> u64 {
    let mut sorted = cycles.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[9, 1, 5]), 5);
        assert_eq!(median(&[1, 9]), 9);
        assert_eq!(median(&[]), 0);
    }
}
