//! Ready sets and invitations as words with a bit per actor.
#![expect(unsafe_code, reason = "words that are not zero")]

use core::num::NonZeroU32;

use super::{Next, Unseen};
use crate::cores::{MAX_ACTORS, OTHERS};
use crate::sync::{Count32, Flag, Guarded, Mutant, array_of, const_unless_loom, fence, kernel_static};

const _: () = assert!(MAX_ACTORS <= 32, "a word has a bit for each actor");

/// An actor's number in the kernel's table, as its bit in a word of actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActorId(NonZeroU32);

impl ActorId {
    /// That of the actor which is the `number`-th to get one, counted from 0: fewer than [`MAX_ACTORS`] have one already.
    pub(crate) fn nth(number: u16) -> Self {
        // SAFETY: one bit is set, whatever the remainder.
        Self(unsafe { NonZeroU32::new_unchecked(1 << (u32::from(number) % 32)) })
    }

    /// How many actors had a number before this one.
    pub(crate) fn number(self) -> u16 {
        self.0.trailing_zeros() as u16
    }

    /// As it is kept in words that are 0 where there is none.
    #[inline(always)]
    pub(crate) fn raw(self) -> u32 {
        self.0.get()
    }

    #[inline(always)]
    pub(crate) fn from_raw(raw: u32) -> Option<Self> {
        NonZeroU32::new(raw).map(Self)
    }

    /// Its place in a table of [`MAX_ACTORS`]. A Cortex-M0+ has no instruction that counts zeros; this product, which is another
    /// one for every bit, has its five highest bits different for each as well.
    #[inline(always)]
    pub(crate) fn place(self) -> usize {
        const DE_BRUIJN: u32 = 0x077C_B531;
        if cfg!(loom) { usize::from(self.number()) } else { (self.0.get().wrapping_mul(DE_BRUIJN) >> 27) as usize }
    }

    #[inline(always)]
    fn bit(self) -> u32 {
        self.0.get()
    }
}

kernel_static! {
    /// The actors that are pinned to some core. Written under the lock of the kernel's table, before their numbers are given out.
    static PINNED: Count32 = Count32::new();
}

/// An actor that gets its number now is pinned to a core.
pub(crate) fn pin(id: ActorId) {
    PINNED.hint(PINNED.own() | id.bit());
}

/// The actors that are pinned to some core. Whoever knows an actor's number sees whether it is one of them.
#[inline(always)]
fn pinned() -> u32 {
    PINNED.glance()
}

/// Makes the statics before a model's threads start.
#[cfg(loom)]
pub(crate) fn begin() {
    let _ = &*PINNED;
}

/// Whether an actor is marked as one of a core's ready set. A bit is its own mark.
#[derive(Clone, Copy)]
pub(crate) struct Mark;

impl Mark {
    pub(crate) const SET: Self = Self;
    pub(crate) const NONE: Self = Self;

    #[inline(always)]
    pub(crate) fn is_set(self) -> bool {
        false
    }
}

/// The ready set of a core.
pub(crate) struct Ready {
    /// Written by its core, masked; read by others.
    noted: Count32,
    /// Whose turn is still to come in this round.
    round: Guarded<u32>,
    /// What this core saw in the others' sets when it last looked.
    looked: [Guarded<u32>; OTHERS],
}

