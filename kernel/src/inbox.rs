//! The inbox of an actor: the letters that wait, oldest first, and the operations a monitor has on them.
//!
//! The operations are those of the paper on parallel actor monitors (its Table 1). Those for one letter return whether
//! it was granted, the others how many were. A grant is refused, counted and reported if it would alias what is running
//! (SAFE-1); granted letters start when `schedule` returns, so a monitor never sees a message that is being moved out.

use core::fmt;

use crate::gate::{Sharing, compatible};
use crate::hand::Hand;
use crate::letter::{Access, Category, Descriptor, Letter, Link, Stage};
use crate::lists::{Lists, deref};

/// Anything that passes some letters and not others: a closure, a [`Category`], [`Readers`], [`Writers`], [`Any`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a filter for letters",
    label = "expected a filter",
    note = "a filter is a closure `|letter: &Letter<'_>| -> bool`, a `&'static Category`, `Readers`, `Writers` or `Any`"
)]
pub trait Filter {
    /// Whether the letter passes.
    fn pass(&self, letter: &Letter<'_>) -> bool;

    /// Whether letters with this access pass, if it looks at nothing else, as the kernel's own do.
    #[doc(hidden)]
    #[inline(always)]
    fn by_access(&self, _: Access) -> ByAccess {
        ByAccess(None)
    }
}

/// The kernel's word for it that a filter looks at nothing but the access of letters: it neither fails nor grants.
#[doc(hidden)]
#[derive(Debug)]
pub struct ByAccess(Option<bool>);

impl<F: Fn(&Letter<'_>) -> bool> Filter for F {
    #[inline(always)]
    fn pass(&self, letter: &Letter<'_>) -> bool {
        self(letter)
    }
}

impl Filter for Category {
    fn pass(&self, letter: &Letter<'_>) -> bool {
        letter.category() == Some(self)
    }
}

impl Filter for &'static Category {
    fn pass(&self, letter: &Letter<'_>) -> bool {
        letter.category() == Some(self)
    }
}

macro_rules! access_filter {
    ($(#[$doc:meta] $name:ident = $pattern:pat,)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, Default)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub struct $name;

        impl Filter for $name {
            #[inline(always)]
            fn pass(&self, letter: &Letter<'_>) -> bool {
                matches!(letter.access(), $pattern)
            }

            #[inline(always)]
            fn by_access(&self, access: Access) -> ByAccess {
                ByAccess(Some(matches!(access, $pattern)))
            }
        }
    )*};
}

access_filter! {
    /// Passes letters whose method has a `&self` receiver.
    Readers = Access::Reader | Access::Objects,
    /// Passes letters whose method has a `&mut self` receiver.
    Writers = Access::Writer,
    /// Passes every letter.
    Any = _,
}

/// A monitor's view of the letters that wait, oldest first.
#[derive(Clone, Copy)]
pub struct Inbox<'i> {
    pub(crate) lists: &'i Lists,
    pub(crate) descriptor: &'i Descriptor,
    /// The only letter there is, while the gate is free: it is in no list, and no grant of it can alias. Where a monitor's functions are
    /// inlined, what they do with such an inbox has no loop, and no list.
    pub(crate) only: Link,
    /// Letters that are in no list although there may be more in the lanes: `only`, then the oldest of all; or, without it, readers.
    pub(crate) hand: Option<&'i Hand<'i>>,
    /// How letters may share the actor's state: known to the compiler where this is made for a monitor.
    pub(crate) sharing: Sharing,
}

