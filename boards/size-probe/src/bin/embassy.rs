//! Without the kernel: two raw executors, the smallest image in which both cores run tasks.
#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "polls executors, as the kernel's worker does")]

use cortex_m::asm::{sev, wfe};
use embassy_executor::{SpawnToken, raw::Executor};
use flockwork_size_probe::{blink, start, wait};
use static_cell::StaticCell;

static CORE0: StaticCell<Executor> = StaticCell::new();
static CORE1: StaticCell<Executor> = StaticCell::new();

/// Wakes both cores; whoever has nothing to do sleeps again.
#[unsafe(export_name = "__pender")]
fn pender(_: *mut ()) {
    sev();
}

fn run<S>(executor: &'static StaticCell<Executor>, task: SpawnToken<S>) -> ! {
    let executor = executor.init(Executor::new(core::ptr::null_mut()));
    executor.spawner().spawn(task);
    loop {
        // SAFETY: polled by its own core only, and not from within a task.
        unsafe { executor.poll() };
        wfe();
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    start(|led| run(&CORE0, blink(led, || {}).expect("spawned once")), || run(&CORE1, wait().expect("spawned once")))
}
