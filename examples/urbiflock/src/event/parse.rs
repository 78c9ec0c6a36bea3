//! From a line of text to an event.

use core::fmt;
use core::str::{FromStr, SplitWhitespace};

use super::{Event, Field, NONE};
use crate::profile::{Hobby, NOBODY, Profile, Sex, UNIVERSE, Uid};

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

const A_UID: &str = "a uid, from 1 to 1023";
const ANOTHER_UID: &str = "the uid of somebody else, from 1 to 1023, or `none`";
const HOBBIES: &str =
    "`none`, or hobbies with spaces between: badminton, chess, cycling, film, football, music, reading, swimming";
const HOBBY: &str = "a hobby: badminton, chess, cycling, film, football, music, reading, swimming";

pub(super) fn parse(line: &str, told: impl FnOnce(Uid) -> Option<Profile>) -> Result<Option<Event>, EventError> {
    let mut words = Words::of(line);
    let Some(verb) = words.next() else { return Ok(None) };
    let event = match verb {
        "join" => Event::Join(words.uid()?),
        "left" => Event::Left(words.uid()?),
        "friend" => Event::AddFriend(words.uid()?),
        "unfriend" => Event::RemoveFriend(words.uid()?),
        "changed" => {
            let mut profile = told(words.uid()?).ok_or_else(|| words.mistake(A_UID))?;
            Event::Changed(words.change(&mut profile)?, profile)
        }
        "pass" => Event::Pass(words.number().ok_or_else(|| words.mistake("milliseconds"))?),
        _ => return Err(words.mistake("`join`, `left`, `friend`, `unfriend`, `changed` or `pass`")),
    };
    match words.next() {
        None => Ok(Some(event)),
        Some(_) => Err(words.mistake("the end of the line")),
    }
}

/// The words of a line, up to a comment.
struct Words<'a> {
    line: &'a str,
    content: &'a str,
    rest: SplitWhitespace<'a>,
    /// The word that was taken last; none at the end of the line.
    last: Option<&'a str>,
}

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Self {
        let content = line.split('#').next().unwrap_or_default();
        Self { line, content, rest: content.split_whitespace(), last: None }
    }

    fn next(&mut self) -> Option<&'a str> {
        self.last = self.rest.next();
        self.last
    }

    /// In place of the word that was taken last, there should be something else.
    fn mistake(&self, expected: &'static str) -> EventError {
        let column = match self.last {
            Some(word) => column_of(self.line, word),
            None => self.content.trim_end().chars().count() + 2,
        };
        EventError { column, expected }
    }

    fn number<T: FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }

    fn uid(&mut self) -> Result<Uid, EventError> {
        self.number().filter(is_uid).ok_or_else(|| self.mistake(A_UID))
    }

    /// Takes a field and its new value.
    fn change(&mut self, profile: &mut Profile) -> Result<Field, EventError> {
        let field = match self.next() {
            Some("age") => Field::Age,
            Some("sex") => Field::Sex,
            Some("hobbies") => Field::Hobbies,
            Some("partner") => Field::Partner,
            _ => return Err(self.mistake("what has changed: `age`, `sex`, `hobbies` or `partner`")),
        };
        let value = self.next();
        match field {
            Field::Age => match value.map(u8::from_str) {
                // The birth date is still told, and it goes with the age.
                _ if value == Some(NONE) => profile.flags |= Profile::AGE_MISSING,
                Some(Ok(age)) => {
                    profile.age = age;
                    profile.flags &= !Profile::AGE_MISSING;
                }
                _ => return Err(self.mistake("an age, from 0 to 255, or `none`")),
            },
            Field::Sex => match value {
                Some(sex) if sex == Sex::Female.name() => profile.sex = 1,
                Some(sex) if sex == Sex::Male.name() => profile.sex = 0,
                _ => return Err(self.mistake("`female` or `male`")),
            },
            Field::Hobbies if value == Some(NONE) => {
                profile.hobbies = 0;
                profile.flags |= Profile::HOBBIES_MISSING;
            }
            Field::Hobbies => {
                profile.hobbies = 1 << hobby(value).ok_or_else(|| self.mistake(HOBBIES))? as u8;
                while let Some(further) = self.next() {
                    profile.hobbies |= 1 << hobby(Some(further)).ok_or_else(|| self.mistake(HOBBY))? as u8;
                }
                profile.flags &= !Profile::HOBBIES_MISSING;
            }
            Field::Partner if value == Some(NONE) => profile.partner = NOBODY,
            Field::Partner => {
                let partner = value.and_then(|word| word.parse().ok()).filter(is_uid);
                let partner = partner.filter(|partner| *partner != profile.uid);
                profile.partner = partner.ok_or_else(|| self.mistake(ANOTHER_UID))?;
            }
        }
        Ok(field)
    }
}

fn is_uid(number: &Uid) -> bool {
    (1..UNIVERSE as Uid).contains(number)
}

fn hobby(name: Option<&str>) -> Option<Hobby> {
    Hobby::ALL.into_iter().find(|hobby| Some(hobby.name()) == name)
}

/// The column of a word that is a part of the line.
fn column_of(line: &str, word: &str) -> usize {
    let place = word.as_ptr().addr() - line.as_ptr().addr();
    line[..place].chars().count() + 1
}
