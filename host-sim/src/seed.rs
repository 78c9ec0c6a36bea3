//! Chance that can be repeated: the same seed gives the same numbers on every machine.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "uses instructions that not every processor has"))]

use std::cell::{Cell, Ref, RefCell};

use crate::journal;

/// So many jitters are known at a time: enough for a full journal.
const WINDOW: usize = journal::CAPACITY * journal::HOPS_PER_NOTE;

/// A generator of numbers from a seed (SplitMix64).
///
/// Its numbers are those of a counter, each made of its count alone. So the next ones can be foreseen: most are jitters, and many of
/// those are made at once for much less than one after the other. A number that is drawn for something else leaves a gap.
#[derive(Debug)]
pub(crate) struct Chance {
    count: Cell<Draw>,
    /// How many different jitters there are.
    spread: u32,
    /// What the next numbers are as jitters.
    foreseen: RefCell<[u64; WINDOW]>,
    /// How many of these are in the past.
    passed: Cell<usize>,
}

impl Chance {
    pub(crate) fn new(seed: u64, spread: u32) -> Self {
        Self { count: Cell::new(Draw(seed)), spread, foreseen: RefCell::new([0; WINDOW]), passed: Cell::new(WINDOW) }
    }

    /// The next number.
    #[inline(always)]
    fn draw(&self) -> Draw {
        let next = self.count.get().after(1);
        self.pass(1);
        next
    }

    /// A number below the bound; 0 if that is 0.
    pub(crate) fn below(&self, bound: u32) -> u32 {
        self.draw().below(bound)
    }

    /// By how much more than the least a step takes.
    pub(crate) fn jitter(&self) -> u64 {
        let jitter = self.jitters(1)[0];
        self.pass(1);
        jitter
    }

    /// The next jitters, so many at least, which is not more than there are in a window. They will come again until they are
    /// [passed](Self::pass).
    pub(crate) fn jitters(&self, count: usize) -> Ref<'_, [u64]> {
        if WINDOW.saturating_sub(self.passed.get()) < count {
            self.foresee();
        }
        Ref::map(self.foreseen.borrow(), |foreseen| foreseen.get(self.passed.get()..).unwrap_or(&[]))
    }

    #[inline(never)]
    fn foresee(&self) {
        let foreseen = &mut *self.foreseen.borrow_mut();
        let passed = self.passed.replace(0).min(WINDOW);
        foreseen.copy_within(passed.., 0);
        let known = WINDOW - passed;
        foresee(&mut foreseen[known..], self.count.get().after(known as u64), self.spread);
    }

    /// So many numbers have been used: others come next.
    #[inline(always)]
    pub(crate) fn pass(&self, count: usize) {
        self.count.set(self.count.get().after(count as u64));
        self.passed.set(self.passed.get().saturating_add(count));
    }
}

/// Jitters of the numbers after `count`.
fn foresee(jitters: &mut [u64], count: Draw, spread: u32) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { foresee_by_fours(jitters, count, spread) };
    }
    foresee_inlined(jitters, count, spread);
}

/// The same in instructions that not every processor has, and that make four numbers for little more than one.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn foresee_by_fours(jitters: &mut [u64], count: Draw, spread: u32) {
    foresee_inlined(jitters, count, spread);
}

#[inline(always)]
fn foresee_inlined(jitters: &mut [u64], mut count: Draw, spread: u32) {
    for jitter in jitters {
        count = count.after(1);
        *jitter = u64::from(count.below(spread));
    }
}

/// The count that a number is made of.
#[derive(Clone, Copy, Debug)]
struct Draw(u64);

impl Draw {
    /// The one so many after it.
    #[inline(always)]
    fn after(self, numbers: u64) -> Self {
        Self(self.0.wrapping_add(numbers.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    #[inline(always)]
    fn number(self) -> u64 {
        let Self(state) = self;
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Below the bound; 0 if that is 0.
    #[inline(always)]
    fn below(self, bound: u32) -> u32 {
        (((self.number() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let chance = Chance::new(1_234_567, 5);
        let numbers = [chance.draw(), chance.draw()].map(Draw::number);
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn what_is_foreseen_is_what_comes() {
        let (one_by_one, foreseen) = (Chance::new(7, 5), Chance::new(7, 5));
        for (count, passed) in (0..3 * WINDOW).map(|round| (round % WINDOW, round % 3)) {
            let jitters = foreseen.jitters(count)[..count.min(passed)].to_vec();
            assert!(jitters.iter().all(|jitter| *jitter == u64::from(one_by_one.below(5))));
            foreseen.pass(jitters.len());
            assert_eq!(foreseen.jitter(), u64::from(one_by_one.below(5)));
            assert_eq!(foreseen.below(1000), one_by_one.below(1000), "a number that is no jitter comes in between");
        }
    }

    #[test]
    fn a_bound_holds_and_every_number_comes() {
        let chance = Chance::new(1, 5);
        let mut seen = [false; 5];
        (0..1000).for_each(|_| seen[chance.below(5) as usize] = true);
        assert_eq!(seen, [true; 5]);
        assert_eq!(chance.below(0), 0);
    }
}
