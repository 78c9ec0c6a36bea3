//! Deriving a flock: a letter for each candidate, so that all cores can take part.
//!
//! People come and go while a flock is derived, and writers run between its matches. What is *right* then? The members of a
//! derivation are those of one moment: of one version of the flockr, which the derivation names. Each answer says which version it
//! is about. If one differs from the first, the derivation begins again; after [`PATIENCE`] attempts, one letter derives it alone,
//! since no writer can run inside a letter. So a derivation ends, however busy the place is.

use core::num::NonZeroU16;

use flockwork::{Eventually, Failure, Outcome, Promise, Ref, actor, trace};

use crate::flock::{FlockError, FlockId};
use crate::flockr::{Census, Extension, Flockr, Matched};
use crate::people::People;
use crate::world::World;

/// Matches that are asked before the first answer is taken, if the flockr has room for as many letters and promises.
pub const WINDOW: usize = 16;
/// What an answer takes besides the hops of its letter, in cycles of a Cortex-M0+: a promise is claimed for it, resolved and read,
/// and the deriver notes what it says.
///
/// On a chip it takes what it takes; this is for simulated time, where promises have no hops. It is what the default actor takes
/// more on the emulated RP2040 than its matches and its letters' hops (`examples/tests/board.rs` compares the two).
pub const CYCLES_PER_ANSWER: u32 = 540;
/// What a share of a derivation takes besides its answers, in the same cycles: sets of people are emptied, copied and united. It is
/// what a derivation among nobody takes.
pub const CYCLES_PER_SHARE: u32 = 2350;
/// The most helpers of a derivation.
pub const MAX_HELPERS: usize = 7;
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
    derive_with(flockr, flock, &[])
}

/// Derives a flock; helpers on other cores ask for a share of the matches each.
///
/// All cores match anyway. But with one core that asks, the others have nothing to do while it takes answers and asks anew;
/// with two, one of them asks while the other matches.
pub fn derive_with(
    flockr: Ref<Flockr>,
    flock: FlockId,
    helpers: &[Ref<Helper>],
) -> Result<Derivation, DerivationError> {
    let helpers = &helpers[..helpers.len().min(MAX_HELPERS)];
    for restarts in 0..PATIENCE {
        let census = flockr.census(flock).get()?;
        let share_of = |nth| Share::nth(census, nth, helpers.len() + 1);
        let mut parts: [Option<Promise<Part, DerivationError>>; MAX_HELPERS] = [const { None }; MAX_HELPERS];
        let mut whole = Part::NOTHING;
        for (nth, (part, helper)) in (1..).zip(parts.iter_mut().zip(helpers)) {
            let share = share_of(nth);
            match helper.take_share(flockr, flock, share).ask() {
                Ok(promise) => *part = Some(promise),
                // The helper has enough to do.
                Err(_) => whole.add(&match_share(flockr, flock, share)?),
            }
        }
        whole.add(&match_share(flockr, flock, share_of(0))?);
        for part in parts.into_iter().flatten() {
            whole.add(&part.get().map_err(flatten)?);
        }
        if let Some(derivation) = whole.finish(census, restarts) {
            return Ok(derivation);
        }
    }
    Ok(alone(flockr.extension(flock).get()?))
}

/// Derives a flock with letters that match so many candidates each.
///
/// A letter for each candidate suits a chip, where a match takes thousands of cycles and the way to the other core some hundred. On a
/// host a match takes a quarter of a microsecond, less than it takes to move a letter between two cores' caches.
pub fn derive_in_batches(
    flockr: Ref<Flockr>,
    flock: FlockId,
    batch: NonZeroU16,
) -> Result<Derivation, DerivationError> {
    for restarts in 0..PATIENCE {
        let census = flockr.census(flock).get()?;
        let batches = (0..census.candidates).step_by(usize::from(batch.get()));
        let part = ask_all(
            census.version,
            batches.map(|first| (first, first.saturating_add(batch.get()).min(census.candidates))),
            |(first, end)| flockr.matching_all(flock, first, end).ask().ok(),
            |(first, end)| flockr.matching_all(flock, first, end).get(),
        )?;
        if let Some(derivation) = part.finish(census, restarts) {
            return Ok(derivation);
        }
    }
    Ok(alone(flockr.extension(flock).get()?))
}

/// Derives a flock in a task.
///
/// **Cancel safety:** dropping the future drops the promises; the matches that were asked still run, and change nothing.
pub async fn derive_async(flockr: Ref<Flockr>, flock: FlockId) -> Result<Derivation, DerivationError> {
    for restarts in 0..PATIENCE {
        let census = flockr.census(flock).await?;
        trace::charge(CYCLES_PER_SHARE);
        let mut part = Part::NOTHING;
        let mut asked = Window::new();
        for candidate in 0..census.candidates {
            if asked.is_full()
                && let Some(oldest) = asked.take()
            {
                part.note(census.version, &oldest.await?);
            }
            loop {
                match flockr.matching(flock, candidate).ask() {
                    Ok(promise) => break asked.put(promise),
                    Err(_) => match asked.take() {
                        Some(oldest) => part.note(census.version, &oldest.await?),
                        None => break part.note(census.version, &flockr.matching(flock, candidate).await?),
                    },
                }
            }
            if part.stale {
                break;
            }
        }
        while let Some(oldest) = asked.take() {
            part.note(census.version, &oldest.await?);
        }
        if let Some(derivation) = part.finish(census, restarts) {
            return Ok(derivation);
        }
    }
    Ok(alone(flockr.extension(flock).await?))
}

