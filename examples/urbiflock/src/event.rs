//! What happens around a flockr, as a line of text and as a letter.
//!
//! ```text
//! join 365            # somebody comes near
//! left 365            # and goes
//! friend 104          # becomes a friend
//! unfriend 104        # is none any more
//! pass 1500           # milliseconds go by
//! ```

use core::fmt;

use flockwork::Ref;

use crate::derivation::DerivationError;
use crate::flockr::Flockr;
use crate::people::People;
use crate::profile::Uid;
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
    /// So many milliseconds go by.
    Pass(u32),
}

impl Event {
    /// The event that a line describes; nothing for a line that is empty or a comment.
    ///
    /// ```
    /// use flockwork_urbiflock::Event;
    ///
    /// assert_eq!(Event::parse("join 365  # the first"), Ok(Some(Event::Join(365))));
    /// assert_eq!(Event::parse("# nobody"), Ok(None));
    /// assert_eq!(Event::parse("join nobody").unwrap_err().to_string(), "column 6: expected a uid, from 1 to 1023");
    /// ```
    pub fn parse(line: &str) -> Result<Option<Self>, EventError> {
        let content = line.split('#').next().unwrap_or_default();
        let mut words = content.split_whitespace();
        let Some(verb) = words.next() else { return Ok(None) };
        let mistake = |at: Option<&str>, expected: &'static str| EventError {
            column: at.map_or(content.trim_end().chars().count() + 2, |word| column_of(line, word)),
            expected,
        };
        let operand = words.next();
        let uid = || {
            let uid = operand.and_then(|word| word.parse().ok());
            uid.filter(|uid| (1..crate::UNIVERSE as Uid).contains(uid))
                .ok_or_else(|| mistake(operand, "a uid, from 1 to 1023"))
        };
        let event = match verb {
            "join" => Self::Join(uid()?),
            "left" => Self::Left(uid()?),
            "friend" => Self::AddFriend(uid()?),
            "unfriend" => Self::RemoveFriend(uid()?),
            "pass" => {
                let ms = operand.and_then(|word| word.parse().ok());
                Self::Pass(ms.ok_or_else(|| mistake(operand, "milliseconds"))?)
            }
            _ => return Err(mistake(Some(verb), "`join`, `left`, `friend`, `unfriend` or `pass`")),
        };
        match words.next() {
            None => Ok(Some(event)),
            further => Err(mistake(further, "the end of the line")),
        }
    }

    /// Lets it happen to a flockr, inside a device. Returns the version after it.
    pub fn happen(self, flockr: Ref<Flockr>) -> Result<u32, DerivationError> {
        match self {
            Self::Join(uid) => flockr.join(uid).get(),
            Self::Left(uid) => flockr.left(uid).get(),
            Self::AddFriend(uid) => flockr.add_friend(uid).get(),
            Self::RemoveFriend(uid) => {
                flockr.remove_friend(uid).get().map_err(|failure| failure.map(|never| match never {}))
            }
            Self::Pass(ms) => flockr.pass(ms).get().map_err(|failure| failure.map(|never| match never {})),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Join(uid) => write!(f, "join {uid}"),
            Self::Left(uid) => write!(f, "left {uid}"),
            Self::AddFriend(uid) => write!(f, "friend {uid}"),
            Self::RemoveFriend(uid) => write!(f, "unfriend {uid}"),
            Self::Pass(ms) => write!(f, "pass {ms}"),
        }
    }
}

/// Where a line is no event, and what should be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventError {
    /// Counted in characters, from 1.
    pub column: usize,
    /// What should be there.
    pub expected: &'static str,
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: expected {}", self.column, self.expected)
    }
}

impl core::error::Error for EventError {}

/// The column of a word that is a part of the line.
fn column_of(line: &str, word: &str) -> usize {
    let place = word.as_ptr().addr() - line.as_ptr().addr();
    line[..place].chars().count() + 1
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
