//! The start of both cores.

use embassy_executor::Spawner;
use embassy_rp::{Peri, multicore, peripherals::CORE1};
use flockwork::worker;
use static_cell::ConstStaticCell;

/// What core 1 needs at least: a turn, an interrupt, and the worker under them.
const MIN_STACK: usize = 1024;

/// The stack of core 1, in bytes: `static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();`.
///
/// Its lowest bytes are a guard region of core 1's memory protection unit: a stack that grows into them faults, it does not
/// overwrite what lies below.
pub struct Core1Stack<const SIZE: usize>(ConstStaticCell<multicore::Stack<SIZE>>);

impl<const SIZE: usize> Core1Stack<SIZE> {
    /// A stack that no core uses yet.
    #[expect(clippy::new_without_default, reason = "it is a static's value; a default would be a stack on the stack")]
    pub const fn new() -> Self {
        const {
            assert!(SIZE >= MIN_STACK, "core 1 needs a stack of at least 1024 bytes");
            assert!(SIZE.is_multiple_of(8), "the size of a stack is a multiple of 8 bytes");
        }
        Self(ConstStaticCell::new(multicore::Stack::new()))
    }
}

/// Starts core 1, and runs a worker with an executor on each core, for good. `on_core0` and `on_core1` are called first, each on
/// its core; they spawn tasks and send first letters.
///
/// embassy-rp resets the spinlocks and core 1 before `main`, and core 1 once more here: neither survives a reset by a debugger.
///
/// # Panics
/// If the stack is in use already, or core 1 does not answer.
pub fn run<const SIZE: usize>(
    core1: Peri<'static, CORE1>,
    stack: &'static Core1Stack<SIZE>,
    on_core0: impl FnOnce(Spawner),
    on_core1: impl FnOnce(Spawner) + Send + 'static,
) -> ! {
    multicore::spawn_core1(core1, stack.0.take(), move || {
        on_core1(worker::spawner());
        worker::run()
    });
    on_core0(worker::spawner());
    worker::run()
}
