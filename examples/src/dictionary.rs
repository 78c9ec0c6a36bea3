//! A dictionary as an actor: an association list, searched from the front.

use flockwork::actor;

/// Words are numbers here; so are their meanings.
pub type Word = u32;
/// What a word means.
pub type Meaning = u32;

/// How many words a [`Dictionary`] has.
pub const WORDS: usize = 4096;

/// An association list.
pub struct Dictionary {
    entries: [(Word, Meaning); WORDS],
}

impl Dictionary {
    /// Every word means its square.
    #[expect(clippy::new_without_default, reason = "statics need a const constructor")]
    pub const fn new() -> Self {
        let mut entries = [(0, 0); WORDS];
        let mut place = 0;
        while place < WORDS {
            let word = place as Word;
            entries[place] = (word, word.wrapping_mul(word));
            place += 1;
        }
        Self { entries }
    }
}

#[actor]
impl Dictionary {
    /// Looks a word up. A reader: both cores at once.
    pub fn get(&self, word: Word) -> Option<Meaning> {
        self.entries.iter().find(|(entry, _)| *entry == word).map(|(_, meaning)| *meaning)
    }

    /// Gives a word another meaning. A writer: alone. False if there is no such word.
    pub fn put(&mut self, word: Word, meaning: Meaning) -> bool {
        let entry = self.entries.iter_mut().find(|(entry, _)| *entry == word);
        entry.map(|(_, old)| *old = meaning).is_some()
    }
}
