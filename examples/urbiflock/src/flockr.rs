//! The flock actor: a flockr, the people around it, and its flocks.
//!
//! It is an ordinary actor. Its methods say what they need, `&self` or `&mut self`; nothing here knows which monitor lets them
//! run. Under `ReadersWriter` matches run on all cores at once.

use core::ops::Range;

use flockwork::{actor, trace};

use crate::flock::{
    COUPLES, Carrier, Definition, FRIENDS_FLOCK, Flock, FlockError, FlockId, Listener, MAX_FLOCKS, MAX_STANDING,
    NEARBY_FLOCK, Note, NoteId, Snapshot, Standing, Summary,
};
use crate::network::{Cause, Network};
use crate::people::People;
use crate::predicate::{Facts, Predicate};
use crate::profile::{Profile, Uid};
use crate::surroundings::Surroundings;
use crate::world::{OWNER, World};

/// What a comparison of two usernames takes on a Cortex-M0+, in cycles: three words are loaded and compared.
///
/// On a chip it takes what it takes; this is for simulated time. Together with [`CYCLES_PER_MATCH`] it is within one per cent of
/// what [`Flockr::extension`] takes on the emulated RP2040 with 100 and 400 people, optimised for speed.
pub const CYCLES_PER_COMPARISON: u32 = 21;
/// What a match takes besides, in cycles: the lists are found, the predicate is evaluated.
pub const CYCLES_PER_MATCH: u32 = 500;

/// A user of UrbiFlock: friends, who is near, and flocks. The actor.
///
/// It is empty, and all zeroes, until it gets [`begin`](Self::begin).
pub struct Flockr {
    surroundings: Surroundings,
    network: Network,
    flocks: [Option<Flock>; MAX_FLOCKS],
    standing: [Option<Standing>; MAX_STANDING],
    carrier: Option<&'static dyn Carrier>,
    version: u32,
}

/// How much there is to match for a flock, at some version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Census {
    /// The state this was true for.
    pub version: u32,
    /// Candidates are numbered from 0 to this, exclusively.
    pub candidates: u16,
}

/// The answer to one match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched {
    /// The state this was true for.
    pub version: u32,
    /// Who it is about.
    pub uid: Uid,
    /// How many usernames were compared.
    pub comparisons: u16,
    /// Whether the predicate holds.
    pub member: bool,
    /// Whether it is a friend.
    pub friend: bool,
}

/// Candidates of a flock matched in one letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The state this was true for.
    pub version: u32,
    /// How many usernames were compared.
    pub comparisons: u32,
    /// How many of the candidates are friends.
    pub friends: u32,
    /// The members, sorted.
    pub members: People,
}

impl Flockr {
    /// A flockr without a world.
    #[expect(
        clippy::new_without_default,
        reason = "a default would be moved over a stack that may be too small for it"
    )]
    pub const fn new() -> Self {
        Self {
            surroundings: Surroundings::EMPTY,
            network: Network::EMPTY,
            flocks: [const { None }; MAX_FLOCKS],
            standing: [const { None }; MAX_STANDING],
            carrier: None,
            version: 0,
        }
    }

    /// The profile of a person, which may be a changed one: what is known, and otherwise what it would tell when it came near.
    ///
    /// No letter asks this: it is for whoever has the flockr itself.
    pub fn profile(&self, uid: Uid) -> Option<Profile> {
        self.meet(uid).ok().map(|(profile, _)| profile)
    }
}

#[actor]
impl Flockr {
    // ---- writers ----

    /// Starts anew in a world: its friends are made, nobody is near, and there are the default flocks,
    /// Friends and Nearby, and the couples. Whoever listened or carried is forgotten.
    pub fn begin(&mut self, world: &'static World) -> Result<u32, FlockError> {
        self.surroundings.clear();
        self.network.clear();
        self.flocks.iter_mut().for_each(|flock| *flock = None);
        self.standing.iter_mut().for_each(|standing| *standing = None);
        self.carrier = None;
        self.surroundings.world = Some(world);
        for definition in [&FRIENDS_FLOCK, &NEARBY_FLOCK, &COUPLES] {
            self.define(definition)?;
        }
        for &friend in world.friends() {
            self.add_friend(friend)?;
        }
        Ok(self.change())
    }

