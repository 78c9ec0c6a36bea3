//! The words behind a command's name: options are taken out one by one, and what nobody took is a misuse.

/// The words of a command line that nobody has asked for yet.
pub(crate) struct Args(Vec<String>);

/// A command line that makes no sense, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misuse(pub(crate) String);

impl Args {
    pub(crate) fn new(words: Vec<String>) -> Self {
        Self(words)
    }

    /// Takes `--name` out, wherever it stands; false if it was not given.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|word| word != name);
        self.0.len() != before
    }

    /// Takes every `--name VALUE` and `--name=VALUE` out, in order.
    pub(crate) fn values(&mut self, name: &str) -> Result<Vec<String>, Misuse> {
        let mut values = Vec::new();
        let mut others = Vec::new();
        let mut words = std::mem::take(&mut self.0).into_iter();
        while let Some(word) = words.next() {
            if word == name {
                values.push(words.next().ok_or_else(|| Misuse(format!("{name} needs a value")))?);
            } else if let Some(value) = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
                values.push(value.to_owned());
            } else {
                others.push(word);
            }
        }
        self.0 = others;
        Ok(values)
    }

    /// The one word that may be left, which is not an option.
    pub(crate) fn filter(mut self) -> Result<Option<String>, Misuse> {
        let filter = match self.0.first() {
            Some(word) if !word.starts_with('-') => Some(self.0.remove(0)),
            _ => None,
        };
        self.nothing_else()?;
        Ok(filter)
    }

    /// Everything that is left, as it stands, for a program that has options of its own. A leading `--` is dropped.
    pub(crate) fn rest(mut self) -> Vec<String> {
        if self.0.first().is_some_and(|word| word == "--") {
            self.0.remove(0);
        }
        self.0
    }

    /// Complains about the first word that is left.
    pub(crate) fn nothing_else(self) -> Result<(), Misuse> {
        match self.0.first() {
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