impl<'i> Inbox<'i> {
    /// The letters, oldest first (PAM-A3). Granting while iterating is safe; granted letters are passed over.
    #[inline(always)]
    pub fn letters(self) -> Letters<'i> {
        let inbox = self.listed();
        Letters { inbox, cursor: if inbox.only.is_some() { inbox.only } else { self.lists.oldest() } }
    }

    /// The same with all letters in the lists: what is done with it may look at any of them.
    #[inline(always)]
    fn listed(self) -> Self {
        match self.hand {
            None => self,
            Some(hand) => {
                hand.list(self.lists, self.only);
                Self { only: None, hand: None, ..self }
            }
        }
    }

    /// The oldest letter, while it is in hand and waits.
    #[inline(always)]
    fn oldest_in_hand(self) -> Option<Letter<'i>> {
        let head = self.only?;
        let letter = Letter { head, descriptor: self.descriptor };
        (self.hand?.holds_all() && letter.head().stage.get() == Stage::Waiting).then_some(letter)
    }

    /// Grants the readers in hand, if all such letters are meant and there are some.
    #[inline(always)]
    fn execute_readers_in_hand(self, which: &impl Filter) -> Option<usize> {
        let are_meant = self.only.is_none() && which.by_access(Access::Reader).0 == Some(true);
        self.hand.filter(|_| are_meant)?.grant_readers(self.lists)
    }

    /// How many letters wait.
    pub fn len(self) -> usize {
        self.letters().count()
    }

    /// Whether none waits (only after granting: `schedule` is never called with an empty inbox).
    pub fn is_empty(self) -> bool {
        self.letters().next().is_none()
    }

    /// Grants this letter (PAM-A4). False if it is no longer in the inbox, or if the grant would alias what is granted
    /// or running already (which is counted and reported).
    #[inline(always)]
    pub fn execute(self, letter: Letter<'i>) -> bool {
        if self.only.is_some() && self.hand.is_none_or(Hand::holds_all) {
            self.lists.grant_only(letter.head)
        } else {
            self.lists.grant(letter, self.sharing)
        }
    }

    /// Whether these letters could all be granted now, together: all of them wait, and none would alias another or what
    /// is granted or running already. For monitors that would rather wait than be refused.
    pub fn admits(self, letters: &[Letter<'i>]) -> bool {
        letters.iter().enumerate().all(|(place, letter)| {
            letter.head().stage.get() == Stage::Waiting
                && self.lists.gate.admits(*letter)
                && letters[..place].iter().all(|other| other != letter && compatible(*letter, *other))
        })
    }

    /// Grants all of these letters, in this order, or none (which is counted and reported if one of them would alias).
    pub fn execute_together(self, letters: &[Letter<'i>]) -> bool {
        if self.admits(letters) {
            return letters.iter().all(|letter| self.execute(*letter));
        }
        if let Some(letter) = letters.first()
            && letters.iter().all(|letter| letter.head().stage.get() == Stage::Waiting)
        {
            self.lists.refuse_unless_guests(letter.head);
        }
        false
    }

    /// Grants every letter that passes (PAM-A5).
    pub fn execute_all(self, filter: impl Filter) -> usize {
        if let Some(granted) = self.execute_readers_in_hand(&filter) {
            return granted;
        }
        self.letters().filter(|letter| filter.pass(letter) && self.execute(*letter)).count()
    }

    /// Grants the oldest letter that passes (PAM-A6).
    #[inline(always)]
    pub fn execute_oldest(self, filter: impl Filter) -> bool {
        if let Some(oldest) = self.oldest_in_hand()
            && filter.pass(&oldest)
        {
            return self.execute(oldest);
        }
        self.letters().find(|letter| filter.pass(letter)).is_some_and(|letter| self.execute(letter))
    }

    /// Grants the youngest letter that passes (PAM-A7).
    pub fn execute_youngest(self, filter: impl Filter) -> bool {
        self.letters().filter(|letter| filter.pass(letter)).last().is_some_and(|letter| self.execute(letter))
    }

    /// Grants all that pass `which` and are older than the oldest that passes `limit`; all that pass `which` if none
    /// passes `limit` (PAM-A8).
    #[inline(always)]
    pub fn execute_older_than(self, which: impl Filter, limit: impl Filter) -> usize {
        let are_readers_older = limit.by_access(Access::Reader).0 == Some(false);
        if self.oldest_in_hand().is_some_and(|oldest| limit.pass(&oldest)) {
            return 0;
        }
        if are_readers_older && let Some(granted) = self.execute_readers_in_hand(&which) {
            return granted;
        }
        let mut granted = 0;
        let by_access = which.by_access(Access::Reader).0.is_some() && limit.by_access(Access::Reader).0.is_some();
        if self.only.is_none() && self.hand.is_none() && self.sharing == Sharing::Parallel && by_access {
            granted = self.lists.grant_front(self.descriptor, |letter| !limit.pass(letter) && which.pass(letter));
        }
        for letter in self.letters() {
            if limit.pass(&letter) {
                break;
            }
            if which.pass(&letter) && self.execute(letter) {
                granted += 1;
            }
        }
        granted
    }

    /// Grants every letter older than the oldest that passes `limit` (PAM-A9).
    pub fn execute_all_older_than(self, limit: impl Filter) -> usize {
        self.execute_older_than(Any, limit)
    }

    /// Grants all that pass `which` and are younger than the youngest that passes `limit`; all that pass `which` if
    /// none passes `limit` (PAM-A10).
    pub fn execute_younger_than(self, which: impl Filter, limit: impl Filter) -> usize {
        let youngest = self.letters().filter(|letter| limit.pass(letter)).last();
        let mut behind = youngest.is_none();
        let mut granted = 0;
        for letter in self.letters() {
            if behind && which.pass(&letter) && self.execute(letter) {
                granted += 1;
            }
            behind |= Some(letter) == youngest;
        }
        granted
    }

    /// Grants every letter younger than the youngest that passes `limit` (PAM-A10).
    pub fn execute_all_younger_than(self, limit: impl Filter) -> usize {
        self.execute_younger_than(Any, limit)
    }

    /// Whether a letter passes (PAM-A13).
    pub fn contains(self, filter: impl Filter) -> bool {
        self.letters().any(|letter| filter.pass(&letter))
    }

    /// Whether there are distinct letters, one for each filter (PAM-A13).
    ///
    /// Each filter takes the oldest letter not yet taken for a filter before it.
    pub fn contains_all(self, filters: &[&dyn Filter]) -> bool {
        filters.is_empty() || self.oldest_of_each(filters).is_some()
    }

    /// The letters that [`contains_all`](Self::contains_all) found, in the order of the filters; for instance to
    /// [`execute_together`](Self::execute_together).
    ///
    /// # Panics
    /// If there are more than [`Group::MOST`] filters.
    pub fn oldest_of_each(self, filters: &[&dyn Filter]) -> Option<Group<'i>> {
        assert!(filters.len() <= Group::MOST, "at most {} letters are taken together", Group::MOST);
        let (first, others) = filters.split_first()?;
        let mut group = Group::of(self.letters().find(|letter| first.pass(letter))?);
        for filter in others {
            group.push(self.letters().find(|letter| filter.pass(letter) && !group.contains(letter))?);
        }
        Some(group)
    }
}

