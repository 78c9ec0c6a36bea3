//! The port of the models: cores are loom threads, and a kick is exactly as strong as `Port` demands.
#![expect(unsafe_code, reason = "implements the kernel's unsafe `Port`")]

use flockwork::port::{FOREIGN, LockWord, MAX_CORES, Port};
use loom::sync::atomic::AtomicU8;
use loom::thread::{self, Thread};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

loom::thread_local! {
    static CORE: Cell<u8> = Cell::new(FOREIGN);
}

loom::lazy_static! {
    static ref LATCHES: [AtomicU8; MAX_CORES] = std::array::from_fn(|_| AtomicU8::new(0));
}

// Loom runs all threads of a model on the thread of its test, so these are the model's own, and unknown to loom.
std::thread_local! {
    static CORES: Cell<u8> = const { Cell::new(1) };
    static ASLEEP: RefCell<[Option<Thread>; MAX_CORES]> = const { RefCell::new([const { None }; MAX_CORES]) };
}

/// Prepares a run of a model with this many cores.
pub(crate) fn begin(cores: u8) {
    CORES.set(cores);
    ASLEEP.with_borrow_mut(|asleep| asleep.fill(None));
    let _ = &*LATCHES;
}

/// From now on this loom thread is that core.
pub(crate) fn become_core(core: u8) {
    CORE.with(|number| number.set(core));
}

struct ModelPort;

// SAFETY: every loom thread has a core number of its own; test-and-set is a compare-and-swap; a kick is a latched word,
// set by a releasing and cleared by an acquiring read-modify-write; there are no interrupts.
unsafe impl Port for ModelPort {
    fn core() -> u8 {
        CORE.with(Cell::get)
    }

    fn cores() -> u8 {
        CORES.get()
    }

    fn kick(core: u8) {
        LATCHES[usize::from(core)].swap(1, Ordering::Release);
        // Nothing happens between the sleeper's last look at its latch and its parking, so it is parked or it will look.
        if let Some(sleeper) = ASLEEP.with_borrow_mut(|asleep| asleep[usize::from(core)].take()) {
            sleeper.unpark();
        }
    }

    fn idle() {
        let core = usize::from(Self::core());
        while LATCHES[core].swap(0, Ordering::Acquire) == 0 {
            ASLEEP.with_borrow_mut(|asleep| asleep[core] = Some(thread::current()));
            thread::park();
        }
    }

    fn test_and_set(word: &LockWord) -> bool {
        word.test_and_set()
    }

    fn mask() -> u32 {
        0
    }

    fn unmask(_: u32) {}

    fn now() -> u64 {
        0
    }

    fn pause() {
        thread::yield_now();
    }
}

flockwork::port!(ModelPort);
