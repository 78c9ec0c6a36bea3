//! Trace events for every hop of a letter, into a ring per core; nothing at all without the `trace` feature.
//!
//! The kernel writes and never reads them. A ring keeps the newest events; what it overwrote is counted. The port hears of each
//! hop before it is written ([`Port::reached`](crate::port::Port::reached)), and of work that a method declares ([`charge`]): a
//! simulator lets time pass there.

use core::ptr::NonNull;

use crate::letter::Head;
use crate::ready::ActorId;

/// What happened to a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Hop {
    /// It was written into its lane.
    Sent,
    /// The monitor granted it.
    Granted,
    /// The gate refused a grant that would have aliased.
    Refused,
    /// A worker began its method.
    Started,
    /// Its method ended.
    Ended,
    /// The monitor saw it leave.
    Left,
    /// It was not accepted, or its message was dropped without being run.
    Dropped,
}

/// Whether events are written at all.
pub(crate) const IS_ON: bool = cfg!(feature = "trace");

/// Which letter of an actor: its lane and its slot there, unique while it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LetterName {
    /// The lane it was sent through.
    pub lane: u8,
    /// Its slot there.
    pub slot: u16,
    /// The place of its method in the actor's `METHODS`.
    pub method: u8,
}

/// Says that the calling method, task or interrupt just did so many cycles of work.
///
/// On a chip the work takes its time by itself, and this is nothing: without the `trace` feature not even a call. In simulated
/// time, where the host's speed must not matter, this is how work takes time at all
/// ([`Port::charge`](crate::port::Port::charge)).
///
/// ```
/// # let entries = [1_u32, 2, 3];
/// let sum: u32 = entries.iter().sum();
/// flockwork::trace::charge(4 * entries.len() as u32);
/// # assert_eq!(sum, 6);
/// ```
#[inline(always)]
pub fn charge(cycles: u32) {
    #[cfg(feature = "trace")]
    crate::port::charge(cycles);
    #[cfg(not(feature = "trace"))]
    let _ = cycles;
}

/// Letters went into an inbox; nothing at all without the feature.
#[inline(always)]
pub(crate) fn listed(letters: u16) {
    #[cfg(feature = "trace")]
    crate::port::listed(letters);
    #[cfg(not(feature = "trace"))]
    let _ = letters;
}

/// What a simulator can deny ([`Port::denies`](crate::port::Port::denies)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Denial {
    /// Room for a letter: the sender hears that the mailbox is full.
    Room,
    /// An answer: the promise fails, as if its reply had been dropped.
    Answer,
}

/// Whether the port denies it; never without the feature.
#[inline(always)]
pub(crate) fn denies(what: Denial) -> bool {
    #[cfg(feature = "trace")]
    return crate::port::denies(what);
    #[cfg(not(feature = "trace"))]
    {
        let _ = what;
        false
    }
}

/// Whose letters some lists are; nothing at all without the feature.
pub(crate) struct Owner(#[cfg(feature = "trace")] crate::sync::Count32);

impl Owner {
    crate::sync::const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(
                #[cfg(feature = "trace")]
                crate::sync::Count32::new(),
            )
        }
    }

    pub(crate) fn set(&self, id: ActorId) {
        #[cfg(feature = "trace")]
        self.0.publish(id.raw(), None);
        #[cfg(not(feature = "trace"))]
        let _ = id;
    }

    pub(crate) fn get(&self) -> Option<ActorId> {
        #[cfg(feature = "trace")]
        return ActorId::from_raw(self.0.read(None));
        #[cfg(not(feature = "trace"))]
        None
    }
}

