//! An actor runs into an instruction that does not exist, on core 0.
#![no_std]
#![no_main]

use flockwork::{Actor, Pinned, actor};
use flockwork_check_fates::boot;
use flockwork_rp2040::{Core1Stack, entry, run};

/// Does what no processor can.
pub struct Daredevil;

#[actor]
impl Daredevil {
    /// An undefined instruction.
    pub fn jump(&mut self) {
        cortex_m::asm::udf();
    }
}

#[actor]
static DAREDEVIL: Actor<Daredevil, Pinned<0>, 2> = Daredevil;

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let (core1, _line) = boot();
    DAREDEVIL.jump().tell().expect("its mailbox is empty");
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
