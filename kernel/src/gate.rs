//! The borrow gate: which letters of one actor hold its state at this moment.
//!
//! The gate, not the monitor, decides whether a grant would alias. It is plain data under the monitor's lock: a grant
//! enters it, a leave takes it out. What it admits is what Rust admits of references: any number of readers, or one
//! writer, or readers that name distinct objects (SAFE-1, SAFE-2).
//!
//! # Guests
//!
//! A reader that its monitor has granted once and for all ([`Monitor::STANDING_GRANT`](crate::Monitor::STANDING_GRANT)) is a guest: the monitor
//! hears of neither its start nor its end, and it goes without the lock. Each core counts its own. A guest comes in under the lock, so
//! whoever has the lock after that sees it; it goes by a store that releases, so whoever finds the count at zero has its reads behind it.
//! Nobody who is alone comes in while there are guests. Whoever is kept out by them says so, for them to visit the actor when they go:
//!
//! ```text
//!  holder:  guests inside?  awaited = 1;  fence;  guests still inside?  → not admitted
//!  guest:   guests = guests - 1;          fence;  awaited?              → a visit, in which the monitor is asked again
//! ```
//!
//! With a fence on each side one of the two sees the other's store: the holder admits the letter, or the guest visits.
#![expect(unsafe_code, reason = "spares the check of an index, and reads a word at once")]

use crate::letter::{Access, Letter};
use crate::objects::Claims;
use crate::port::MAX_CORES;
use crate::sync::{Byte, Flag, Guarded, Mutant, array_of, const_unless_loom, fence, removed};
#[cfg(all(target_os = "none", target_arch = "arm"))]
use crate::sync::{acquire, word_behind};

/// How an actor's state may be borrowed, by its monitor's discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Every letter is treated as a writer.
    OneAtATime,
    /// Readers at once, and letters that name different objects.
    Parallel,
}

/// The borrow state of one actor.
pub(crate) struct Gate {
    inside: Inside,
    /// Whether somebody waits for the guests to go. Raised and lowered under the lock.
    awaited: Flag,
    /// The objects that are taken. `shared` ones are recomputed when one of them leaves.
    claims: Guarded<Claims>,
}

/// Who is inside; on a chip of two cores one word.
#[repr(C, align(4))]
struct Inside {
    /// How many letters that share are inside, or [`ALONE`]. Without guests.
    letters: Guarded<u16>,
    /// How many guests run on each core. Written by that core, upwards under the lock.
    guests: [Byte; MAX_CORES],
    /// No core from this one on has ever had a guest. (A host has many cores.)
    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    until: Guarded<u8>,
}

/// One letter is inside, alone.
const ALONE: u16 = u16::MAX;
/// The bit that tells it from any number of letters that share.
const SIGN: u16 = 1 << 15;

