//! What is checked before the first letter, because it would go wrong silently.

/// Panics unless a critical section keeps the other cores out.
///
/// A program chooses its `critical-section` by linking one. That of a single-core chip compiles and links just as well; it
/// masks interrupts only, and on two cores corrupts whatever it protects. `lock_is_held` says whether the hardware lock
/// that the board's own implementation takes is taken now: outside of a critical section it must not be, inside it must.
/// It is called before other cores run.
///
/// # Panics
/// With the reason, if the critical section in this program does not take the lock.
pub fn require_multicore_critical_section(lock_is_held: impl Fn() -> bool) {
    let before = lock_is_held();
    let inside = critical_section::with(|_| lock_is_held());
    let after = lock_is_held();
    assert!(
        inside,
        "the critical section in this image is a single-core one: it does not keep the other core out; link the board's"
    );
    assert!(!before && !after, "the lock of the critical section is held outside of one: release it at reset");
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::{cell::Cell, panic::catch_unwind, string::String};

    /// What the check says if these are the states of the lock before, in and after a critical section.
    fn said(states: [bool; 3]) -> Option<String> {
        let refused = catch_unwind(move || {
            let asked = Cell::new(0);
            require_multicore_critical_section(|| states[asked.replace(asked.get() + 1)]);
        });
        refused.err().map(|panic| panic.downcast_ref::<&str>().copied().unwrap_or_default().into())
    }

    #[test]
    fn a_section_that_takes_the_lock_passes() {
        assert_eq!(said([false, true, false]), None);
    }

    #[test]
    fn a_single_core_section_is_refused() {
        assert!(said([false, false, false]).is_some_and(|why| why.contains("single-core")));
    }

    #[test]
    fn a_lock_that_is_always_held_proves_nothing() {
        assert!(said([true, true, true]).is_some_and(|why| why.contains("outside")));
        assert!(said([false, true, true]).is_some_and(|why| why.contains("outside")));
    }
}
