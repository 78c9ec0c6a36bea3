//! What the images that go wrong have in common: at the next boot they report what happened, and are content.
#![no_std]
#![expect(unsafe_code, reason = "spoils the stack pointer on purpose")]

use core::arch::asm;

use embassy_rp::uart::{Blocking, Config, UartTx};
use embassy_rp::{Peri, peripherals::CORE1};
use flockwork::actor;
use flockwork_rp2040::{Outcome, finish, report_epitaphs};

/// Reports over the serial line what happened before the last reset. If anything did, the run has passed.
pub fn boot() -> (Peri<'static, CORE1>, UartTx<'static, Blocking>) {
    let p = embassy_rp::init(Default::default());
    let mut line = UartTx::new_blocking(p.UART0, p.PIN_0, Config::default());
    if report_epitaphs(&mut line) > 0 {
        finish(if line.blocking_flush().is_ok() { Outcome::Passed } else { Outcome::Failed });
    }
    (p.CORE1, line)
}

/// Goes too deep.
pub struct Diver {
    /// Where the stack of its core ends, at its lowest address.
    pub bottom: *const u8,
}

#[actor]
impl Diver {
    /// To the bottom: its turn has used up the stack to the last byte when it faults. (The emulator has no guard that would make
    /// it fault.)
    pub fn dive(&mut self) {
        // SAFETY: nothing of the program goes on: what follows is no instruction, and the handler of the fault does not return.
        unsafe { asm!("mov sp, {}", "udf #0", in(reg) self.bottom, options(noreturn)) }
    }
}
