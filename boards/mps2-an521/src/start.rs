//! The start of both cores.
#![expect(unsafe_code, reason = "gives core 1 a stack, a vector table and a function, and lets it go")]

use core::arch::asm;
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use embassy_executor::Spawner;
use flockwork::{census, worker};
use flockwork_board_support::{boot, stack};
use static_cell::ConstStaticCell;

use crate::critical;
use crate::registers::{CLOCK_HZ, CPU_WAIT, INITIAL_VECTORS_1, PRESCALER, VECTOR_TABLE};

/// What core 1 needs at least: a turn, an interrupt, and the worker under them. Last words have a stack of their own.
const MIN_STACK: usize = 2048;

/// The stack of core 1, in bytes: `static CORE1_STACK: Core1Stack<8192> = Core1Stack::new();`.
///
/// Core 1 faults when it grows below its end. It does not overwrite what lies there.
pub struct Core1Stack<const SIZE: usize>(ConstStaticCell<Stack<SIZE>>);

#[repr(C, align(32))]
struct Stack<const SIZE: usize>(MaybeUninit<[u8; SIZE]>);

impl<const SIZE: usize> Core1Stack<SIZE> {
    /// A stack that no core uses yet.
    #[expect(clippy::new_without_default, reason = "it is a static's value; a default would be a stack on the stack")]
    pub const fn new() -> Self {
        const {
            assert!(SIZE >= MIN_STACK, "core 1 needs a stack of at least 2048 bytes");
            assert!(SIZE.is_multiple_of(8), "the size of a stack is a multiple of 8 bytes");
        }
        Self(ConstStaticCell::new(Stack(MaybeUninit::uninit())))
    }
}

/// Starts core 1, and runs a worker with an executor on each core, for good. `on_core0` and `on_core1` are called first, each on
/// its core; they spawn tasks and send first letters.
///
/// # Panics
/// If the stack is in use already, if the image declares too many actors, and if the critical section in this image is not this crate's.
pub fn run<const SIZE: usize>(
    stack: &'static Core1Stack<SIZE>,
    on_core0: impl FnOnce(Spawner),
    on_core1: impl FnOnce(Spawner) + Send + 'static,
) -> ! {
    boot::require_multicore_critical_section(critical::is_held);
    census::require_room();
    // SAFETY: the counter is the port's; from now on it counts microseconds.
    unsafe { PRESCALER.write(CLOCK_HZ / 1_000_000 - 1) };
    watch_core_0();
    let mut first = Some(on_core1);
    // SAFETY: this function does not return, so what core 1 is given stays where it is.
    unsafe { start_core_1(stack.0.take(), &mut first) };
    on_core0(worker::spawner());
    worker::run()
}

/// Guards and watches the stack of core 0, which is all RAM that the image does not use.
fn watch_core_0() {
    unsafe extern "C" {
        static mut __sheap: u32;
        static mut _stack_start: u32;
    }
    let (bottom, top) = (aligned(&raw mut __sheap), &raw const _stack_start);
    let here: *mut u32;
    // SAFETY: reads the stack pointer.
    unsafe { asm!("mov {}, sp", out(reg) here, options(nomem, nostack, preserves_flags)) };
    // SAFETY: the linker puts nothing between the end of the image's data and the top of RAM, where cortex-m-rt starts the stack
    // of core 0. There is no heap. Below the stack pointer nothing is in use; some bytes are left for the calls from here.
    unsafe { stack::watch(0, bottom, here.wrapping_byte_sub(256), top) };
    guard(bottom);
}

/// Where a stack may not grow below, if its memory begins at `start`: a multiple of eight, as the processor demands.
fn aligned(start: *mut u32) -> *mut u32 {
    start.map_addr(|address| address.next_multiple_of(8))
}

/// From now on this core faults when its stack grows below `bottom`.
fn guard(bottom: *mut u32) {
    // SAFETY: sets a limit, which lies below the stack pointer.
    unsafe { asm!("msr MSPLIM, {}", in(reg) bottom.addr(), options(nomem, nostack, preserves_flags)) };
}

// ---- core 1 ----

/// What core 1 reads when it starts: where its stack begins, and where its code does.
#[repr(C, align(128))]
struct FirstVectors {
    stack: AtomicPtr<u32>,
    code: AtomicPtr<()>,
}

/// What core 1 does first: a function, what it is called with, and where its stack must end.
struct FirstCall {
    call: AtomicPtr<()>,
    with: AtomicPtr<()>,
    bottom: AtomicPtr<u32>,
}

/// Both are written by core 0, before core 1 starts.
static FIRST_VECTORS: FirstVectors =
    FirstVectors { stack: AtomicPtr::new(null_mut()), code: AtomicPtr::new(null_mut()) };
static FIRST_CALL: FirstCall = FirstCall {
    call: AtomicPtr::new(null_mut()),
    with: AtomicPtr::new(null_mut()),
    bottom: AtomicPtr::new(null_mut()),
};

/// Starts core 1, which takes `first` and calls it.
///
/// # Safety
/// `first` stays where it is, and nobody else touches it.
unsafe fn start_core_1<const SIZE: usize, F: FnOnce(Spawner) + Send + 'static>(
    stack: &'static mut Stack<SIZE>,
    first: &mut Option<F>,
) {
    let start = stack.0.as_mut_ptr().cast::<u32>();
    let (bottom, top) = (aligned(start), start.wrapping_byte_add(SIZE));
    // SAFETY: the stack is a static that was just taken for good, and core 1 does not run yet.
    unsafe { stack::watch(1, bottom, top, top) };

    FIRST_CALL.call.store(call::<F> as *mut (), Relaxed);
    FIRST_CALL.with.store(core::ptr::from_mut(first).cast(), Relaxed);
    FIRST_CALL.bottom.store(bottom, Relaxed);
    FIRST_VECTORS.stack.store(top, Relaxed);
    FIRST_VECTORS.code.store(begin as *mut (), Relaxed);
    // All of it is in memory before core 1 is let go.
    cortex_m::asm::dsb();
    // SAFETY: core 1 waits since reset; it starts with the stack and the code above.
    unsafe {
        INITIAL_VECTORS_1.write((&raw const FIRST_VECTORS).addr() as u32);
        CPU_WAIT.write(0);
    }
}

/// The first function of core 1.
extern "C" fn begin() -> ! {
    unsafe extern "C" {
        static __vector_table: u32;
    }
    // SAFETY: both cores have the same handlers; core 1 has not had an exception yet.
    unsafe { VECTOR_TABLE.write((&raw const __vector_table).addr() as u32) };
    guard(FIRST_CALL.bottom.load(Relaxed));
    // SAFETY: core 0 stored a `call::<F>` here, before it let this core go.
    let call = unsafe { core::mem::transmute::<*mut (), unsafe fn(*mut ())>(FIRST_CALL.call.load(Relaxed)) };
    // SAFETY: and what that `F` is in, which is nobody else's.
    unsafe { call(FIRST_CALL.with.load(Relaxed)) };
    worker::run()
}

/// # Safety
/// `first` leads to an `Option<F>` that is the caller's alone.
unsafe fn call<F: FnOnce(Spawner)>(first: *mut ()) {
    // SAFETY: the caller's promise.
    if let Some(first) = unsafe { (*first.cast::<Option<F>>()).take() } {
        first(worker::spawner());
    }
}
