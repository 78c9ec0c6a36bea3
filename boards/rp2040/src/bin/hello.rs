//! The smallest firmware: a letter that stays on its core, and one that crosses to the other core, with its answer back.
#![no_std]
#![no_main]

use embassy_executor::task;
use embassy_rp::multicore::{CoreId, current_core};
use embassy_rp::uart::{Blocking, Config, UartTx};
use embedded_io::Write;
use flockwork::{Actor, Pinned, actor};
use flockwork_rp2040::{Core1Stack, Outcome, entry, finish, report_epitaphs, run};

/// Greets whoever asks, and says where it runs.
pub struct Greeter {
    greeted: u32,
}

#[actor]
impl Greeter {
    /// The core it runs on, and how many were greeted before.
    pub fn greet(&mut self) -> (CoreId, u32) {
        self.greeted += 1;
        (current_core(), self.greeted - 1)
    }
}

#[actor]
static HERE: Actor<Greeter, Pinned<0>, 2> = Greeter { greeted: 0 };

#[actor]
static THERE: Actor<Greeter, Pinned<1>, 2> = Greeter { greeted: 0 };

#[task]
async fn hello(mut uart: UartTx<'static, Blocking>) {
    let here = HERE.greet().await.expect("a greeter answers");
    let there = THERE.greet().await.expect("a greeter answers");
    let printed = writeln!(uart, "hello from {here:?}, hello from {there:?}").is_ok() && uart.flush().is_ok();
    finish(if printed { Outcome::Passed } else { Outcome::Failed });
}

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    let mut uart = UartTx::new_blocking(p.UART0, p.PIN_0, Config::default());
    report_epitaphs(&mut uart);
    run(p.CORE1, &CORE1_STACK, |core0| core0.spawn(hello(uart).expect("the task is spawned once")), |_core1| {})
}
