//! The seam to the hardware: what the kernel needs of a chip, as one unsafe trait registered at link time.
//!
//! A port is a unit type that implements [`Port`] and is registered once per program with [`port!`](crate::port!), the
//! way `critical-section` implementations are. The kernel calls it through link names, so no type of the kernel is
//! generic over the chip, and with link-time optimisation the calls are inlined.
#![expect(unsafe_code, reason = "calls functions that the port supplies at link time")]

pub use crate::sync::{LockRegister, LockWord};
use crate::trace::{Denial, Hop, LetterName};

/// Whether threads that are no core's worker exist (on an operating system they do, on a chip they do not).
pub(crate) const FOREIGN_THREADS: bool = cfg!(all(not(target_os = "none"), not(loom)));

/// The largest number of cores: two on a chip, 64 where an operating system (or the simulator) supplies them.
pub const MAX_CORES: usize = if cfg!(miri) {
    8
} else if FOREIGN_THREADS {
    64
} else if cfg!(loom) {
    4
} else {
    2
};

/// How many lanes a mailbox has unless its declaration says otherwise: one per core of a chip; on a host four, and one
/// that foreign threads and further cores share.
pub const LANES: usize = if FOREIGN_THREADS { 5 } else { 2 };

/// The core number that [`Port::core`] reports for a thread that is no core's worker.
pub const FOREIGN: u8 = u8::MAX;

/// What the kernel needs of a chip.
///
/// # Safety
///
/// The kernel's memory safety rests on these rules:
///
/// - `core` is the same for everything that runs on one core, and two cores never report the same number. A thread that
///   is no core's worker reports [`FOREIGN`]. Numbers are below `cores()`, which is at most [`MAX_CORES`].
/// - `test_and_set` is atomic among all cores, threads and interrupts; it stores only if the word was clear, and acquires
///   also when it fails.
/// - `hardware_lock` gives out each register once, and no other part of the program uses it: [`LockRegister::at`] says what it is.
/// - Between `mask` and `unmask` nothing else runs *as this core*: interrupts that may send are off. It does not stop
///   the other cores, and it nests.
/// - `kick` is a release, `idle` an acquire. A kick is latched: one that arrives before `idle` makes the next `idle`
///   return at once. No kick is lost; `idle` may return without one.
/// - Where an exclusive access wakes the core (RP2350), `idle` and what it calls perform no read-modify-write.
///
/// Prohibitions: nothing here may send letters, take a critical section, block on another core or call back into the
/// kernel. `kick` may be called from any core and from interrupts, also for the calling core.
pub unsafe trait Port {
    /// The number of the core this runs on, or [`FOREIGN`].
    fn core() -> u8;
    /// How many cores run a worker. Constant while workers run.
    fn cores() -> u8;
    /// Makes the present or next [`idle`](Self::idle) of `core` return. Publish first, then kick.
    fn kick(core: u8);
    /// Sleeps until kicked (or interrupted). Called by a core's worker only, after its last look for work.
    fn idle();
    /// Sets the lock word; true if it was clear.
    fn test_and_set(word: &LockWord) -> bool;
    /// A lock of the hardware's for the `number`-th actor, counted from 0; none if there are no more. Each number is asked for once, and only
    /// where there is no compare-and-swap. An actor without one has a lock word.
    fn hardware_lock(number: u16) -> Option<LockRegister> {
        let _ = number;
        None
    }
    /// Masks this core's interrupts and returns what [`unmask`](Self::unmask) needs to restore them.
    fn mask() -> u32;
    /// Restores what [`mask`](Self::mask) returned.
    fn unmask(previous: u32);
    /// Microseconds since some fixed point, never going back.
    fn now() -> u64;
    /// Whether this thread unwinds from a panic. False where panics do not unwind.
    fn unwinding() -> bool {
        false
    }
    /// Runs a turn of a nested wait, keeping a panic in it from unwinding further (where panics unwind).
    fn catch(turn: &mut dyn FnMut()) {
        turn();
    }
    /// A pause in a loop that waits for another core or thread.
    fn pause() {
        core::hint::spin_loop();
    }
    /// A letter is about to reach a hop, on this core, or on a thread that is none. Called with the `trace` feature only; for
    /// [`Hop::Sent`] the letter is not published yet, so whatever time passes here passes before anybody can see it.
    ///
    /// For simulators and probes. It may take long, also while interrupts are masked or an actor's lock is held, as a slow core
    /// would; like all else here it must not wait for what another core does under such a lock. Returns whether the event is also
    /// to be written into this core's ring: a simulator that makes a record of its own, or was asked for none, says no. (A thread
    /// that is no core has no ring.)
    fn reached(hop: Hop, actor: u16, letter: Option<LetterName>) -> bool {
        let _ = (hop, actor, letter);
        true
    }
    /// The letter whose turn began last on this core, of those that have not ended, is about to end; it has no monitor, so it leaves at
    /// once. A port that takes care of both hops says so; otherwise it hears of each by [`reached`](Self::reached). Called with the
    /// `trace` feature only.
    fn left_at_once() -> bool {
        false
    }
    /// So many letters went into the inbox of an actor with a monitor, because there were several, or they had to wait: for simulators,
    /// because that takes time, and a letter alone is spared it. Called with the `trace` feature only.
    fn listed(letters: u16) {
        let _ = letters;
    }
    /// What runs on this core says that it did so many cycles of work ([`trace::charge`](crate::trace::charge)). Called with the
    /// `trace` feature only.
    fn charge(cycles: u32) {
        let _ = cycles;
    }
    /// Whether something that would succeed is to fail, as it might in a device under load. Called with the `trace` feature only; for
    /// simulators that inject faults.
    fn denies(what: Denial) -> bool {
        let _ = what;
        false
    }
}

