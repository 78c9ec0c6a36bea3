//! A discipline for state that must not move, under a monitor that does not pin its actor.
use flockwork::{Actor, Any, Inbox, Letter, Monitor, OnOneCore, actor};

struct Everywhere;

impl Monitor for Everywhere {
    type Discipline = OnOneCore;
    const NEW: Self = Self;
    fn schedule(&mut self, inbox: Inbox<'_>) {
        inbox.execute_oldest(Any);
    }
    fn leave(&mut self, _: Letter<'_>) {}
}

struct Uart(*mut u8);

#[actor]
impl Uart {
    pub fn address(&self) -> usize {
        self.0.addr()
    }
}

#[actor]
static UART: Actor<Uart, Everywhere, 8> = Uart(core::ptr::null_mut());

fn main() {
    UART.address().tell().unwrap();
}
