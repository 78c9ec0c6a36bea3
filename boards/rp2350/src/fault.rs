//! A hard fault ends the core it happens on. Other faults become hard faults, because nobody enables them.
#![expect(unsafe_code, reason = "an exception handler is an unsafe function, and reads registers")]

use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, exception};

/// In the fault status: the address of a memory management fault, or of a bus fault, is known.
const MEMORY_ADDRESS: u32 = 1 << 7;
const BUS_ADDRESS: u32 = 1 << 15;

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    // SAFETY: reads registers of this core, which nobody writes.
    let (status, memory, bus) = unsafe {
        let registers = &*SCB::PTR;
        (registers.cfsr.read(), registers.mmfar.read(), registers.bfar.read())
    };
    let address = match status {
        status if status & MEMORY_ADDRESS != 0 => memory,
        status if status & BUS_ADDRESS != 0 => bus,
        _ => 0,
    };
    flockwork_rp::die_of_fault(frame, status, address)
}
