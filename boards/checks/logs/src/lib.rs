//! What the images that log have in common: who logs, and what.
//!
//! Nothing here picks the logger; each image does.
#![no_std]

use flockwork::{Actor, Pinned, Report, actor};

/// Logs what it is told, from the core it is on.
pub struct Scribe {
    core: u8,
}

#[actor]
impl Scribe {
    /// Logs a number.
    pub fn note(&mut self, number: u32) -> u32 {
        defmt::info!("core {} notes {}", self.core, number);
        number + 1
    }

    /// Dies of it.
    pub fn despair(&mut self) {
        panic!("no more words");
    }
}

/// On core 0.
#[actor]
pub static HERE: Actor<Scribe, Pinned<0>, 2> = Scribe { core: 0 };

/// On core 1.
#[actor]
pub static THERE: Actor<Scribe, Pinned<1>, 2> = Scribe { core: 1 };

/// Lets both cores log in turn, and logs what the kernel counted.
pub async fn write_a_page() {
    let mut number = 0;
    for _ in 0..2 {
        number = HERE.note(number).await.expect("a scribe answers");
        number = THERE.note(number).await.expect("a scribe answers");
    }
    defmt::info!("{}", Report::of(&HERE));
}
