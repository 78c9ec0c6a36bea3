//! The end of a core: its last words go to the host, and the run has failed.
#![expect(unsafe_code, reason = "cortex-m-rt wants the handler of hard faults declared so")]

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};
use flockwork::worker::{self, in_turn};
use flockwork_board_support::epitaph::{Epitaph, Registers, Turn};

use crate::host::{Outcome, finish, log};
use crate::port::{core, mask};
use crate::registers::{FAULT_ADDRESS, FAULT_STATUS};

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    mask();
    die(Epitaph::of_panic(core(), turn(), info.location(), &info.message()))
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    mask();
    let registers = Registers {
        pc: frame.pc(),
        lr: frame.lr(),
        // The frame was put below what was there.
        sp: core::ptr::from_ref(frame).addr() as u32 + size_of::<ExceptionFrame>() as u32,
        xpsr: frame.xpsr(),
        r: [frame.r0(), frame.r1(), frame.r2(), frame.r3()],
        r12: frame.r12(),
        status: FAULT_STATUS.read(),
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
