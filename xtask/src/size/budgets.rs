//! The budgets: a file with a table for each image and one for the kernel, and a number of bytes for each key.
//!
//! It is TOML, of which tables, numbers and comments are read: `xtask` has no dependencies.

use super::Figure;
use crate::step::Stop;
use std::{collections::BTreeMap, fmt::Write, fs};

/// How much more than measured an accepted budget allows, in percent: a change of a few instructions should not fail.
const SLACK: u32 = 2;

const HEAD: &str = "\
# Bytes that images may take, and the kernel in them. `cargo xtask size` compares, and so does `cargo xtask test`. What is
# worth more bytes gets them with `cargo xtask size --accept`, which writes what is measured and 2 % more, and with a
# reason in the commit.
";

/// What is allowed, by table and key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Budgets(BTreeMap<String, BTreeMap<String, u32>>);

impl Budgets {
    /// Budgets that these figures meet, just.
    pub(crate) fn of(figures: &[Figure]) -> Self {
        let mut tables = BTreeMap::<_, BTreeMap<_, _>>::new();
        for Figure { table, key, bytes } in figures {
            tables.entry(table.clone()).or_default().insert((*key).to_owned(), bytes + bytes * SLACK / 100);
        }
        Self(tables)
    }

    pub(crate) fn read(file: &str) -> Result<Self, Stop> {
        let text = fs::read_to_string(file).map_err(|error| Stop::Failed(format!("{file} cannot be read: {error}")))?;
        Self::parse(&text).map_err(|line| Stop::Failed(format!("{file}: what is `{line}`?")))
    }

    pub(crate) fn write(&self, file: &str) -> Result<(), Stop> {
        fs::write(file, self.to_text()).map_err(|error| Stop::Failed(format!("{file} cannot be written: {error}")))
    }

    pub(crate) fn of_figure(&self, table: &str, key: &str) -> Option<u32> {
        self.0.get(table)?.get(key).copied()
    }

    /// An error that names every figure above its budget, or without one, and every budget without a figure.
    pub(crate) fn check(&self, figures: &[Figure]) -> Result<(), Stop> {
        let above = figures.iter().filter_map(|Figure { table, key, bytes }| match self.of_figure(table, key) {
            Some(budget) if *bytes <= budget => None,
            Some(budget) => Some(format!("{table} takes {bytes} bytes ({key}), its budget is {budget}")),
            None => Some(format!("{table} ({key}) has no budget")),
        });
        let is_measured = |name: &str| figures.iter().any(|figure| figure.table == name);
        let stale =
            self.0.keys().filter(|name| !is_measured(name)).map(|name| format!("{name} has a budget, but no image"));
        let complaints: Vec<String> = above.chain(stale).collect();
        if complaints.is_empty() {
            return Ok(());
        }
        Err(Stop::Failed(format!("{}; if it is worth it: `cargo xtask size --accept`", complaints.join("; "))))
    }

    fn to_text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (table, budgets) in &self.0 {
            let _ = writeln!(text, "\n[{table}]");
            for (key, bytes) in budgets {
                let _ = writeln!(text, "{key} = {bytes}");
            }
        }
        text
    }

    /// The first line that makes no sense is the error.
    fn parse(text: &str) -> Result<Self, &str> {
        let mut tables = BTreeMap::<String, BTreeMap<String, u32>>::new();
        let mut table = None;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                table = Some(tables.entry(name.to_owned()).or_default());
                continue;
            }
            let entry = line.split_once('=').and_then(|(key, value)| Some((key.trim(), value.trim().parse().ok()?)));
            let ((key, bytes), table) = entry.zip(table.as_mut()).ok_or(line)?;
            table.insert(key.to_owned(), bytes);
        }
        Ok(Self(tables))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(flash: u32) -> Vec<Figure> {
        let figure = |table: &str, key, bytes| Figure { table: table.to_owned(), key, bytes };
        vec![
            figure("rp2040.hello", "flash", flash),
            figure("rp2040.hello", "ram", 500),
            figure("kernel", "first", 1500),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        let budgets = Budgets::of(&figures(1000));
        assert_eq!(Budgets::parse(&budgets.to_text()), Ok(budgets));
    }

    #[test]
    fn a_regression_fails_with_its_name_and_numbers() {
        let budgets = Budgets::of(&figures(1000));
        assert_eq!(budgets.check(&figures(1000)), Ok(()));
        assert_eq!(budgets.check(&figures(1020)), Ok(()));
        let Err(Stop::Failed(why)) = budgets.check(&figures(1021)) else { panic!("more than its budget") };
        assert!(why.starts_with("rp2040.hello takes 1021 bytes (flash), its budget is 1020"), "{why}");
    }

    #[test]
    fn budgets_and_figures_belong_together() {
        let budgets = Budgets::parse("[kernel]\nfirst = 1500\n[rp2040.gone]\nflash = 1").unwrap();
        let Err(Stop::Failed(why)) = budgets.check(&figures(1000)) else { panic!("two images and two budgets") };
        assert!(why.contains("rp2040.hello (flash) has no budget"), "{why}");
        assert!(why.contains("rp2040.gone has a budget, but no image"), "{why}");
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(Budgets::parse("# a remark\n[kernel]\nfirst = many"), Err("first = many"));
        assert_eq!(Budgets::parse("first = 1"), Err("first = 1"));
    }
}
