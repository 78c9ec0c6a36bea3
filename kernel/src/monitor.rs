//! Monitors: plain decisions about which letters of one actor may run, and when.
//!
//! A monitor has two functions: [`schedule`](Monitor::schedule) looks at the inbox and grants letters,
//! [`leave`](Monitor::leave) hears of each letter whose method has ended. The kernel calls them under mutual exclusion,
//! on whatever worker is at hand, and never calls `schedule` with an empty inbox. (It calls neither for letters that a monitor has granted
//! once and for all: [`STANDING_GRANT`](Monitor::STANDING_GRANT).) A monitor needs no locks, no atomics
//! and no `unsafe`; what it gets wrong costs parallelism or progress, never memory safety: grants that would alias are
//! refused.

use crate::gate::Sharing;
use crate::inbox::{Any, Inbox};
use crate::letter::Letter;
use crate::lists::{Lists, ListsOf};
use crate::overflow::Overflow;

/// A monitor, to be bound to an actor by its declaration: `Actor<Dictionary, ReadersWriter, 32>`.
///
/// Each actor has its own instance, made from [`NEW`](Self::NEW), so a monitor is never bound twice (PAM-4).
///
/// ```
/// use flockwork::{Any, Inbox, Letter, Monitor, OneAtATime};
///
/// /// The youngest letter first.
/// pub struct LastComeFirstServed { busy: bool }
///
/// impl Monitor for LastComeFirstServed {
///     type Discipline = OneAtATime;
///     const NEW: Self = Self { busy: false };
///
///     fn schedule(&mut self, inbox: Inbox<'_>) {
///         if !self.busy {
///             self.busy = inbox.execute_youngest(Any);
///         }
///     }
///     fn leave(&mut self, _: Letter<'_>) {
///         self.busy = false;
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a monitor",
    label = "expected a monitor",
    note = "use `Serial`, `Mutex`, `ReadersWriter`, … or implement `flockwork::Monitor` (`schedule` and `leave`) for `{Self}`"
)]
pub trait Monitor: Send + Sized + 'static {
    /// How letters may share the actor's state under this monitor: [`OneAtATime`] or [`Parallel`].
    type Discipline: Discipline;

    /// A monitor bound to a new actor.
    const NEW: Self;

    /// Which core may run the actor's letters.
    const AFFINITY: Affinity = Affinity::Any;

    /// What happens to a letter for which there is no room.
    const OVERFLOW: Overflow = Overflow::Reject;

    /// Whether there is a standing grant for letters about which there is nothing to decide. Then the kernel runs them without a call of
    /// [`schedule`](Self::schedule) or [`leave`](Self::leave), which makes a letter alone nearly as cheap as under no monitor:
    ///
    /// - any letter, while no other one waits, is granted or runs;
    /// - under a [`Parallel`] discipline also a reader without objects, while no other one waits or is granted, and only such readers run.
    ///
    /// To declare it is a promise: asked about such letters, the monitor would grant them at once, and when all of them had left, it would be as
    /// it was before. It may be asked about others meanwhile; a grant that such readers are in the way of is not made, and not reported
    /// either, and it is asked again when they have ended. Whoever breaks the promise gets other decisions than it would make,
    /// never a letter that aliases.
    const STANDING_GRANT: bool = false;

    /// Looks at the waiting letters and grants those that may run now.
    fn schedule(&mut self, inbox: Inbox<'_>);

    /// A granted letter's method has ended (also if it failed or was forwarded).
    fn leave(&mut self, letter: Letter<'_>);
}

/// Which core runs an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Affinity {
    /// Whichever is free.
    Any,
    /// This one alone.
    Pinned(u8),
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::OneAtATime {}
    impl Sealed for super::Parallel {}
    impl Sealed for super::OnOneCore {}
    impl Sealed for super::OldestFirst {}
    impl Sealed for super::OldestFirstOnOneCore {}
}

/// How letters of one actor may share its state. Sealed: [`OneAtATime`], [`Parallel`], [`OnOneCore`].
pub trait Discipline: sealed::Sealed + 'static {
    #[doc(hidden)]
    const SHARING: SharingOf;
    /// Whether the state may not even move: then the monitor must pin its actor, which is checked at its declaration.
    #[doc(hidden)]
    const STAYS: bool = false;
    /// What is kept of letters that left their lanes. Nothing, if there is no monitor at all ([`Serial`]): then letters run
    /// straight from there.
    #[doc(hidden)]
    type Lists: ListsOf;
    #[doc(hidden)]
    const UNMONITORED: bool = false;
}

