//! Axes: from values to places on a picture, with ticks at round values.

use std::fmt::Write;

use crate::figures::grouped;

/// An axis between two places of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) is_logarithmic: bool,
    /// Where `from` and `to` are on the picture.
    pub(super) place: (f64, f64),
}

impl Axis {
    /// An axis that begins at a value, or below at a tick if the value is negative, and ends at a tick that is not below another value.
    pub(super) fn linear(from: f64, to: f64, ticks: usize, place: (f64, f64)) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        let step = round_step((to - from) / ticks as f64);
        let from = if from < 0.0 { (from / step).floor() * step } else { from };
        let to = from + ((to - from) / step - 1e-9).ceil() * step;
        Self { from, to, is_logarithmic: false, place }
    }

    /// An axis that ends exactly where it is told.
    pub(super) fn exact(from: f64, to: f64, place: (f64, f64)) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Self { from, to, is_logarithmic: false, place }
    }

    /// An axis of which each step multiplies. Both values are above 0; they are widened to the next 1, 2 or 5 of a decade.
    pub(super) fn logarithmic(from: f64, to: f64, place: (f64, f64)) -> Self {
        let from = steps_of_decades(from, from).next().unwrap_or(from);
        let to = steps_of_decades(to, to).last().unwrap_or(to);
        let to = if to > from { to } else { from * 10.0 };
        Self { from, to, is_logarithmic: true, place }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let part = if self.is_logarithmic {
            (value.max(self.from) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.place.0 + part * (self.place.1 - self.place.0)
    }

    /// About so many round values, with their labels.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        let (from, to) = (self.from * (1.0 - 1e-9), self.to * (1.0 + 1e-9));
        if self.is_logarithmic {
            let all =
                steps_of_decades(self.from, self.to).filter(|step| (from..=to).contains(step)).collect::<Vec<_>>();
            let is_decade = |step: f64| (step.log10() - step.log10().round()).abs() < 1e-9;
            let few = all.len() <= about;
            let kept = all.into_iter().filter(|step| few || is_decade(*step));
            return kept.map(|step| (step, power_label(step))).collect();
        }
        let step = round_step((self.to - self.from) / about as f64);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let first = (self.from / step - 1e-9).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        let size =
            |value: f64| if decimals == 0 { grouped(value.round() as u64) } else { format!("{value:.decimals$}") };
        let label = |value: f64| if value < 0.0 { format!("−{}", size(-value)) } else { size(value) };
        (first..=last).map(|tick| tick as f64 * step).map(|value| (value, label(value))).collect()
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().map(|step| step * power).find(|step| *step >= least * (1.0 - 1e-9));
    step.unwrap_or(10.0 * power)
}

/// 1, 2 and 5 times each power of ten, from the last that is not above `from` to the first that is not below `to`.
fn steps_of_decades(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let decades = from.log10().floor() as i32..=to.log10().floor() as i32 + 1;
    let steps = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(decade))).collect::<Vec<_>>();
    let first = steps.iter().rposition(|step| *step <= from * (1.0 + 1e-9)).unwrap_or(0);
    let last = steps.iter().position(|step| *step >= to * (1.0 - 1e-9)).unwrap_or(steps.len() - 1);
    steps.into_iter().take(last.max(first) + 1).skip(first)
}

fn power_label(value: f64) -> String {
    if value >= 1.0 { grouped(value.round() as u64) } else { format!("{value:.*}", -value.log10().floor() as usize) }
}

/// Draws the horizontal axis of a picture: lines over its height, labels below, and what it shows at its end.
pub(super) fn draw_horizontal(svg: &mut String, axis: &Axis, ticks: usize, (top, bottom): (f64, f64), title: &str) {
    let (from, to) = axis.place;
    for (value, label) in axis.ticks(ticks) {
        let x = axis.at(value);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            bottom + 18.0
        );
    }
    let _ = write!(
        svg,
        "<path class=\"axis\" d=\"M{from:.1} {bottom:.1}H{to:.1}\"/>\
         <text class=\"axis-title\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{title}</text>",
        (from + to) / 2.0,
        bottom + 38.0
    );
}

/// Draws the vertical axis: lines over its width, labels to the left, and what it shows above.
pub(super) fn draw_vertical(svg: &mut String, axis: &Axis, ticks: usize, (left, right): (f64, f64), title: &str) {
    for (value, label) in axis.ticks(ticks) {
        let y = axis.at(value);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            left - 8.0,
            y + 4.0
        );
    }
    let top = axis.place.0.min(axis.place.1);
    let _ = write!(svg, "<text class=\"axis-title\" x=\"0\" y=\"{:.1}\">{title}</text>", top - 14.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis, about: usize) -> Vec<String> {
        axis.ticks(about).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_the_last_is_not_below_the_data() {
        assert_eq!(labels(Axis::linear(1.0, 1.97, 5, (0.0, 1.0)), 5), ["1.0", "1.2", "1.4", "1.6", "1.8", "2.0"]);
        assert_eq!(labels(Axis::linear(0.0, 512.0, 6, (0.0, 1.0)), 6), ["0", "100", "200", "300", "400", "500", "600"]);
        assert_eq!(labels(Axis::exact(0.0, 0.034, (0.0, 1.0)), 4), ["0.00", "0.01", "0.02", "0.03"]);
        assert_eq!(labels(Axis::linear(-34.0, 10.6, 6, (0.0, 1.0)), 6), ["−40", "−30", "−20", "−10", "0", "10", "20"]);
        assert_eq!(labels(Axis::linear(0.0, 0.0, 4, (0.0, 1.0)), 4), ["0.0", "0.5", "1.0"]);
    }

    #[test]
    fn decades_are_widened_and_thinned_out() {
        assert_eq!(
            labels(Axis::logarithmic(0.3, 40.0, (0.0, 1.0)), 9),
            ["0.2", "0.5", "1", "2", "5", "10", "20", "50"]
        );
        assert_eq!(
            labels(Axis::logarithmic(3.0, 90_000.0, (0.0, 1.0)), 6),
            ["10", "100", "1\u{202f}000", "10\u{202f}000", "100\u{202f}000"]
        );
        assert_eq!(labels(Axis::logarithmic(5.0, 5.0, (0.0, 1.0)), 6), ["5", "10", "20", "50"]);
    }

    #[test]
    fn values_have_their_place() {
        let axis = Axis::exact(10.0, 20.0, (100.0, 300.0));
        assert_eq!([10.0, 15.0, 20.0].map(|value| axis.at(value)), [100.0, 200.0, 300.0]);
        let axis = Axis::logarithmic(1.0, 100.0, (0.0, 200.0));
        assert_eq!([1.0, 10.0, 100.0].map(|value| axis.at(value).round()), [0.0, 100.0, 200.0]);
    }
}
