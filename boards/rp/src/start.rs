//! The start of both cores: what must hold is checked, stacks are guarded and painted, then workers run.
#![expect(unsafe_code, reason = "paints stacks")]

use embassy_executor::Spawner;
use embassy_rp::{Peri, multicore, pac, peripherals::CORE1};
use flockwork::{census, worker};
use flockwork_board_support::{boot, stack::watch};
use static_cell::ConstStaticCell;

use crate::death;

/// The spinlock of embassy-rp's critical section.
const CRITICAL_SECTION: u32 = 1 << 31;
/// Bytes at the bottom of a stack that the guard may take: it is aligned to as many as it protects.
const GUARD: usize = 64;
/// Bytes below the stack pointer that the functions called from here use while they paint.
const IN_USE: usize = 256;

/// What core 1 needs at least: a turn, an interrupt, and the worker under them. Last words have a stack of their own.
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
/// If the critical section in this image is a single-core one, if it declares too many actors, if the stack is in use already, or core 1 does not answer.
pub fn run<const SIZE: usize>(
    core1: Peri<'static, CORE1>,
    stack: &'static Core1Stack<SIZE>,
    on_core0: impl FnOnce(Spawner),
    on_core1: impl FnOnce(Spawner) + Send + 'static,
) -> ! {
    boot::require_multicore_critical_section(|| pac::SIO.spinlock_st().read() & CRITICAL_SECTION != 0);
    death::log_epitaphs();
    census::require_room();
    watch_own_stack();
    let stack = stack.0.take();
    watch_stack_of_core1(stack);
    multicore::spawn_core1(core1, stack, move || {
        on_core1(worker::spawner());
        worker::run()
    });
    on_core0(worker::spawner());
    worker::run()
}

/// Guards and watches the stack of core 0, the core this runs on.
fn watch_own_stack() {
    unsafe extern "C" {
        /// Where the linker script says that the stack ends, at its lowest address.
        static mut _stack_end: u32;
        /// Where it begins.
        static mut _stack_start: u32;
    }
    // A program that uses the memory protection unit itself goes without this guard.
    let _ = embassy_rp::install_core0_stack_guard();
    let bottom = (&raw mut _stack_end).wrapping_byte_add(GUARD);
    let unused_until = core::ptr::without_provenance_mut::<u32>(cortex_m::register::msp::read() as usize - IN_USE);
    // SAFETY: between the two symbols is the stack of core 0, which is this one's; what is called from here stays within `IN_USE`
    // below the stack pointer.
    unsafe { watch(0, bottom, unused_until, &raw const _stack_start) };
}

/// Watches the stack of core 1, which does not run yet; embassy-rp guards it when it starts.
fn watch_stack_of_core1<const SIZE: usize>(stack: &mut multicore::Stack<SIZE>) {
    let memory = stack.mem.as_mut_ptr_range();
    let (bottom, top) = (memory.start.wrapping_add(GUARD).cast::<u32>(), memory.end.cast::<u32>());
    // SAFETY: all of it is a static that nobody else has, and becomes the stack of core 1.
    unsafe { watch(1, bottom, top, top) };
}
