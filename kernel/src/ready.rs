//! The actors that are ready on each core, and how other cores see them.
//!
//! A send notes the receiver in the ready set of the core it runs on; that core's worker visits it after the turn, once,
//! however many letters were sent. Between the actors of a set the worker goes round robin. Actors that are pinned to the core and
//! actors that others could run as well do not starve each other.
//!
//! # Surplus
//!
//! Work is pulled, not handed over: other cores can *read* the set. A core with more than it can run at once kicks an idle one,
//! which reads the set and visits the unpinned actors itself; the actor's lock gives exactly-once, and a visit to an actor without
//! work is harmless. Single-token work leaves nothing in the set while it runs, so it wakes nobody.
//!
//! ```text
//!  owner:  note the actor;  fence;  offered;  fence;  is somebody idle?  ── kick
//!  idler:  idle = 1;  fence;  is there anything I have not looked at, or offered again?  ── visit, else sleep
//! ```
//! One of the two sees the other (store buffering with two fences). An actor may stay in the set while its core runs something
//! else, and get more to do meanwhile: that is what `offered` is for. With words it is a flag of each core that is to look again, raised
//! and lowered as a [notice](crate::cores) is: if a core's lowering overwrites a raise, the fence before the raise came first, and the look
//! that follows finds what was offered. With rings, where there may be many cores, it is a count that each compares with the last it saw.
//!
//! # Invitations
//!
//! For a letter to an actor that is pinned elsewhere, that core is *invited* to visit it: one writer and one reader for each pair
//! of cores. Those invited go into its set; one alone, while the set is empty, would be the next, and is visited without that.
//!
//! # Bits and rings
//!
//! Where there are at most 32 actors (chips) a set is a word with a bit per actor, and so are invitations. Hosts have thousands of
//! actors: there a set is a ring of numbers, each actor marked while it is in. The models run with the words; `cargo xtask loom` runs
//! those about idle cores once more with rings.

#[cfg(any(target_os = "none", all(loom, not(flockwork_rings))))]
mod bits;
#[cfg(all(loom, not(flockwork_rings)))]
pub(crate) use bits::begin;
#[cfg(any(target_os = "none", all(loom, not(flockwork_rings))))]
pub(crate) use bits::{ActorId, Invitations, Mark, Ready, pin};

#[cfg(not(any(target_os = "none", all(loom, not(flockwork_rings)))))]
mod rings;
#[cfg(all(loom, flockwork_rings))]
pub(crate) use rings::begin;
#[cfg(not(any(target_os = "none", all(loom, not(flockwork_rings)))))]
pub(crate) use rings::{ActorId, Invitations, Mark, Ready, pin};
#[cfg(all(not(target_os = "none"), not(loom)))]
pub(crate) use rings::{Ring, membership};

/// The actor whose turn it is.
pub(crate) struct Next {
    pub(crate) id: ActorId,
    /// Whether no other one was in the set.
    pub(crate) is_last: bool,
}

/// What another core's set shows to one that looks.
pub(crate) trait Unseen: Iterator<Item = ActorId> {
    /// Whether there is another one after those taken.
    fn has_more(&self) -> bool;
}
