//! What a device knows of the people around: friends, who is near, and who was.
//!
//! The lists are association lists, as in the paper: people in the order they came, searched from the front by username. How
//! many usernames were compared is the cost of a match on any machine, so it is counted.

use crate::predicate::{Facts, Predicate};
use crate::profile::{Profile, Uid, Username};
use crate::world::{FRIENDS, World};

/// The most friends somebody can have.
pub const MAX_FRIENDS: usize = FRIENDS + 20;
/// The most people who can be near.
pub const MAX_NEARBY: usize = 512;
/// How many of the people who left are remembered: the latest.
pub const MAX_DEPARTED: usize = 64;

/// The people around, and the time.
pub(crate) struct Surroundings {
    pub(crate) world: Option<&'static World>,
    pub(crate) friends: Associations<MAX_FRIENDS>,
    pub(crate) nearby: Associations<MAX_NEARBY>,
    departed: [Departed; MAX_DEPARTED],
    departures: usize,
    now: u64,
}

/// Somebody who was near.
#[derive(Clone, Copy)]
struct Departed {
    profile: Profile,
    at: u64,
}

/// What looking at one candidate for a flock found.
pub(crate) struct Look {
    pub(crate) uid: Uid,
    pub(crate) member: bool,
    pub(crate) friend: bool,
    pub(crate) comparisons: u32,
}

impl Surroundings {
    pub(crate) const EMPTY: Self = Self {
        world: None,
        friends: Associations::EMPTY,
        nearby: Associations::EMPTY,
        departed: [Departed { profile: Profile::BLANK, at: 0 }; MAX_DEPARTED],
        departures: 0,
        now: 0,
    };

    /// Forgets everybody. (A blank one is not assigned: it would pass over the stack, which is smaller on a board.)
    pub(crate) fn clear(&mut self) {
        self.friends.length = 0;
        self.nearby.length = 0;
        self.departures = 0;
        self.now = 0;
    }

    // ---- the full engine: all it needs, it looks up ----

    /// How many candidates there are for a flock: who is near, then friends, then who was near.
    pub(crate) fn candidates(&self, predicate: &Predicate) -> usize {
        let nearby = self.nearby.entries().len();
        if predicate.is_about_nearby() { nearby } else { nearby + self.friends.entries().len() + self.departures }
    }

    /// Looks at one candidate; nothing if there is none in this place. Somebody who is in several lists is a candidate in the
    /// first of them; in the others, it is no member.
    #[inline]
    pub(crate) fn look(&self, predicate: &Predicate, candidate: usize) -> Option<Look> {
        if let Some(person) = self.nearby.entries().get(candidate) {
            let (as_friend, comparisons) = self.friends.find(&person.username);
            return Some(self.judge(predicate, person, as_friend.is_some(), true, None, comparisons));
        }
        let candidate = candidate - self.nearby.entries().len();
        if let Some(person) = self.friends.entries().get(candidate) {
            let (near, comparisons) = self.nearby.find(&person.username);
            if near.is_some() {
                return Some(Look { uid: person.uid, member: false, friend: true, comparisons });
            }
            let (away, further) = if predicate.remembers() { self.find_departed(&person.username) } else { (None, 0) };
            return Some(self.judge(predicate, person, true, false, away, comparisons + further));
        }
        let candidate = candidate - self.friends.entries().len();
        let Departed { profile, at } = self.departed().get(candidate)?;
        let (as_friend, comparisons) = self.friends.find(&profile.username);
        if as_friend.is_some() {
            return Some(Look { uid: profile.uid, member: false, friend: true, comparisons });
        }
        Some(self.judge(predicate, profile, false, false, Some(self.since(*at)), comparisons))
    }

    #[inline]
    fn judge(
        &self,
        predicate: &Predicate,
        profile: &Profile,
        friend: bool,
        nearby: bool,
        away: Option<u32>,
        comparisons: u32,
    ) -> Look {
        let (partner_nearby, further) = self.find_partner(profile);
        let facts = Facts { profile, friend, nearby, away, partner_nearby };
        Look { uid: profile.uid, member: predicate.holds(&facts), friend, comparisons: comparisons + further }
    }

    /// Whether somebody's partner is near, and how many usernames were compared to find out.
    #[inline]
    fn find_partner(&self, person: &Profile) -> (bool, u32) {
        let partner = self.world.zip(person.partner()).and_then(|(world, partner)| world.person(partner));
        let Some(partner) = partner else { return (false, 0) };
        let (near, comparisons) = self.nearby.find(&partner.username);
        (near.is_some_and(|near| near.partner == person.uid), comparisons)
    }