    /// Somebody came near and told its profile. Returns the version after it; coming twice changes nothing.
    pub fn join(&mut self, uid: Uid) -> Result<u32, FlockError> {
        let (profile, known) = self.meet(uid)?;
        if self.network.nearby.contains(uid) {
            return Ok(self.version);
        }
        if !self.surroundings.nearby.push(profile) {
            return Err(FlockError::NearbyFull);
        }
        self.surroundings.welcome_back(uid);
        self.network.nearby.insert(uid);
        self.tell(uid, if known { Cause::NEARBY } else { Cause::EVERYTHING });
        self.tell_partner(&profile);
        Ok(self.change())
    }

    /// Somebody went away. Returns the version after it; who is not near cannot leave, and nothing changes.
    pub fn left(&mut self, uid: Uid) -> Result<u32, FlockError> {
        let Some(profile) = self.surroundings.nearby.remove(uid) else { return Ok(self.version) };
        self.network.nearby.remove(uid);
        let forgotten = self.surroundings.remember(profile);
        self.tell(uid, Cause::NEARBY);
        self.tell_partner(&profile);
        if let Some(forgotten) = forgotten {
            // A friend stays known, but when it left is forgotten.
            let friend = self.network.friends.contains(forgotten);
            self.tell(forgotten, if friend { Cause::TIME } else { Cause::EVERYTHING });
        }
        Ok(self.change())
    }

    /// Somebody tells another profile; the username says who. Nothing changes if it is not known.
    pub fn changed(&mut self, profile: Profile) -> u32 {
        let Some(old) = self.surroundings.replace(&profile) else { return self.version };
        self.tell(old.uid, Cause::PROFILE.and(Cause::PARTNER));
        self.tell_partner(&old);
        self.tell_partner(&Profile { uid: old.uid, ..profile });
        self.change()
    }

    /// Makes somebody a friend. Returns the version after it.
    pub fn add_friend(&mut self, uid: Uid) -> Result<u32, FlockError> {
        let (profile, known) = self.meet(uid)?;
        if self.network.friends.contains(uid) {
            return Ok(self.version);
        }
        if !self.surroundings.friends.push(profile) {
            return Err(FlockError::FriendsFull);
        }
        self.network.friends.insert(uid);
        self.tell(uid, if known { Cause::FRIEND } else { Cause::EVERYTHING });
        Ok(self.change())
    }

    /// Ends a friendship. Returns the version after it.
    pub fn remove_friend(&mut self, uid: Uid) -> u32 {
        if self.surroundings.friends.remove(uid).is_none() {
            return self.version;
        }
        self.network.friends.remove(uid);
        let known = self.surroundings.profile(uid).is_some();
        self.tell(uid, if known { Cause::FRIEND } else { Cause::EVERYTHING });
        self.change()
    }

    /// Time passes. The version changes only if that changes who was near lately.
    pub fn pass(&mut self, ms: u32) -> u32 {
        self.surroundings.pass(ms);
        let mut changed = false;
        let mut place = 0;
        while let Some(uid) = self.surroundings.departed_at(place) {
            changed |= self.tell(uid, Cause::TIME);
            place += 1;
        }
        if changed { self.change() } else { self.version }
    }

    /// Defines a flock. Its members are there at once.
    pub fn define(&mut self, definition: &'static Definition) -> Result<FlockId, FlockError> {
        self.found(*definition)
    }

    /// Defines the union of two flocks.
    pub fn unite(&mut self, name: &'static str, one: FlockId, other: FlockId) -> Result<FlockId, FlockError> {
        let predicate = self.predicate(one)?.or(self.predicate(other)?)?;
        self.found(Definition::new(name, predicate))
    }

    /// Defines the intersection of two flocks.
    pub fn intersect(&mut self, name: &'static str, one: FlockId, other: FlockId) -> Result<FlockId, FlockError> {
        let predicate = self.predicate(one)?.and(self.predicate(other)?)?;
        self.found(Definition::new(name, predicate))
    }

    /// Lets somebody hear who comes into a flock and who goes, from now on.
    pub fn listen(&mut self, flock: FlockId, listener: &'static dyn Listener) -> Result<(), FlockError> {
        let flock = self.flocks.get_mut(usize::from(flock.0)).and_then(Option::as_mut);
        flock.ok_or(FlockError::NoSuchFlock)?.listen(listener)
    }

