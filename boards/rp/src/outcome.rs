//! How a program that ends tells its outcome to whoever runs it without a person looking: the emulator, or a probe.
#![expect(unsafe_code, reason = "a symbol with a fixed name")]

use core::sync::atomic::{AtomicU32, Ordering};

/// What became of a run. The numbers are what the runner reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    /// It did what it should.
    Passed = 0x600D_600D,
    /// It did not; the log says what.
    Failed = 0xBAD0_BAD0,
}

/// Zero while the program runs, then an [`Outcome`]. The runner finds it by its name.
#[unsafe(no_mangle)]
#[used]
static FLOCKWORK_OUTCOME: AtomicU32 = AtomicU32::new(0);

/// Ends the run: under the emulator the machine stops here; on a board nothing else happens.
pub fn finish(outcome: Outcome) {
    FLOCKWORK_OUTCOME.store(outcome as u32, Ordering::Release);
}