/// Some letters of an inbox, to be granted together.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Group<'i> {
    letters: [Letter<'i>; Group::MOST],
    len: usize,
}

impl Group<'_> {
    /// The most letters of a group.
    pub const MOST: usize = 8;
}

impl<'i> Group<'i> {
    fn of(first: Letter<'i>) -> Self {
        // The places behind `len` hold a copy that nobody sees.
        Self { letters: [first; Group::MOST], len: 1 }
    }

    fn push(&mut self, letter: Letter<'i>) {
        self.letters[self.len] = letter;
        self.len += 1;
    }
}

impl<'i> core::ops::Deref for Group<'i> {
    type Target = [Letter<'i>];

    fn deref(&self) -> &[Letter<'i>] {
        &self.letters[..self.len]
    }
}

impl fmt::Debug for Inbox<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.letters()).finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Inbox<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Inbox({=usize} letters)", self.len());
    }
}

/// Runs the branch of the first filter that passes; none if none does (PAM-A15).
///
/// ```
/// # use flockwork::{Letter, Readers, Writers, dispatch};
/// # struct Counts { readers: u32, writing: bool }
/// # impl Counts {
/// fn leave(&mut self, letter: Letter<'_>) {
///     dispatch!(letter;
///         Readers => self.readers -= 1,
///         Writers => self.writing = false,
///     );
/// }
/// # }
/// ```
#[macro_export]
macro_rules! dispatch {
    ($letter:expr; $($filter:expr => $branch:expr),+ $(,)?) => {{
        let letter: $crate::Letter<'_> = $letter;
        $( if $crate::Filter::pass(&$filter, &letter) { $branch } else )+ {}
    }};
}

/// The letters of an inbox, oldest first.
#[derive(Clone)]
pub struct Letters<'i> {
    inbox: Inbox<'i>,
    cursor: Link,
}

impl<'i> Iterator for Letters<'i> {
    type Item = Letter<'i>;

    #[inline(always)]
    fn next(&mut self) -> Option<Letter<'i>> {
        // Granted letters stay linked until `schedule` returns, so `next` always leads on.
        loop {
            let letter = self.cursor?;
            let head = deref(letter);
            self.cursor = if self.inbox.only.is_some() { None } else { head.next.get() };
            if head.stage.get() == Stage::Waiting {
                return Some(Letter { head: letter, descriptor: self.inbox.descriptor });
            }
        }
    }
}