    /// Says who carries notes to people.
    pub fn connect(&mut self, carrier: &'static dyn Carrier) {
        self.carrier = Some(carrier);
    }

    /// Sends a note to the present members of a flock. Returns how many.
    pub fn send_to_current(&mut self, flock: FlockId, note: Note) -> Result<u16, FlockError> {
        let carrier = self.carrier.ok_or(FlockError::NoCarrier)?;
        let members = self.network.members(self.flock(flock)?.root);
        members.iter().for_each(|member| carrier.carry(member, note));
        Ok(members.len() as u16)
    }

    /// Sends a note to all members of a flock, future ones included: who becomes one gets it then. Nobody gets it twice.
    pub fn send_to_all(&mut self, flock: FlockId, note: Note) -> Result<NoteId, FlockError> {
        let carrier = self.carrier.ok_or(FlockError::NoCarrier)?;
        let carried = *self.network.members(self.flock(flock)?.root);
        let place = self.standing.iter().position(Option::is_none).ok_or(FlockError::TooManyNotes)?;
        carried.iter().for_each(|member| carrier.carry(member, note));
        self.standing[place] = Some(Standing { flock, note, carried });
        Ok(NoteId(place as u8))
    }

    /// Withdraws a note: future members do not get it any more.
    pub fn withdraw(&mut self, note: NoteId) {
        if let Some(standing) = self.standing.get_mut(usize::from(note.0)) {
            *standing = None;
        }
    }

    // ---- readers ----

    /// How many candidates a flock has: how many matches derive it.
    pub fn census(&self, flock: FlockId) -> Result<Census, FlockError> {
        let candidates = self.surroundings.candidates(self.predicate(flock)?);
        Ok(Census { version: self.version, candidates: candidates as u16 })
    }

    /// Whether one candidate belongs to a flock, looked up from the lists. A candidate that is not there is no member.
    pub fn matching(&self, flock: FlockId, candidate: u16) -> Result<Matched, FlockError> {
        let look = self.surroundings.look(self.predicate(flock)?, usize::from(candidate));
        let nobody = Matched { version: self.version, uid: OWNER, comparisons: 0, member: false, friend: false };
        let matched = look.map_or(nobody, |look| Matched {
            version: self.version,
            uid: look.uid,
            comparisons: look.comparisons as u16,
            member: look.member,
            friend: look.friend,
        });
        trace::charge(CYCLES_PER_MATCH + CYCLES_PER_COMPARISON * u32::from(matched.comparisons));
        Ok(matched)
    }

    /// Matches the candidates from `first` to before `end`, one after the other, in one letter: for cores that are far apart, where
    /// a single match is too little to be worth the way.
    pub fn matching_all(&self, flock: FlockId, first: u16, end: u16) -> Result<Extension, FlockError> {
        Ok(self.extend(self.predicate(flock)?, usize::from(first)..usize::from(end)))
    }

    /// A flock derived at once: every match, one after the other, in one letter.
    pub fn extension(&self, flock: FlockId) -> Result<Extension, FlockError> {
        let predicate = self.predicate(flock)?;
        Ok(self.extend(predicate, 0..self.surroundings.candidates(predicate)))
    }

    /// The members of a flock, as the incremental engine has them.
    pub fn snapshot(&self, flock: FlockId) -> Result<Snapshot, FlockError> {
        let members = *self.network.members(self.flock(flock)?.root);
        Ok(Snapshot { version: self.version, members })
    }

    /// What there is to say about a flock besides its members.
    pub fn summary(&self, flock: FlockId) -> Result<Summary, FlockError> {
        let flock = self.flock(flock)?;
        Ok(Summary {
            name: flock.definition.name,
            owner: flock.definition.owner,
            members: self.network.members(flock.root).len() as u16,
            listeners: flock.listeners().count() as u8,
            version: self.version,
        })
    }

    /// How many nodes the incremental engine has looked at since it began: its cost, as comparisons are the other engine's.
    pub fn activations(&self) -> u32 {
        self.network.activations
    }
}

impl Flockr {
    fn change(&mut self) -> u32 {
        self.version = self.version.wrapping_add(1);
        self.version
    }

