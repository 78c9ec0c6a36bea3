//! The end of a core: the handlers of panics and hard faults, which a board gets with [`last_words!`](crate::last_words).
//!
//! A core that dies has last words to say, and they take more stack than it may have left: none, if its stack overflowed. So both
//! handlers go to the core's *last stack*, which nothing else uses, before they say anything.
//!
//! ```text
//!  panic ───────────┐
//!                   ├──▶ last stack of the core ──▶ Epitaph ──▶ Mortal::bury: leave it and reset, or tell it and end
//!  hard fault ──────┘
//! ```
//!
//! What dies a second time (a message that panics while it is written, a fault in there) stays on the last stack.

use core::fmt::{self, Display};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::CORES;
use crate::epitaph::{Epitaph, Registers, Turn};
use crate::stack;

/// What a board adds to the handlers.
pub trait Mortal {
    /// The core this is called on.
    fn core() -> u8;

    /// Masks the interrupts of this core, for good.
    fn mask();

    /// What the core is running: the kernel's `worker::in_turn`, in words.
    fn turn(core: u8) -> Option<Turn>;

    /// What the processor says about the fault it just took.
    fn fault() -> Fault;

    /// Ends the core and all others, with these last words.
    fn bury(last_words: &Epitaph) -> !;
}

/// What a processor says about a fault. A Cortex-M0+ says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The fault status (CFSR).
    pub status: u32,
    /// The address that could not be accessed.
    pub address: u32,
}

impl Fault {
    /// In the status: the stack grew below its limit (ARMv8-M).
    const STACK_OVERFLOW: u32 = 1 << 20;
}

/// The panic handler and the handler of hard faults of a board, for both its cores.
///
/// ```ignore
/// flockwork_board_support::last_words!(Board, core_number_at: 0xd000_0000, lift_stack_limit: []);
/// ```
///
/// `core_number_at` is the register in which a core reads its own number: the handler of faults needs it when it has no stack to
/// call a function. `lift_stack_limit` are the instructions that switch the limit of the stack off where there is one; they may use
/// register 2.
#[macro_export]
macro_rules! last_words {
    ($board:ty, core_number_at: $core_number:expr, lift_stack_limit: [$($instruction:literal),*]) => {
        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::death::begin_panic::<$board>();
            // Nothing returns there, so what the panic is about stays where it is on the core's own stack.
            on_last_stack(core::ptr::from_ref(info).cast(), $crate::death::die_of_panic::<$board>)
        }

        /// The processor has put eight registers on the stack, or has found no room for them.
        #[unsafe(naked)]
        #[unsafe(export_name = "HardFault")]
        extern "C" fn hard_fault() -> ! {
            core::arch::naked_asm!(
                "mov r0, sp",
                "ldr r1, ={die}",
                "ldr r2, ={on_last_stack}",
                "bx r2",
                ".pool",
                die = sym $crate::death::die_of_fault::<$board>,
                on_last_stack = sym on_last_stack,
            )
        }

        /// Calls `die` with `what`, on the last stack of this core.
        // It touches no stack, and all registers are its own, since nobody gets them back.
        #[unsafe(naked)]
        extern "C" fn on_last_stack(what: *const (), die: extern "C" fn(*const ()) -> !) -> ! {
            core::arch::naked_asm!(
                "ldr r2, ={core_number}",
                "ldr r2, [r2]",
                "ldr r3, ={size}",
                "muls r2, r3, r2",
                "ldr r4, ={remains} + {last_stacks}",
                "adds r4, r4, r2",
                "adds r3, r4, r3",
                // From r4 to r3. Who is there already stays: what it has there is in use.
                "mov r5, sp",
                "cmp r5, r4",
                "blo 2f",
                "cmp r5, r3",
                "bls 3f",
                "2:",
                $($instruction,)*
                "mov sp, r3",
                "3:",
                "bx r1",
                ".pool",
                core_number = const $core_number,
                size = const $crate::epitaph::LAST_STACK,
                remains = sym $crate::epitaph::FLOCKWORK_EPITAPHS,
                last_stacks = const $crate::epitaph::Remains::LAST_STACKS,
            )
        }
    };
}

/// Whether a core has panicked already: a message that panics while it is written comes here again.
static PANICKED: [AtomicBool; CORES] = [const { AtomicBool::new(false) }; CORES];

#[doc(hidden)]
pub fn begin_panic<B: Mortal>() {
    B::mask();
}

#[doc(hidden)]
#[expect(unsafe_code, reason = "the panic handler passes a panic on")]
pub extern "C" fn die_of_panic<B: Mortal>(info: *const ()) -> ! {
    // SAFETY: `last_words!` passes what its panic handler got, which never returns.
    let info = unsafe { &*info.cast::<PanicInfo<'_>>() };
    let core = B::core();
    let again = PANICKED.get(usize::from(core)).is_some_and(|panicked| {
        let again = panicked.load(Ordering::Relaxed);
        panicked.store(true, Ordering::Relaxed);
        again
    });
    let message: &dyn Display = if again { &"the message of a panic panicked" } else { &info.message() };
    B::bury(&Epitaph::of_panic(core, B::turn(core), info.location(), message))
}

#[doc(hidden)]
#[expect(unsafe_code, reason = "reads what the processor put on the stack")]
pub extern "C" fn die_of_fault<B: Mortal>(frame: *const ()) -> ! {
    B::mask();
    let (core, Fault { status, address }) = (B::core(), B::fault());
    let sp = frame.addr();
    if status & Fault::STACK_OVERFLOW != 0 || stack::is_below(core, sp) {
        // There was no room for the frame, or it lies where it does not belong.
        B::bury(&Epitaph::of_panic(core, B::turn(core), None, &Overflowed { sp }));
    }
    // SAFETY: the processor put eight words where its stack pointer was when the handler began, and that is on the core's stack.
    let [r0, r1, r2, r3, r12, lr, pc, xpsr] = unsafe { frame.cast::<[u32; 8]>().read() };
    // The frame was put below what was there.
    let sp = sp as u32 + size_of::<[u32; 8]>() as u32;
    let registers = Registers { pc, lr, sp, xpsr, r: [r0, r1, r2, r3], r12, status, address };
    B::bury(&Epitaph::of_fault(core, B::turn(core), registers))
}

/// What is said about a stack that grew below its end.
struct Overflowed {
    sp: usize,
}

impl Display for Overflowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stack overflowed, at sp {:#010x}", self.sp)
    }
}