/// Registers a [`Port`] for the whole program: `flockwork::port!(MyPort);`, once.
#[macro_export]
macro_rules! port {
    ($port:ty) => {
        const _: () = {
            #[unsafe(no_mangle)]
            fn _flockwork_port_core() -> u8 {
                <$port as $crate::port::Port>::core()
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_cores() -> u8 {
                <$port as $crate::port::Port>::cores()
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_kick(core: u8) {
                <$port as $crate::port::Port>::kick(core)
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_idle() {
                <$port as $crate::port::Port>::idle()
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_test_and_set(word: &$crate::port::LockWord) -> bool {
                <$port as $crate::port::Port>::test_and_set(word)
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_hardware_lock(number: u16) -> ::core::option::Option<$crate::port::LockRegister> {
                <$port as $crate::port::Port>::hardware_lock(number)
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_mask() -> u32 {
                <$port as $crate::port::Port>::mask()
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_unmask(previous: u32) {
                <$port as $crate::port::Port>::unmask(previous)
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_now() -> u64 {
                <$port as $crate::port::Port>::now()
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_unwinding() -> bool {
                <$port as $crate::port::Port>::unwinding()
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_catch(turn: &mut dyn FnMut()) {
                <$port as $crate::port::Port>::catch(turn)
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_pause() {
                <$port as $crate::port::Port>::pause()
            }
            #[unsafe(no_mangle)]
            #[inline(always)]
            fn _flockwork_port_reached(
                hop: $crate::trace::Hop,
                actor: u16,
                letter: ::core::option::Option<$crate::trace::LetterName>,
            ) -> bool {
                <$port as $crate::port::Port>::reached(hop, actor, letter)
            }
            #[unsafe(no_mangle)]
            #[inline(always)]
            fn _flockwork_port_left_at_once() -> bool {
                <$port as $crate::port::Port>::left_at_once()
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_listed(letters: u16) {
                <$port as $crate::port::Port>::listed(letters)
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_charge(cycles: u32) {
                <$port as $crate::port::Port>::charge(cycles)
            }
            #[unsafe(no_mangle)]
            fn _flockwork_port_denies(what: $crate::trace::Denial) -> bool {
                <$port as $crate::port::Port>::denies(what)
            }
        };
    };
}

unsafe extern "Rust" {
    fn _flockwork_port_core() -> u8;
    fn _flockwork_port_cores() -> u8;
    fn _flockwork_port_kick(core: u8);
    fn _flockwork_port_idle();
    fn _flockwork_port_test_and_set(word: &LockWord) -> bool;
    #[cfg(not(any(loom, target_has_atomic = "8")))]
    fn _flockwork_port_hardware_lock(number: u16) -> Option<LockRegister>;
    fn _flockwork_port_mask() -> u32;
    fn _flockwork_port_unmask(previous: u32);
    fn _flockwork_port_now() -> u64;
    fn _flockwork_port_unwinding() -> bool;
    fn _flockwork_port_catch(turn: &mut dyn FnMut());
    fn _flockwork_port_pause();
    #[cfg(feature = "trace")]
    fn _flockwork_port_reached(hop: Hop, actor: u16, letter: Option<LetterName>) -> bool;
    #[cfg(feature = "trace")]
    fn _flockwork_port_left_at_once() -> bool;
    #[cfg(feature = "trace")]
    fn _flockwork_port_listed(letters: u16);
    #[cfg(feature = "trace")]
    fn _flockwork_port_charge(cycles: u32);
    #[cfg(feature = "trace")]
    fn _flockwork_port_denies(what: Denial) -> bool;
}

#[inline(always)]
pub(crate) fn core() -> u8 {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    let core = unsafe { _flockwork_port_core() };
    if !FOREIGN_THREADS {
        // SAFETY: where every caller is a core, the port's rules keep its number below the limit.
        unsafe { core::hint::assert_unchecked(usize::from(core) < MAX_CORES) };
    }
    core
}

#[inline(always)]
pub(crate) fn cores() -> u8 {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_cores() }
}

#[inline(always)]
pub(crate) fn kick(core: u8) {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_kick(core) }
}

#[inline(always)]
pub(crate) fn idle() {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_idle() }
}

#[inline(always)]
pub(crate) fn test_and_set(word: &LockWord) -> bool {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_test_and_set(word) }
}

#[cfg(not(any(loom, target_has_atomic = "8")))]
#[inline(always)]
pub(crate) fn hardware_lock(number: u16) -> Option<LockRegister> {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_hardware_lock(number) }
}

#[cfg(feature = "trace")]
#[inline(always)]
pub(crate) fn now() -> u64 {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_now() }
}

#[inline(always)]
pub(crate) fn unwinding() -> bool {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_unwinding() }
}

#[inline(always)]
pub(crate) fn pause() {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_pause() }
}

/// Interrupts of this core are masked while this lives.
pub(crate) struct Masked {
    previous: u32,
    _stays_on_its_core: core::marker::PhantomData<*const ()>,
}

/// Masks this core's interrupts until the guard is dropped.
#[inline(always)]
pub(crate) fn mask() -> Masked {
    Masked {
        // SAFETY: as above; the guard unmasks on this same core, because it is not `Send`.
        previous: unsafe { _flockwork_port_mask() },
        _stays_on_its_core: core::marker::PhantomData,
    }
}

impl Drop for Masked {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `previous` comes from the matching `mask`.
        unsafe { _flockwork_port_unmask(self.previous) }
    }
}

#[inline(always)]
pub(crate) fn catch(turn: &mut dyn FnMut()) {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_catch(turn) }
}

#[cfg(feature = "trace")]
#[inline(always)]
pub(crate) fn reached(hop: Hop, actor: u16, letter: Option<LetterName>) -> bool {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_reached(hop, actor, letter) }
}

#[cfg(feature = "trace")]
#[inline(always)]
pub(crate) fn left_at_once() -> bool {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_left_at_once() }
}

#[cfg(feature = "trace")]
#[inline(always)]
pub(crate) fn listed(letters: u16) {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_listed(letters) }
}

#[cfg(feature = "trace")]
#[inline(always)]
pub(crate) fn charge(cycles: u32) {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_charge(cycles) }
}

#[cfg(feature = "trace")]
#[inline(always)]
pub(crate) fn denies(what: Denial) -> bool {
    // SAFETY: registered by `port!` with this signature; `Port` demands nothing of its caller here.
    unsafe { _flockwork_port_denies(what) }
}
