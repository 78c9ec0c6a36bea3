//! Letters in hand: the oldest of an actor's, or some of its readers that no older writer waits before, offered to its monitor before they
//! are in any list.
//!
//! On a chip, a list costs more than most methods do. And most decisions need none: whether the oldest letter may run alone, or whether
//! readers may come in as they came. So a worker takes such letters out of their lanes and offers them as they are; the others
//! stay in the lanes. A monitor that looks further is not told less for it: before it does, what is in hand and what is in the lanes goes into
//! the lists ([`Hand::list`]), and it decides about all of them. Readers are taken lane by lane, so those that are not granted go back into
//! their lanes first: the lists are in the order of age.

use core::cell::Cell;
use core::ptr::NonNull;

use crate::letter::{Head, Link};
use crate::lists::Lists;
use crate::mailbox::Office;
use crate::share::Share;
use crate::trace;

/// Puts readers back into the lanes of a mailbox, if there are any, and lists all letters there.
pub(crate) type ListLanes = fn(&'static Office, &Lists, Option<Readers<'_>>);

/// Letters of an actor, while a monitor decides about them. Under the actor's lock.
pub(crate) struct Hand<'h> {
    /// Where they came from, and what lists the letters there. (A function, so that an inbox by itself, which monitors are tested with, needs no
    /// mailbox.)
    office: &'static Office,
    list_lanes: ListLanes,
    /// Letters that share the state and claim nothing, while no writer is in the gate. None, if the letter in hand is the oldest of any
    /// kind, while the gate is free: then the inbox knows which.
    readers: Option<Readers<'h>>,
    /// Whether the readers were granted.
    granted: Cell<bool>,
    /// Whether the letters in the lanes were listed, and with them those in hand that were not granted.
    listed: Cell<bool>,
}

impl<'h> Hand<'h> {
    /// For the oldest letter, and the next, and so on: one after the other, while the gate is free and nothing was listed.
    #[inline(always)]
    pub(crate) fn for_oldest(office: &'static Office, list_lanes: ListLanes) -> Self {
        Self { office, list_lanes, readers: None, granted: Cell::new(false), listed: Cell::new(false) }
    }

    /// With readers, which are older than every writer in the lanes.
    #[inline(always)]
    pub(crate) fn with_readers(office: &'static Office, list_lanes: ListLanes, readers: Readers<'h>) -> Self {
        Self { office, list_lanes, readers: Some(readers), granted: Cell::new(false), listed: Cell::new(false) }
    }

    /// Whether nothing of it is in the lists.
    #[inline(always)]
    pub(crate) fn holds_all(&self) -> bool {
        !self.listed.get()
    }

    /// Whether the readers were granted: they are in the gate, and in no list.
    #[inline(always)]
    pub(crate) fn is_granted(&self) -> bool {
        self.granted.get()
    }

    /// Grants the readers; how many there are. None if that was decided already, or they are none.
    #[inline(always)]
    pub(crate) fn grant_readers(&self, lists: &Lists) -> Option<usize> {
        let readers = self.readers?;
        if self.granted.get() || self.listed.get() || !lists.gate.admits_readers() {
            return None;
        }
        self.granted.set(true);
        lists.gate.admit_readers(u16::from(readers.count()));
        if trace::IS_ON {
            readers.for_each(|letter| trace::granted(|| lists.owner.get(), trace::name(letter)));
        }
        Some(usize::from(readers.count()))
    }

    /// Puts what is in hand, and what is in the lanes, into the lists, while the monitor decides. Readers that were granted stay where they are.
    /// `oldest` is the letter in hand where that is no reader's hand.
    #[cold]
    #[inline(never)]
    pub(crate) fn list(&self, lists: &Lists, oldest: Link) {
        if self.listed.get() {
            return;
        }
        if self.put_down(lists, oldest) == InLanes::NotListed {
            (self.list_lanes)(self.office, lists, None);
        }
        // The monitor is being asked about all of them; but if it has granted what was in hand, it meant others, too, and is asked again.
        if !self.granted.get() {
            lists.seen();
        }
    }

    /// The same after the monitor has decided: it was asked about what is in hand, and no more. The oldest letter comes before all others;
    /// readers are listed with what is in the lanes, by age.
    #[cold]
    #[inline(never)]
    pub(crate) fn put_down(&self, lists: &Lists, oldest: Link) -> InLanes {
        if self.listed.replace(true) {
            return InLanes::Listed;
        }
        if let Some(letter) = oldest {
            lists.take_in(letter);
            lists.seen();
        } else if let Some(readers) = self.readers
            && !self.granted.get()
        {
            (self.list_lanes)(self.office, lists, Some(readers));
            return InLanes::Listed;
        }
        InLanes::NotListed
    }
}

/// Readers in hand.
#[derive(Clone, Copy)]
pub(crate) enum Readers<'h> {
    /// This one.
    One(NonNull<Head>),
    /// So many, which were put into a share.
    Share(&'h Share, u8),
}

impl Readers<'_> {
    #[inline(always)]
    fn count(self) -> u8 {
        match self {
            Self::One(_) => 1,
            Self::Share(_, count) => count,
        }
    }

    #[inline(always)]
    pub(crate) fn for_each(self, mut each: impl FnMut(NonNull<Head>)) {
        match self {
            Self::One(letter) => each(letter),
            Self::Share(share, count) => share.letters(count).for_each(each),
        }
    }
}

/// Whether the letters in the lanes were listed, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InLanes {
    Listed,
    NotListed,
}
