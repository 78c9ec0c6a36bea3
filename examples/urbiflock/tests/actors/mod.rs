//! The actors of the suites that derive on 1 to 4 cores, with as many letters and promises as on the board.

use flockwork::{Actor, Mutex, Pinned, ReadersWriter, Ref, Serial, actor};
use flockwork_urbiflock::{Flockr, Helper, WORLD, gather};

// The same actor three times. The second word of each type is all that differs.
#[actor]
pub(crate) static DEFAULT: Actor<Flockr, Serial, 32, 16> = Flockr::new();
#[actor]
pub(crate) static LOCKED: Actor<Flockr, Mutex, 32, 16> = Flockr::new();
#[actor]
pub(crate) static SHARED: Actor<Flockr, ReadersWriter, 32, 16> = Flockr::new();

/// One for each monitor.
pub(crate) static FLOCKRS: [Ref<Flockr>; 3] = [&DEFAULT, &LOCKED, &SHARED];

#[actor]
static HELPER_1: Actor<Helper, Pinned<1>, 1, 1> = Helper;
#[actor]
static HELPER_2: Actor<Helper, Pinned<2>, 1, 1> = Helper;
#[actor]
static HELPER_3: Actor<Helper, Pinned<3>, 1, 1> = Helper;

/// One for each further core.
pub(crate) static HELPERS: [Ref<Helper>; 3] = [&HELPER_1, &HELPER_2, &HELPER_3];

/// Begins the world anew, and lets so many people come.
pub(crate) fn arrive(flockr: Ref<Flockr>, people: usize) {
    flockr.begin(&WORLD).get().expect("a world");
    gather(flockr, &WORLD, people).expect("room for everyone");
}
