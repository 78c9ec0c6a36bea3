// A pinned actor stays on its core, so its state needs no `Send`.
use flockwork::{Actor, Pinned, actor};
use flockwork_host_sim as _;

struct Uart(*mut u8);

#[actor]
impl Uart {
    pub fn is_open(&self) -> bool {
        !self.0.is_null()
    }
}

#[actor]
static UART: Actor<Uart, Pinned<0>, 8> = Uart(core::ptr::null_mut());

fn main() {
    let _ = UART.is_open();
}
