//! The end of a core: its last words go to the host, and the run has failed.
#![expect(unsafe_code, reason = "a handler in assembly, found by its name")]

use core::arch::naked_asm;
use core::panic::PanicInfo;

use cortex_m_rt::ExceptionFrame;
use flockwork::worker::{self, in_turn};
use flockwork_board_support::epitaph::{Epitaph, Registers, Turn};

use crate::host::{Outcome, finish, log};
use crate::port::{core, mask};
use crate::registers::{FAULT_ADDRESS, FAULT_STATUS, STACK_OVERFLOW};

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    mask();
    die(Epitaph::of_panic(core(), turn(), info.location(), &info.message()))
}

/// Both cores' handler of hard faults. If the stack overflowed there is no room for a call, so the limit is lifted first: below
/// it is room for last words.
#[unsafe(naked)]
#[unsafe(export_name = "HardFault")]
unsafe extern "C" fn hard_fault() -> ! {
    naked_asm!("movs r0, #0", "msr MSPLIM, r0", "mov r0, sp", "b {}", sym die_of_fault)
}

extern "C" fn die_of_fault(frame: &ExceptionFrame) -> ! {
    mask();
    let status = FAULT_STATUS.read();
    if status & STACK_OVERFLOW != 0 {
        // There was no room for the frame, so it holds what was there before.
        die(Epitaph::of_panic(core(), turn(), None, &"the stack overflowed"));
    }
    let registers = Registers {
        pc: frame.pc(),
        lr: frame.lr(),
        // The frame was put below what was there.
        sp: core::ptr::from_ref(frame).addr() as u32 + size_of::<ExceptionFrame>() as u32,
        xpsr: frame.xpsr(),
        r: [frame.r0(), frame.r1(), frame.r2(), frame.r3()],
        r12: frame.r12(),
        status,
        address: FAULT_ADDRESS.read(),
    };
    die(Epitaph::of_fault(core(), turn(), registers))
}

fn turn() -> Option<Turn> {
    in_turn(core()).map(|worker::Turn { actor, method }| Turn::new(actor, method))
}

/// There is no reset to survive: whoever started the run sees its end.
fn die(last_words: Epitaph) -> ! {
    log(format_args!("{last_words}"));
    finish(Outcome::Failed)
}
