//! A join: two kinds of letters that wait for each other and then run in parallel.

use core::marker::PhantomData;

use super::{Pattern, label};
use crate::inbox::Inbox;
use crate::letter::Letter;
use crate::monitor::{Monitor, Parallel};

label! {
    /// The one side of a [`Join`]: methods tagged with [`JoinLeft::CATEGORY`].
    JoinLeft = "join left"
}

label! {
    /// The other side of a [`Join`]: methods tagged with [`JoinRight::CATEGORY`].
    JoinRight = "join right"
}

/// A letter `A` waits for a letter `B` (and the reverse); then both run in parallel, oldest pairs first (PAM-F2).
///
/// `A` is granted first, so the worker that schedules the pair runs it, and `B` goes to another core if one is idle.
/// Both methods take `&self` (or distinct objects), or they could not run in parallel: such a pair never starts, and is
/// counted as refused. Letters that pass neither filter do not take part: they run in the order they came, and a
/// `&mut self` one among them gets its turn before further pairs.
///
/// ```
/// # use flockwork::{Access, Join, JoinLeft, JoinRight, Method, Rehearsal};
/// static METHODS: [Method; 2] = [
///     Method::new("paper", Access::Reader).tagged(JoinLeft::CATEGORY),
///     Method::new("ink", Access::Reader).tagged(JoinRight::CATEGORY),
/// ];
///
/// let printer = Rehearsal::<Join, 4>::new(&METHODS);
/// let ink = printer.post("ink");
/// assert_eq!(printer.schedule(), []);
/// let paper = printer.post("paper");
/// assert_eq!(printer.schedule(), [paper, ink]);
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Join<A = JoinLeft, B = JoinRight> {
    running: usize,
    sides: PhantomData<fn() -> (A, B)>,
}

impl<A: Pattern, B: Pattern> Monitor for Join<A, B> {
    type Discipline = Parallel;
    const NEW: Self = Self { running: 0, sides: PhantomData };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        let takes_part = |letter: &Letter<'_>| A::default().pass(letter) || B::default().pass(letter);

        for letter in inbox.letters().filter(|letter| !takes_part(letter)) {
            if !inbox.admits(&[letter]) || !inbox.execute(letter) {
                return;
            }
            self.running += 1;
        }

        while let Some(pair) = Self::oldest_pair(inbox) {
            // While something runs, the pair may only have to wait for it. A pair that cannot even start alone is a
            // mistake in the actor, and the refusal makes it visible.
            if self.running > 0 && !inbox.admits(&pair) || !inbox.execute_together(&pair) {
                return;
            }
            self.running += pair.len();
        }
    }

    fn leave(&mut self, _: Letter<'_>) {
        self.running -= 1;
    }
}

impl<A: Pattern, B: Pattern> Join<A, B> {
    fn oldest_pair(inbox: Inbox<'_>) -> Option<[Letter<'_>; 2]> {
        let a = inbox.letters().find(|letter| A::default().pass(letter))?;
        let b = inbox.letters().find(|letter| B::default().pass(letter) && *letter != a)?;
        Some([a, b])
    }
}