    fn find_departed(&self, who: &Username) -> (Option<u32>, u32) {
        match self.departed().iter().position(|departed| departed.profile.username == *who) {
            Some(place) => (Some(self.since(self.departed[place].at)), place as u32 + 1),
            None => (None, self.departures as u32),
        }
    }

    // ---- what events change, and what the incremental engine needs of one person ----

    /// The profile of somebody who is known.
    pub(crate) fn profile(&self, uid: Uid) -> Option<&Profile> {
        let departed = self.departed().iter().map(|departed| &departed.profile);
        let known = self.nearby.entries().iter().chain(self.friends.entries()).chain(departed);
        known.into_iter().find(|profile| profile.uid == uid)
    }

    /// Everybody who is known; those in several lists several times.
    pub(crate) fn known(&self) -> impl Iterator<Item = Uid> + '_ {
        let departed = self.departed().iter().map(|departed| &departed.profile);
        self.nearby.entries().iter().chain(self.friends.entries()).chain(departed).map(|profile| profile.uid)
    }

    /// For how many milliseconds somebody has been away who is remembered.
    pub(crate) fn away(&self, uid: Uid) -> Option<u32> {
        let departed = self.departed().iter().find(|departed| departed.profile.uid == uid)?;
        Some(self.since(departed.at))
    }

    /// The people who were near and are remembered.
    pub(crate) fn departed_at(&self, place: usize) -> Option<Uid> {
        self.departed().get(place).map(|departed| departed.profile.uid)
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, ms: u32) {
        self.now += u64::from(ms);
    }

    /// Remembers somebody who left; returns who is forgotten for it.
    pub(crate) fn remember(&mut self, profile: Profile) -> Option<Uid> {
        let forgotten = (self.departures == MAX_DEPARTED).then(|| {
            let oldest = self.departed[0].profile.uid;
            self.departed.copy_within(1.., 0);
            self.departures -= 1;
            oldest
        });
        self.departed[self.departures] = Departed { profile, at: self.now };
        self.departures += 1;
        forgotten
    }

    /// Somebody who was remembered is back.
    pub(crate) fn welcome_back(&mut self, uid: Uid) {
        if let Some(place) = self.departed().iter().position(|departed| departed.profile.uid == uid) {
            self.departed.copy_within(place + 1..self.departures, place);
            self.departures -= 1;
        }
    }

    /// Replaces a profile in every list that has it; returns the old one.
    pub(crate) fn replace(&mut self, new: &Profile) -> Option<Profile> {
        let departed = self.departed[..self.departures].iter_mut().map(|departed| &mut departed.profile);
        let known = self.nearby.entries_mut().iter_mut().chain(self.friends.entries_mut()).chain(departed);
        let mut old = None;
        for profile in known.filter(|profile| profile.username == new.username) {
            old = Some(*profile);
            *profile = Profile { uid: profile.uid, ..*new };
        }
        old
    }

    fn departed(&self) -> &[Departed] {
        &self.departed[..self.departures]
    }

    fn since(&self, at: u64) -> u32 {
        u32::try_from(self.now - at).unwrap_or(u32::MAX)
    }
}

/// People by username, in the order they came.
pub(crate) struct Associations<const N: usize> {
    entries: [Profile; N],
    length: usize,
}

impl<const N: usize> Associations<N> {
    const EMPTY: Self = Self { entries: [Profile::BLANK; N], length: 0 };

    #[inline]
    pub(crate) fn entries(&self) -> &[Profile] {
        &self.entries[..self.length]
    }

    fn entries_mut(&mut self) -> &mut [Profile] {
        &mut self.entries[..self.length]
    }

    /// Whom the username belongs to, and how many were compared: up to and with the one found, or all.
    #[inline]
    fn find(&self, who: &Username) -> (Option<&Profile>, u32) {
        match place_of(self.entries(), who) {
            Some(place) => (self.entries.get(place), place as u32 + 1),
            None => (None, self.length as u32),
        }
    }

    /// Adds somebody at the end; false if there is no room.
    pub(crate) fn push(&mut self, profile: Profile) -> bool {
        let room = self.length < N;
        if room {
            self.entries[self.length] = profile;
            self.length += 1;
        }
        room
    }

    /// Takes somebody out; the others keep their order.
    pub(crate) fn remove(&mut self, uid: Uid) -> Option<Profile> {
        let place = self.entries().iter().position(|entry| entry.uid == uid)?;
        let removed = self.entries[place];
        self.entries.copy_within(place + 1..self.length, place);
        self.length -= 1;
        Some(removed)
    }
}

/// Searches a list from the front. Not inlined: alone, the loop keeps all it needs in the few registers of a Cortex-M0+.
#[inline(never)]
fn place_of(entries: &[Profile], who: &Username) -> Option<usize> {
    let who = *who;
    entries.iter().position(|entry| entry.username == who)
}
