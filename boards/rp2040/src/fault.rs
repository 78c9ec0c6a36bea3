//! A hard fault ends the core it happens on.
#![expect(unsafe_code, reason = "an exception handler is an unsafe function")]

use cortex_m_rt::{ExceptionFrame, exception};

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    // A Cortex-M0+ does not say why.
    flockwork_rp::die_of_fault(frame, 0, 0)
}
