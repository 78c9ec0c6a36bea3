//! The panic handler: last words of a core that panicked.

use core::fmt::Display;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

use flockwork_board_support::{CORES, epitaph::Epitaph};

use crate::death::die;
use crate::processor;

/// Whether a core has panicked already: a message that panics while it is written comes here again.
static PANICKED: [AtomicBool; CORES] = [const { AtomicBool::new(false) }; CORES];

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    processor::mask();
    let panicked = &PANICKED[usize::from(processor::number())];
    let again = panicked.load(Ordering::Relaxed);
    panicked.store(true, Ordering::Relaxed);
    let message: &dyn Display = if again { &"the message of a panic panicked" } else { &info.message() };
    die(|core, turn| Epitaph::of_panic(core, turn, info.location(), message))
}
