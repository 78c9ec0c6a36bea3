// An actor that is not pinned runs on any core, so its state must be `Send`.
use flockwork::{Actor, Serial, actor};

struct Uart(*mut u8);

#[actor]
impl Uart {
    pub fn is_open(&self) -> bool {
        !self.0.is_null()
    }
}

#[actor]
static UART: Actor<Uart, Serial, 8> = Uart(core::ptr::null_mut());

fn main() {}
