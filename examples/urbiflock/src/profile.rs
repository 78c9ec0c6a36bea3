//! Profiles: what people tell each other about themselves when they meet.
//!
//! The username is the identity. First name, last name, birth date and sex are in every profile; further fields may be
//! missing, and a predicate about a missing field does not match.

use core::fmt;

/// How many people there are in the world. Uids are below this.
pub const UNIVERSE: usize = 1024;

/// A person's number: its place in the universe.
pub type Uid = u16;

/// The partner of somebody who has none.
pub const NOBODY: Uid = 0xffff;

/// A username: twelve bytes, compared as three words.
///
/// A slice of bytes would be compared by a call of `bcmp` on a Cortex-M0+, a byte at a time. Lists of people are searched by
/// username, so this is what a flock spends its time with.
#[derive(Clone, Copy)]
pub struct Username {
    words: [u32; 3],
}

impl Username {
    /// A username from its bytes.
    pub const fn new(bytes: [u8; 12]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = bytes;
        Self {
            words: [
                u32::from_ne_bytes([a, b, c, d]),
                u32::from_ne_bytes([e, f, g, h]),
                u32::from_ne_bytes([i, j, k, l]),
            ],
        }
    }

    /// The username that goes with a uid: "flockr-00042".
    pub const fn of(uid: Uid) -> Self {
        let mut bytes = *b"flockr-00000";
        let (mut rest, mut place) = (uid, bytes.len());
        while rest > 0 {
            place -= 1;
            bytes[place] += (rest % 10) as u8;
            rest /= 10;
        }
        Self::new(bytes)
    }

    /// Its bytes.
    pub const fn bytes(&self) -> [u8; 12] {
        let [a, b, c, d] = self.words[0].to_ne_bytes();
        let [e, f, g, h] = self.words[1].to_ne_bytes();
        let [i, j, k, l] = self.words[2].to_ne_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }
}

impl PartialEq for Username {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        let ([a, b, c], [x, y, z]) = (self.words, other.words);
        a == x && b == y && c == z
    }
}

impl Eq for Username {}

impl fmt::Display for Username {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(core::str::from_utf8(&self.bytes()).unwrap_or("?"))
    }
}

impl fmt::Debug for Username {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What one person tells another.
///
/// `flags` says which of the fields that may be missing are: see [`AGE_MISSING`](Self::AGE_MISSING) and
/// [`HOBBIES_MISSING`](Self::HOBBIES_MISSING).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Profile {
    /// The person's number.
    pub uid: Uid,
    /// The partner's number, or [`NOBODY`]. Two people are a couple if each names the other.
    pub partner: Uid,
    /// In years.
    pub age: u8,
    /// 1 is female.
    pub sex: u8,
    /// A bit for each [`Hobby`].
    pub hobbies: u8,
    /// Which fields are missing.
    pub flags: u8,
    /// The identity.
    pub username: Username,
}

const _: () = assert!(size_of::<Profile>() == 20, "a profile fits 20 bytes");

impl Profile {
    /// In `flags`: the age is not told.
    pub const AGE_MISSING: u8 = 1 << 0;
    /// In `flags`: hobbies are not told.
    pub const HOBBIES_MISSING: u8 = 1 << 1;

    /// Fills unused places of lists. It is all zeroes, so that lists cost no flash.
    pub(crate) const BLANK: Self =
        Self { uid: 0, partner: 0, age: 0, sex: 0, hobbies: 0, flags: 0, username: Username { words: [0; 3] } };

    /// The age, unless it is missing.
    pub const fn age(&self) -> Option<u8> {
        if self.flags & Self::AGE_MISSING == 0 { Some(self.age) } else { None }
    }

    /// The partner, if there is one.
    pub const fn partner(&self) -> Option<Uid> {
        if self.partner == NOBODY { None } else { Some(self.partner) }
    }

    /// The sex.
    pub const fn sex(&self) -> Sex {
        if self.sex == 1 { Sex::Female } else { Sex::Male }
    }

