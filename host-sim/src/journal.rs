//! The journal of a stepped device: hops that have happened, and whose time has not been worked out yet.
//!
//! As long as nobody looks at a clock, nobody can tell when a hop happened. So the core that runs only takes a note of it, a few
//! instructions at the place where it happens, and the simulation works many off at once, in a loop of its own
//! ([`Recorder::work_off`](crate::run::Recorder::work_off)): when the journal is full, or before anything that depends on time.
//!
//! **Invariant (open):** a journal is open for as many notes as cannot bring the core to where others have to catch up, whatever they
//! cost. While it is open nobody but that core runs. It is closed on a thread that runs no simulation, and while the simulation is at work.

use std::cell::Cell;

use flockwork::trace::{Hop, LetterName};

/// Notes that it can hold. All that is written or read for them stays in the innermost cache.
pub(crate) const CAPACITY: usize = 255;

/// A note stands for so many hops at most.
pub(crate) const HOPS_PER_NOTE: usize = 3;

/// What has been noted.
pub(crate) struct Note {
    kind: Cell<Kind>,
    /// Which letter; nothing that counts unless it has reached a hop, or had a whole turn.
    letter: Cell<LetterName>,
}

/// What happened, and to whose letter: one word, so that notes are told apart quickly.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind(u32);

impl Kind {
    /// The letter whose turn is the innermost has ended, and left at once.
    pub(crate) const LEFT_AT_ONCE: Self = Self(7 << 16);
    /// A `get` had to wait.
    pub(crate) const WAITED: Self = Self(8 << 16);
    const WHOLE_TURN: u32 = 9;

    /// An actor's letter has reached a hop.
    #[inline(always)]
    pub(crate) fn new(hop: Hop, actor: u16) -> Self {
        Self((hop as u32) << 16 | u32::from(actor))
    }

    /// An actor's letter has started, ended and left at once, and nothing happened in between.
    #[inline(always)]
    fn whole_turn(actor: u16) -> Self {
        Self(Self::WHOLE_TURN << 16 | u32::from(actor))
    }

    /// Whose letter it is that has reached a hop, or had a whole turn.
    #[inline(always)]
    pub(crate) fn actor(self) -> u16 {
        self.0 as u16
    }

    #[inline(always)]
    pub(crate) fn is(self, hop: Hop) -> bool {
        self.0 >> 16 == hop as u32
    }

    #[inline(always)]
    pub(crate) fn is_whole_turn(self) -> bool {
        self.0 >> 16 == Self::WHOLE_TURN
    }

    /// The hops of a letter that has reached one, or had a whole turn.
    pub(crate) fn hops(self) -> &'static [Hop] {
        const HOPS: [Hop; 7] =
            [Hop::Sent, Hop::Granted, Hop::Refused, Hop::Started, Hop::Ended, Hop::Left, Hop::Dropped];
        match self.0 >> 16 {
            Self::WHOLE_TURN => &[Hop::Started, Hop::Ended, Hop::Left],
            hop => HOPS.get(hop as usize).map_or(&[], std::slice::from_ref),
        }
    }
}

impl Note {
    const fn empty() -> Self {
        Self { kind: Cell::new(Kind::WAITED), letter: Cell::new(LetterName { lane: 0, slot: 0, method: 0 }) }
    }

    #[inline(always)]
    pub(crate) fn kind(&self) -> Kind {
        self.kind.get()
    }

    #[inline(always)]
    pub(crate) fn letter(&self) -> LetterName {
        self.letter.get()
    }
}

struct Journal {
    /// The place of the last note; 0 if there is none. (A byte, so that a place needs no check.)
    last: Cell<u8>,
    /// The last place that may be written.
    end: Cell<u8>,
    /// The first one is never written: it stands for what was before.
    notes: [Note; CAPACITY + 1],
}

const _: () = assert!(CAPACITY == u8::MAX as usize, "a place in a journal is a byte");

thread_local! {
    static JOURNAL: Journal = const {
        Journal { last: Cell::new(0), end: Cell::new(0), notes: [const { Note::empty() }; CAPACITY + 1] }
    };
}

/// Takes a note; false if the journal has no room for it, or is closed.
#[inline(always)]
pub(crate) fn note(kind: Kind, letter: Option<LetterName>) -> bool {
    JOURNAL.with(|journal| {
        let last = journal.last.get();
        if last == journal.end.get() {
            return false;
        }
        let place = last.wrapping_add(1);
        journal.last.set(place);
        let note = &journal.notes[usize::from(place)];
        note.kind.set(kind);
        if let Some(letter) = letter {
            note.letter.set(letter);
        }
        true
    })
}

/// Takes a note that the innermost turn has ended, of a letter that left at once; false as above.
#[inline(always)]
pub(crate) fn note_leave_at_once() -> bool {
    let has_started_last = JOURNAL.with(|journal| {
        // If nothing was noted since a turn began, it is that turn which ends.
        let last = &journal.notes[usize::from(journal.last.get())].kind;
        let has_started = last.get().is(Hop::Started);
        if has_started {
            last.set(Kind::whole_turn(last.get().actor()));
        }
        has_started
    });
    has_started_last || note(Kind::LEFT_AT_ONCE, None)
}

/// Opens the empty journal of this thread for so many notes, or as many as it can hold.
#[inline(always)]
pub(crate) fn open(notes: u64) {
    JOURNAL.with(|journal| {
        debug_assert!(journal.last.get() == 0, "it is closed before it is opened");
        journal.end.set(notes.min(CAPACITY as u64) as u8);
    });
}

/// Closes it and shows what was noted, in order, unless that is nothing.
#[inline(always)]
pub(crate) fn close(work_off: impl FnOnce(&[Note])) {
    JOURNAL.with(|journal| {
        journal.end.set(0);
        let last = usize::from(journal.last.replace(0));
        if last > 0 {
            work_off(&journal.notes[1..=last]);
        }
    });
}
