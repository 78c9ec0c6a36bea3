//! Logs over RTT, for a debug probe.
#![no_std]
#![no_main]

use defmt_rtt as _;
use embassy_executor::task;
use flockwork_check_logs::write_a_page;
use flockwork_rp2040::{Core1Stack, Outcome, entry, finish, run};

#[task]
async fn log() {
    write_a_page().await;
    finish(Outcome::Passed);
}

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    run(p.CORE1, &CORE1_STACK, |core0| core0.spawn(log().expect("the task is spawned once")), |_core1| {})
}
