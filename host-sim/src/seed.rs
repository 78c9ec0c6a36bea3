//! Chance that can be repeated: the same seed gives the same numbers on every machine.

use std::cell::Cell;

/// A generator of numbers from a seed (SplitMix64).
#[derive(Debug)]
pub(crate) struct Chance(Cell<u64>);

impl Chance {
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    #[cfg(test)]
    fn next(&self) -> u64 {
        let draw = self.draw();
        self.accept(draw);
        draw.number()
    }

    /// The next number, which will come again unless it is accepted.
    #[inline(always)]
    pub(crate) fn draw(&self) -> Draw {
        Draw(self.0.get()).next()
    }

    /// The number has been used: others come next.
    #[inline(always)]
    pub(crate) fn accept(&self, Draw(state): Draw) {
        self.0.set(state);
    }

    /// A number below the bound; 0 if that is 0.
    pub(crate) fn below(&self, bound: u32) -> u32 {
        let draw = self.draw();
        self.accept(draw);
        draw.below(bound)
    }
}

/// A number that chance offers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    /// The one after it.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self(self.0.wrapping_add(0x9E37_79B9_7F4A_7C15))
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
    pub(crate) fn below(self, bound: u32) -> u32 {
        (((self.number() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let chance = Chance::from_seed(1_234_567);
        assert_eq!([chance.next(), chance.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn a_bound_holds_and_every_number_comes() {
        let chance = Chance::from_seed(1);
        let mut seen = [false; 5];
        (0..1000).for_each(|_| seen[chance.below(5) as usize] = true);
        assert_eq!(seen, [true; 5]);
        assert_eq!(chance.below(0), 0);
    }
}
