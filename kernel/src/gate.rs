//! The borrow gate: which letters of one actor hold its state at this moment.
//!
//! The gate, not the monitor, decides whether a grant would alias. It is plain data under the monitor's lock: a grant
//! enters it, a leave takes it out. What it admits is what Rust admits of references: any number of readers, or one
//! writer, or readers that name distinct objects (SAFE-1, SAFE-2).

use crate::letter::{Access, Letter};
use crate::objects::Claims;
use crate::sync::{Guarded, Mutant, const_unless_loom, removed};

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
    /// How many letters that share are inside, or [`ALONE`].
    inside: Guarded<u16>,
    /// The objects that are taken. `shared` ones are recomputed when one of them leaves.
    claims: Guarded<Claims>,
}

/// One letter is inside, alone.
const ALONE: u16 = u16::MAX;
/// The bit that tells it from any number of letters that share.
const SIGN: u16 = 1 << 15;

impl Gate {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { inside: Guarded::new(0), claims: Guarded::new(Claims::NONE) }
        }
    }

    /// Whether no letter is inside.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.inside.get() == 0
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

    /// Whether nobody who shares is inside.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.is_free() || removed(Mutant::GateIgnoresReaders)
    }

    #[inline(always)]
    fn admits_claims(&self, claims: Claims) -> bool {
        claims.is_empty() || !claims.conflicts_with(self.claims.get())
    }

    /// Whether one letter alone is inside: as a writer, or because letters run one at a time.
    #[inline(always)]
    pub(crate) fn has_writer(&self) -> bool {
        self.inside.get() & SIGN != 0
    }

    /// How many letters that share are inside: granted, or running. Very many, if one is alone inside.
    #[inline(always)]
    pub(crate) fn readers(&self) -> u16 {
        self.inside.get()
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
            self.inside.set(ALONE);
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
        self.inside.set(self.inside.get().wrapping_add(count));
    }

    /// Takes out letters that share, and claim nothing.
    #[inline(always)]
    pub(crate) fn release_readers(&self, count: u16) {
        self.inside.set(self.inside.get().wrapping_sub(count));
    }

    /// Lets in a letter that shares, while nobody is inside.
    #[inline(always)]
    pub(crate) fn admit_only(&self, letter: Letter<'_>) {
        self.inside.set(1);
        if letter.descriptor.claims_offset.is_some() {
            self.claims.set(letter.claims());
        }
    }

    /// Takes a letter out: the one that is alone inside, or one of those that share, whose claims are taken out after this.
    #[inline(always)]
    pub(crate) fn release(&self) {
        self.inside.set(if self.has_writer() { 0 } else { self.inside.get().wrapping_sub(1) });
    }

    /// Takes the letter out that is alone inside. Its claims were never taken in.
    #[inline(always)]
    pub(crate) fn release_writer(&self) {
        self.inside.set(0);
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
fn is_alone(letter: Letter<'_>) -> bool {
    letter.descriptor.sharing == Sharing::OneAtATime || letter.access() == Access::Writer
}

/// Whether two letters could be in the gate at once.
pub(crate) fn compatible(one: Letter<'_>, other: Letter<'_>) -> bool {
    !is_alone(one) && !is_alone(other) && !one.claims().conflicts_with(other.claims())
}
