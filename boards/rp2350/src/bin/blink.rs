//! A lamp on one core that a clock on the other tells to blink; the serial line says how much stack that took.
#![no_std]
#![no_main]

use embassy_executor::task;
use embassy_rp::gpio::{Level, Output};
use embassy_rp::uart::{Blocking, Config, UartTx};
use embassy_time::{Duration, Ticker};
use embedded_io::Write;
use flockwork::{Actor, Pinned, actor};
use flockwork_rp2350::{Core1Stack, entry, report_epitaphs, run, stack};

/// A lamp that somebody connects and somebody else switches.
pub struct Lamp {
    pin: Option<Output<'static>>,
}

#[actor]
impl Lamp {
    /// Gives it its pin.
    pub fn connect(&mut self, pin: Output<'static>) {
        self.pin = Some(pin);
    }

    /// Switches it; whether it is on now.
    pub fn toggle(&mut self) -> bool {
        self.pin.as_mut().is_some_and(|pin| {
            pin.toggle();
            pin.is_set_high()
        })
    }
}

#[actor]
static LAMP: Actor<Lamp, Pinned<1>, 2> = Lamp { pin: None };

#[task]
async fn blink(mut line: UartTx<'static, Blocking>) {
    let mut clock = Ticker::every(Duration::from_millis(500));
    loop {
        clock.next().await;
        let lit = LAMP.toggle().await;
        let marks = (stack::high_water(0), stack::high_water(1));
        if let (Ok(lit), (Some(core0), Some(core1))) = (lit, marks) {
            // A line that nobody listens to does not stop the lamp.
            let _ = writeln!(line, "lamp {}, stacks {core0} and {core1}", if lit { "on" } else { "off" });
        }
    }
}

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    let mut line = UartTx::new_blocking(p.UART0, p.PIN_0, Config::default());
    report_epitaphs(&mut line);
    LAMP.connect(Output::new(p.PIN_25, Level::Low)).tell().expect("its mailbox is empty");
    run(p.CORE1, &CORE1_STACK, |core0| core0.spawn(blink(line).expect("the task is spawned once")), |_core1| {})
}
