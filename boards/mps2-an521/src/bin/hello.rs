//! The smallest firmware: a letter that stays on its core, and one that crosses to the other core, with its answer back.
#![no_std]
#![no_main]

use embassy_executor::task;
use flockwork::{Actor, Pinned, actor};
use flockwork_mps2_an521::{Core1Stack, Outcome, core, entry, finish, log, run};

/// Greets whoever asks, and says where it runs.
pub struct Greeter {
    greeted: u32,
}

#[actor]
impl Greeter {
    /// The core it runs on, and how many were greeted before.
    pub fn greet(&mut self) -> (u8, u32) {
        self.greeted += 1;
        (core(), self.greeted - 1)
    }
}

#[actor]
static HERE: Actor<Greeter, Pinned<0>, 2> = Greeter { greeted: 0 };

#[actor]
static THERE: Actor<Greeter, Pinned<1>, 2> = Greeter { greeted: 0 };

#[task]
async fn hello() {
    let (here, _) = HERE.greet().await.expect("a greeter answers");
    let (there, _) = THERE.greet().await.expect("a greeter answers");
    log(format_args!("hello from core {here}, hello from core {there}"));
    finish(if (here, there) == (0, 1) { Outcome::Passed } else { Outcome::Failed })
}

static CORE1_STACK: Core1Stack<8192> = Core1Stack::new();

#[entry]
fn main() -> ! {
    run(&CORE1_STACK, |core0| core0.spawn(hello().expect("the task is spawned once")), |_core1| {})
}
