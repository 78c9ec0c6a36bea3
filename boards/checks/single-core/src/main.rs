//! An image with the critical section of a single-core chip: it compiles and links, and must not run.
#![no_std]
#![no_main]

use cortex_m as _;
use embassy_rp::uart::{Config, UartTx};
use flockwork_rp2040::{Core1Stack, Outcome, entry, finish, report_epitaphs, run};

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    let mut line = UartTx::new_blocking(p.UART0, p.PIN_0, Config::default());
    if report_epitaphs(&mut line) > 0 {
        finish(if line.blocking_flush().is_ok() { Outcome::Passed } else { Outcome::Failed });
    }
    run(p.CORE1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
