//! Faults that a stepped device injects, by its seed.

use std::fmt;
use std::str::FromStr;

/// How often something goes wrong: once in so many times, by chance; never if that is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnceIn(pub u32);

macro_rules! faults {
    ($($(#[$doc:meta])* $key:ident: $type:ty = $preset:expr,)*) => {
        /// What goes wrong, and how often. By default nothing does.
        ///
        /// On a command line a list of `key=number`, or `some`. If it says how often something happens, but not how much, that is as
        /// in [`some`](Self::some).
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Faults {
            $($(#[$doc])* pub $key: $type,)*
        }

        impl Faults {
            const KEYS: &[&str] = &[$(stringify!($key)),*];

            /// Every fault that a correct program outlives, often enough to meet them in a short run.
            pub fn some() -> Self {
                Self { $($key: $preset,)* }
            }

            fn set(&mut self, key: &str, value: u32) -> bool {
                match key {
                    $(stringify!($key) => self.$key = value.into(),)*
                    _ => return false,
                }
                true
            }

            fn figures(&self) -> impl Iterator<Item = (&'static str, u32)> {
                [$((stringify!($key), self.$key.into())),*].into_iter()
            }
        }
    };
}

faults! {
    /// A step of the kernel stalls its core, as flash or a debugger would. Mailboxes fill up meanwhile.
    stalls: OnceIn = OnceIn(500),
    /// For at most so many cycles.
    stall_cycles: u32 = 20_000,
    /// A core that is slow for the whole run.
    slow_cores: OnceIn = OnceIn(4),
    /// So many per cent more cycles for everything it does, at most.
    slower_by: u32 = 300,
    /// A timer that is late.
    late_timers: OnceIn = OnceIn(4),
    /// By at most so many cycles.
    late_cycles: u32 = 50_000,
    /// A kick that is lost. The port's contract forbids it, and no program needs to outlive it: it is there to see that exploring
    /// finds what it does.
    lost_kicks: OnceIn = OnceIn(0),
    /// A send that is refused although there is room. Only a program that tries again outlives it, so it is not one of [`some`](Self::some).
    refused_sends: OnceIn = OnceIn(0),
    /// An answer that is dropped: its promise fails with `Unanswered`. The same about who outlives it.
    lost_answers: OnceIn = OnceIn(0),
}

impl From<u32> for OnceIn {
    fn from(times: u32) -> Self {
        Self(times)
    }
}

impl From<OnceIn> for u32 {
    fn from(OnceIn(times): OnceIn) -> Self {
        times
    }
}

/// Faults that have a size, and what it is called.
const SIZES: [(&str, &str); 3] =
    [("stalls", "stall_cycles"), ("slow_cores", "slower_by"), ("late_timers", "late_cycles")];

impl Faults {
    /// None at all.
    pub fn none() -> Self {
        Self::default()
    }
}

impl fmt::Display for Faults {
    /// As [`FromStr`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let happens = |key: &str| self.figures().any(|(other, value)| other == key && value != 0);
        // A size of 0 has to be said, or it would be read as another.
        let counts = |key: &str| SIZES.iter().any(|(fault, size)| *size == key && happens(fault));
        let given = self.figures().filter(|(key, value)| *value != 0 || counts(key));
        let given = given.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
        f.write_str(&if given.is_empty() { "none".into() } else { given.join(",") })
    }
}

impl FromStr for Faults {
    type Err = BadFaults;

    fn from_str(text: &str) -> Result<Self, BadFaults> {
        let mut faults = Self::none();
        let mut said = Vec::new();
        for part in text.split(',').map(str::trim) {
            match part.split_once('=') {
                None if part == "some" => {
                    faults = Self::some();
                    said.extend(Self::KEYS);
                }
                None if part == "none" => faults = Self::none(),
                None => return Err(BadFaults(format!("`{part}` is not `some`, `none` or of the form `key=number`"))),
                Some((key, value)) => {
                    let number = value
                        .parse()
                        .map_err(|_| BadFaults(format!("`{key}` is a whole number below 2^32, not `{value}`")))?;
                    if !faults.set(key, number) {
                        return Err(BadFaults(format!("there is no `{key}`; there are {}", Self::KEYS.join(", "))));
                    }
                    said.push(key);
                }
            }
        }
        let preset = Self::some();
        for (_, size) in SIZES.iter().filter(|(fault, size)| said.contains(fault) && !said.contains(size)) {
            let value = preset.figures().find(|(key, _)| key == size).map_or(0, |(_, value)| value);
            faults.set(size, value);
        }
        Ok(faults)
    }
}

/// Why a list of faults cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFaults(String);

impl fmt::Display for BadFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadFaults {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_is_written() {
        let faults = Faults { stalls: OnceIn(7), stall_cycles: 100, ..Faults::none() };
        assert_eq!(faults.to_string(), "stalls=7,stall_cycles=100");
        let without_size = Faults { late_timers: OnceIn(3), ..Faults::none() };
        assert_eq!(without_size.to_string(), "late_timers=3,late_cycles=0");
        for faults in [faults, without_size, Faults::none(), Faults::some()] {
            assert_eq!(faults.to_string().parse(), Ok(faults));
        }
        assert_eq!("some,stalls=0".parse(), Ok(Faults { stalls: OnceIn(0), ..Faults::some() }));
    }

    #[test]
    fn a_fault_without_a_size_has_that_of_some() {
        for (fault, size) in SIZES {
            let faults: Faults = format!("{fault}=7").parse().expect("a list");
            let value = |faults: &Faults| faults.figures().find(|(key, _)| *key == size).expect("a key").1;
            assert_eq!((value(&faults), value(&faults) > 0), (value(&Faults::some()), true), "{fault}");
            let faults: Faults = format!("{size}=3,{fault}=7").parse().expect("a list");
            assert_eq!(value(&faults), 3, "what is said counts");
        }
        assert_eq!("lost_kicks=9".parse(), Ok(Faults { lost_kicks: OnceIn(9), ..Faults::none() }));
    }

    #[test]
    fn a_bad_list_is_named_by_its_part() {
        let error = |text: &str| text.parse::<Faults>().expect_err("a bad list").to_string();
        assert_eq!(error("stalls"), "`stalls` is not `some`, `none` or of the form `key=number`");
        assert_eq!(error("stalls=often"), "`stalls` is a whole number below 2^32, not `often`");
        assert!(error("stals=3").starts_with("there is no `stals`; there are stalls, stall_cycles"));
    }
}
