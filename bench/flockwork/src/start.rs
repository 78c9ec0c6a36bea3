//! All workers have to run before a measurement begins: starting a thread is not part of it.

use flockwork::{Actor, Pinned, actor};

struct Gong;

#[actor]
impl Gong {
    /// Answers from the core it is pinned to.
    pub fn strike(&self) {}
}

#[actor]
static SECOND: Actor<Gong, Pinned<1>, 1> = Gong;

#[actor]
static THIRD: Actor<Gong, Pinned<2>, 1> = Gong;

#[actor]
static FOURTH: Actor<Gong, Pinned<3>, 1> = Gong;

/// Waits for the second, third and fourth worker, as far as there are any.
pub(crate) fn wait_for(workers: usize) {
    let answer = "a worker answers";
    if workers > 1 {
        SECOND.strike().get().expect(answer);
    }
    if workers > 2 {
        THIRD.strike().get().expect(answer);
    }
    if workers > 3 {
        FOURTH.strike().get().expect(answer);
    }
}
