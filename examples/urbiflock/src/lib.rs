//! UrbiFlock on Flockwork: groups of people that keep themselves up to date.
//!
//! A *flockr* is a user, with friends, people who come near and go, and flocks. A *flock* is a name, an owner and a predicate:
//! "nearby users who like badminton". Who belongs to it changes as people come and go, as friendships and profiles change, and as
//! time passes. All of this happens on the user's own small device; nothing is central, and nothing allocates.
//!
//! The [`Flockr`] is an actor. It derives its flocks in two ways, and both always agree:
//!
//! - [`derive()`] asks it for a match of every candidate, a letter each, which looks the person up in long lists. This is what all
//!   cores can do at once under a readers-writer monitor, and what is measured.
//! - A network of conditions follows every event and knows the members at once: [`Flockr::snapshot`]. Listeners hear of
//!   changes from it.
//!
//! ```
//! use flockwork::{Actor, ReadersWriter, actor};
//! use flockwork_urbiflock::{FlockId, Flockr, WORLD, derive, gather};
//!
//! // `Serial` or `Mutex` in this line, and letters run one at a time; nothing else changes.
//! #[actor]
//! static FLOCKR: Actor<Flockr, ReadersWriter, 32, 32> = Flockr::new();
//!
//! flockwork_host_sim::run(2, || {
//!     FLOCKR.begin(&WORLD).get().unwrap();
//!     gather(&FLOCKR, &WORLD, 100).unwrap();
//!     let couples = derive(&FLOCKR, FlockId::COUPLES).unwrap();
//!     assert_eq!((couples.couples(), couples.hash()), (33, 0x25b7_7bd3));
//!     assert_eq!(couples.comparisons, 29654);
//! });
//! ```
#![no_std]

mod people;
mod profile;

mod world;

pub mod predicate;

mod flock;
mod surroundings;

mod network;

mod flockr;

mod derivation;

mod event;

pub use derivation::{
    CYCLES_PER_ANSWER, CYCLES_PER_SHARE, Derivation, DerivationError, Helper, HelperFront, HelperMessage, MAX_HELPERS,
    PATIENCE, Part, Share, WINDOW, derive, derive_async, derive_in_batches, derive_with, gather,
};
pub use event::{Bustle, Event, EventError, Field};
pub use flock::{
    COUPLES, Carrier, Definition, FRIENDS_FLOCK, FlockError, FlockId, Listener, MAX_FLOCKS, MAX_LISTENERS,
    MAX_STANDING, NEARBY_FLOCK, Note, NoteId, Snapshot, Summary,
};
pub use flockr::{
    CYCLES_PER_COMPARISON, CYCLES_PER_MATCH, Census, Extension, Flockr, FlockrFront, FlockrMessage, Matched,
};
pub use network::MAX_NODES;
pub use people::People;
pub use predicate::{ParseError, Predicate};
pub use profile::{Date, Hobby, NOBODY, Profile, Sex, Text, UNIVERSE, Uid, Username};
pub use surroundings::{MAX_DEPARTED, MAX_FRIENDS, MAX_NEARBY};
pub use world::{FRIENDS, Generator, OWNER, SEED, WORLD, World};