impl Ready {
    /// A bit is its own mark.
    pub(crate) const KEEPS_MARKS: bool = false;

    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                noted: Count32::new(),
                round: Guarded::new(0),
                looked: array_of!(Guarded::new(0)),
            }
        }
    }

    pub(crate) fn join(&self, _: ActorId) -> bool {
        true
    }

    pub(crate) fn part(&self, _: ActorId) {}

    /// Puts an actor in; true if it was not. Interrupts are masked.
    #[inline(always)]
    pub(crate) fn note(&self, id: ActorId, _pinned: bool) -> bool {
        let noted = self.noted.own();
        self.noted.publish(noted | id.bit(), Some(Mutant::NotedRelaxed));
        noted & id.bit() == 0
    }

    #[inline(always)]
    fn note_all(&self, actors: u32) {
        self.noted.publish(self.noted.own() | actors, Some(Mutant::NotedRelaxed));
    }

    /// Takes the next one out. A round has those that were in when it began; a turn while nobody else waits is at nobody's expense, and does
    /// not count. Interrupts are masked.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<Next> {
        let Some(noted) = NonZeroU32::new(self.noted.own()) else {
            self.round.set(0);
            return None;
        };
        if noted.get() & (noted.get() - 1) == 0 {
            self.noted.hint(0);
            return Some(Next { id: ActorId(noted), is_last: true });
        }
        core::hint::cold_path();
        let round = NonZeroU32::new(self.round.get() & noted.get()).unwrap_or(noted);
        let (id, bit) = lowest(round);
        self.round.set(round.get() ^ bit);
        self.noted.hint(noted.get() ^ bit);
        Some(Next { id, is_last: false })
    }

    /// Whether an actor is in.
    #[inline(always)]
    pub(crate) fn has(&self, id: ActorId) -> bool {
        self.noted.own() & id.bit() != 0
    }

    /// Takes an actor out, whoever is next. Interrupts are masked.
    #[inline(always)]
    pub(crate) fn take_out(&self, id: ActorId) -> bool {
        self.noted.hint(self.noted.own() & !id.bit());
        true
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.noted.own() == 0
    }

    /// Whether an actor but this one is in. (`_marked`: whether this one is, which the bits know.)
    #[inline(always)]
    pub(crate) fn has_others(&self, than: impl FnOnce() -> ActorId, _marked: impl FnOnce() -> bool) -> bool {
        let noted = self.noted.own();
        noted != 0 && noted & !than().bit() != 0
    }

    /// Whether an actor is in that other cores could visit.
    #[inline(always)]
    pub(crate) fn has_surplus(&self) -> bool {
        self.noted.own() & !pinned() != 0
    }

    /// Others are to look again: each is told by a flag of its own.
    #[inline(always)]
    pub(crate) fn offer<'a>(&self, others: impl Iterator<Item = &'a Flag>) {
        fence(Mutant::OfferedFence);
        others.for_each(Flag::raise_fenced);
    }

    /// Forgets what this core saw in the others' sets: something there was offered again.
    #[inline(always)]
    pub(crate) fn look_again(&self) {
        self.looked.iter().for_each(|looked| looked.set(0));
    }

    /// The same, because it has seen something there, and left it for later.
    #[inline(always)]
    pub(crate) fn look_later(&self) {
        self.look_again();
    }

    /// Whether core `other` has something that this core has not looked at, or has no more what it had: that is new when it comes
    /// back.
    #[inline(always)]
    pub(crate) fn missed(&self, other: usize, theirs: &Self) -> bool {
        theirs.noted.glance() != self.looked[other].get()
    }

    /// What core `other` has that this core has not looked at.
    #[inline(always)]
    pub(crate) fn look(&self, other: usize, theirs: &Self) -> Bits {
        let looked = &self.looked[other];
        let noted = theirs.noted.read(Some(Mutant::NotedReadRelaxed));
        let unseen = noted & !looked.get();
        looked.set(noted);
        Bits(if unseen == 0 { 0 } else { unseen & !pinned() })
    }
}

/// Actors, lowest number first.
pub(crate) struct Bits(u32);

impl Iterator for Bits {
    type Item = ActorId;

    #[inline(always)]
    fn next(&mut self) -> Option<ActorId> {
        let (id, bit) = lowest(NonZeroU32::new(self.0)?);
        self.0 ^= bit;
        Some(id)
    }
}

impl Unseen for Bits {
    #[inline(always)]
    fn has_more(&self) -> bool {
        self.0 != 0
    }
}

/// The actor of the lowest bit, and that bit. The word is not zero.
#[inline(always)]
fn lowest(word: NonZeroU32) -> (ActorId, u32) {
    let bit = word.get() & word.get().wrapping_neg();
    // SAFETY: a word that is not zero has a lowest bit.
    (ActorId(unsafe { NonZeroU32::new_unchecked(bit) }), bit)
}

/// Actors that one core asks another to visit: those pinned there. A bit in which the two words differ is an invitation.
///
/// An actor that is invited already is not invited again: its core will visit it and find the letter. It does, because the sender
/// publishes the letter, fences and reads `taken`; the core stores `taken`, fences and looks for letters: one sees the other.
pub(crate) struct Invitations {
    /// Written by the inviting core, masked.
    asked: Count32,
    /// Written by the invited core.
    taken: Count32,
}

impl Invitations {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { asked: Count32::new(), taken: Count32::new() }
        }
    }

    /// Invites; false if there are too many invitations, which these never are. The letter was published before.
    #[inline(always)]
    pub(crate) fn push(&self, id: ActorId) -> bool {
        fence(Mutant::InviteFence);
        let asked = self.asked.own();
        if (asked ^ self.taken.glance()) & id.bit() == 0 {
            // Released by the fence above.
            self.asked.hint(asked ^ id.bit());
        }
        true
    }

    /// Puts those invited into the set of the invited core, which calls this; but for one alone, while the set is empty: that is the next.
    #[inline(always)]
    pub(crate) fn take(&self, ready: &Ready, _note: impl FnMut(ActorId), next: impl FnOnce(ActorId)) {
        // Acquired by the fence below.
        let asked = self.asked.glance();
        let Some(new) = NonZeroU32::new(asked ^ self.taken.own()) else { return };
        self.taken.hint(asked);
        fence(Mutant::InviteTakenFence);
        if new.get() & (new.get() - 1) == 0 && ready.is_empty() {
            return next(ActorId(new));
        }
        let _masked = crate::port::mask();
        ready.note_all(new.get());
    }
}
