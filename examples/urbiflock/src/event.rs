//! What happens around a flockr, as a line of text and as a letter.
//!
//! ```text
//! join 365                        # somebody comes near
//! left 365                        # and goes
//! friend 104                      # becomes a friend
//! unfriend 104                    # is none any more
//! changed 365 age 33              # tells another profile
//! changed 365 sex female
//! changed 365 hobbies chess film  # these and no others
//! changed 365 partner 104         # they are a couple if 104 names 365 as well
//! changed 365 partner none        # neither an age nor hobbies have to be told: they can be none, too
//! pass 1500                       # milliseconds go by
//! ```

mod parse;

use core::convert::Infallible;
use core::fmt;

use flockwork::{Failure, Ref};

pub use parse::EventError;

use crate::derivation::DerivationError;
use crate::flock::FlockError;
use crate::flockr::Flockr;
use crate::people::People;
use crate::profile::{Hobby, Profile, Uid};
use crate::surroundings::MAX_NEARBY;
use crate::world::{Generator, World};

/// Something that happens around a flockr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Somebody comes near.
    Join(Uid),
    /// Somebody goes.
    Left(Uid),
    /// Somebody becomes a friend.
    AddFriend(Uid),
    /// Somebody is no friend any more.
    RemoveFriend(Uid),
    /// Somebody tells another profile, all of it; this field is what has changed.
    Changed(Field, Profile),
    /// So many milliseconds go by.
    Pass(u32),
}

/// What can change in a profile. (Names and the birth date are made up from uid, sex and age.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Field {
    Age,
    Sex,
    Hobbies,
    Partner,
}

/// How a field is written that has no value.
const NONE: &str = "none";

impl Event {
    /// The event that a line describes; nothing for a line that is empty or a comment.
    ///
    /// A line names one field that changes, but people tell their whole profile: `told` gives the one somebody told before.
    ///
    /// ```
    /// use flockwork_urbiflock::{Event, Field, Profile, WORLD};
    ///
    /// let parse = |line| Event::parse(line, |uid| WORLD.person(uid).copied());
    /// assert_eq!(parse("join 365  # the first"), Ok(Some(Event::Join(365))));
    /// assert_eq!(parse("# nobody"), Ok(None));
    /// assert_eq!(parse("join nobody").unwrap_err().to_string(), "column 6: expected a uid, from 1 to 1023");
    ///
    /// let profile = Profile { age: 33, ..*WORLD.person(365).unwrap() };
    /// assert_eq!(parse("changed 365 age 33"), Ok(Some(Event::Changed(Field::Age, profile))));
    /// ```
    pub fn parse(line: &str, told: impl FnOnce(Uid) -> Option<Profile>) -> Result<Option<Self>, EventError> {
        parse::parse(line, told)
    }

    /// Lets it happen to a flockr, inside a device. Returns the version after it.
    pub fn happen(self, flockr: Ref<Flockr>) -> Result<u32, DerivationError> {
        match self {
            Self::Join(uid) => flockr.join(uid).get(),
            Self::Left(uid) => flockr.left(uid).get(),
            Self::AddFriend(uid) => flockr.add_friend(uid).get(),
            Self::RemoveFriend(uid) => flockr.remove_friend(uid).get().map_err(widen),
            Self::Changed(_, profile) => flockr.changed(profile).get().map_err(widen),
            Self::Pass(ms) => flockr.pass(ms).get().map_err(widen),
        }
    }

    /// The same without letters, for whoever has the flockr itself.
    pub fn happen_to(self, flockr: &mut Flockr) -> Result<u32, FlockError> {
        match self {
            Self::Join(uid) => flockr.join(uid),
            Self::Left(uid) => flockr.left(uid),
            Self::AddFriend(uid) => flockr.add_friend(uid),
            Self::RemoveFriend(uid) => Ok(flockr.remove_friend(uid)),
            Self::Changed(_, profile) => Ok(flockr.changed(profile)),
            Self::Pass(ms) => Ok(flockr.pass(ms)),
        }
    }
}

/// The failure of a letter whose method cannot fail.
fn widen(failure: Failure<Infallible>) -> DerivationError {
    failure.map(|never| match never {})
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Join(uid) => write!(f, "join {uid}"),
            Self::Left(uid) => write!(f, "left {uid}"),
            Self::AddFriend(uid) => write!(f, "friend {uid}"),
            Self::RemoveFriend(uid) => write!(f, "unfriend {uid}"),
            Self::Changed(field, profile) => {
                write!(f, "changed {} ", profile.uid)?;
                field.write(profile, f)
            }
            Self::Pass(ms) => write!(f, "pass {ms}"),
        }
    }
}

impl Field {
    /// Writes its name, and what a profile says there.
    fn write(self, profile: &Profile, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, number) = match self {
            Self::Age => ("age", profile.age().map(u16::from)),
            Self::Partner => ("partner", profile.partner()),
            Self::Sex => return write!(f, "sex {}", profile.sex().name()),
            Self::Hobbies => {
                let mut hobbies = Hobby::ALL.into_iter().filter(|hobby| profile.has_hobby(*hobby)).peekable();
                if hobbies.peek().is_none() {
                    return write!(f, "hobbies {NONE}");
                }
                f.write_str("hobbies")?;
                return hobbies.try_for_each(|hobby| write!(f, " {}", hobby.name()));
            }
        };
        match number {
            Some(number) => write!(f, "{name} {number}"),
            None => write!(f, "{name} {NONE}"),
        }
    }
}

/// People who come and go without end: of four events, three bring the next arrival, as long as there is room, and one takes
/// somebody away who is near.
#[derive(Debug)]
pub struct Bustle {
    world: &'static World,
    generator: Generator,
    near: People,
    most: usize,
    next: usize,
}

impl Bustle {
    /// What happens in a world where these people are near already, and at most so many can be.
    pub fn new(world: &'static World, generator: Generator, near: People, most: usize) -> Self {
        Self { world, generator, near, most: most.clamp(1, MAX_NEARBY), next: 0 }
    }

    fn arrival(&mut self) -> Option<Event> {
        let arrivals = self.world.arrivals();
        loop {
            let uid = arrivals[self.next % arrivals.len()];
            self.next += 1;
            if self.near.insert(uid) {
                return Some(Event::Join(uid));
            }
        }
    }
}

impl Iterator for Bustle {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let near = self.near.len();
        let comes = self.generator.below(4) < 3;
        if near == 0 || comes && near < self.most {
            return self.arrival();
        }
        let goes = self.near.iter().nth(self.generator.below(near as u32) as usize)?;
        self.near.remove(goes);
        Some(Event::Left(goes))
    }
}
