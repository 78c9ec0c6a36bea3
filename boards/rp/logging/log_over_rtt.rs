//! Logs with defmt over RTT, for those with a debug probe: `cargo xtask flash BOARD log_over_rtt` shows it.
#![no_std]
#![no_main]

use board::{Core1Stack, entry, run};
use defmt_rtt as _;
use logging::something_to_log;

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    // Last words of an earlier life are logged by `run`.
    let on_core0 =
        |core0: embassy_executor::Spawner| core0.spawn(something_to_log().expect("the task is spawned once"));
    run(p.CORE1, &CORE1_STACK, on_core0, |_core1| {})
}
