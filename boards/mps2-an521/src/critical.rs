//! `critical-section` for two cores: interrupts masked, and a lock that one core holds at a time, as often as it likes.
#![expect(unsafe_code, reason = "implements the critical section")]

use core::sync::atomic::{AtomicU8, Ordering};

use critical_section::{Impl, RawRestoreState, set_impl};

use crate::port::{core, mask, unmask};

/// The core that is in a critical section, plus one; 0 if none is.
static OWNER: AtomicU8 = AtomicU8::new(0);

/// What `acquire` returns inside a critical section of the same core: the outer one will release.
const NESTED: RawRestoreState = 2;

struct BothCores;

set_impl!(BothCores);

// SAFETY: with interrupts masked nothing else runs on this core, and whoever changes `OWNER` from 0 keeps the other core out
// until it stores 0 again. The exchange acquires what the store releases.
unsafe impl Impl for BothCores {
    unsafe fn acquire() -> RawRestoreState {
        let previous = mask();
        let me = core() + 1;
        // Only this core ever stores its own number, and it does so with interrupts masked.
        if OWNER.load(Ordering::Relaxed) == me {
            return NESTED;
        }
        while OWNER.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed).is_err() {
            core::hint::spin_loop();
        }
        (previous & 1) as RawRestoreState
    }

    unsafe fn release(state: RawRestoreState) {
        if state != NESTED {
            OWNER.store(0, Ordering::Release);
            unmask(u32::from(state));
        }
    }
}

/// Whether some core is in a critical section of this implementation.
pub(crate) fn is_held() -> bool {
    OWNER.load(Ordering::Relaxed) != 0
}
