//! How deep stacks were: painted at boot, and looked at when somebody asks.
//!
//! A stack grows down. What was never reached still has its paint, so the lowest word without it is the high-water mark. A
//! program could write the very colour; it would then seem to have used four bytes less.
#![expect(unsafe_code, reason = "writes and reads memory that is a stack")]

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::CORES;

/// No address, no small number, no usual filling.
const PAINT: u32 = 0xC0DE_F10C;

/// How much of a stack was ever used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct HighWater {
    /// Bytes that were used at the deepest.
    pub used: usize,
    /// Bytes there are.
    pub size: usize,
}

impl fmt::Display for HighWater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes", self.used, self.size)
    }
}

/// The bounds of a core's stack; both 0 while it is not watched. Written once, by whoever starts the core.
struct Bounds {
    bottom: AtomicUsize,
    top: AtomicUsize,
}

static STACKS: [Bounds; CORES] = [const { Bounds { bottom: AtomicUsize::new(0), top: AtomicUsize::new(0) } }; CORES];

/// Paints the unused part of a core's stack, from `bottom` up to `unused_until`, and watches it from now on.
///
/// `bottom` is above the guard, if the stack has one; `top` is where the stack begins, at its highest address.
///
/// # Safety
/// From `bottom` to `top` there is memory that is the core's stack and nothing else, for good, readable by every core. Nobody
/// uses what is below `unused_until` before this returns.
pub unsafe fn watch(core: u8, bottom: *mut u32, unused_until: *mut u32, top: *const u32) {
    let mut word = bottom;
    while word < unused_until {
        // SAFETY: between `bottom` and `unused_until`, which the caller says nobody uses. Volatile, because to the compiler
        // a stack is no object that anybody reads.
        unsafe {
            word.write_volatile(PAINT);
            word = word.add(1);
        }
    }
    let bounds = &STACKS[usize::from(core)];
    bounds.bottom.store(bottom.expose_provenance(), Ordering::Relaxed);
    bounds.top.store(top.addr(), Ordering::Release);
}

/// Whether a stack pointer of this core is below the end of its stack. No, as far as is known, if the stack is not watched.
pub fn is_below(core: u8, sp: usize) -> bool {
    STACKS.get(usize::from(core)).is_some_and(|bounds| sp < bounds.bottom.load(Ordering::Relaxed))
}

/// How much of a core's stack was ever used; `None` if there is no such core, or it was not started.
pub fn high_water(core: u8) -> Option<HighWater> {
    let bounds = STACKS.get(usize::from(core))?;
    let top = bounds.top.load(Ordering::Acquire);
    let bottom = bounds.bottom.load(Ordering::Relaxed);
    (top != 0).then(|| {
        let mut word = core::ptr::with_exposed_provenance::<u32>(bottom);
        // SAFETY: within a stack, which `watch` was told is memory for good. Its core may write meanwhile; a volatile read of
        // a word sees the paint or what replaced it.
        while word.addr() < top && unsafe { word.read_volatile() } == PAINT {
            word = word.wrapping_add(1);
        }
        HighWater { used: top - word.addr(), size: top - bottom }
    })
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::{boxed::Box, string::ToString};

    /// A stack of 16 words, of which the upper four are in use when it is first watched.
    fn watched(core: u8) -> *mut u32 {
        let bottom = Box::leak(Box::new([0_u32; 16])).as_mut_ptr();
        // SAFETY: leaked memory that nothing but these tests uses.
        unsafe { watch(core, bottom, bottom.add(12), bottom.add(16)) };
        bottom
    }

    #[test]
    fn the_mark_is_the_deepest_word_that_lost_its_paint() {
        let bottom = watched(0);
        assert_eq!(high_water(0), Some(HighWater { used: 16, size: 64 }));
        // A hole is not a bottom: a function may leave an array on the stack untouched.
        // SAFETY: within the leaked memory.
        unsafe { bottom.add(5).write(1) };
        assert_eq!(high_water(0), Some(HighWater { used: 44, size: 64 }));
        assert!(!is_below(0, bottom.addr()) && is_below(0, bottom.addr() - 4));
        // SAFETY: within the leaked memory.
        unsafe { bottom.write(1) };
        assert_eq!(high_water(0).unwrap().to_string(), "64 of 64 bytes");
    }

    #[test]
    fn a_core_that_was_not_started_has_no_mark() {
        assert_eq!(high_water(1), None);
        assert!(!is_below(1, 0));
        assert_eq!(high_water(CORES as u8), None);
    }
}
