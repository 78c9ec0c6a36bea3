//! The snapshot: figures that are kept in the repository, so that a change of any of them is seen.

use crate::figures::Figures;
use serde_json::{Map, Value, json};
use std::{fs, path::Path};

/// What a figure may differ by, relative and absolute: code elsewhere in the image moves branches and literal pools.
const TOLERANCE: f64 = 0.03;
const CYCLES: f64 = 5.0;

const HOW_TO_UPDATE: &str = "if that is meant, `cargo xtask cycles --update` keeps the new figures";

/// Writes the figures.
pub(crate) fn update(path: &Path, fast: &Figures, small: &Figures) -> Result<(), String> {
    let figures = |figures: &Figures| {
        figures.iter().map(|(name, cycles)| (name.to_owned(), cycles.into())).collect::<Map<_, _>>()
    };
    let text = format!("{:#}\n", json!({ "O3": figures(fast), "s": figures(small) }));
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{} is up to date", path.display());
    Ok(())
}

/// Compares the figures with those that are kept.
pub(crate) fn check(path: &Path, fast: &Figures, small: &Figures) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}; {HOW_TO_UPDATE}", path.display()))?;
    let kept: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut differences = compare("O3", &kept["O3"], fast);
    differences.extend(compare("s", &kept["s"], small));
    if differences.is_empty() {
        println!("{} figures are as they were", fast.iter().chain(small.iter()).count());
        return Ok(());
    }
    Err(format!("cycles have changed; {HOW_TO_UPDATE}:\n  {}", differences.join("\n  ")))
}

fn compare(level: &str, kept: &Value, now: &Figures) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, now) in now.iter() {
        match kept[name].as_u64() {
            Some(kept) if is_close(kept, now) => {}
            Some(kept) => differences.push(format!("{level}, {name}: {now}, it was {kept}")),
            None => differences.push(format!("{level}, {name}: {now}, it is new")),
        }
    }
    let names = kept.as_object().into_iter().flat_map(Map::keys);
    differences.extend(names.filter(|name| now.of(name).is_none()).map(|name| format!("{level}, {name}: it is gone")));
    differences
}

fn is_close(kept: u64, now: u64) -> bool {
    let (kept, now) = (kept as f64, now as f64);
    (kept - now).abs() <= CYCLES.max(kept * TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::is_close;

    #[test]
    fn close_is_a_few_cycles_or_three_percent() {
        assert!(is_close(40, 45) && !is_close(40, 46));
        assert!(is_close(1000, 970) && !is_close(1000, 969));
    }
}
