//! Letters that need several resources at once: oldest first, without deadlock and without starvation.
//!
//! A letter gets all it needs or nothing, so two letters never hold what the other waits for. What an older letter waits
//! for is reserved: a younger one does not get it, so the older one does not starve. Reservations are made anew in each
//! `schedule`, because each goes through the waiting letters from the oldest on.

use crate::inbox::{Filter, Inbox, Writers};
use crate::letter::Letter;
use crate::monitor::{Monitor, Parallel};
use crate::objects::{Claims, MAX_OBJECTS};

/// Letters that name different objects at once, the others in the order they came (PAM-L5).
///
/// The resources are the objects of the actor, and each letter's signature says which it needs: `&mut Account` for
/// itself, `&Account` shared. Methods that name none run at once with all of these; `&mut self` methods run alone.
///
/// Letters for the accounts 0 and 1, then 1 and 2, then 2 and 3, then 4: the second has to wait for the first. The third
/// waits although its accounts are free, since the second came before it and needs one of them.
///
/// ```text
/// inbox {0,1} {1,2} {2,3} {4}   granted {0,1} {4}
/// leave {0,1}                   granted {1,2}
/// leave {1,2}                   granted {2,3}
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Resources(Allocation<MAX_OBJECTS>);

impl Monitor for Resources {
    type Discipline = Parallel;
    const NEW: Self = Self(Allocation::NONE);

    fn schedule(&mut self, inbox: Inbox<'_>) {
        self.0.schedule(inbox, |letter| letter.claims());
    }

    fn leave(&mut self, letter: Letter<'_>) {
        self.0.leave(letter, letter.claims());
    }
}

/// The fair dining philosophers (PAM-L5): `SEATS` objects around a table, and between two of them a fork.
///
/// A letter for the object at seat `i` needs the forks `i` and `i + 1` (the last seat's right fork is fork 0). Letters
/// for no object need no fork; `&mut self` methods run alone.
///
/// With five seats, numbered from 0:
///
/// ```text
/// inbox 0 2 1 3 4   granted 0 2
/// leave 0           granted –      1 waits for 2; 4 could eat, but 3 came before it and needs fork 4
/// leave 2           granted 1 3
/// leave 1           granted –
/// leave 3           granted 4
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Philosophers<const SEATS: usize>(Allocation<0>);

impl<const SEATS: usize> Philosophers<SEATS> {
    fn forks(letter: &Letter<'_>) -> Claims {
        const { assert!(SEATS > 0 && SEATS <= MAX_OBJECTS, "a table has 1 to 32 seats") };
        match letter.receiver() {
            None => Claims::NONE,
            Some(philosopher) => Claims::exclusively(1 << (philosopher % SEATS) | 1 << ((philosopher + 1) % SEATS)),
        }
    }
}

impl<const SEATS: usize> Monitor for Philosophers<SEATS> {
    type Discipline = Parallel;
    const NEW: Self = Self(Allocation::NONE);

    fn schedule(&mut self, inbox: Inbox<'_>) {
        self.0.schedule(inbox, Self::forks);
    }

    fn leave(&mut self, letter: Letter<'_>) {
        self.0.leave(letter, Self::forks(&letter));
    }
}

/// Who has what. `SHARED` is how many resources can be shared: only these need to be counted.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Allocation<const SHARED: usize> {
    busy: Claims,
    sharers: [u16; SHARED],
    running: usize,
}

impl<const SHARED: usize> Allocation<SHARED> {
    const NONE: Self = Self { busy: Claims::NONE, sharers: [0; SHARED], running: 0 };

    fn schedule(&mut self, inbox: Inbox<'_>, needs: impl Fn(&Letter<'_>) -> Claims) {
        let mut reserved = Claims::NONE;
        for letter in inbox.letters() {
            if Writers.pass(&letter) {
                // It needs the whole actor. If it has to wait, all is reserved; if not, all is busy.
                if self.running == 0 && inbox.execute(letter) {
                    self.running = 1;
                }
                break;
            }
            let needed = needs(&letter);
            if !needed.conflicts_with(self.busy.with(reserved)) && inbox.admits(&[letter]) && inbox.execute(letter) {
                self.take(needed);
            } else {
                reserved = reserved.with(needed);
            }
        }
    }

    fn leave(&mut self, letter: Letter<'_>, needed: Claims) {
        self.running -= 1;
        if !Writers.pass(&letter) {
            self.give_back(needed);
        }
    }

    fn take(&mut self, needed: Claims) {
        self.running += 1;
        self.busy = self.busy.with(needed);
        for place in places(needed.shared_places()) {
            self.sharers[place] += 1;
        }
    }

    fn give_back(&mut self, needed: Claims) {
        self.busy = self.busy.without_exclusive(needed);
        for place in places(needed.shared_places()) {
            self.sharers[place] -= 1;
            if self.sharers[place] == 0 {
                self.busy = self.busy.without_shared(1 << place);
            }
        }
    }
}

/// The places of the bits that are set.
fn places(mut bits: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(place)
    })
}
