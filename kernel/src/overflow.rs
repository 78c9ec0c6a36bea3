//! What happens to a letter for which its sender's lane has no room, and where letters go that are never run.
//!
//! Unless a declaration says otherwise, a letter without room comes back to its sender, and nothing is lost. For letters of
//! which only the newest matters (a sensor's reading, a redraw) the declaration can name another policy, around the
//! monitor: `Actor<Screen, DropOldest<Serial>, 4>`. Every letter that is dropped is counted
//! ([`Report::dropped`](crate::Report)) and shown to the dead-letter hook, if there is one.
//!
//! To drop or replace a letter that waits, the sender needs the receiver's lock, and a sender never waits: while the receiver
//! is at work on another core at that very moment, the newest letter is dropped instead.

use core::any::Any;
use core::fmt;

use crate::inbox::Inbox;
use crate::letter::Letter;
use crate::monitor::Monitor;
use crate::sync::{Hook, Tally};

/// What happens to a letter for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Overflow {
    /// It comes back to its sender.
    Reject,
    /// It is dropped.
    DropNewest,
    /// The sender's oldest waiting letter is dropped.
    DropOldest,
    /// It takes the place of the sender's waiting letter with the same [`key`](crate::Methods::key); without one it comes
    /// back to its sender.
    Coalesce,
}

macro_rules! policies {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub struct $name<M>(M);

        impl<M: Monitor> Monitor for $name<M> {
            type Discipline = M::Discipline;
            const NEW: Self = Self(M::NEW);
            const AFFINITY: crate::Affinity = M::AFFINITY;
            const OVERFLOW: Overflow = Overflow::$name;
            const STANDING_GRANT: bool = M::STANDING_GRANT;

            #[inline(always)]
            fn schedule(&mut self, inbox: Inbox<'_>) {
                self.0.schedule(inbox);
            }

            #[inline(always)]
            fn leave(&mut self, letter: Letter<'_>) {
                self.0.leave(letter);
            }
        }
    )*};
}

policies! {
    /// The monitor `M`; a letter without room is dropped.
    DropNewest;
    /// The monitor `M`; a letter without room takes the place of its sender's oldest waiting one.
    DropOldest;
    /// The monitor `M`; a letter without room takes the place of its sender's waiting one with the same key.
    Coalesce;
}

/// Why a letter died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Death {
    /// There was no room for it.
    NoRoom,
    /// A younger letter took its place.
    Replaced,
}

/// A letter that will never be run.
pub struct DeadLetter<'m> {
    /// The type of the actor it was for.
    pub actor: &'static str,
    /// The method it called.
    pub method: &'static str,
    /// Why it died.
    pub death: Death,
    /// Its message: an `A::Message`. It is dropped after the hook.
    pub message: &'m dyn Any,
}

impl fmt::Debug for DeadLetter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeadLetter({}::{}, {:?})", self.actor, self.method, self.death)
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for DeadLetter<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "DeadLetter({=str}::{=str}, {})", self.actor, self.method, self.death);
    }
}

static HOOK: Hook = Hook::new();
static DEAD: Tally = Tally::new();

/// Sets the function that is shown every dead letter, on the core and in the context of its sender (perhaps an interrupt).
pub fn on_dead_letter(hook: fn(&DeadLetter<'_>)) {
    HOOK.set(hook);
}

/// How many letters died so far, in the whole program.
pub fn dead_letters() -> u32 {
    DEAD.get()
}

/// Counts a dead letter and shows it to the hook. Not called under a lock or mask of the kernel.
#[cold]
pub(crate) fn bury(letter: &DeadLetter<'_>) {
    DEAD.add(1);
    if let Some(hook) = HOOK.get() {
        hook(letter);
    }
}
