//! A panic ends the run.

use core::panic::PanicInfo;

use crate::outcome::{Outcome, finish};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    cortex_m::interrupt::disable();
    finish(Outcome::Failed);
    loop {
        cortex_m::asm::wfe();
    }
}
