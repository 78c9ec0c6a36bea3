//! What the probes have in common: both cores run, a task on core 0 wakes up twice a second, one on core 1 never does.
//!
//! Nothing here names the kernel, so that the image without it is without it.
#![no_std]

use embassy_executor::task;
use embassy_rp::gpio::{Level, Output};
use embassy_rp::multicore::{Stack, spawn_core1};
use embassy_time::Timer;
use static_cell::ConstStaticCell;

static CORE1_STACK: ConstStaticCell<Stack<2048>> = ConstStaticCell::new(Stack::new());

/// Starts core 1 with `core1`, and goes on with `core0`, which gets an LED.
pub fn start(core0: fn(Output<'static>) -> !, core1: fn() -> !) -> ! {
    let p = embassy_rp::init(Default::default());
    spawn_core1(p.CORE1, CORE1_STACK.take(), core1);
    core0(Output::new(p.PIN_25, Level::Low))
}

/// Lets the LED blink, and calls `beat` each time.
#[task]
pub async fn blink(mut led: Output<'static>, beat: fn()) {
    loop {
        led.toggle();
        beat();
        Timer::after_millis(500).await;
    }
}

/// Waits for good.
#[task]
pub async fn wait() {
    core::future::pending().await
}

/// A panic needs no words here: they are what a program adds.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        cortex_m::asm::wfe();
    }
}

/// An image with the kernel and these actors, whose heart beat sends a letter to each.
#[macro_export]
macro_rules! kernel_image {
    ($($name:ident: $state:ident under $monitor:ty, $operation:ident;)*) => {
        $(
            /// A number that is changed.
            pub struct $state(u32);

            #[flockwork::actor]
            impl $state {
                /// Changes it.
                pub fn change(&mut self, by: u32) {
                    self.0 = self.0.$operation(by);
                }
            }

            #[flockwork::actor]
            static $name: flockwork::Actor<$state, $monitor, 4> = $state(0);
        )*

        $crate::kernel_main!($($name.change(3)),*);
    };
}

/// The `main` of an image with the kernel, whose heart beat sends these letters.
#[macro_export]
macro_rules! kernel_main {
    ($($letter:expr),*) => {
        use flockwork_rp2040 as _;

        fn beat() {
            // Whether there was room is no matter of size.
            $( let _ = $letter.tell(); )*
        }

        #[cortex_m_rt::entry]
        fn main() -> ! {
            use flockwork::worker::{run, spawner};
            use flockwork_size_probe::{blink, start, wait};
            start(
                |led| {
                    spawner().spawn(blink(led, beat).expect("spawned once"));
                    run()
                },
                || {
                    spawner().spawn(wait().expect("spawned once"));
                    run()
                },
            )
        }
    };
}
