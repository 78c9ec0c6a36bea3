//! The device itself: what it supplies beside the kernel's port.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use critical_section::Mutex;

use crate::hold::CORE_1;
use crate::patience::{deliver, reach};
use crate::{Case, Device, Stop, require_equal, share};

pub(crate) const CASES: &[Case] = &[Case {
    name: "device/critical-section",
    proves: "critical sections hold off both cores",
    cores: 2,
    run: critical_section_of_both_cores,
}];

/// What both cores change, in two steps.
static SHARED: Mutex<(Cell<u32>, Cell<u32>)> = Mutex::new((Cell::new(0), Cell::new(0)));
static DONE: AtomicU32 = AtomicU32::new(0);

/// Adds so many times, each time in a critical section inside another.
fn add(times: u32) {
    for _ in 0..times {
        critical_section::with(|outer| {
            let (one, other) = SHARED.borrow(outer);
            let sum = one.get() + 1;
            critical_section::with(|inner| SHARED.borrow(inner).0.set(sum));
            // The outer one still holds: the inner one must not have let anybody in.
            other.set(other.get() + 1);
        });
    }
}

/// Adds so many times, on the core of the actor that calls it.
pub(crate) fn add_there(times: u32) {
    add(times);
    DONE.store(1, SeqCst);
}

/// A critical section keeps the other core out, and may be entered again inside.
fn critical_section_of_both_cores(device: &'static dyn Device) -> Result<(), Stop> {
    let times = share(device, 10, 5000);
    critical_section::with(|token| {
        let (one, other) = SHARED.borrow(token);
        one.set(0);
        other.set(0);
    });
    DONE.store(0, SeqCst);
    deliver(device, CORE_1.add(times).tell())?;
    // The letter is on its way before this core begins.
    flockwork::worker::step_once();
    add(times);
    reach(device, "additions of core 1", 1, || DONE.load(SeqCst))?;
    let (one, other) = critical_section::with(|token| {
        let (one, other) = SHARED.borrow(token);
        (one.get(), other.get())
    });
    require_equal("additions inside", 2 * times, one)?;
    require_equal("additions outside", 2 * times, other)
}
