//! The lock for runs with one worker, which is none.
#![expect(unsafe_code, reason = "embassy-sync's trait for locks is unsafe to implement")]

use embassy_sync::blocking_mutex::raw::RawMutex;

/// Like embassy-sync's `NoopRawMutex`, but `Sync`, so that the same generic code serves one worker and several.
///
/// Only for runs with one executor: whatever it guards is made before that executor starts and is touched by its
/// thread alone from then on.
pub(crate) struct OneThreadRawMutex;

// SAFETY: with one executor all tasks run on one thread, so no other thread can hold or take the lock.
unsafe impl RawMutex for OneThreadRawMutex {
    const INIT: Self = Self;

    fn lock<R>(&self, inside: impl FnOnce() -> R) -> R {
        inside()
    }
}
