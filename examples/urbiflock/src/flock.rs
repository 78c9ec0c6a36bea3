//! Flocks: named groups of people that keep themselves up to date.

use core::fmt;

use crate::network::Root;
use crate::people::People;
use crate::predicate::{Malformed, Predicate};
use crate::profile::{Text, Uid};
use crate::world::OWNER;

/// How many flocks a flockr can have, the two default ones included.
pub const MAX_FLOCKS: usize = 6;
/// How many listeners a flock can have.
pub const MAX_LISTENERS: usize = 2;
/// How many notes to all members, future ones included, a flockr can have standing.
pub const MAX_STANDING: usize = 4;

/// Which flock of a flockr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlockId(pub(crate) u8);

impl FlockId {
    /// The default flock of the owner's friends.
    pub const FRIENDS: Self = Self(0);
    /// The default flock of who is near.
    pub const NEARBY: Self = Self(1);
    /// The flock whose derivation is measured ([`COUPLES`]). It is there from the beginning, too.
    pub const COUPLES: Self = Self(2);
}

/// What a flock is: a name, an owner and a predicate. Flocks are defined by [`Flockr::define`](crate::Flockr::define).
///
/// ```
/// use flockwork_urbiflock::{Definition, Predicate};
///
/// static BADMINTON: Definition = Definition::new("badminton", Predicate::literal("isNearby and hobby(badminton)"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// What people call it.
    pub name: &'static str,
    /// Whose flock it is.
    pub owner: Uid,
    /// Who belongs to it.
    pub predicate: Predicate,
}

impl Definition {
    /// A flock of the device's owner.
    pub const fn new(name: &'static str, predicate: Predicate) -> Self {
        Self { name, owner: OWNER, predicate }
    }
}

/// The default flock of friends.
pub static FRIENDS_FLOCK: Definition = Definition::new("Friends", Predicate::literal("isFriend"));
/// The default flock of who is near.
pub static NEARBY_FLOCK: Definition = Definition::new("Nearby", Predicate::literal("isNearby"));
/// The flock whose derivation is measured: everyone near whose partner is near as well.
pub static COUPLES: Definition = Definition::new("couples", Predicate::literal("isNearby and partnerNearby"));

/// Hears who comes into a flock and who goes.
///
/// It is called inside the flockr's turn, so it must be quick: tell an actor, light a lamp; never wait.
pub trait Listener: Sync {
    /// Somebody is a member now who was not.
    fn added(&'static self, flock: FlockId, who: Uid);
    /// Somebody was a member and is not any more.
    fn removed(&'static self, flock: FlockId, who: Uid);
}

/// Brings notes to people's devices: the radio.
///
/// It is called inside the flockr's turn, so it must be quick: tell an actor; never wait.
pub trait Carrier: Sync {
    /// Carries a note to somebody's device.
    fn carry(&'static self, to: Uid, note: Note);
}

/// What can be sent to a flock. With it, no letter is longer than one with a profile.
pub type Note = Text<19>;

/// Names a standing note, so that it can be withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteId(pub(crate) u8);

/// What a flockr knows about one of its flocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its name.
    pub name: &'static str,
    /// Whose it is.
    pub owner: Uid,
    /// How many members it has.
    pub members: u16,
    /// How many listen to it.
    pub listeners: u8,
    /// The state this was true for.
    pub version: u32,
}

/// The members of a flock, at some version of its flockr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The state this was true for.
    pub version: u32,
    /// The members, sorted.
    pub members: People,
}

/// A flock as its flockr keeps it.
pub(crate) struct Flock {
    pub(crate) definition: Definition,
    pub(crate) root: Root,
    listeners: [Option<&'static dyn Listener>; MAX_LISTENERS],
}

impl Flock {
    pub(crate) fn new(definition: Definition, root: Root) -> Self {
        Self { definition, root, listeners: [None; MAX_LISTENERS] }
    }

    pub(crate) fn listen(&mut self, listener: &'static dyn Listener) -> Result<(), FlockError> {
        let place = self.listeners.iter_mut().find(|place| place.is_none()).ok_or(FlockError::TooManyListeners)?;
        *place = Some(listener);
        Ok(())
    }

    pub(crate) fn listeners(&self) -> impl Iterator<Item = &'static dyn Listener> + '_ {
        self.listeners.iter().copied().flatten()
    }
}

/// A note for all members of a flock, future ones included.
pub(crate) struct Standing {
    pub(crate) flock: FlockId,
    pub(crate) note: Note,
    /// Who has it: nobody gets it twice.
    pub(crate) carried: People,
}

/// Why a flockr could not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlockError {
    /// Nothing has begun.
    NoWorld,
    /// There is nobody with this uid, or it is the owner.
    NoSuchPerson,
    /// More than [`MAX_NEARBY`](crate::MAX_NEARBY) people would be near.
    NearbyFull,
    /// There would be more than [`MAX_FRIENDS`](crate::MAX_FRIENDS) friends.
    FriendsFull,
    /// There is no flock with this id.
    NoSuchFlock,
    /// There would be more than [`MAX_FLOCKS`] flocks.
    TooManyFlocks,
    /// All predicates together would have more than [`MAX_NODES`](crate::MAX_NODES) different conditions and operators.
    NetworkFull,
    /// The flock would have more than [`MAX_LISTENERS`] listeners.
    TooManyListeners,
    /// There would be more than [`MAX_STANDING`] standing notes.
    TooManyNotes,
    /// There is nobody to carry notes.
    NoCarrier,
    /// A union or intersection is no predicate.
    Malformed(Malformed),
}

impl fmt::Display for FlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWorld => f.write_str("there is no world yet; send `begin` first"),
            Self::NoSuchPerson => f.write_str("nobody else has this uid; uids of others go from 1 to 1023"),
            Self::NearbyFull => write!(f, "at most {} people can be near at a time", crate::MAX_NEARBY),
            Self::FriendsFull => write!(f, "at most {} friends; remove one first", crate::MAX_FRIENDS),
            Self::NoSuchFlock => f.write_str("there is no such flock; `define` gives the id of a new one"),
            Self::TooManyFlocks => write!(f, "at most {MAX_FLOCKS} flocks, Friends and Nearby included"),
            Self::NetworkFull => {
                write!(f, "at most {} different conditions and operators in all flocks together", crate::MAX_NODES)
            }
            Self::TooManyListeners => write!(f, "at most {MAX_LISTENERS} listeners to a flock"),
            Self::TooManyNotes => write!(f, "at most {MAX_STANDING} standing notes; withdraw one first"),
            Self::NoCarrier => f.write_str("there is nobody to carry notes; send `connect` first"),
            Self::Malformed(why) => why.fmt(f),
        }
    }
}

impl core::error::Error for FlockError {}

impl From<Malformed> for FlockError {
    fn from(why: Malformed) -> Self {
        Self::Malformed(why)
    }
}
