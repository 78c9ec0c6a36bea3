//! The tests that run on every device, on this one: the log goes to UART0, the outcome to whoever runs it.
#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "enables the interrupts of timers")]

use core::cell::RefCell;
use core::fmt;

use cortex_m::peripheral::NVIC;
use critical_section::Mutex;
use embassy_rp::multicore::current_core;
use embassy_rp::pac::{Interrupt, TIMER, interrupt};
use embassy_rp::uart::{Blocking, Config, UartTx};
use embedded_io::Write;
use flockwork_rp2040::{Core1Stack, Outcome, entry, finish, run};
use flockwork_suite::{Device, timer_interrupt};

/// Between two interrupts of a timer, in µs.
const PERIOD: u32 = 50;

struct Board {
    uart: Mutex<RefCell<Option<UartTx<'static, Blocking>>>>,
}

static BOARD: Board = Board { uart: Mutex::new(RefCell::new(None)) };

/// The alarm of a core: the first is embassy's.
fn alarm_of(core: u8) -> (usize, Interrupt) {
    if core == 0 { (1, Interrupt::TIMER_IRQ_1) } else { (2, Interrupt::TIMER_IRQ_2) }
}

fn tick(core: u8) {
    let (alarm, _) = alarm_of(core);
    TIMER.intr().write(|intr| intr.set_alarm(alarm, true));
    TIMER.alarm(alarm).write_value(TIMER.timerawl().read().wrapping_add(PERIOD));
    timer_interrupt(core);
}

#[interrupt]
fn TIMER_IRQ_1() {
    tick(0);
}

#[interrupt]
fn TIMER_IRQ_2() {
    tick(1);
}

impl Device for Board {
    fn cores(&self) -> u8 {
        2
    }

    fn core(&self) -> u8 {
        current_core() as u8
    }

    fn letters(&self) -> u32 {
        10_000
    }

    fn patience(&self) -> u32 {
        100_000
    }

    fn advances_evenly(&self) -> bool {
        true
    }

    fn idle_sleeps(&self) -> bool {
        true
    }

    fn idle_calls(&self, _: u8) -> Option<u32> {
        None
    }

    fn start_timer(&self) {
        let (alarm, interrupt) = alarm_of(self.core());
        // Both cores have an alarm in this register.
        critical_section::with(|_| TIMER.inte().modify(|inte| inte.set_alarm(alarm, true)));
        TIMER.alarm(alarm).write_value(TIMER.timerawl().read().wrapping_add(PERIOD));
        // SAFETY: no critical section relies on this interrupt being off.
        unsafe { NVIC::unmask(interrupt) };
    }

    fn stop_timer(&self) {
        let (alarm, interrupt) = alarm_of(self.core());
        NVIC::mask(interrupt);
        critical_section::with(|_| TIMER.inte().modify(|inte| inte.set_alarm(alarm, false)));
        TIMER.armed().write(|armed| armed.set_armed(1 << alarm));
        TIMER.intr().write(|intr| intr.set_alarm(alarm, true));
        NVIC::unpend(interrupt);
    }

    fn log(&self, line: fmt::Arguments<'_>) {
        critical_section::with(|locked| {
            if let Some(uart) = &mut *self.uart.borrow_ref_mut(locked) {
                // A line that is not sent is missed by whoever compares the log.
                let _ = writeln!(uart, "{line}");
            }
        });
    }
}

static CORE1_STACK: Core1Stack<8192> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    // Fast, because the suite waits for its log.
    let mut config = Config::default();
    config.baudrate = 3_000_000;
    let uart = UartTx::new_blocking(p.UART0, p.PIN_0, config);
    critical_section::with(|locked| BOARD.uart.replace(locked, Some(uart)));
    let suite = |_| {
        let failed = flockwork_suite::run(&BOARD).failed;
        finish(if failed == 0 { Outcome::Passed } else { Outcome::Failed });
    };
    run(p.CORE1, &CORE1_STACK, suite, |_| {})
}
