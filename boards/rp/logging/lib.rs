//! What both images log: a pulse on core 1, and what it takes of stacks and mailbox. They differ in where the log goes.
//!
//! The sources are those of both Picos: `board` is the crate of either, by the manifest of `boards/rp2040/logging` and of
//! `boards/rp2350/logging`. The manifest of `boards/checks/logs` has both images log something else, for a test.
#![no_std]

use board::{Outcome, finish, stack};
use embassy_executor::task;
use embassy_time::{Duration, Ticker};
use flockwork::{Actor, Pinned, Report, actor};

/// Beats.
pub struct Pulse {
    beats: u32,
}

#[actor]
impl Pulse {
    /// Once; how often it has.
    pub fn beat(&mut self) -> u32 {
        self.beats += 1;
        defmt::info!("beat {} on core 1", self.beats);
        self.beats
    }
}

#[actor]
static PULSE: Actor<Pulse, Pinned<1>, 2> = Pulse { beats: 0 };

/// Lets the pulse beat twice a second, and logs how it was.
#[task]
pub async fn something_to_log() {
    let mut clock = Ticker::every(Duration::from_millis(500));
    let mut beats = 0;
    loop {
        clock.next().await;
        // An emulator has seen enough, and the line has sent it all; a board goes on.
        if beats == 3 {
            finish(Outcome::Passed);
        }
        match PULSE.beat().await {
            Ok(so_far) => {
                beats = so_far;
                if let (Some(core0), Some(core1)) = (stack::high_water(0), stack::high_water(1)) {
                    defmt::info!(
                        "stacks: {} and {} bytes of {} and {}",
                        core0.used,
                        core1.used,
                        core0.size,
                        core1.size
                    );
                }
                defmt::info!("mailbox: {} of {} letters", Report::of(&PULSE).high_water, Report::of(&PULSE).capacity);
            }
            Err(why) => defmt::error!("no beat: {}", why),
        }
    }
}
