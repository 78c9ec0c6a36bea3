//! The borrow gate: which letters of one actor hold its state at this moment.
//!
//! The gate, not the monitor, decides whether a grant would alias. It is plain data under the monitor's lock: a grant
//! enters it, a leave takes it out. What it admits is what Rust admits of references: any number of readers, or one
//! writer, or readers that name distinct objects (SAFE-1, SAFE-2).

use crate::letter::Access;
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
    readers: Guarded<u16>,
    writer: Guarded<bool>,
    /// The objects that are taken. `shared` ones are recomputed when one of them leaves.
    claims: Guarded<Claims>,
}

impl Gate {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { readers: Guarded::new(0), writer: Guarded::new(false), claims: Guarded::new(Claims::NONE) }
        }
    }

    /// Whether a letter could come in now without aliasing.
    #[inline(always)]
    pub(crate) fn admits(&self, sharing: Sharing, access: Access, claims: Claims) -> bool {
        if self.writer.get() && !removed(Mutant::GateIgnoresWriter) {
            return false;
        }
        match (sharing, access) {
            (Sharing::OneAtATime, _) | (_, Access::Writer) => {
                self.readers.get() == 0 || removed(Mutant::GateIgnoresReaders)
            }
            // The claims count whatever the access says: a hand-written `Methods` may call a letter with claims a reader.
            (Sharing::Parallel, Access::Reader | Access::Objects) => {
                claims.is_empty() || !claims.conflicts_with(self.claims.get())
            }
        }
    }

    /// Whether one letter alone is inside: as a writer, or because letters run one at a time.
    #[inline(always)]
    pub(crate) fn has_writer(&self) -> bool {
        self.writer.get()
    }

    /// Lets a letter in, unless it would alias.
    #[inline(always)]
    pub(crate) fn admit(&self, sharing: Sharing, access: Access, claims: Claims) -> bool {
        if !self.admits(sharing, access, claims) {
            return false;
        }
        match (sharing, access) {
            (Sharing::OneAtATime, _) | (_, Access::Writer) => self.writer.set(true),
            (Sharing::Parallel, Access::Reader | Access::Objects) => {
                if !claims.is_empty() {
                    self.claims.set(self.claims.get().with(claims));
                }
                self.readers.set(self.readers.get() + 1);
            }
        }
        true
    }

    /// Takes a letter out: the one that is alone inside, or one of those that share. `others` are the claims of those that
    /// stay, asked for only if this one shared an object.
    #[inline(always)]
    pub(crate) fn release(&self, claims: impl FnOnce() -> Claims, others: impl FnOnce() -> Claims) {
        if self.writer.get() {
            return self.writer.set(false);
        }
        self.readers.set(self.readers.get() - 1);
        let claims = claims();
        if !claims.is_empty() {
            let rest = if claims.shares() { others() } else { self.claims.get().without_exclusive(claims) };
            self.claims.set(rest);
        }
    }
}

/// Whether two letters could be in the gate at once.
pub(crate) fn compatible(sharing: Sharing, one: (Access, Claims), other: (Access, Claims)) -> bool {
    match sharing {
        Sharing::OneAtATime => false,
        Sharing::Parallel => one.0 != Access::Writer && other.0 != Access::Writer && !one.1.conflicts_with(other.1),
    }
}
