//! Logs over a serial line, for those without a probe; then dies, and logs that at the next boot.
#![no_std]
#![no_main]

use embassy_executor::task;
use embassy_rp::bind_interrupts;
use embassy_rp::peripherals::UART0;
use embassy_rp::uart::{BufferedInterruptHandler, BufferedUartTx, Config};
use embassy_time::Timer;
use flockwork_check_logs::{THERE, write_a_page};
use flockwork_rp2040::{Core1Stack, entry, run};
use static_cell::ConstStaticCell;

bind_interrupts!(struct Interrupts {
    UART0_IRQ => BufferedInterruptHandler<UART0>;
});

#[task]
async fn send(line: BufferedUartTx) {
    flockwork_defmt_uart::drain(line).await
}

#[task]
async fn log() {
    write_a_page().await;
    // Until all of it is sent.
    Timer::after_millis(100).await;
    THERE.despair().tell().expect("its mailbox is empty");
}

static BUFFER: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; 64]);
static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    let line = BufferedUartTx::new(p.UART0, Interrupts, p.PIN_0, BUFFER.take(), Config::default());
    let on_core0 = |core0: embassy_executor::Spawner| {
        core0.spawn(send(line).expect("the task is spawned once"));
        core0.spawn(log().expect("the task is spawned once"));
    };
    run(p.CORE1, &CORE1_STACK, on_core0, |_core1| {})
}
