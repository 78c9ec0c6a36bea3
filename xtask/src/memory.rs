//! Where a board has its memory: what its `memory.x` tells the linker.
//!
//! Of the linker's language only what such files use is read: regions, and lengths that are sums.

use crate::{board::Board, step::Stop};
use std::{fs, ops::Range};

/// The flash of a board: from the first to the last byte of all regions but RAM.
pub(crate) fn flash(board: &Board) -> Result<Range<u32>, Stop> {
    let file = board.folder().join("memory.x");
    let text = fs::read_to_string(&file)
        .map_err(|error| Stop::Failed(format!("{} cannot be read: {error}", file.display())))?;
    flash_of(&text).ok_or_else(|| Stop::Failed(format!("{} has no region of flash", file.display())))
}

fn flash_of(text: &str) -> Option<Range<u32>> {
    let regions = text.lines().filter_map(region).filter(|(name, _)| *name != "RAM");
    regions.map(|(_, range)| range).reduce(|all, range| all.start.min(range.start)..all.end.max(range.end))
}

/// A line `NAME : ORIGIN = …, LENGTH = …`.
fn region(line: &str) -> Option<(&str, Range<u32>)> {
    let (name, rest) = line.split_once(':')?;
    let (origin, length) = rest.split_once(',')?;
    let value = |text: &str, key: &str| sum(text.trim().strip_prefix(key)?.trim().strip_prefix('=')?);
    let (origin, length) = (value(origin, "ORIGIN")?, value(length, "LENGTH")?);
    Some((name.trim(), origin..origin.checked_add(length)?))
}

/// Numbers with `+` and `-` between them.
fn sum(text: &str) -> Option<u32> {
    text.replace('-', "+-").split('+').map(str::trim).try_fold(0_u32, |sum, term| match term.strip_prefix('-') {
        Some(term) => sum.checked_sub(number(term.trim())?),
        None => sum.checked_add(number(term)?),
    })
}

/// `0x100`, `256`, `2048K` or `2M`.
fn number(text: &str) -> Option<u32> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok();
    }
    let (digits, unit) = match text.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<u32>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICO: &str = "/* A remark: with a colon. */
MEMORY {
    BOOT2 : ORIGIN = 0x10000000, LENGTH = 0x100
    FLASH : ORIGIN = 0x10000100, LENGTH = 2048K - 0x100
    RAM   : ORIGIN = 0x20000000, LENGTH = 264K
}";

    #[test]
    fn flash_is_all_but_ram() {
        assert_eq!(flash_of(PICO), Some(0x1000_0000..0x1020_0000));
        assert_eq!(flash_of("    FLASH : ORIGIN = 0, LENGTH = 1M + 1"), Some(0..(1 << 20) + 1));
    }

    #[test]
    fn what_cannot_be_read_is_no_memory() {
        assert_eq!(flash_of("RAM : ORIGIN = 0x20000000, LENGTH = 264K"), None);
        assert_eq!(flash_of("FLASH : ORIGIN = 0x1000, LENGTH = SIZE"), None);
        assert_eq!(flash_of("FLASH : ORIGIN = 0, LENGTH = 1K - 2K"), None);
    }
}
