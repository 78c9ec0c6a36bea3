//! Logs with defmt over UART0 (GPIO 0, 115200 baud), for those without a probe: `cat /dev/ttyACM0 | defmt-print -e IMAGE` shows it.
#![no_std]
#![no_main]

use board::{Core1Stack, entry, run};
use embassy_executor::task;
use embassy_rp::bind_interrupts;
use embassy_rp::peripherals::UART0;
use embassy_rp::uart::{BufferedInterruptHandler, BufferedUartTx, Config};
use logging::something_to_log;
use static_cell::ConstStaticCell;

bind_interrupts!(struct Interrupts {
    UART0_IRQ => BufferedInterruptHandler<UART0>;
});

/// Sends what is logged.
#[task]
async fn send(line: BufferedUartTx) {
    flockwork_defmt_uart::drain(line).await
}

static BUFFER: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; 64]);
static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    let line = BufferedUartTx::new(p.UART0, Interrupts, p.PIN_0, BUFFER.take(), Config::default());
    // Last words of an earlier life are logged by `run`.
    let on_core0 = |core0: embassy_executor::Spawner| {
        core0.spawn(send(line).expect("the task is spawned once"));
        core0.spawn(something_to_log().expect("the task is spawned once"));
    };
    run(p.CORE1, &CORE1_STACK, on_core0, |_core1| {})
}
