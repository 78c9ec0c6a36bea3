//! Deriving a flock: a letter for each candidate, so that all cores can take part.
//!
//! People come and go while a flock is derived, and writers run between its matches. What is *right* then? The members of a
//! derivation are those of one moment: of one version of the flockr, which the derivation names. Each answer says which version it
//! is about. If one differs from the first, the derivation begins again; after [`PATIENCE`] attempts, one letter derives it alone,
//! since no writer can run inside a letter. So a derivation ends, however busy the place is.

use flockwork::{Eventually, Failure, Promise, Ref};

use crate::flock::{FlockError, FlockId};
use crate::flockr::{Census, Extension, Flockr, Matched};
use crate::people::People;
use crate::world::World;

/// Matches that are asked before the first answer is taken, if the flockr has room for as many letters and promises.
pub const WINDOW: usize = 32;
/// How often a derivation tries to get all its matches done before a writer comes.
pub const PATIENCE: u32 = 4;

/// A derived flock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// The state of the flockr that this was true for.
    pub version: u32,
    /// The members, sorted.
    pub members: People,
    /// How many usernames were compared, in the attempt that counts.
    pub comparisons: u32,
    /// How many of the candidates are friends.
    pub friends: u32,
    /// How many attempts came to nothing, because somebody came or went meanwhile.
    pub restarts: u32,
}

impl Derivation {
    /// How many couples the members are, if the flock is that of the couples: two members are one.
    pub fn couples(&self) -> usize {
        self.members.len() / 2
    }

    /// What derivations are compared by; see [`People::hash`].
    pub fn hash(&self) -> u32 {
        self.members.hash()
    }
}

/// Why a flock was not derived.
pub type DerivationError = Failure<FlockError>;

/// Lets the first people of a world come near, in the order they arrive.
pub fn gather(flockr: Ref<Flockr>, world: &'static World, people: usize) -> Result<(), DerivationError> {
    world.arrivals().iter().take(people).try_for_each(|&uid| flockr.join(uid).get().map(drop))
}

/// Derives a flock. It runs inside a device: the core that waits works meanwhile.
pub fn derive(flockr: Ref<Flockr>, flock: FlockId) -> Result<Derivation, DerivationError> {
    for restarts in 0..PATIENCE {
        let mut attempt = Attempt::new(flockr.census(flock).get()?, restarts);
        let mut asked = Window::new();
        while let Some(candidate) = attempt.next() {
            if asked.is_full()
                && let Some(oldest) = asked.take()
            {
                attempt.note(oldest.get()?);
            }
            // With less room than the window, the oldest answers are taken earlier; with none at all, `get` waits for it.
            loop {
                match flockr.matching(flock, candidate).ask() {
                    Ok(promise) => break asked.put(promise),
                    Err(_) => match asked.take() {
                        Some(oldest) => attempt.note(oldest.get()?),
                        None => break attempt.note(flockr.matching(flock, candidate).get()?),
                    },
                }
            }
        }
        while let Some(oldest) = asked.take() {
            attempt.note(oldest.get()?);
        }
        if let Some(derivation) = attempt.finish() {
            return Ok(derivation);
        }
    }
    Ok(alone(flockr.extension(flock).get()?))
}

/// The same for a task.
///
/// **Cancel safety:** dropping the future drops the promises; the matches that were asked still run, and change nothing.
pub async fn derive_async(flockr: Ref<Flockr>, flock: FlockId) -> Result<Derivation, DerivationError> {
    for restarts in 0..PATIENCE {
        let mut attempt = Attempt::new(flockr.census(flock).await?, restarts);
        let mut asked = Window::new();
        while let Some(candidate) = attempt.next() {
            if asked.is_full()
                && let Some(oldest) = asked.take()
            {
                attempt.note(oldest.await?);
            }
            loop {
                match flockr.matching(flock, candidate).ask() {
                    Ok(promise) => break asked.put(promise),
                    Err(_) => match asked.take() {
                        Some(oldest) => attempt.note(oldest.await?),
                        None => break attempt.note(flockr.matching(flock, candidate).await?),
                    },
                }
            }
        }
        while let Some(oldest) = asked.take() {
            attempt.note(oldest.await?);
        }
        if let Some(derivation) = attempt.finish() {
            return Ok(derivation);
        }
    }
    Ok(alone(flockr.extension(flock).await?))
}

fn alone(extension: Extension) -> Derivation {
    let Extension { version, comparisons, friends, members } = extension;
    Derivation { version, members, comparisons, friends, restarts: PATIENCE }
}

/// One attempt to get all matches of one version.
struct Attempt {
    candidates: core::ops::Range<u16>,
    /// An answer was about another version.
    stale: bool,
    so_far: Derivation,
}

impl Attempt {
    fn new(census: Census, restarts: u32) -> Self {
        let Census { version, candidates } = census;
        let so_far = Derivation { version, members: People::NONE, comparisons: 0, friends: 0, restarts };
        Self { candidates: 0..candidates, stale: false, so_far }
    }

    /// The next candidate to ask about.
    fn next(&mut self) -> Option<u16> {
        if self.stale { None } else { self.candidates.next() }
    }

    fn note(&mut self, matched: Matched) {
        self.stale |= matched.version != self.so_far.version;
        self.so_far.comparisons += u32::from(matched.comparisons);
        self.so_far.friends += u32::from(matched.friend);
        if matched.member {
            self.so_far.members.insert(matched.uid);
        }
    }

    fn finish(self) -> Option<Derivation> {
        (!self.stale).then_some(self.so_far)
    }
}

/// Answers to come, oldest first.
struct Window {
    promises: [Option<Promise<Matched, FlockError>>; WINDOW],
    first: usize,
    length: usize,
}

impl Window {
    const fn new() -> Self {
        Self { promises: [const { None }; WINDOW], first: 0, length: 0 }
    }

    fn is_full(&self) -> bool {
        self.length == WINDOW
    }

    fn put(&mut self, promise: Promise<Matched, FlockError>) {
        self.promises[(self.first + self.length) % WINDOW] = Some(promise);
        self.length += 1;
    }

    fn take(&mut self) -> Option<Promise<Matched, FlockError>> {
        let oldest = self.promises[self.first].take();
        if oldest.is_some() {
            self.first = (self.first + 1) % WINDOW;
            self.length -= 1;
        }
        oldest
    }
}
