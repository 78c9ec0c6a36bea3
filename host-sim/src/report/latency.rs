//! How long letters waited, and how long their turns took.

use std::fmt::Write;

use hdrhistogram::Histogram;

use super::Table;
use super::axis::{Axis, draw_horizontal, draw_vertical};
use crate::figures::{self, grouped};
use crate::run::Run;
use crate::turns::Turn;

const WIDTH: f64 = 450.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = WIDTH - 26.0;
const TOP: f64 = 32.0;
const BOTTOM: f64 = HEIGHT - 48.0;

/// Bars per factor of ten.
const BARS: f64 = 8.0;

pub(super) fn to_html<R>(run: &Run<R>, turns: &[Turn]) -> String {
    let waited = turns.iter().filter_map(|turn| Some(turn.started.saturating_sub(turn.sent?)));
    let took = turns.iter().filter_map(|turn| Some(turn.ended? - turn.started));
    let histograms = [("From send to start", histogram(waited)), ("From start to end", histogram(took))];
    if histograms.iter().any(|(_, histogram)| histogram.is_empty()) {
        return String::new();
    }
    let microseconds = |cycles: u64| cycles as f64 / f64::from(run.megahertz.max(1));
    let head = ["", "letters", "median", "90 %", "99 %", "longest"];
    let table = histograms.iter().fold(Table::new("", head), |table, (title, histogram)| {
        let quantiles = [0.5, 0.9, 0.99].map(|quantile| histogram.value_at_quantile(quantile).min(histogram.max()));
        let times = quantiles.into_iter().chain([histogram.max()]).map(|cycles| figures::time(cycles, run.megahertz));
        table.row([(*title).to_owned(), grouped(histogram.len())].into_iter().chain(times))
    });
    let pictures = histograms.iter().map(|(title, histogram)| picture(title, histogram, microseconds));
    format!(
        "<h3>How long letters took</h3>\n<p class=\"note\">How long a letter waited in its mailbox, and how long its turn took, with \
         what ran inside. Each step to the right multiplies. The dashed line is the median.</p>\n\
         <div class=\"pair\">{}</div>\n{}",
        pictures.collect::<String>(),
        table.to_html()
    )
}

/// In cycles, to three digits.
fn histogram(times: impl Iterator<Item = u64> + Clone) -> Histogram<u64> {
    // What took no time at all has no place on an axis that multiplies.
    let times = times.map(|time| time.max(1));
    let most = times.clone().max().unwrap_or(1).max(2);
    let mut histogram = match Histogram::new_with_max(most, 3) {
        Ok(histogram) => histogram,
        Err(error) => unreachable!("three digits and a most of 2 or more are allowed: {error}"),
    };
    times.for_each(|time| histogram.saturating_record(time));
    histogram
}

fn picture(title: &str, histogram: &Histogram<u64>, microseconds: impl Fn(u64) -> f64) -> String {
    let bar_of = |time: f64| (time.log10() * BARS).floor() as i32;
    let start_of = |bar: i32| 10_f64.powf(f64::from(bar) / BARS);
    let (first, last) = (bar_of(microseconds(histogram.min())), bar_of(microseconds(histogram.max())));
    let mut bars = vec![0; (last - first + 1).max(1) as usize];
    let most_of = bars.len() - 1;
    for value in histogram.iter_recorded() {
        // A value stands for those that are the same to three digits, and may lie a little above the largest.
        let bar = (bar_of(microseconds(value.value_iterated_to().min(histogram.max()))) - first).max(0) as usize;
        bars[bar.min(most_of)] += value.count_at_value();
    }
    let highest = bars.iter().copied().max().unwrap_or(0);
    let x_axis = Axis::logarithmic(start_of(first), start_of(last + 1), (LEFT, RIGHT));
    let y_axis = Axis::linear(0.0, highest as f64, 5, (BOTTOM, TOP));
    let mut svg = format!("<svg class=\"figure\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\"><title>{title}</title>");
    draw_vertical(&mut svg, &y_axis, 5, (LEFT, RIGHT), "letters");
    draw_horizontal(&mut svg, &x_axis, 6, (TOP, BOTTOM), &format!("{}, µs", title.to_lowercase()));
    for (bar, count) in (first..).zip(bars) {
        let (from, to) = (x_axis.at(start_of(bar)), x_axis.at(start_of(bar + 1)));
        let top = y_axis.at(count as f64);
        let _ = write!(
            svg,
            "<rect class=\"bar\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{} letters</title></rect>",
            from + 0.5,
            (to - from - 1.0).max(1.0),
            BOTTOM - top,
            grouped(count)
        );
    }
    let median = x_axis.at(microseconds(histogram.value_at_quantile(0.5)));
    let _ = write!(svg, "<path class=\"median\" d=\"M{median:.1} {TOP}V{BOTTOM}\"/></svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_is_in_a_bar() {
        let times = (1..5000).map(|n| n * n % 99_991);
        let histogram = histogram(times.clone());
        let svg = picture("t", &histogram, |cycles| cycles as f64 / 125.0);
        let counts = svg.split("<title>").filter_map(|part| part.split_once(" letters</title>"));
        let counts = counts.map(|(count, _)| count.replace('\u{202f}', "").parse::<u64>().expect("a count"));
        assert_eq!(counts.sum::<u64>(), times.clone().count() as u64);

        let mut sorted = times.collect::<Vec<_>>();
        sorted.sort_unstable();
        let (median, longest) = (sorted[sorted.len() / 2] as f64, sorted[sorted.len() - 1] as f64);
        assert!((histogram.value_at_quantile(0.5) as f64 / median - 1.0).abs() < 0.002);
        assert!((histogram.max() as f64 / longest - 1.0).abs() < 0.002);
    }
}
