//! Measures between marks.
//!
//! A mark is an address, not an instruction: it costs nothing. A span begins when a core arrives at its begin mark and ends when one
//! (the same, or the other) arrives at its end mark. A lap ends where the next one begins.

use crate::{
    image::{Image, MarkKind},
    machine::Step,
};
use std::collections::HashMap;

/// How many places the filter has.
const FILTER: usize = 1 << 14;

/// Instructions are two bytes or four.
fn filter(address: u32) -> usize {
    (address >> 1) as usize % FILTER
}

/// The spans and laps of a run.
pub struct Spans<'i> {
    at: HashMap<u32, Vec<(MarkKind, &'i str)>>,
    /// Whether an address with these low bits is marked: spares most steps the look into `at`.
    marked: Vec<bool>,
    begun: HashMap<&'i str, u64>,
    measured: Vec<(&'i str, Vec<u64>)>,
}

impl<'i> Spans<'i> {
    /// Nothing measured yet.
    pub fn of(image: &'i Image) -> Self {
        let mut at: HashMap<u32, Vec<(MarkKind, &'i str)>> = HashMap::new();
        for mark in image.marks() {
            at.entry(mark.address).or_default().push((mark.kind, &mark.name));
        }
        let mut marked = vec![false; FILTER];
        at.keys().for_each(|&address| marked[filter(address)] = true);
        Self { at, marked, begun: HashMap::new(), measured: Vec::new() }
    }

    /// Looks whether a step arrived at a mark.
    #[inline]
    pub fn watch(&mut self, step: Step) {
        if self.marked[filter(step.address)] && !step.entered {
            self.arrive(step);
        }
    }

    #[cold]
    fn arrive(&mut self, step: Step) {
        let Some(marks) = self.at.get(&step.address) else { return };
        for &(kind, name) in marks {
            let begun = match kind {
                MarkKind::Begin => None,
                MarkKind::End => self.begun.remove(name),
                MarkKind::Lap => self.begun.get(name).copied(),
            };
            // A span can end on a core whose clock is a few cycles behind the one it began on.
            if let Some(begun) = begun {
                note(&mut self.measured, name, step.at.saturating_sub(begun));
            }
            if kind != MarkKind::End {
                self.begun.insert(name, step.at);
            }
        }
    }

    /// Whether a span or lap of this name has begun.
    pub fn is_open(&self, name: &str) -> bool {
        self.begun.contains_key(name)
    }

    /// What was measured: each name with the cycles of its spans, in the order of their first ends.
    pub fn measured(&self) -> impl Iterator<Item = (&'i str, &[u64])> {
        self.measured.iter().map(|(name, cycles)| (*name, &**cycles))
    }

    /// The cycles of the spans of one name, in order.
    pub fn cycles(&self, name: &str) -> &[u64] {
        self.measured.iter().find(|(known, _)| *known == name).map_or(&[], |(_, cycles)| cycles)
    }
}

fn note<'i>(measured: &mut Vec<(&'i str, Vec<u64>)>, name: &'i str, cycles: u64) {
    match measured.iter_mut().find(|(known, _)| *known == name) {
        Some((_, list)) => list.push(cycles),
        None => measured.push((name, vec![cycles])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(spans: &mut Spans<'_>, core: usize, address: u32, at: u64) {
        spans.watch(Step { core, address, at, cycles: 1, entered: false });
    }

    #[test]
    fn a_span_may_end_on_the_other_core() {
        let image = Image::with_marks(&[(0x100, MarkKind::Begin, "send"), (0x200, MarkKind::End, "send")]);
        let mut spans = Spans::of(&image);
        watch(&mut spans, 0, 0x100, 10);
        assert!(spans.is_open("send"));
        watch(&mut spans, 0, 0x102, 11);
        watch(&mut spans, 1, 0x200, 25);
        assert!(!spans.is_open("send"));
        watch(&mut spans, 1, 0x200, 40);
        assert_eq!(spans.cycles("send"), [15], "what was not begun does not end");
    }

    #[test]
    fn laps_follow_each_other_through_every_copy_of_their_mark() {
        let image = Image::with_marks(&[(0x100, MarkKind::Lap, "hit"), (0x200, MarkKind::Lap, "hit")]);
        let mut spans = Spans::of(&image);
        for (address, at) in [(0x100, 5), (0x200, 12), (0x100, 22)] {
            watch(&mut spans, 0, address, at);
        }
        assert_eq!(spans.cycles("hit"), [7, 10]);
    }

    #[test]
    fn an_interrupt_at_a_mark_puts_the_mark_off() {
        let image = Image::with_marks(&[(0x100, MarkKind::Begin, "send"), (0x200, MarkKind::End, "send")]);
        let mut spans = Spans::of(&image);
        spans.watch(Step { core: 0, address: 0x100, at: 1, cycles: 15, entered: true });
        assert!(!spans.is_open("send"));
        watch(&mut spans, 0, 0x100, 90);
        watch(&mut spans, 0, 0x200, 100);
        assert_eq!(spans.cycles("send"), [10]);
    }
}