/// Which letter an event is about; nothing at all without the feature.
#[derive(Clone, Copy)]
pub(crate) struct Name(#[cfg(feature = "trace")] LetterName);

/// The name of a letter. Ask while it has its slot: the sender may use a slot again as soon as it is freed.
#[inline(always)]
pub(crate) fn name(letter: NonNull<Head>) -> Name {
    #[cfg(feature = "trace")]
    return Name(rings::name(letter));
    #[cfg(not(feature = "trace"))]
    {
        let _ = letter;
        Name()
    }
}

macro_rules! hops {
    ($($(#[$doc:meta])* $function:ident => $hop:ident;)*) => {$(
        $(#[$doc])*
        /// Only an actor has a number, so a rehearsal leaves no trace. The number is asked for only if it is used.
        #[inline(always)]
        pub(crate) fn $function(actor: impl FnOnce() -> Option<ActorId>, letter: Name) {
            #[cfg(feature = "trace")]
            if let Some(actor) = actor() {
                rings::write(Hop::$hop, actor, Some(letter.0));
            }
            #[cfg(not(feature = "trace"))]
            let _ = (actor, letter);
        }
    )*};
}

hops! {
    sent => Sent;
    granted => Granted;
    refused => Refused;
    started => Started;
    ended => Ended;
    left => Left;
}

/// A letter without a monitor leaves as soon as it has ended: both hops, which a port may note as one.
#[inline(always)]
pub(crate) fn ended_and_left(actor: impl FnOnce() -> Option<ActorId>, letter: Name) {
    #[cfg(feature = "trace")]
    if !crate::port::left_at_once()
        && let Some(actor) = actor()
    {
        rings::write_both(actor, letter.0);
    }
    #[cfg(not(feature = "trace"))]
    let _ = (actor, letter);
}

/// A letter that did not get into a lane.
#[inline(always)]
pub(crate) fn dropped(actor: impl FnOnce() -> Option<ActorId>) {
    #[cfg(feature = "trace")]
    if let Some(actor) = actor() {
        rings::write(Hop::Dropped, actor, None);
    }
    #[cfg(not(feature = "trace"))]
    let _ = actor;
}

#[cfg(feature = "trace")]
pub use rings::{Event, drain};

#[cfg(feature = "trace")]
mod rings {
    #![expect(unsafe_code, reason = "reads the head of a slot; per-core rings in a static")]

    use core::ptr::NonNull;

    use super::{Hop, LetterName};
    use crate::letter::{Head, Top};
    use crate::port::{self, FOREIGN, MAX_CORES};
    use crate::ready::ActorId;
    use crate::sync::{Guarded, array_of, const_unless_loom, kernel_static};

    /// Events per core.
    const CAPACITY: usize = if cfg!(loom) {
        4
    } else if cfg!(target_os = "none") {
        64
    } else {
        1024
    };

    /// One hop of one letter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    pub struct Event {
        /// The port's time, in microseconds.
        pub time: u64,
        /// What happened.
        pub hop: Hop,
        /// The actor's number, in the order of their first letters.
        pub actor: u16,
        /// The letter, unless it never got into a lane.
        pub letter: Option<LetterName>,
    }

    struct Ring {
        written: Guarded<u32>,
        read: Guarded<u32>,
        events: [Guarded<Option<Event>>; CAPACITY],
    }

    impl Ring {
        const_unless_loom! {
            fn new() -> Self {
                Self { written: Guarded::new(0), read: Guarded::new(0), events: array_of!(Guarded::new(None)) }
            }
        }
    }

    struct Rings([Ring; MAX_CORES]);

    // SAFETY: a ring is written and read by its own core, with interrupts masked.
    unsafe impl Sync for Rings {}

    impl Rings {
        const_unless_loom! {
            fn new() -> Self { Self(array_of!(Ring::new())) }
        }
    }

    kernel_static! { static RINGS: Rings = Rings::new(); }

    pub(super) fn name(letter: NonNull<Head>) -> LetterName {
        // SAFETY: a slot of a static mailbox, or of a rehearsal, that holds a letter now.
        let top = unsafe { Top::of(letter) };
        let label = top.label.get();
        LetterName { lane: label.lane() as u8, slot: label.slot(), method: top.method.get() }
    }

    /// Every hop comes here. On a host a port that only takes a note of it is inlined, so the rest waits until it says that it wants
    /// more; on a chip this is a function, whose cycles are counted.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn write(hop: Hop, actor: ActorId, letter: Option<LetterName>) {
        let actor = actor.number();
        // First, because simulated time passes there.
        if port::reached(hop, actor, letter) {
            keep(hop, actor, letter);
        }
    }

    /// A letter ends and leaves, and the port did not see to both.
    #[inline(never)]
    pub(super) fn write_both(actor: ActorId, letter: LetterName) {
        write(Hop::Ended, actor, Some(letter));
        write(Hop::Left, actor, Some(letter));
    }

    #[inline(never)]
    fn keep(hop: Hop, actor: u16, letter: Option<LetterName>) {
        if port::core() == FOREIGN {
            return;
        }
        let event = Event { time: port::now(), hop, actor, letter };
        let _masked = port::mask();
        let ring = &RINGS.0[usize::from(port::core())];
        let place = ring.written.get();
        ring.events[place as usize % CAPACITY].set(Some(event));
        ring.written.set(place.wrapping_add(1));
    }

    /// Reads this core's events since the last call, oldest first, and returns how many were overwritten unread.
    /// On a thread that is no core there are none.
    pub fn drain(mut each: impl FnMut(Event)) -> u32 {
        let here = port::core();
        if here == FOREIGN {
            return 0;
        }
        let ring = &RINGS.0[usize::from(here)];
        let (written, read) = (ring.written.get(), ring.read.get());
        let unread = written.wrapping_sub(read);
        let lost = unread.saturating_sub(CAPACITY as u32);
        let mut place = read.wrapping_add(lost);
        while place != written {
            if let Some(event) = ring.events[place as usize % CAPACITY].get() {
                each(event);
            }
            place = place.wrapping_add(1);
        }
        ring.read.set(written);
        lost
    }
}
