//! A turn on core 1 goes deep, and the high-water mark of its stack tells.
#![no_std]
#![no_main]

use core::hint::black_box;

use embassy_executor::task;
use embassy_rp::uart::{Blocking, UartTx};
use embedded_io::Write;
use flockwork::{Actor, Pinned, actor};
use flockwork_check_fates::boot;
use flockwork_rp2040::{Core1Stack, Outcome, entry, finish, run, stack};

/// What a dive takes at least.
const DEPTH: usize = 1024;

/// Goes deep.
pub struct Diver;

#[actor]
impl Diver {
    /// Reaches the surface only.
    pub fn float(&mut self) {}

    /// Uses `DEPTH` bytes of stack, and as many again if the compiler makes a copy.
    pub fn dive(&mut self) {
        fill();
    }
}

/// Has a frame of its own: inlined, it would make that of every letter as deep.
#[inline(never)]
fn fill() {
    black_box([7_u8; DEPTH]);
}

#[actor]
static DIVER: Actor<Diver, Pinned<1>, 2> = Diver;

/// Bytes of the stack of core 1 that were ever used.
fn used() -> usize {
    stack::high_water(1).map_or(0, |mark| mark.used)
}

#[task]
async fn watch(mut line: UartTx<'static, Blocking>) {
    let mut marks = [0; 3];
    let floated = DIVER.float().await.is_ok();
    marks[0] = used();
    let dived = DIVER.dive().await.is_ok();
    marks[1] = used();
    let floated_again = DIVER.float().await.is_ok();
    marks[2] = used();
    let [before, deep, after] = marks;
    // A mark stays where it was, and is not far from what was used.
    let told =
        before < DEPTH && deep >= before + DEPTH / 2 && deep >= DEPTH && deep <= before + 3 * DEPTH && after == deep;
    let written = writeln!(line, "core 1 used {before} bytes, then {deep}; {:?}", stack::high_water(0)).is_ok();
    let flushed = line.blocking_flush().is_ok();
    let passed = floated && dived && floated_again && told && written && flushed;
    finish(if passed { Outcome::Passed } else { Outcome::Failed });
}

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let (core1, line) = boot();
    run(core1, &CORE1_STACK, |core0| core0.spawn(watch(line).expect("the task is spawned once")), |_core1| {})
}
