//! Two loggers in one image: this must not link.
#![no_std]
#![no_main]

use board::{Core1Stack, entry, run};
use defmt_rtt as _;
use flockwork_defmt_uart as _;

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    defmt::info!("to whom?");
    run(p.CORE1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