impl Gate {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                inside: Inside {
                    letters: Guarded::new(0),
                    guests: array_of!(Byte::new()),
                    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
                    until: Guarded::new(0),
                },
                awaited: Flag::new(),
                claims: Guarded::new(Claims::NONE),
            }
        }
    }

    /// Whether no letter is inside, and no guest.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        // SAFETY: there the word is.
        let inside = unsafe { word_behind::<{ Self::INSIDE }>((&raw const *self).cast()) };
        acquire();
        inside == 0
    }

    /// Where the word is that says who is inside.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    pub(crate) const INSIDE: usize = {
        assert!(MAX_CORES == 2 && size_of::<Inside>() == 4 && align_of::<Inside>() == 4, "it is one word");
        core::mem::offset_of!(Self, inside)
    };

    /// Whether no letter is inside, and no guest.
    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.has_no_letter() && !self.has_guests()
    }

    /// Whether no letter is inside that came in by a grant; but there may be guests.
    #[inline(always)]
    pub(crate) fn has_no_letter(&self) -> bool {
        self.inside.letters.get() == 0
    }

    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    fn has_guests(&self) -> bool {
        (0..self.inside.until.get()).any(|core| self.guests_of(core).read_unless(Mutant::GuestsReadRelaxed) != 0)
    }

    /// The guests of a core.
    #[inline(always)]
    fn guests_of(&self, core: u8) -> &Byte {
        debug_assert!(usize::from(core) < MAX_CORES);
        // SAFETY: the number of a core, which the port's rules keep below the limit.
        unsafe { self.inside.guests.get_unchecked(usize::from(core)) }
    }

    /// A guest comes in, which this core runs. The lock is held, and nobody is alone inside.
    #[inline(always)]
    pub(crate) fn let_guest_in(&self, here: u8) {
        let guests = self.guests_of(here);
        guests.hint(guests.own() + 1);
        #[cfg(not(all(target_os = "none", target_arch = "arm")))]
        if self.inside.until.get() <= here {
            self.inside.until.set(here + 1);
        }
    }

    /// A guest of this core goes. The lock is not held. True if somebody waits for that: then the actor is to be visited.
    #[inline(always)]
    pub(crate) fn let_guest_go(&self, here: u8) -> bool {
        let guests = self.guests_of(here);
        guests.publish_unless(guests.own() - 1, Mutant::GuestGoneRelaxed);
        fence(Mutant::GuestGoneFence);
        self.awaited.is_raised()
    }

    /// Whether somebody has waited for guests to go since this was asked last: then the monitor is asked again. The lock is held.
    #[inline(always)]
    pub(crate) fn take_awaited(&self) -> bool {
        let awaited = self.awaited.is_raised();
        if awaited {
            self.awaited.lower();
        }
        awaited
    }

    /// Whether guests alone were in the way of a letter since the monitor was asked last. The lock is held.
    #[inline(always)]
    pub(crate) fn awaits_guests(&self) -> bool {
        self.has_no_letter() && self.awaited.is_raised()
    }

    /// Guests are in the way: they are to visit the actor when they go. True if they have gone meanwhile.
    #[cold]
    #[inline(never)]
    fn await_guests(&self) -> bool {
        self.awaited.raise(None);
        fence(Mutant::GuestsAwaitedFence);
        let have_gone = self.is_free();
        if have_gone {
            self.awaited.lower();
        }
        have_gone
    }

    /// Whether a letter could come in now without aliasing.
    #[inline(always)]
    pub(crate) fn admits(&self, letter: Letter<'_>) -> bool {
        // The claims count whatever the access says: a hand-written `Methods` may call a letter with claims a reader.
        !self.is_closed() && if is_alone(letter) { self.is_empty() } else { self.admits_claims(letter.claims()) }
    }

    /// Whether nobody else can come in.
    #[inline(always)]
    fn is_closed(&self) -> bool {
        self.has_writer() && !removed(Mutant::GateIgnoresWriter)
    }

    /// Whether nobody who shares is inside. If it is guests alone, it is asked again when they have gone.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.is_free() || removed(Mutant::GateIgnoresReaders) || (self.has_no_letter() && self.await_guests())
    }

    #[inline(always)]
    fn admits_claims(&self, claims: Claims) -> bool {
        claims.is_empty() || !claims.conflicts_with(self.claims.get())
    }

    /// Whether one letter alone is inside: as a writer, or because letters run one at a time.
    #[inline(always)]
    pub(crate) fn has_writer(&self) -> bool {
        self.inside.letters.get() & SIGN != 0
    }

    /// How many letters that share are inside: granted, or running. Very many, if one is alone inside.
    #[inline(always)]
    pub(crate) fn readers(&self) -> u16 {
        self.inside.letters.get()
    }

    /// Lets a letter in, unless it would alias.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn admit(&self, letter: Letter<'_>) -> bool {
        if is_alone(letter) {
            return self.admit_alone();
        }
        let claims = letter.claims();
        let admitted = self.admits_claims(claims) && self.admit_reader();
        if admitted && !claims.is_empty() {
            self.claims.set(self.claims.get().with(claims));
        }
        admitted
    }

    /// Lets a letter in that must be alone.
    #[inline(always)]
    pub(crate) fn admit_alone(&self) -> bool {
        let admitted = !self.is_closed() && self.is_empty();
        if admitted {
            self.inside.letters.set(ALONE);
        }
        admitted
    }

    /// Lets a letter in that shares, and claims nothing.
    #[inline(always)]
    pub(crate) fn admit_reader(&self) -> bool {
        let admitted = self.admits_readers();
        if admitted {
            self.admit_readers(1);
        }
        admitted
    }

    /// Whether letters that share, and claim nothing, can come in.
    #[inline(always)]
    pub(crate) fn admits_readers(&self) -> bool {
        !self.is_closed()
    }

    /// Lets in so many letters that share, and claim nothing, where they can come in.
    #[inline(always)]
    pub(crate) fn admit_readers(&self, count: u16) {
        self.inside.letters.set(self.inside.letters.get().wrapping_add(count));
    }

    /// Takes out letters that share, and claim nothing.
    #[inline(always)]
    pub(crate) fn release_readers(&self, count: u16) {
        self.inside.letters.set(self.inside.letters.get().wrapping_sub(count));
    }

    /// Lets in a letter that shares, while nobody is inside.
    #[inline(always)]
    pub(crate) fn admit_only(&self, letter: Letter<'_>) {
        self.inside.letters.set(1);
        if letter.descriptor.claims_offset.is_some() {
            self.claims.set(letter.claims());
        }
    }

    /// Takes a letter out: the one that is alone inside, or one of those that share, whose claims are taken out after this.
    #[inline(always)]
    pub(crate) fn release(&self) {
        self.inside.letters.set(if self.has_writer() { 0 } else { self.inside.letters.get().wrapping_sub(1) });
    }

    /// Takes the letter out that is alone inside. Its claims were never taken in.
    #[inline(always)]
    pub(crate) fn release_writer(&self) {
        self.inside.letters.set(0);
    }

    /// Takes the claims of a letter out. `others` are those of the letters that stay, asked for only if this one shared an
    /// object.
    pub(crate) fn release_claims(&self, claims: Claims, others: impl FnOnce() -> Claims) {
        if !claims.is_empty() {
            let rest = if claims.shares() { others() } else { self.claims.get().without_exclusive(claims) };
            self.claims.set(rest);
        }
    }
}

/// Whether a letter must be alone in the gate.
#[inline(always)]
pub(crate) fn is_alone(letter: Letter<'_>) -> bool {
    letter.descriptor.sharing == Sharing::OneAtATime || letter.access() == Access::Writer
}

/// Whether two letters could be in the gate at once.
pub(crate) fn compatible(one: Letter<'_>, other: Letter<'_>) -> bool {
    !is_alone(one) && !is_alone(other) && !one.claims().conflicts_with(other.claims())
}
