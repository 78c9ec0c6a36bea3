//! The one file that names `core` atomics, `portable_atomic` and `loom`.
//!
//! Everything a letter's path needs is load/store only, so it is the same code on a Cortex-M0+ (no compare-and-swap)
//! and elsewhere. Read-modify-write counters are a type of their own ([`Tally`]) so that nobody pays for them by
//! accident; no tally is on a letter's path.
#![expect(unsafe_code, reason = "cells shared between cores; each is guarded by the protocol of its owner")]

#[cfg(loom)]
use loom::{cell::UnsafeCell, sync::atomic};
#[cfg(not(loom))]
use {core::cell::UnsafeCell, core::sync::atomic};

use atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};

pub(crate) use crate::mutant::{Mutant, removed};

/// Declares a function that is `const` natively; loom's atomics cannot be made in a constant.
macro_rules! const_unless_loom {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($args:tt)*) -> $out:ty $body:block) => {
        #[cfg(not(loom))]
        $(#[$meta])* $vis const fn $name($($args)*) -> $out $body
        #[cfg(loom)]
        $(#[$meta])* $vis fn $name($($args)*) -> $out $body
    };
}
pub(crate) use const_unless_loom;

/// An array whose elements are all the value of one expression, natively in a constant.
macro_rules! array_of {
    ($element:expr) => {{
        #[cfg(not(loom))]
        let array = [const { $element }; _];
        #[cfg(loom)]
        let array = core::array::from_fn(|_| $element);
        array
    }};
}
pub(crate) use array_of;

/// Declares a static of the kernel; under loom, one per run of a model.
macro_rules! kernel_static {
    ($(#[$doc:meta])* static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(not(loom))]
        $(#[$doc])*
        static $name: $type = $value;
        #[cfg(loom)]
        loom::lazy_static! { static ref $name: $type = $value; }
    };
}
pub(crate) use kernel_static;

#[inline(always)]
const fn unless(weak: bool, strong: Ordering) -> Ordering {
    if weak { Ordering::Relaxed } else { strong }
}

/// A sequentially consistent fence, unless the mutant removes it.
#[inline(always)]
pub(crate) fn fence(step: Mutant) {
    if !removed(step) {
        atomic::fence(Ordering::SeqCst);
    }
}

/// A counter with one writer at a time (a core, or whoever holds a lock) and any number of readers.
///
/// The writer's own read is a type-level fact (`own`): loom does not explore all interleavings of a thread that loads
/// and then stores its own atomic, so under loom it is an unsynchronised read, which loom checks to be race-free.
pub(crate) struct Count16(AtomicU16);

impl Count16 {
    const_unless_loom! {
        pub(crate) fn new() -> Self { Self(AtomicU16::new(0)) }
    }

    /// The writer's own view.
    #[inline(always)]
    pub(crate) fn own(&self) -> u16 {
        #[cfg(not(loom))]
        return self.0.load(Ordering::Relaxed);
        #[cfg(loom)]
        // SAFETY: only the single writer calls this; loom verifies that every store happens before.
        return unsafe { self.0.unsync_load() };
    }

    /// What others have published, with everything before it.
    #[inline(always)]
    pub(crate) fn read(&self, step: Mutant) -> u16 {
        self.0.load(unless(removed(step), Ordering::Acquire))
    }

    /// What others have published in two counters, with everything before it: the first in the lower half, both at the same moment.
    ///
    /// Such a load beside stores of halves is no legal Rust, so it is the processor's: an aligned word is read at once.
    ///
    /// # Safety
    /// The pair is aligned to four bytes.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) unsafe fn read_both(pair: &[Self; 2]) -> u32 {
        // SAFETY: the caller's promise.
        let both = unsafe { Self::glance_at_both(pair) };
        atomic::fence(Ordering::Acquire);
        both
    }

    /// The same without synchronising.
    ///
    /// # Safety
    /// The pair is aligned to four bytes.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) unsafe fn glance_at_both(pair: &[Self; 2]) -> u32 {
        let both: u32;
        // SAFETY: reads the two counters, and nothing else.
        unsafe {
            core::arch::asm!(
                "ldr {both}, [{pair}]",
                both = lateout(reg) both,
                pair = in(reg) pair,
                options(nostack, readonly, preserves_flags)
            );
        }
        both
    }

    /// What is visible without synchronising: enough for sums that only coherence is asked of.
    #[inline(always)]
    pub(crate) fn glance(&self) -> u16 {
        self.0.load(Ordering::Relaxed)
    }

    /// Publishes `value` and everything the writer did before.
    #[inline(always)]
    pub(crate) fn publish(&self, value: u16, step: Mutant) {
        self.0.store(value, unless(removed(step), Ordering::Release));
    }

    /// Publishes `value` alone, as a hint.
    #[inline(always)]
    pub(crate) fn hint(&self, value: u16) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// Like [`Count16`], 32 bits wide: counts of drops and refusals.
pub(crate) struct Count32(AtomicU32);

impl Count32 {
    const_unless_loom! {
        pub(crate) fn new() -> Self { Self(AtomicU32::new(0)) }
    }

    /// The writer's own view.
    #[inline(always)]
    pub(crate) fn own(&self) -> u32 {
        #[cfg(not(loom))]
        return self.0.load(Ordering::Relaxed);
        #[cfg(loom)]
        // SAFETY: only the single writer calls this; loom verifies that every store happens before.
        return unsafe { self.0.unsync_load() };
    }

    /// What others have published, with everything before it.
    #[inline(always)]
    pub(crate) fn read(&self, step: Option<Mutant>) -> u32 {
        self.0.load(unless(step.is_some_and(removed), Ordering::Acquire))
    }

    /// Publishes `value` and everything the writer did before.
    #[inline(always)]
    pub(crate) fn publish(&self, value: u32, step: Option<Mutant>) {
        self.0.store(value, unless(step.is_some_and(removed), Ordering::Release));
    }

    /// The value without synchronising.
    #[inline(always)]
    pub(crate) fn glance(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Publishes `value` alone: whatever else is to be seen with it is ordered by a fence.
    #[inline(always)]
    pub(crate) fn hint(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// A flag that anybody raises and one owner lowers. Raising and lowering are plain stores; the protocols that use it
/// put a fence before the first and after the second.
#[repr(transparent)]
pub(crate) struct Flag(AtomicU8);

impl Flag {
    const_unless_loom! {
        pub(crate) fn new() -> Self { Self(AtomicU8::new(0)) }
    }

    #[inline(always)]
    pub(crate) fn raise(&self, step: Option<Mutant>) {
        self.0.store(1, unless(step.is_some_and(removed), Ordering::Release));
    }

    /// Raises it right after a fence, which has published what came before.
    #[inline(always)]
    pub(crate) fn raise_fenced(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn lower(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }
}

/// Two bytes, the first in the lower half, by one load, for which the same holds as for [`Count16::read_both`]. The caller acquires.
///
/// The pair is so many bytes behind an address, which is in a register anyway.
///
/// # Safety
/// The pair is there, and aligned to two bytes; it is not more than 62 bytes behind.
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[inline(always)]
unsafe fn pair_behind<const BEHIND: usize>(address: *const ()) -> u32 {
    let both: u32;
    // SAFETY: reads the two bytes, and nothing else.
    unsafe {
        core::arch::asm!(
            "ldrh {both}, [{address}, #{behind}]",
            both = lateout(reg) both,
            address = in(reg) address,
            behind = const BEHIND,
            options(nostack, readonly, preserves_flags)
        );
    }
    both
}

/// A word that others write parts of, by one load, for which the same holds as for [`Count16::read_both`]. The caller acquires.
///
/// It is so many bytes behind an address, which is in a register anyway.
///
/// # Safety
/// The word is there, aligned as one, and not more than 124 bytes behind.
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[inline(always)]
pub(crate) unsafe fn word_behind<const BEHIND: usize>(address: *const ()) -> u32 {
    let word: u32;
    // SAFETY: reads the word, and nothing else.
    unsafe {
        core::arch::asm!(
            "ldr {word}, [{address}, #{behind}]",
            word = lateout(reg) word,
            address = in(reg) address,
            behind = const BEHIND,
            options(nostack, readonly, preserves_flags)
        );
    }
    word
}

/// What was read before this was published with everything before it.
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[inline(always)]
pub(crate) fn acquire() {
    atomic::fence(Ordering::Acquire);
}

/// Two flags that their owner looks at together.
pub(crate) struct Flags([Flag; 2]);

impl Flags {
    const_unless_loom! {
        pub(crate) fn new() -> Self { Self([Flag::new(), Flag::new()]) }
    }

    #[inline(always)]
    pub(crate) fn first(&self) -> &Flag {
        &self.0[0]
    }

    #[inline(always)]
    pub(crate) fn second(&self) -> &Flag {
        &self.0[1]
    }

    /// Which of them are raised.
    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    pub(crate) fn raised(&self) -> Raised {
        let [first, second] = &self.0;
        let (first, second) = (first.0.load(Ordering::Relaxed), second.0.load(Ordering::Relaxed));
        Raised(u32::from(first) | u32::from(second) << 8).acquired()
    }
}

/// Which of two flags, side by side, are raised: the first in the lower byte.
#[derive(Clone, Copy)]
pub(crate) struct Raised(u32);

impl Raised {
    /// Which of two are, by one load, for which the same holds as for [`Count16::read_both`].
    ///
    /// The pair is so many bytes behind an address, which is in a register anyway.
    ///
    /// # Safety
    /// The pair is there, and aligned to two bytes; it is not more than 62 bytes behind.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) unsafe fn behind<const BEHIND: usize>(address: *const ()) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { pair_behind::<BEHIND>(address) }).acquired()
    }

    /// Nothing is to be seen of those who did not raise one.
    #[inline(always)]
    fn acquired(self) -> Self {
        if self.any() {
            atomic::fence(Ordering::Acquire);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    #[inline(always)]
    pub(crate) fn first(self) -> bool {
        self.0 as u8 != 0
    }

    #[inline(always)]
    pub(crate) fn second(self) -> bool {
        self.0 >> 8 != 0
    }
}

/// How a letter's turn ended: said once by the worker that had it, heard by the holder of the actor's lock.
pub(crate) struct Ending(AtomicU8);

/// What an [`Ending`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Nothing yet.
    NotYet,
    /// The method has run.
    Run,
    /// The worker gave it back, not run.
    GivenBack,
}

impl Ending {
    const_unless_loom! {
        pub(crate) fn new() -> Self { Self(AtomicU8::new(0)) }
    }

    #[inline(always)]
    pub(crate) fn say(&self, how: Ended, step: Mutant) {
        self.0.store(how as u8, unless(removed(step), Ordering::Release));
    }

    /// What was said, with everything the worker did before.
    #[inline(always)]
    pub(crate) fn hear(&self, step: Mutant) -> Ended {
        match self.0.load(unless(removed(step), Ordering::Acquire)) {
            0 => Ended::NotYet,
            1 => Ended::Run,
            _ => Ended::GivenBack,
        }
    }

    /// The holder of the lock has heard it.
    #[inline(always)]
    pub(crate) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// A small value that one side writes and others read: a core number, for example.
#[repr(transparent)]
pub(crate) struct Byte(AtomicU8);

impl Byte {
    const_unless_loom! {
        pub(crate) fn new() -> Self { Self(AtomicU8::new(0)) }
    }

    #[inline(always)]
    pub(crate) fn read(&self) -> u8 {
        self.0.load(Ordering::Acquire)
    }

    #[inline(always)]
    pub(crate) fn publish(&self, value: u8) {
        self.0.store(value, Ordering::Release);
    }

    /// What others have published in two, with everything before it, by one load, for which the same holds as for
    /// [`Count16::read_both`].
    ///
    /// # Safety
    /// The pair is aligned to two bytes.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) unsafe fn read_both(pair: &[Self; 2]) -> [u8; 2] {
        // SAFETY: the caller's promise; each is a byte.
        let both = unsafe { pair_behind::<0>((&raw const *pair).cast()) };
        atomic::fence(Ordering::Acquire);
        [both as u8, (both >> 8) as u8]
    }

    /// The writer's own view, as [`Count16::own`].
    #[inline(always)]
    pub(crate) fn own(&self) -> u8 {
        #[cfg(not(loom))]
        return self.0.load(Ordering::Relaxed);
        #[cfg(loom)]
        // SAFETY: only the single writer calls this; loom verifies that every store happens before.
        return unsafe { self.0.unsync_load() };
    }

    #[inline(always)]
    pub(crate) fn read_unless(&self, step: Mutant) -> u8 {
        self.0.load(unless(removed(step), Ordering::Acquire))
    }

    #[inline(always)]
    pub(crate) fn publish_unless(&self, value: u8, step: Mutant) {
        self.0.store(value, unless(removed(step), Ordering::Release));
    }

    /// The value without synchronising.
    #[inline(always)]
    pub(crate) fn glance(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    /// Publishes `value` alone, as a hint.
    #[inline(always)]
    pub(crate) fn hint(&self, value: u8) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// Like [`Byte`], 16 bits wide.
#[cfg(not(any(target_os = "none", all(loom, not(flockwork_rings)))))]
pub(crate) struct Half(AtomicU16);

#[cfg(not(any(target_os = "none", all(loom, not(flockwork_rings)))))]
impl Half {
    const_unless_loom! {
        pub(crate) fn new() -> Self { Self(AtomicU16::new(0)) }
    }

    #[inline(always)]
    pub(crate) fn read(&self, step: Option<Mutant>) -> u16 {
        self.0.load(unless(step.is_some_and(removed), Ordering::Acquire))
    }

    #[inline(always)]
    pub(crate) fn publish(&self, value: u16, step: Option<Mutant>) {
        self.0.store(value, unless(step.is_some_and(removed), Ordering::Release));
    }
}

/// A lock word: clear or set. Setting it is the port's business ([`Port::test_and_set`](crate::port::Port)).
#[repr(transparent)]
pub struct LockWord(AtomicU8);

impl LockWord {
    const_unless_loom! {
        pub(crate) fn new() -> Self { Self(AtomicU8::new(0)) }
    }

    /// Test-and-set with compare-and-swap: true if this call set the word. For ports whose target has it.
    ///
    /// It stores only if the word was clear, and acquires in either case.
    #[cfg(any(loom, target_has_atomic = "8"))]
    #[inline(always)]
    pub fn test_and_set(&self) -> bool {
        // A look first spares the others the cache line. It may be stale, which only makes this fail: a second try that
        // matters comes after a fence. Under loom it would hide interleavings of the exchange.
        (cfg!(loom) || self.0.load(Ordering::Acquire) == 0)
            && self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Acquire).is_ok()
    }

    /// Test-and-set with a plain load and store: true if this call set the word. For ports without compare-and-swap.
    ///
    /// # Safety
    /// No other test-and-set of this word may run meanwhile: the caller holds a hardware lock, with interrupts masked.
    #[inline(always)]
    pub unsafe fn test_and_set_exclusive(&self) -> bool {
        let clear = self.0.load(Ordering::Acquire) == 0;
        if clear {
            self.0.store(1, Ordering::Relaxed);
        }
        clear
    }

    /// Clears the word and publishes what was done under it.
    #[inline(always)]
    pub(crate) fn clear(&self) {
        self.0.store(0, unless(removed(Mutant::UnlockRelaxed), Ordering::Release));
    }

    /// The same where what was done under it has passed a fence.
    #[cfg(not(any(loom, target_has_atomic = "8")))]
    #[inline(always)]
    fn clear_after_fence(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// A register of the hardware that is a lock: a load that finds it free takes it and is not zero, a store frees it.
#[derive(Clone, Copy)]
pub struct LockRegister(core::ptr::NonNull<u32>);

impl LockRegister {
    /// The lock at an address.
    ///
    /// # Safety
    /// There is such a register, for good, which no other part of the program uses: among all cores and interrupts, one load of those
    /// between two stores is not zero.
    pub const unsafe fn at(address: core::ptr::NonNull<u32>) -> Self {
        Self(address)
    }

    /// Where it is.
    pub const fn address(self) -> core::ptr::NonNull<u32> {
        self.0
    }

    /// None is free here, ever: zero is stored, and loaded.
    #[cfg(not(any(loom, target_has_atomic = "8")))]
    const NEVER_FREE: Self = {
        static ZERO: AtomicU32 = AtomicU32::new(0);
        // SAFETY: a static is there for good.
        unsafe { Self(core::ptr::NonNull::new_unchecked(ZERO.as_ptr())) }
    };

    /// Takes the lock if it is free; acquires in either case.
    #[cfg(not(any(loom, target_has_atomic = "8")))]
    #[inline(always)]
    fn try_take(self) -> bool {
        // SAFETY: the register is there (the promise of `at`), and every load of it counts.
        let taken = unsafe { self.0.read_volatile() } != 0;
        atomic::fence(Ordering::Acquire);
        taken
    }

    /// Frees the lock and publishes what was done under it.
    #[cfg(not(any(loom, target_has_atomic = "8")))]
    #[inline(always)]
    fn free(self) {
        atomic::fence(Ordering::Release);
        // SAFETY: the register is there (the promise of `at`); whatever is stored frees it.
        unsafe { self.0.write_volatile(0) };
    }
}

/// A lock that nobody waits for: a word that the port sets; or, where there is no compare-and-swap, a register of the hardware, as long as
/// there is one, because setting a word takes three times as long there. The two are apart, so that the word can be beside other bytes.
#[derive(Clone, Copy)]
pub(crate) struct TryLock<'a> {
    pub(crate) word: &'a LockWord,
    pub(crate) choice: &'a LockChoice,
}

/// What a lock is, chosen before anybody tries for it.
pub(crate) struct LockChoice {
    /// Of a lock that has none, a place where nobody ever finds a free one: then there is nothing to ask before a try, and nothing before
    /// it is freed.
    #[cfg(not(any(loom, target_has_atomic = "8")))]
    register: Guarded<Option<LockRegister>>,
}

impl LockChoice {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                #[cfg(not(any(loom, target_has_atomic = "8")))]
                register: Guarded::new(None),
            }
        }
    }
}

#[cfg(any(loom, target_has_atomic = "8"))]
impl TryLock<'_> {
    /// Says which lock of the program this is. Nobody else knows it yet.
    pub(crate) fn choose(self, _number: u16) {
        let _ = self.choice;
    }

    /// Takes the lock if it is free; acquires in either case.
    #[inline(always)]
    pub(crate) fn try_take(self) -> bool {
        crate::port::test_and_set(self.word)
    }

    /// Frees the lock and publishes what was done under it.
    #[inline(always)]
    pub(crate) fn free(self) {
        self.word.clear();
    }

    /// The same.
    #[inline(always)]
    pub(crate) fn free_chosen(self) {
        self.free();
    }

    #[cfg(target_os = "none")]
    pub(crate) fn has_chosen(self) -> bool {
        true
    }
}

#[cfg(not(any(loom, target_has_atomic = "8")))]
impl TryLock<'_> {
    /// Says which lock of the program this is. Nobody else knows it yet.
    pub(crate) fn choose(self, number: u16) {
        self.choice.register.set(Some(crate::port::hardware_lock(number).unwrap_or(LockRegister::NEVER_FREE)));
    }

    #[inline(always)]
    fn register(self) -> LockRegister {
        // SAFETY: chosen before anybody tries.
        unsafe { self.choice.register.get().unwrap_unchecked() }
    }

    /// Takes the lock if it is free; acquires in either case.
    #[inline(always)]
    pub(crate) fn try_take(self) -> bool {
        self.register().try_take() || self.try_take_word()
    }

    /// Frees the lock and publishes what was done under it.
    #[inline(always)]
    pub(crate) fn free(self) {
        self.register().free();
        self.word.clear_after_fence();
    }

    /// The same for a lock that has a register.
    #[inline(always)]
    pub(crate) fn free_chosen(self) {
        self.register().free();
    }

    /// Whether this lock has a register. It is chosen already.
    pub(crate) fn has_chosen(self) -> bool {
        self.register().0 != LockRegister::NEVER_FREE.0
    }

    #[cold]
    #[inline(never)]
    fn try_take_word(self) -> bool {
        !self.has_chosen() && crate::port::test_and_set(self.word)
    }
}

/// A value behind the protocol of its owner (a lock, a lane, a core): read and written as a whole.
///
/// Safe to call, because the type is crate-private and never `Sync` by itself: the `unsafe impl Sync` of the struct that
/// holds it is where the argument stands. Under loom every access is checked against the happens-before relation.
pub(crate) struct Guarded<T>(UnsafeCell<T>);

impl<T> Guarded<T> {
    const_unless_loom! {
        pub(crate) fn new(value: T) -> Self { Self(UnsafeCell::new(value)) }
    }

    /// Replaces the value without dropping or reading the old one.
    #[inline(always)]
    pub(crate) fn set(&self, value: T)
    where
        T: Copy,
    {
        self.with_mut(|place| {
            // SAFETY: the owner's protocol admits nobody else now; T: Copy, so nothing needs dropping.
            unsafe { place.write(value) }
        });
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> T
    where
        T: Copy,
    {
        self.with(|place| {
            // SAFETY: the owner's protocol admits no writer now; T: Copy.
            unsafe { place.read() }
        })
    }

    /// A pointer for reading, valid during the call (under loom: tracked during the call).
    #[inline(always)]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        #[cfg(not(loom))]
        return read(self.0.get());
        #[cfg(loom)]
        return self.0.with(read);
    }

    /// A pointer for writing, valid during the call (under loom: tracked during the call).
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(not(loom))]
        return write(self.0.get());
        #[cfg(loom)]
        return self.0.with_mut(write);
    }
}

/// A counter for rare events that any core adds to. Read-modify-write: never on a letter's path.
pub(crate) struct Tally(portable_atomic::AtomicU32);

impl Tally {
    pub(crate) const fn new() -> Self {
        Self(portable_atomic::AtomicU32::new(0))
    }

    pub(crate) fn add(&self, count: u32) {
        self.0.fetch_add(count, portable_atomic::Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(portable_atomic::Ordering::Relaxed)
    }
}

/// The function that is shown dead letters. Set and read with plain stores and loads, outside of all models.
pub(crate) struct Hook(core::sync::atomic::AtomicPtr<()>);

/// What a [`Hook`] holds.
pub(crate) type DeadLetterHook = fn(&crate::overflow::DeadLetter<'_>);

impl Hook {
    pub(crate) const fn new() -> Self {
        Self(core::sync::atomic::AtomicPtr::new(core::ptr::null_mut()))
    }

    pub(crate) fn set(&self, hook: DeadLetterHook) {
        self.0.store(hook as *mut (), core::sync::atomic::Ordering::Release);
    }

    pub(crate) fn get(&self) -> Option<DeadLetterHook> {
        let hook = self.0.load(core::sync::atomic::Ordering::Acquire);
        // SAFETY: null, or stored by `set` from a function pointer of this very type; `Option` of one has null for `None`.
        unsafe { core::mem::transmute::<*mut (), Option<DeadLetterHook>>(hook) }
    }
}
