//! smallest path
use flockwork::{Actor, ReadersWriter, actor};

/// d
pub struct Dictionary {
    meanings: [u32; 64],
}

#[actor]
impl Dictionary {
    /// g
    pub fn get(&self, word: u8) -> u32 {
        self.meanings[word as usize % 64]
    }
    /// p
    pub fn put(&mut self, word: u8, meaning: u32) {
        self.meanings[word as usize % 64] = meaning;
    }
}

#[actor]
static DICTIONARY: Actor<Dictionary, ReadersWriter, 32> = Dictionary { meanings: [0; 64] };

fn main() {
    let m = flockwork_host_sim::run(2, || {
        DICTIONARY.put(3, 7).tell().unwrap();
        DICTIONARY.get(3).get()
    });
    println!("{m:?}");
}
