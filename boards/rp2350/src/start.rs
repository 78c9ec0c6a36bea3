//! The start of both cores, with what this chip needs beforehand.
#![expect(unsafe_code, reason = "changes a processor register of its own core")]

use cortex_m::peripheral::SCB;
use embassy_executor::Spawner;
use embassy_rp::{Peri, pac, peripherals::CORE1};
use flockwork_rp::Core1Stack;

/// The spinlocks that a program may use. The others are released by writes to registers that have nothing to do with them
/// (erratum RP2350-E2). Number 31 is safe too, and belongs to the critical section.
pub const SAFE_SPINLOCKS: [u8; 18] = [5, 6, 7, 10, 11, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30];

/// In the configuration register: a fault handler may use the stack below its limit.
const FAULTS_IGNORE_THE_LIMIT: u32 = 1 << 10;

/// Starts core 1, and runs a worker with an executor on each core, for good. `on_core0` and `on_core1` are called first, each on
/// its core; they spawn tasks and send first letters.
///
/// Spinlocks and core 1 may survive a reset by a debugger: locks are released here, the critical section's by embassy-rp before
/// `main`, and core 1 is reset before it starts.
///
/// # Panics
/// If the critical section in this image is a single-core one, if it declares too many actors, if the stack is in use already, or core 1 does not answer.
pub fn run<const SIZE: usize>(
    core1: Peri<'static, CORE1>,
    stack: &'static Core1Stack<SIZE>,
    on_core0: impl FnOnce(Spawner),
    on_core1: impl FnOnce(Spawner) + Send + 'static,
) -> ! {
    for lock in SAFE_SPINLOCKS {
        pac::SIO.spinlock(lock.into()).write_value(1);
    }
    let on_core0 = |spawner| {
        let_faults_be_told();
        on_core0(spawner);
    };
    let on_core1 = |spawner| {
        let_faults_be_told();
        on_core1(spawner);
    };
    flockwork_rp::run(core1, stack, on_core0, on_core1)
}

/// A stack that reaches its limit is a fault. The processor puts registers on that stack before the handler goes to its own;
/// without this it could fault in turn, and the core would lock up without a word.
fn let_faults_be_told() {
    // SAFETY: a register of this core, changed before anything else runs on it.
    unsafe { (*SCB::PTR).ccr.modify(|settings| settings | FAULTS_IGNORE_THE_LIMIT) };
}
