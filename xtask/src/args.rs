//! The words behind a command's name: options are taken out one by one, and what nobody took is a misuse.

use std::{env, path::PathBuf};

/// The words of a command line that nobody has asked for yet.
pub(crate) struct Args {
    words: Vec<String>,
    /// Where they were typed: files are named from there.
    folder: PathBuf,
}

/// A command line that makes no sense, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misuse(pub(crate) String);

impl Args {
    /// Words that were typed in the present folder.
    pub(crate) fn new(words: Vec<String>) -> Self {
        Self { words, folder: env::current_dir().unwrap_or_default() }
    }

    /// Takes `--name` out, wherever it stands; false if it was not given.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() != before
    }

    /// Takes every `--name VALUE` and `--name=VALUE` out, in order.
    pub(crate) fn values(&mut self, name: &str) -> Result<Vec<String>, Misuse> {
        let mut values = Vec::new();
        let mut others = Vec::new();
        let mut words = std::mem::take(&mut self.words).into_iter();
        while let Some(word) = words.next() {
            if word == name {
                values.push(words.next().ok_or_else(|| Misuse(format!("{name} needs a value")))?);
            } else if let Some(value) = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
                values.push(value.to_owned());
            } else {
                others.push(word);
            }
        }
        self.words = others;
        Ok(values)
    }

    /// The same of files.
    pub(crate) fn files(&mut self, name: &str) -> Result<Vec<PathBuf>, Misuse> {
        Ok(self.values(name)?.into_iter().map(|file| self.folder.join(file)).collect())
    }

    /// The one word that may be left, which is not an option.
    pub(crate) fn filter(mut self) -> Result<Option<String>, Misuse> {
        let filter = match self.words.first() {
            Some(word) if !word.starts_with('-') => Some(self.words.remove(0)),
            _ => None,
        };
        self.nothing_else()?;
        Ok(filter)
    }

    /// Everything that is left, as it stands, for a program that has options of its own. A leading `--` is dropped.
    pub(crate) fn rest(mut self) -> Vec<String> {
        if self.words.first().is_some_and(|word| word == "--") {
            self.words.remove(0);
        }
        self.words
    }

    /// Complains about the first word that is left.
    pub(crate) fn nothing_else(self) -> Result<(), Misuse> {
        match self.words.first() {
            Some(word) => Err(Misuse(format!("what is `{word}`?"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        Args::new(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn flags_and_values_are_taken_wherever_they_stand() {
        let mut line = args("--only unit --list --only=loom");
        assert_eq!(line.values("--only"), Ok(vec!["unit".to_owned(), "loom".to_owned()]));
        assert!(line.flag("--list"));
        assert!(!line.flag("--list"));
        assert_eq!(line.nothing_else(), Ok(()));
    }

    #[test]
    fn files_are_named_from_where_the_words_were_typed() {
        let here = env::current_dir().unwrap();
        assert_eq!(args("--image a/b").files("--image"), Ok(vec![here.join("a/b")]));
        assert_eq!(args("--image /a/b").files("--image"), Ok(vec![PathBuf::from("/a/b")]));
    }

    #[test]
    fn a_value_must_follow() {
        assert_eq!(args("--only").values("--only"), Err(Misuse("--only needs a value".to_owned())));
    }

    #[test]
    fn a_longer_option_is_not_mistaken() {
        let mut line = args("--only-this=x");
        assert_eq!(line.values("--only"), Ok(vec![]));
        assert!(line.nothing_else().is_err());
    }

    #[test]
    fn one_filter_and_no_unknown_options() {
        assert_eq!(args("lane").filter(), Ok(Some("lane".to_owned())));
        assert_eq!(args("").filter(), Ok(None));
        assert_eq!(args("lane gate").filter(), Err(Misuse("what is `gate`?".to_owned())));
        assert_eq!(args("--lnog").filter(), Err(Misuse("what is `--lnog`?".to_owned())));
    }

    #[test]
    fn the_rest_is_passed_on_untouched() {
        assert_eq!(args("-- --json ring").rest(), ["--json", "ring"]);
        assert_eq!(args("ring -- --json").rest(), ["ring", "--", "--json"]);
    }
}
