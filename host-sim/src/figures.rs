//! Numbers and times as people like to read them.

/// A whole number with its digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number with three digits, or more if it is large.
pub(crate) fn rounded(number: f64) -> String {
    match number {
        number if number < 0.0 => format!("−{}", rounded(-number)),
        number if number >= 99.95 => grouped(number.round() as u64),
        number if number >= 9.995 => format!("{number:.1}"),
        number if number >= 0.9995 => format!("{number:.2}"),
        0.0 => "0".to_owned(),
        _ => format!("{number:.3}"),
    }
}

/// The unit that suits a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeUnit {
    pub(crate) name: &'static str,
    microseconds: f64,
}

impl TimeUnit {
    pub(crate) fn of(microseconds: f64) -> Self {
        let (name, microseconds) = match microseconds {
            long if long >= 1e6 => ("s", 1e6),
            middle if middle >= 1e3 => ("ms", 1e3),
            _ => ("µs", 1.0),
        };
        Self { name, microseconds }
    }

    #[expect(clippy::wrong_self_convention, reason = "it is the time that is converted, into this unit")]
    pub(crate) fn from_microseconds(self, microseconds: f64) -> f64 {
        microseconds / self.microseconds
    }
}

/// Cycles as a time with three digits or more, and its unit.
pub(crate) fn time(cycles: u64, megahertz: u32) -> String {
    let microseconds = cycles as f64 / f64::from(megahertz.max(1));
    let unit = TimeUnit::of(microseconds);
    format!("{} {}", rounded(unit.from_microseconds(microseconds)), unit.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_but_say_enough() {
        assert_eq!(
            [0.0, 0.5, 1.234, 56.78, 99.96, 12_345.6].map(rounded),
            ["0", "0.500", "1.23", "56.8", "100", "12\u{202f}346"]
        );
        assert_eq!([-0.25, -12.0].map(rounded), ["−0.250", "−12.0"]);
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]);
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let times = [100, 12_500, 1_250_000, 187_654_321].map(|cycles| time(cycles, 125));
        assert_eq!(times, ["0.800 µs", "100 µs", "10.0 ms", "1.50 s"]);
    }
}
