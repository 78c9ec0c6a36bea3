//! What each core did: a bar for every turn, coloured by actor.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::axis::{Axis, draw_horizontal};
use super::{COLOURS, OTHERS, escaped, legend};
use crate::figures::{self, TimeUnit, rounded};
use crate::run::Run;
use crate::turns::{self, Turn};

const WIDTH: f64 = 920.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 8.0;

/// Turns that are shown. More would be thinner than a line.
const SHOWN: usize = 240;

pub(super) fn to_html<R>(run: &Run<R>, turns: &[Turn], names: &[String]) -> String {
    let microseconds = |cycles: u64| cycles as f64 / f64::from(run.megahertz.max(1));
    let end = turns::end(run);
    // Up to the first turn that is too much, or to the end.
    let shown_end = turns.get(SHOWN).map_or(end, |turn| turn.started);
    let shown = turns.iter().take(SHOWN);
    let unit = TimeUnit::of(microseconds(shown_end));
    let time = |cycles: u64| unit.from_microseconds(microseconds(cycles));

    let height = if run.cores.len() > 12 { 14.0 } else { 34.0 };
    let bottom = TOP + height * run.cores.len() as f64;
    let axis = Axis::exact(0.0, time(shown_end), (LEFT, RIGHT));
    let mut svg = format!("<svg class=\"figure\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\">", bottom + 48.0);
    svg += "<title>Turns of each core</title>";
    draw_horizontal(&mut svg, &axis, 10, (TOP, bottom), &format!("time, {}", unit.name));
    for core in 0..run.cores.len() {
        let y = TOP + height * (core as f64 + 0.5) + 4.0;
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">core {core}</text>",
            LEFT - 8.0
        );
    }
    let colours = colours(shown.clone());
    // The longest first: what is nested is shorter than what it is nested in, and thin bars are not hidden by wide ones.
    let mut shown = shown.map(|turn| (turn, turn.ended.unwrap_or(end).min(shown_end))).collect::<Vec<_>>();
    shown.sort_by_key(|(turn, ended)| (u64::MAX - (ended - turn.started), turn.nesting));
    for (turn, ended) in shown {
        let (x, to) = (axis.at(time(turn.started)), axis.at(time(ended)));
        // A turn inside another one is lower, so that both are seen.
        let inset = 3.0 + (turn.nesting as f64 * 4.0).min(height / 2.0 - 5.0);
        let _ = write!(
            svg,
            "<rect class=\"turn colour-{}{}\" x=\"{x:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{:.1}\">\
             <title>{}::{}, letter {}: {} – {} {}</title></rect>",
            colours.get(&turn.actor).copied().unwrap_or(OTHERS),
            // An edge would hide a bar that is as thin.
            if to - x > 3.0 { " edged" } else { "" },
            TOP + height * f64::from(turn.core) + inset,
            (to - x).max(1.0),
            height - 2.0 * inset,
            escaped(&names[usize::from(turn.actor)]),
            escaped(turn.method),
            turn.letter,
            rounded(time(turn.started)),
            rounded(time(ended)),
            unit.name,
        );
    }
    svg += "</svg>\n";

    let all = turns.len();
    let note = if all > SHOWN {
        format!(
            "The first {SHOWN} of {all} turns: {} {} of {}.",
            rounded(time(shown_end)),
            unit.name,
            figures::time(end, run.megahertz)
        )
    } else {
        format!("All {all} turns.")
    };
    let mut by_colour =
        colours.iter().map(|(actor, colour)| (*colour, &*names[usize::from(*actor)])).collect::<Vec<_>>();
    by_colour.sort_unstable();
    if by_colour.iter().any(|(colour, _)| *colour == OTHERS) {
        by_colour.retain(|(colour, _)| *colour != OTHERS);
        by_colour.push((OTHERS, "all others"));
    }
    format!(
        "<h3>What the cores did</h3>\n<p class=\"note\">{note} A bar is the turn of one letter; a bar inside another one ran while \
         the outer turn waited for an answer. Gaps are the kernel’s own work, and sleep.</p>\n{}<div class=\"wide\">{svg}</div>\n",
        legend(by_colour)
    )
}

/// The colour of each actor: those that worked longest have one of their own.
fn colours<'a>(turns: impl Iterator<Item = &'a Turn>) -> BTreeMap<u16, usize> {
    let mut worked = BTreeMap::<u16, u64>::new();
    for turn in turns {
        *worked.entry(turn.actor).or_default() += turn.ended.map_or(0, |ended| ended - turn.started);
    }
    let mut actors = worked.into_iter().collect::<Vec<_>>();
    actors.sort_by_key(|(actor, worked)| (u64::MAX - worked, *actor));
    let own = if actors.len() > COLOURS { COLOURS - 1 } else { COLOURS };
    actors
        .into_iter()
        .enumerate()
        .map(|(place, (actor, _))| (actor, if place < own { place } else { OTHERS }))
        .collect()
}
