//! Flockwork: a fixed-capacity actor kernel for multicore microcontrollers.
//!
//! Actors are statics with a mailbox, a state and a *monitor*, which decides which letters of the actor may run in
//! parallel. A worker per core runs them. There is no heap; every capacity is a constant.
//!
//! ```
//! use flockwork::{Actor, ReadersWriter, actor};
//!
//! pub struct Dictionary { meanings: [u32; 64] }
//!
//! #[actor]
//! impl Dictionary {
//!     pub fn get(&self, word: u8) -> u32 { self.meanings[word as usize % 64] }          // reader: both cores at once
//!     pub fn put(&mut self, word: u8, meaning: u32) { self.meanings[word as usize % 64] = meaning; } // writer: alone
//! }
//!
//! #[actor]
//! static DICTIONARY: Actor<Dictionary, ReadersWriter, 32> = Dictionary { meanings: [0; 64] };
//! ```
//!
//! # The life of a letter
//!
//! 1. A [`Call`] is sent: [`call`](crate::Call). The letter goes into the lane of the sender's core (`lane`), stamped with its
//!    age (`mailbox`), and the receiver is noted in the core's ready set (`ready`).
//! 2. The core's worker ([`worker`]) visits the receiver (`visit`): under a lock that nobody waits for (`desk`), letters are drained into
//!    the [`Inbox`], and the [`Monitor`] grants those that may run, as far as the borrow gate (`gate`) admits them.
//! 3. A worker pulls a granted letter and calls the method ([`Methods`]). If more could run, idle cores are kicked and pull too.
//! 4. The method's answer resolves the [`Promise`] (`promise`), and whoever waits for it goes on (`waiting`).
//! 5. The letter leaves: the monitor hears of it, its slot is free again.
//!
//! Every hop can be traced ([`trace`]). Chips plug in through [`mod@port`]; all atomics are in `sync`.
#![cfg_attr(not(loom), no_std)]
// Every public type can be logged; see `format`.
#![warn(missing_debug_implementations)]

#[cfg(loom)]
extern crate std;

// In the order a letter passes them. (The blank lines keep it.)
mod call;

mod lane;
mod mailbox;
mod slots;

pub mod census;
mod cores;
mod foreign;
mod ready;
pub mod worker;

mod desk;
mod visit;

mod body;

mod hand;
mod inbox;
mod letter;
mod lists;

mod monitor;
pub mod monitors;

mod gate;

mod methods;
mod objects;

mod promise;
mod waiting;

mod overflow;

pub mod rehearsal;
pub mod trace;

mod mutant;
pub mod port;
mod share;
mod sync;

mod format;
#[cfg(loom)]
pub mod model;

pub use body::{Body, DEFAULT_PROMISES, assert_fits};
pub use call::{Asking, Call, Post, Refused, Rejected, Report, Reports, Unasked};
pub use cores::MAX_ACTORS;
pub use flockwork_macros::actor;
pub use inbox::{Any, Filter, Group, Inbox, Letters, Readers, Writers};
pub use letter::{Access, Category, Descriptor, Letter, Method};
pub use mailbox::Mail;
pub use methods::{Actor, Grant, Methods, Owned, Ref, Travels};
pub use monitor::{Affinity, Discipline, Monitor, OnOneCore, OneAtATime, Parallel, Permits, Pinned, Serial};
pub use monitors::*;
pub use objects::{Claims, Id, MAX_OBJECTS, Objects, Picked, Several, Unrunnable};
pub use overflow::{Coalesce, DeadLetter, Death, DropNewest, DropOldest, Overflow, dead_letters, on_dead_letter};
pub use port::LANES;
pub use promise::{Answered, Detached, Failure, Outcome, Promise, PromiseState, Reply, Token, unread_replies};
pub use rehearsal::Rehearsal;
pub use waiting::{AndThen, Eventually, Join2, Map, Sending, Waited};
