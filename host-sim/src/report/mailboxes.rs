//! How full mailboxes were: a strip for each, over the whole run.

use std::fmt::Write;

use super::axis::{Axis, draw_horizontal};
use super::escaped;
use crate::figures::{TimeUnit, grouped};
use crate::run::Run;
use crate::turns;

const WIDTH: f64 = 920.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 8.0;
/// Of each strip, and of the space between two.
const HEIGHT: f64 = 44.0;
const GAP: f64 = 12.0;

/// Mailboxes that are shown: the fullest.
const SHOWN: usize = 8;
/// Steps over the width, each as high as its highest moment.
const STEPS: usize = 700;

pub(super) fn to_html<R>(run: &Run<R>, names: &[String]) -> String {
    let mut mailboxes = turns::depths(run).into_iter().collect::<Vec<_>>();
    let highest = |changes: &[(u64, u64)]| changes.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    mailboxes.sort_by_key(|(actor, changes)| (u64::MAX - highest(changes), *actor));
    let all = mailboxes.len();
    mailboxes.truncate(SHOWN);

    let end = turns::end(run).max(1);
    let microseconds = end as f64 / f64::from(run.megahertz.max(1));
    let unit = TimeUnit::of(microseconds);
    let axis = Axis::exact(0.0, unit.from_microseconds(microseconds), (LEFT, RIGHT));
    let bottom = TOP + (HEIGHT + GAP) * mailboxes.len() as f64;
    let mut svg = format!("<svg class=\"figure\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\">", bottom + 48.0);
    svg += "<title>Letters in each mailbox</title>";
    draw_horizontal(&mut svg, &axis, 10, (TOP, bottom), &format!("time, {}", unit.name));
    for (place, (actor, changes)) in mailboxes.iter().enumerate() {
        let base = TOP + (HEIGHT + GAP) * (place as f64 + 1.0) - GAP / 2.0;
        let most = highest(changes);
        let scale = HEIGHT / most.max(1) as f64;
        let _ = write!(
            svg,
            "<text class=\"name\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"end\">at most {}</text><path class=\"depth\" d=\"M{LEFT} {base:.1}",
            base - HEIGHT / 2.0 - 2.0,
            escaped(shortened(&names[usize::from(*actor)])),
            base - HEIGHT / 2.0 + 15.0,
            grouped(most),
            x = LEFT - 10.0,
        );
        let width = (RIGHT - LEFT) / STEPS as f64;
        let mut drawn = 0;
        for (step, depth) in highest_of_steps(changes, end).into_iter().enumerate() {
            if depth != drawn {
                let _ = write!(svg, "H{:.1}V{:.1}", LEFT + width * step as f64, base - depth as f64 * scale);
                drawn = depth;
            }
        }
        let _ = write!(svg, "H{RIGHT}V{base:.1}Z\"/><path class=\"axis\" d=\"M{LEFT} {base:.1}H{RIGHT}\"/>");
    }
    svg += "</svg>\n";
    let which = if all > SHOWN { format!("The {SHOWN} fullest of {all} mailboxes") } else { "Mailboxes".to_owned() };
    format!(
        "<h3>How full the mailboxes were</h3>\n<p class=\"note\">{which}, over the whole run. A letter counts from its send until \
         it leaves, so one that runs is counted.</p>\n<div class=\"wide\">{svg}</div>\n"
    )
}

/// Each step's highest depth, so that no short peak is lost.
fn highest_of_steps(changes: &[(u64, u64)], end: u64) -> Vec<u64> {
    let mut steps = vec![0; STEPS];
    let step_of = |time: u64| (u128::from(time) * STEPS as u128 / u128::from(end)).min(STEPS as u128 - 1) as usize;
    let mut since = (0, 0);
    for &(time, depth) in changes.iter().chain([&(end, 0)]) {
        let (started, stayed) = since;
        for step in &mut steps[started..=step_of(time)] {
            *step = stayed.max(*step);
        }
        since = (step_of(time), depth);
    }
    steps
}

/// A name that fits beside its strip.
fn shortened(name: &str) -> String {
    const FITS: usize = 24;
    match name.char_indices().nth(FITS) {
        Some((cut, _)) => format!("{}…", &name[..cut]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_peaks_are_seen_and_nothing_else_is_made_up() {
        let end = 10 * STEPS as u64;
        let steps = highest_of_steps(&[(10, 1), (11, 9), (12, 2), (50, 0), (end - 1, 3)], end);
        assert_eq!(steps[..7], [0, 9, 2, 2, 2, 2, 0]);
        assert_eq!(steps[STEPS - 2..], [0, 3]);
    }
}
