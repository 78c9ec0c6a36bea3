//! What keys do: pause, step, faster, slower.

use std::time::Duration;

/// How long a picture stays.
pub(super) const FRAME: Duration = Duration::from_millis(50);

/// How much simulated time passes in a second of the host, in microseconds.
const SPEEDS: [u64; 16] = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
    5_000_000, 10_000_000,
];

/// A key that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Stop simulated time, or let it pass again.
    Pause,
    /// On to the next thing that happens, then pause.
    Step,
    /// More simulated time in a second.
    Faster,
    /// Less.
    Slower,
    /// Close the view and let the program go on.
    Quit,
    /// End the process.
    Abort,
    /// Another key.
    Other,
    /// No key, but the terminal has changed: draw again.
    Redraw,
}

/// What the keys have set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controls {
    /// Simulated time stands still.
    pub is_paused: bool,
    /// One step was asked for and has not been made.
    pub is_stepping: bool,
    /// The program has ended: only closing is left.
    pub is_at_end: bool,
    speed: usize,
}

impl Default for Controls {
    /// On, at half a millisecond a second: letters of some ten microseconds can be followed.
    fn default() -> Self {
        Self { is_paused: false, is_stepping: false, is_at_end: false, speed: 2 }
    }
}

impl Controls {
    /// What a key changes.
    pub fn press(&mut self, key: Key) {
        match key {
            Key::Pause => self.is_paused = !self.is_paused,
            Key::Step => (self.is_paused, self.is_stepping) = (true, true),
            Key::Faster => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            Key::Slower => self.speed = self.speed.saturating_sub(1),
            Key::Quit | Key::Abort | Key::Other | Key::Redraw => {}
        }
    }

    /// Simulated microseconds that pass in a second of the host.
    pub fn microseconds_a_second(&self) -> u64 {
        SPEEDS[self.speed]
    }

    /// Cycles that pass while one picture stays.
    pub(super) fn cycles_a_frame(&self, megahertz: u32) -> u64 {
        (self.microseconds_a_second() * u64::from(megahertz) * FRAME.as_millis() as u64 / 1000).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_pauses_and_speed_has_ends() {
        let mut controls = Controls::default();
        controls.press(Key::Step);
        assert!(controls.is_paused && controls.is_stepping);
        controls.press(Key::Pause);
        assert!(!controls.is_paused);
        (0..99).for_each(|_| controls.press(Key::Faster));
        assert_eq!(controls.microseconds_a_second(), 10_000_000);
        (0..99).for_each(|_| controls.press(Key::Slower));
        assert_eq!(controls.microseconds_a_second(), 100);
        assert_eq!(controls.cycles_a_frame(125), 625);
    }
}