    fn flock(&self, flock: FlockId) -> Result<&Flock, FlockError> {
        self.flocks.get(usize::from(flock.0)).and_then(Option::as_ref).ok_or(FlockError::NoSuchFlock)
    }

    #[inline]
    fn predicate(&self, flock: FlockId) -> Result<&Predicate, FlockError> {
        Ok(&self.flock(flock)?.definition.predicate)
    }

    fn extend(&self, predicate: &Predicate, candidates: Range<usize>) -> Extension {
        let mut extension = Extension { version: self.version, comparisons: 0, friends: 0, members: People::NONE };
        for candidate in candidates {
            let Some(look) = self.surroundings.look(predicate, candidate) else { break };
            extension.comparisons += look.comparisons;
            extension.friends += u32::from(look.friend);
            if look.member {
                extension.members.insert(look.uid);
            }
            trace::charge(CYCLES_PER_MATCH + CYCLES_PER_COMPARISON * look.comparisons);
        }
        extension
    }

    /// The profile somebody has: the one that is known, and otherwise the one it tells now; and whether it is known.
    fn meet(&self, uid: Uid) -> Result<(Profile, bool), FlockError> {
        let world = self.surroundings.world.ok_or(FlockError::NoWorld)?;
        if uid == OWNER {
            return Err(FlockError::NoSuchPerson);
        }
        match self.surroundings.profile(uid) {
            Some(profile) => Ok((*profile, true)),
            None => Ok((*world.person(uid).ok_or(FlockError::NoSuchPerson)?, false)),
        }
    }

    fn found(&mut self, definition: Definition) -> Result<FlockId, FlockError> {
        let place = self.flocks.iter().position(Option::is_none).ok_or(FlockError::TooManyFlocks)?;
        let first_new = self.network.len();
        let root = self.network.add(&definition.predicate).ok_or(FlockError::NetworkFull)?;
        if first_new < self.network.len() {
            for uid in self.surroundings.known() {
                let facts = facts(&self.surroundings, &self.network, uid);
                self.network.settle(first_new, uid, facts.as_ref());
            }
        }
        self.flocks[place] = Some(Flock::new(definition, root));
        Ok(FlockId(place as u8))
    }

    /// The partner of somebody who came, went or changed may be in another situation now.
    fn tell_partner(&mut self, profile: &Profile) {
        if let Some(partner) = profile.partner() {
            self.tell(partner, Cause::PARTNER);
        }
    }

    /// Tells the incremental engine what changed about a person, and the flocks' listeners what follows. Whether anything did.
    fn tell(&mut self, uid: Uid, cause: Cause) -> bool {
        let facts = facts(&self.surroundings, &self.network, uid);
        let tokens = self.network.tell(uid, facts.as_ref(), cause);
        if !tokens.any() {
            return false;
        }
        for (place, flock) in self.flocks.iter().enumerate() {
            let Some(flock) = flock.as_ref().filter(|flock| tokens.has(flock.root)) else { continue };
            let id = FlockId(place as u8);
            if self.network.members(flock.root).contains(uid) {
                flock.listeners().for_each(|listener| listener.added(id, uid));
                let standing = self.standing.iter_mut().flatten().filter(|standing| standing.flock == id);
                for standing in standing.filter(|standing| !standing.carried.contains(uid)) {
                    standing.carried.insert(uid);
                    self.carrier.iter().for_each(|carrier| carrier.carry(uid, standing.note));
                }
            } else {
                flock.listeners().for_each(|listener| listener.removed(id, uid));
            }
        }
        true
    }
}

/// What is known about a person, by the incremental engine's working memory; nothing if the person is not known.
fn facts<'a>(surroundings: &'a Surroundings, network: &Network, uid: Uid) -> Option<Facts<'a>> {
    let profile = surroundings.profile(uid)?;
    let near = |partner: &Uid| network.nearby.contains(*partner);
    let partner = profile.partner().filter(near).and_then(|partner| surroundings.profile(partner));
    Some(Facts {
        profile,
        friend: network.friends.contains(uid),
        nearby: network.nearby.contains(uid),
        away: surroundings.away(uid),
        partner_nearby: partner.is_some_and(|partner| partner.partner == uid),
    })
}
