//! What the kernel's steps cost in simulated time: a table of cycles, kept in a file.
//!
//! The file has one `key = number` a line and comments after `#`. `host-sim/costs/rp2040.toml` is built in; it says what
//! each key stands for.

use std::fmt;
use std::path::Path;

use flockwork::trace::Hop;

macro_rules! costs {
    ($($(#[$doc:meta])* $key:ident,)*) => {
        /// Cycles per step of the kernel.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Costs {
            $($(#[$doc])* pub $key: u32,)*
        }

        impl Costs {
            const KEYS: &[&str] = &[$(stringify!($key)),*];

            fn from_figures(figure: impl Fn(&'static str) -> Result<u32, BadCosts>) -> Result<Self, BadCosts> {
                Ok(Self { $($key: figure(stringify!($key))?,)* })
            }

            /// Every key with its figure, in the order of the file.
            pub fn figures(&self) -> impl Iterator<Item = (&'static str, u32)> {
                [$((stringify!($key), self.$key)),*].into_iter()
            }
        }
    };
}

costs! {
    /// The clock, in millions of cycles a second.
    megahertz,
    /// The most cycles that a step takes more or less, by the seed.
    jitter,
    /// From the call to the letter in its lane.
    send,
    /// A worker's visit to an actor without a monitor, whatever letters it runs.
    visit,
    /// Without a monitor: the letter is taken from its lane and the method called.
    start,
    /// Without a monitor: the method returns, and its answer is stored.
    end,
    /// Without a monitor: on to the next letter.
    leave,
    /// A worker's visit to an actor with a monitor, whatever letters it runs.
    visit_monitored,
    /// One letter goes through the inbox, because there are several, or it has to wait: what it takes more than one alone.
    list,
    /// One letter is drained, scheduled and admitted by the gate.
    grant,
    /// The gate refuses a letter.
    refuse,
    /// A granted letter is pulled and its method called.
    start_granted,
    /// The method of a granted letter returns.
    end_granted,
    /// The monitor's `leave`, and the slot is freed.
    leave_granted,
    /// A letter that is not accepted.
    drop,
    /// A wait for an answer: a `get` that has to wait works meanwhile.
    wait,
    /// Another core is told to wake.
    kick,
    /// From the kick to the first look of the core that slept.
    wake,
    /// A round of the worker that finds nothing.
    look,
    /// A round of a loop that waits for another core.
    pause,
    /// The interrupt of a timer that is due.
    alarm,
}

impl Costs {
    /// Those of an RP2040.
    pub fn rp2040() -> Self {
        match Self::parse(include_str!("../costs/rp2040.toml")) {
            Ok(costs) => costs,
            Err(bad) => unreachable!("the built-in table is tested: {bad}"),
        }
    }

    /// Those in a file.
    ///
    /// # Errors
    /// If it cannot be read, and as [`parse`](Self::parse).
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, BadCosts> {
        let path = path.as_ref();
        let text =
            std::fs::read_to_string(path).map_err(|error| BadCosts(format!("cannot be read: {error}")).of(path))?;
        Self::parse(&text).map_err(|bad| bad.of(path))
    }

    /// Those in a text.
    ///
    /// # Errors
    /// If a line is not `key = number`, a key is unknown, missing or there twice, or the clock stands still.
    pub fn parse(text: &str) -> Result<Self, BadCosts> {
        let mut found = [None; Self::KEYS.len()];
        for (number, line) in (1..).zip(text.lines()) {
            let content = line.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let Some((key, figure)) = content.split_once('=').map(|(key, figure)| (key.trim(), figure.trim())) else {
                return Err(BadCosts(format!("line {number}: `{content}` is not of the form `key = cycles`")));
            };
            let Some(place) = Self::KEYS.iter().position(|known| *known == key) else {
                let keys = Self::KEYS.join(", ");
                return Err(BadCosts(format!("line {number}: there is no key `{key}`; the keys are {keys}")));
            };
            let figure = figure.replace('_', "").parse().map_err(|_| {
                BadCosts(format!("line {number}: `{key}` is a whole number of cycles below 2^32, not `{figure}`"))
            })?;
            if found[place].replace(figure).is_some() {
                return Err(BadCosts(format!("line {number}: `{key}` is there a second time")));
            }
        }
        let costs = Self::from_figures(|key| {
            let place = Self::KEYS.iter().position(|known| *known == key);
            place.and_then(|place| found[place]).ok_or_else(|| BadCosts(format!("the key `{key}` is missing")))
        })?;
        if costs.megahertz == 0 {
            return Err(BadCosts("`megahertz` is 0: then no time would pass".into()));
        }
        Ok(costs)
    }
}

/// What the hops of letters cost, for whoever asks often.
pub(crate) struct HopCosts {
    /// In the order of [`Hop`], without a monitor and under one.
    hops: [[u32; 2]; 7],
    visits: [u32; 2],
}

impl HopCosts {
    pub(crate) fn new(costs: &Costs) -> Self {
        let mut hops = [[0; 2]; 7];
        for hop in [Hop::Sent, Hop::Granted, Hop::Refused, Hop::Started, Hop::Ended, Hop::Left, Hop::Dropped] {
            hops[hop as usize] = match hop {
                Hop::Sent => [costs.send; 2],
                Hop::Granted => [costs.grant; 2],
                Hop::Refused => [costs.refuse; 2],
                Hop::Started => [costs.start, costs.start_granted],
                Hop::Ended => [costs.end, costs.end_granted],
                Hop::Left => [costs.leave, costs.leave_granted],
                Hop::Dropped => [costs.drop; 2],
            };
        }
        Self { hops, visits: [costs.visit, costs.visit_monitored] }
    }

    /// Whether a monitor granted the letter and whether a visit begins with its hop decide, too.
    #[inline(always)]
    pub(crate) fn of(&self, hop: Hop, granted: bool, begins_visit: bool) -> u32 {
        let visit = if begins_visit { self.visit(granted) } else { 0 };
        self.hops[hop as usize][usize::from(granted)] + visit
    }

    #[inline(always)]
    fn visit(&self, granted: bool) -> u32 {
        self.visits[usize::from(granted)]
    }

    /// What hops take at least, if each may take so many cycles less; none if one does not take as many.
    pub(crate) fn less(&self, cycles: u32) -> Option<Self> {
        let mut hops = self.hops;
        for hop in hops.as_flattened_mut() {
            *hop = hop.checked_sub(cycles)?;
        }
        Some(Self { hops, visits: self.visits })
    }

    /// No hop costs more than this, and no turn without a monitor, from its visit to its letter's leaving.
    pub(crate) fn dearest(&self) -> u64 {
        let [hop, visit] =
            [self.hops.as_flattened(), &self.visits].map(|costs| costs.iter().copied().max().unwrap_or(0));
        let turn = [Hop::Started, Hop::Ended, Hop::Left].map(|hop| u64::from(self.of(hop, false, false)));
        (u64::from(hop) + u64::from(visit)).max(turn.iter().sum::<u64>() + u64::from(self.visit(false)))
    }
}

/// Why a table of costs cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCosts(String);

impl BadCosts {
    fn of(self, path: &Path) -> Self {
        Self(format!("{}: {}", path.display(), self.0))
    }
}

impl fmt::Display for BadCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadCosts {}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT_IN: &str = include_str!("../costs/rp2040.toml");

    fn error(text: &str) -> String {
        Costs::parse(text).expect_err("a bad table").to_string()
    }

    #[test]
    fn the_built_in_table_is_complete() {
        let costs = Costs::rp2040();
        assert_eq!(costs.figures().count(), Costs::KEYS.len());
        assert!(costs.figures().all(|(key, cycles)| cycles > 0 || key == "jitter"));
    }

    #[test]
    fn a_bad_table_is_named_by_key_and_line() {
        let without = BUILT_IN.lines().filter(|line| !line.starts_with("wake")).collect::<Vec<_>>().join("\n");
        assert_eq!(error(&without), "the key `wake` is missing");
        assert!(error("waek = 3").starts_with("line 1: there is no key `waek`; the keys are megahertz, jitter, send"));
        assert_eq!(error("\nsend"), "line 2: `send` is not of the form `key = cycles`");
        assert_eq!(error("send = -1"), "line 1: `send` is a whole number of cycles below 2^32, not `-1`");
        assert_eq!(error("send = 1\nsend = 2"), "line 2: `send` is there a second time");
        assert_eq!(
            error(&BUILT_IN.replace("megahertz = 125", "megahertz = 0")),
            "`megahertz` is 0: then no time would pass"
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Costs::from_file("no/such/table.toml").expect_err("there is no such file").to_string();
        assert!(error.starts_with("no/such/table.toml: cannot be read: "), "{error}");
    }
}
