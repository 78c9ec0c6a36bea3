//! A dictionary as an actor: an association list, searched from the front.

use flockwork::{actor, trace};

/// A word, padded with spaces.
pub type Word = [u8; 12];
/// What a word means: a page.
pub type Meaning = u32;

/// How many words a [`Dictionary`] has.
pub const WORDS: usize = 4096;
/// What it takes to compare two letters, in cycles of a small core: two loads, a comparison, a sum and a step of the loop. Only
/// simulated time asks; it is reckoned, not measured.
const CYCLES_PER_LETTER: u32 = 8;

/// An association list.
pub struct Dictionary {
    entries: [(Word, Meaning); WORDS],
}

impl Dictionary {
    /// The n-th word is found on page n.
    #[expect(clippy::new_without_default, reason = "statics need a const constructor")]
    pub const fn new() -> Self {
        let mut entries = [(word(0), 0); WORDS];
        let mut place = 0;
        while place < WORDS {
            entries[place] = (word(place as u32), place as Meaning);
            place += 1;
        }
        Self { entries }
    }
}

/// The n-th word, made up: "word-00042".
pub const fn word(number: u32) -> Word {
    let mut word = *b"word-00000  ";
    let (mut rest, mut place) = (number, 9);
    while place > 4 {
        word[place] = b'0' + (rest % 10) as u8;
        rest /= 10;
        place -= 1;
    }
    word
}

#[actor]
impl Dictionary {
    /// Looks a word up. A reader: both cores at once.
    pub fn get(&self, word: Word) -> Option<Meaning> {
        self.entries.iter().find(|(entry, _)| *entry == word).map(|(_, meaning)| *meaning)
    }

    /// How many words share so many letters with this one, in the same places. A reader that takes its time: it looks at
    /// every letter of every word.
    pub fn resembling(&self, word: Word, letters: usize) -> usize {
        trace::charge(CYCLES_PER_LETTER * (WORDS * word.len()) as u32);
        let alike = |entry: &Word| entry.iter().zip(&word).filter(|(one, other)| one == other).count();
        self.entries.iter().filter(|(entry, _)| alike(entry) >= letters).count()
    }

    /// Gives a word another meaning. A writer: alone. False if there is no such word.
    pub fn put(&mut self, word: Word, meaning: Meaning) -> bool {
        let entry = self.entries.iter_mut().find(|(entry, _)| *entry == word);
        entry.map(|(_, old)| *old = meaning).is_some()
    }
}
