//! The words of a command line: options are taken out one by one, and what nobody took is a mistake.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use flockwork_host_sim::{Misuse, Options};
use flockwork_urbiflock::SEED;

/// The words that nobody has asked for yet.
pub(crate) struct Arguments(Vec<String>);

impl Arguments {
    pub(crate) fn new(words: Vec<String>) -> Self {
        Self(words)
    }

    /// Takes `--name` out, wherever it stands; false if it was not given.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|word| word != name);
        self.0.len() != before
    }

    /// Takes `--name VALUE` or `--name=VALUE` out; the last one counts. What begins with `--` is another option, not a value.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<String>, Misuse> {
        let mut found = None;
        let mut others = Vec::new();
        let mut words = std::mem::take(&mut self.0).into_iter();
        while let Some(word) = words.next() {
            if word == name {
                let value = words.next().filter(|value| !value.starts_with("--"));
                found = Some(value.ok_or_else(|| Misuse::new(format!("{name} needs a value")))?);
            } else if let Some(value) = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
                found = Some(value.to_owned());
            } else {
                others.push(word);
            }
        }
        self.0 = others;
        Ok(found)
    }

    /// Takes `--name NUMBER` out.
    pub(crate) fn number(&mut self, name: &str, range: RangeInclusive<usize>) -> Result<Option<usize>, Misuse> {
        let Some(text) = self.value(name)? else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        number.map(Some).ok_or_else(|| Misuse::new(format!("{name} is a number from {least} to {most}, not `{text}`")))
    }

    /// Takes out what says on which device to run, unless it is this one: mode, cores, seed and whatever else the simulator
    /// understands.
    pub(crate) fn device(&mut self, otherwise: Options) -> Result<Options, Misuse> {
        otherwise.take_from(&mut self.0)
    }

    /// The same for a device among people, whom the seed also makes, unless `--world S` does.
    pub(crate) fn device_among_people(&mut self) -> Result<(Options, NonZeroU32), Misuse> {
        let options = self.device(Options { seed: u64::from(SEED.get()), ..Options::default() })?;
        let of_seed = || ("--seed", options.seed.to_string());
        let (name, text) = match self.value("--world")? {
            Some(text) if text == "seed" => of_seed(),
            Some(text) => ("--world", text),
            None => of_seed(),
        };
        let number = Options::number(name, &text).ok().and_then(|number| u32::try_from(number).ok());
        let seed = number.and_then(NonZeroU32::new).ok_or_else(|| {
            Misuse::new(format!(
                "{name} is a number from 1 to 0xffffffff, not `{text}`: the people are made of it, and of 0 nothing can be made"
            ))
        })?;
        Ok((options, seed))
    }

    /// Complains about the first word that is left.
    pub(crate) fn nothing_else(self) -> Result<(), Misuse> {
        match self.0.first() {
            Some(word) => Err(Misuse::new(format!("what is `{word}`? `cargo run -- --help` says what there is"))),
            None => Ok(()),
        }
    }
}
