//! Sets of people: a bit for everyone in the universe.

use core::fmt;

use crate::profile::{UNIVERSE, Uid};

const WORDS: usize = UNIVERSE / 32;

/// A set of people. It is always sorted: iterating it gives ascending uids.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct People {
    words: [u32; WORDS],
}

impl People {
    /// Nobody.
    pub const NONE: Self = Self { words: [0; WORDS] };

    /// Whether this person is in it.
    #[inline]
    pub const fn contains(&self, uid: Uid) -> bool {
        let (word, bit) = place(uid);
        word < WORDS && self.words[word] & bit != 0
    }

    /// Puts a person in; true if that changed anything. Nobody outside the universe is ever in it.
    #[inline]
    pub const fn insert(&mut self, uid: Uid) -> bool {
        let (word, bit) = place(uid);
        let new = word < WORDS && self.words[word] & bit == 0;
        if new {
            self.words[word] |= bit;
        }
        new
    }

    /// Takes a person out; true if that changed anything.
    #[inline]
    pub const fn remove(&mut self, uid: Uid) -> bool {
        let (word, bit) = place(uid);
        let there = word < WORDS && self.words[word] & bit != 0;
        if there {
            self.words[word] &= !bit;
        }
        there
    }

    /// Puts a person in or takes it out; true if that changed anything.
    #[inline]
    pub const fn set(&mut self, uid: Uid, member: bool) -> bool {
        if member { self.insert(uid) } else { self.remove(uid) }
    }

    /// Puts all of these people in.
    pub fn insert_all(&mut self, others: &Self) {
        self.words.iter_mut().zip(others.words).for_each(|(word, other)| *word |= other);
    }

    /// Takes everybody out.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// How many people there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Everyone in it, by ascending uid.
    pub fn iter(&self) -> impl Iterator<Item = Uid> + '_ {
        self.words.iter().enumerate().flat_map(|(place, &word)| {
            let mut rest = word;
            core::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(place as Uid * 32 + bit as Uid)
            })
        })
    }

    /// What two derivations are compared by: FNV-1a with 32 bits over the ascending uids, each as two bytes, the lower first.
    pub fn hash(&self) -> u32 {
        let bytes = self.iter().flat_map(Uid::to_le_bytes);
        bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

const fn place(uid: Uid) -> (usize, u32) {
    (uid as usize / 32, 1 << (uid % 32))
}

impl FromIterator<Uid> for People {
    fn from_iter<I: IntoIterator<Item = Uid>>(people: I) -> Self {
        let mut set = Self::NONE;
        for uid in people {
            set.insert(uid);
        }
        set
    }
}

impl fmt::Debug for People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