/// Asks for the matches of a share, a letter each.
fn match_share(flockr: Ref<Flockr>, flock: FlockId, share: Share) -> Result<Part, DerivationError> {
    ask_all(
        share.version,
        share.candidates(),
        |candidate| flockr.matching(flock, candidate).ask().ok(),
        |candidate| flockr.matching(flock, candidate).get(),
    )
}

/// Asks for everything, up to [`WINDOW`] answers ahead, until an answer is about another version.
#[inline(always)]
fn ask_all<T: Findings, Q: Copy>(
    version: u32,
    questions: impl Iterator<Item = Q>,
    ask: impl Fn(Q) -> Option<Promise<T, FlockError>>,
    get: impl Fn(Q) -> Outcome<T, FlockError>,
) -> Result<Part, DerivationError> {
    trace::charge(CYCLES_PER_SHARE);
    let mut part = Part::NOTHING;
    let mut asked = Window::new();
    for question in questions {
        if asked.is_full()
            && let Some(oldest) = asked.take()
        {
            part.note(version, &oldest.get()?);
        }
        // With less room than the window, the oldest answers are taken earlier; with none at all, `get` waits for it.
        loop {
            match ask(question) {
                Some(promise) => break asked.put(promise),
                None => match asked.take() {
                    Some(oldest) => part.note(version, &oldest.get()?),
                    None => break part.note(version, &get(question)?),
                },
            }
        }
        if part.stale {
            break;
        }
    }
    while let Some(oldest) = asked.take() {
        part.note(version, &oldest.get()?);
    }
    Ok(part)
}

fn alone(extension: Extension) -> Derivation {
    let Extension { version, comparisons, friends, members } = extension;
    Derivation { version, members, comparisons, friends, restarts: PATIENCE }
}

/// Asks for shares of derivations on the core it is pinned to.
///
/// ```
/// use flockwork::{Actor, Pinned, actor};
/// use flockwork_urbiflock::Helper;
///
/// #[actor]
/// static HELPER: Actor<Helper, Pinned<1>, 1, 1> = Helper;
/// ```
#[derive(Debug)]
pub struct Helper;

#[actor]
impl Helper {
    /// Asks for the matches of a share.
    pub fn take_share(&mut self, flockr: Ref<Flockr>, flock: FlockId, share: Share) -> Result<Part, DerivationError> {
        match_share(flockr, flock, share)
    }
}

fn flatten(failure: Failure<DerivationError>) -> DerivationError {
    match failure {
        Failure::Method(why) => why,
        Failure::Unanswered => Failure::Unanswered,
        Failure::Panicked => Failure::Panicked,
        Failure::Refused(why) => Failure::Refused(why),
        Failure::WouldDeadlock => Failure::WouldDeadlock,
    }
}

/// Some of the candidates of a flock, to be matched at one version: every so many, because who came later takes longer.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    version: u32,
    first: u16,
    end: u16,
    step: u16,
}

impl Share {
    /// The n-th of so many shares of all candidates, counted from 0.
    fn nth(census: Census, nth: usize, shares: usize) -> Self {
        let Census { version, candidates } = census;
        Self { version, first: nth as u16, end: candidates, step: shares as u16 }
    }

    /// Who came last comes first: it takes longest to find, and what is done last should be short, so that all cores end together.
    fn candidates(self) -> impl Iterator<Item = u16> {
        (self.first..self.end).step_by(usize::from(self.step)).rev()
    }
}

/// What the matches of a share found.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    members: People,
    comparisons: u32,
    friends: u32,
    /// An answer was about another version.
    stale: bool,
}

impl Part {
    const NOTHING: Self = Self { members: People::NONE, comparisons: 0, friends: 0, stale: false };

    #[inline]
    fn note(&mut self, version: u32, findings: &impl Findings) {
        self.stale |= findings.version() != version;
        findings.add_to(self);
        trace::charge(CYCLES_PER_ANSWER);
    }

    fn add(&mut self, other: &Self) {
        self.stale |= other.stale;
        self.comparisons += other.comparisons;
        self.friends += other.friends;
        self.members.insert_all(&other.members);
    }

    fn finish(self, census: Census, restarts: u32) -> Option<Derivation> {
        let Self { members, comparisons, friends, stale } = self;
        (!stale).then_some(Derivation { version: census.version, members, comparisons, friends, restarts })
    }
}

/// What one letter found: one match, or several.
trait Findings {
    fn version(&self) -> u32;
    fn add_to(&self, part: &mut Part);
}

impl Findings for Matched {
    fn version(&self) -> u32 {
        self.version
    }

    #[inline]
    fn add_to(&self, part: &mut Part) {
        part.comparisons += u32::from(self.comparisons);
        part.friends += u32::from(self.friend);
        if self.member {
            part.members.insert(self.uid);
        }
    }
}

impl Findings for Extension {
    fn version(&self) -> u32 {
        self.version
    }

    fn add_to(&self, part: &mut Part) {
        part.comparisons += self.comparisons;
        part.friends += self.friends;
        part.members.insert_all(&self.members);
    }
}

/// Answers to come, oldest first.
struct Window<T> {
    promises: [Option<Promise<T, FlockError>>; WINDOW],
    first: usize,
    length: usize,
}

impl<T> Window<T> {
    const fn new() -> Self {
        Self { promises: [const { None }; WINDOW], first: 0, length: 0 }
    }

    fn is_full(&self) -> bool {
        self.length == WINDOW
    }

    fn put(&mut self, promise: Promise<T, FlockError>) {
        self.promises[(self.first + self.length) % WINDOW] = Some(promise);
        self.length += 1;
    }

    fn take(&mut self) -> Option<Promise<T, FlockError>> {
        let oldest = self.promises[self.first].take();
        if oldest.is_some() {
            self.first = (self.first + 1) % WINDOW;
            self.length -= 1;
        }
        oldest
    }
}