/// The kernel's private form of a discipline.
#[doc(hidden)]
pub struct SharingOf(pub(crate) Sharing);

/// One letter at a time: the state needs `Send` only, so `Cell` is fine.
#[derive(Debug)]
pub struct OneAtATime;
/// Readers at once: the state needs `Sync`.
#[derive(Debug)]
pub struct Parallel;
/// One letter at a time, always on the same core: the state needs neither `Send` nor `Sync`. Only for monitors whose
/// [`AFFINITY`](Monitor::AFFINITY) is [`Affinity::Pinned`].
#[derive(Debug)]
pub struct OnOneCore;
/// No monitor is asked: the discipline of [`Serial`], which nobody else can name.
#[derive(Debug)]
pub struct OldestFirst;
/// The same for [`Pinned`].
#[derive(Debug)]
pub struct OldestFirstOnOneCore;

impl Discipline for OneAtATime {
    const SHARING: SharingOf = SharingOf(Sharing::OneAtATime);
    type Lists = Lists;
}
impl Discipline for Parallel {
    const SHARING: SharingOf = SharingOf(Sharing::Parallel);
    type Lists = Lists;
}
impl Discipline for OnOneCore {
    const SHARING: SharingOf = SharingOf(Sharing::OneAtATime);
    const STAYS: bool = true;
    type Lists = Lists;
}
impl Discipline for OldestFirst {
    const SHARING: SharingOf = SharingOf(Sharing::OneAtATime);
    type Lists = ();
    const UNMONITORED: bool = true;
}
impl Discipline for OldestFirstOnOneCore {
    const SHARING: SharingOf = SharingOf(Sharing::OneAtATime);
    const STAYS: bool = true;
    type Lists = ();
    const UNMONITORED: bool = true;
}

/// A discipline that is sound for a state: the pair decides, not the state alone.
#[diagnostic::on_unimplemented(
    message = "the state `{State}` may not be used under the monitor's discipline `{Self}`",
    label = "this state and this monitor do not fit together",
    note = "under a `Parallel` monitor several cores read the state at once, so it must be `Sync` (and its objects too); \
            use an atomic or a `Mutex` monitor instead of `Cell`",
    note = "under any unpinned monitor the state moves between cores, so it must be `Send`; `Pinned<CORE>` lifts that"
)]
pub trait Permits<State>: Discipline {}

#[diagnostic::do_not_recommend]
impl<State: Send> Permits<State> for OneAtATime {}
#[diagnostic::do_not_recommend]
impl<State: Send + Sync> Permits<State> for Parallel {}
impl<State> Permits<State> for OnOneCore {}
#[diagnostic::do_not_recommend]
impl<State: Send> Permits<State> for OldestFirst {}
#[diagnostic::do_not_recommend]
impl<State> Permits<State> for OldestFirstOnOneCore {}

/// No monitor: one letter at a time, oldest first (PAM-5).
#[derive(Debug)]
pub struct Serial;

impl Monitor for Serial {
    type Discipline = OldestFirst;
    const NEW: Self = Self;

    fn schedule(&mut self, inbox: Inbox<'_>) {
        inbox.execute_oldest(Any);
    }
    fn leave(&mut self, _: Letter<'_>) {}
}

/// No monitor, and always on core `CORE`: for state that must not move, such as a `!Send` peripheral (KER-5).
///
/// ```compile_fail,E0277
/// // The same state without `Pinned` does not compile: it is not `Send`.
/// use flockwork::{Actor, Serial, actor};
/// pub struct Uart(*mut u8);
/// #[actor] impl Uart { pub fn write(&mut self, byte: u8) {} }
/// #[actor] static UART: Actor<Uart, Serial, 8> = Uart(core::ptr::null_mut());
/// ```
#[derive(Debug)]
pub struct Pinned<const CORE: u8>;

impl<const CORE: u8> Monitor for Pinned<CORE> {
    type Discipline = OldestFirstOnOneCore;
    const NEW: Self = Self;
    const AFFINITY: Affinity = Affinity::Pinned(CORE);

    fn schedule(&mut self, inbox: Inbox<'_>) {
        inbox.execute_oldest(Any);
    }
    fn leave(&mut self, _: Letter<'_>) {}
}