    /// Whether this is one of the person's hobbies; false if hobbies are missing.
    pub const fn has_hobby(&self, hobby: Hobby) -> bool {
        self.flags & Self::HOBBIES_MISSING == 0 && self.hobbies & 1 << hobby as u8 != 0
    }

    /// The first name. Names take no room in a profile: they are made up from the uid.
    pub const fn first_name(&self) -> &'static str {
        let names = match self.sex() {
            Sex::Female => &FEMALE_NAMES,
            Sex::Male => &MALE_NAMES,
        };
        names[self.uid as usize % names.len()]
    }

    /// The last name.
    pub const fn last_name(&self) -> &'static str {
        LAST_NAMES[self.uid as usize / FEMALE_NAMES.len() % LAST_NAMES.len()]
    }

    /// The birth date, made up from the uid so that it agrees with the age on the first day of 2014.
    pub const fn birth_date(&self) -> Date {
        let day_of_year = self.uid % (12 * 27);
        // Nobody was born on the first of a month, so that no birthday is the first day of the year.
        Date::new(2013 - self.age as u16, 1 + (day_of_year % 12) as u8, 2 + (day_of_year / 12) as u8)
    }
}

const FEMALE_NAMES: [&str; 16] = [
    "Ada", "Amina", "Barbara", "Carla", "Dana", "Elif", "Frances", "Grace", "Hana", "Ines", "Joan", "Katja", "Lena",
    "Mei", "Nadia", "Olga",
];
const MALE_NAMES: [&str; 16] = [
    "Alan", "Ben", "Carl", "Dennis", "Edsger", "Farid", "Gul", "Hiro", "Ivan", "Jan", "Ken", "Leslie", "Mario", "Niko",
    "Omar", "Peter",
];
const LAST_NAMES: [&str; 16] = [
    "Abe", "Baker", "Costa", "Demir", "Evers", "Fischer", "Garcia", "Haddad", "Ito", "Jansen", "Kovacs", "Lopez",
    "Meyer", "Novak", "Okafor", "Peeters",
];

/// The values of the field `sex`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Sex {
    Male,
    Female,
}

impl Sex {
    /// How it is written in a predicate.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Male => "male",
            Self::Female => "female",
        }
    }
}

/// What people like to do: the bits of [`Profile::hobbies`], from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[repr(u8)]
pub enum Hobby {
    Badminton,
    Chess,
    Cycling,
    Film,
    Football,
    Music,
    Reading,
    Swimming,
}

impl Hobby {
    /// All of them, in the order of their bits.
    pub const ALL: [Self; 8] = [
        Self::Badminton,
        Self::Chess,
        Self::Cycling,
        Self::Film,
        Self::Football,
        Self::Music,
        Self::Reading,
        Self::Swimming,
    ];

    /// How it is written in a predicate.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Badminton => "badminton",
            Self::Chess => "chess",
            Self::Cycling => "cycling",
            Self::Film => "film",
            Self::Football => "football",
            Self::Music => "music",
            Self::Reading => "reading",
            Self::Swimming => "swimming",
        }
    }
}

/// A day, ordered as the calendar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day of this year, month and day of the month. They are taken as they are.
    pub const fn new(year: u16, month: u8, day: u8) -> Self {
        Self { year, month, day }
    }

    /// Whether there is such a day.
    pub const fn exists(self) -> bool {
        let leap = self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let days = match self.month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => 0,
        };
        self.day >= 1 && self.day <= days
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A short text, for values of text fields and for notes to people.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: u8,
}

impl<const N: usize> Text<N> {
    /// The text, if it is no longer than `N` bytes.
    pub const fn new(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        if text.len() > N || N > u8::MAX as usize {
            return None;
        }
        let mut bytes = [0; N];
        let mut place = 0;
        while place < text.len() {
            bytes[place] = text[place];
            place += 1;
        }
        Some(Self { bytes, length: text.len() as u8 })
    }

    /// As text again.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or("?")
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
