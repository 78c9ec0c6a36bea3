//! The 16-bit generator of the papers' benchmarks, so that every system serves the same requests.

/// A linear congruential generator over 16 bits. Its low bits have short periods: draw with an odd bound.
#[derive(Clone, Debug)]
pub struct PseudoRandom {
    state: u32,
}

impl PseudoRandom {
    /// A generator that starts from `seed`; only its low 16 bits matter after the first draw.
    pub const fn new(seed: u32) -> Self {
        Self { state: seed }
    }

    /// The next 16 bits.
    pub const fn draw(&mut self) -> u32 {
        self.state = self.state.wrapping_mul(1309).wrapping_add(13849) & 0xFFFF;
        self.state
    }

    /// The next number below `bound`.
    pub const fn below(&mut self, bound: u32) -> u32 {
        self.draw() % bound
    }
}

#[cfg(test)]
mod tests {
    use super::PseudoRandom;

    #[test]
    fn every_16_bit_number_comes_once_per_period() {
        let mut generator = PseudoRandom::new(74755);
        let mut seen = vec![false; 1 << 16];
        for _ in 0..1 << 16 {
            seen[generator.draw() as usize] = true;
        }
        assert!(seen.into_iter().all(|seen| seen));
    }
}
