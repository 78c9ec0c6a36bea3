//! Promises and forwarded answers, from core to core.

use flockwork::{
    Actor, Answered, Eventually, Failure, Pinned, Promise, PromiseState, Ref, Refused, Token, actor, unread_replies,
};

use crate::hold::hold_core_1;
use crate::patience::reach;
use crate::{Case, Device, Stop, require, require_equal, share};

pub(crate) const CASES: &[Case] = &[
    Case { name: "promises/on-one-core", proves: "OCA-1, OCA-3, OCA-4", cores: 1, run: on_one_core },
    Case { name: "promises/across-cores", proves: "OCA-1, OCA-3, OCA-4, OCA-7, KER-7", cores: 2, run: across_cores },
    Case { name: "promises/one-inside-the-other", proves: "OCA-4, OCA-28", cores: 2, run: one_inside_the_other },
    Case { name: "promises/no-slot-is-lost", proves: "OCA-2, KER-2", cores: 2, run: no_slot_is_lost },
    Case { name: "promises/failures", proves: "OCA-6, OCA-24", cores: 2, run: failures },
    Case { name: "forward/across-cores", proves: "OCA-15", cores: 2, run: forward },
];

/// How many questions one core can have open with one oracle.
const SLOTS: usize = 4;

/// Answers.
pub(crate) struct Oracle;

/// What an oracle does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoAnswer(pub u32);

#[actor]
impl Oracle {
    /// The next number.
    pub fn next(&mut self, number: u32) -> u32 {
        number + 1
    }
    /// What another oracle says, and one more: it waits inside its turn.
    pub fn after(&mut self, number: u32, other: Ref<Oracle>) -> Result<u32, NoAnswer> {
        other.next(number).get().map(|answer| answer + 1).map_err(|_| NoAnswer(number))
    }
    /// Fails for odd numbers.
    pub fn half(&mut self, number: u32) -> Result<u32, NoAnswer> {
        if number.is_multiple_of(2) { Ok(number / 2) } else { Err(NoAnswer(number)) }
    }
    /// The other one answers, after so many hops from one to the other.
    pub fn hop<'t>(
        &mut self,
        hops: u32,
        number: u32,
        me: Ref<Oracle>,
        other: Ref<Oracle>,
        token: Token<'t, u32>,
    ) -> Answered<'t> {
        if hops == 0 {
            return token.done(number);
        }
        other.hop(hops - 1, number + 1, other, me).forward(token).unwrap_or_else(|(token, why)| token.fail(why))
    }
}

#[actor]
static NEAR: Actor<Oracle, Pinned<0>, 8, { SLOTS }> = Oracle;
#[actor]
static FAR: Actor<Oracle, Pinned<1>, 8, { SLOTS }> = Oracle;

/// The oracles of both cores.
pub(crate) static ORACLES: [Ref<Oracle>; 2] = [&NEAR, &FAR];

fn answered<T, E>(outcome: Result<T, Failure<E>>) -> Result<T, Stop> {
    outcome.map_err(|failure| match failure {
        Failure::Method(_) => Stop::Wrong("a method failed"),
        Failure::Unanswered => Stop::Wrong("a reply was dropped without an answer"),
        Failure::Panicked => Stop::Wrong("a method panicked"),
        Failure::Refused(_) => Stop::Wrong("a question was refused"),
        Failure::WouldDeadlock => Stop::Wrong("a wait was taken for a deadlock"),
    })
}

fn rounds(device: &dyn Device) -> u32 {
    share(device, 200, 500)
}

fn on_one_core(device: &'static dyn Device) -> Result<(), Stop> {
    let mut number = 0;
    for _ in 0..rounds(device) {
        number = answered(NEAR.next(number).get())?;
    }
    require_equal("answers", rounds(device), number)
}

/// `main` on core 0 sleeps until core 1 has answered.
fn across_cores(device: &'static dyn Device) -> Result<(), Stop> {
    let mut number = 0;
    for _ in 0..rounds(device) {
        number = answered(FAR.next(number).get())?;
    }
    require_equal("answers", rounds(device), number)?;

    let held = hold_core_1(device)?;
    let Ok(mut one) = FAR.next(10).ask() else { return Err(Stop::Wrong("a question was refused")) };
    let Ok(other) = FAR.next(20).ask() else { return Err(Stop::Wrong("a question was refused")) };
    require(one.state() == PromiseState::Empty, "a promise is empty while its method has not run (OCA-1)")?;
    held.let_go()?;
    reach(device, "answers", 1, || u32::from(one.is_ready()))?;
    require(one.state() == PromiseState::Fulfilled, "an answered promise is fulfilled (OCA-1)")?;
    let (one, other) = answered(one.join(other).get())?;
    require_equal("the first answer", 11u32, one)?;
    require_equal("the second answer", 21u32, other)
}

/// Core 1 waits inside a turn for core 0, which waits for core 1, and serves it meanwhile.
fn one_inside_the_other(device: &'static dyn Device) -> Result<(), Stop> {
    for number in 0..rounds(device) {
        require_equal("core 1 asks core 0", number + 2, answered(FAR.after(number, &NEAR).get())?)?;
        require_equal("core 0 asks core 1", number + 2, answered(NEAR.after(number, &FAR).get())?)?;
    }
    Ok(())
}

/// A pool gives out what it has and then says so. Dropped promises give their slots back, answers that wait to be read do not.
fn no_slot_is_lost(device: &'static dyn Device) -> Result<(), Stop> {
    for _ in 0..10 {
        let unread = unread_replies();
        let held = hold_core_1(device)?;
        let [one, mut two, three, mut four] = [ask(1)?, ask(2)?, ask(3)?, ask(4)?];
        require_no_slot()?;
        // Nobody wants these any more, before they are answered.
        drop((one, three));
        held.let_go()?;
        reach(device, "answers to read", 2, || u32::from(two.is_ready()) + u32::from(four.is_ready()))?;
        reach(device, "answers that nobody reads", 2, || unread_replies().wrapping_sub(unread))?;
        let [five, six] = [ask(5)?, ask(6)?];
        require_no_slot()?;
        for (number, promise) in [(5, five), (2, two), (6, six), (4, four)] {
            require_equal("an answer", number + 1_u32, answered(promise.get())?)?;
        }
    }
    Ok(())
}

fn ask(number: u32) -> Result<Promise<u32>, Stop> {
    FAR.next(number).ask().map_err(|_| Stop::Wrong("a free promise slot was not given out"))
}

fn require_no_slot() -> Result<(), Stop> {
    match FAR.next(0).ask() {
        Err(unasked) => require(unasked.why() == Refused::NoPromise, "a question was refused for another reason"),
        Ok(_) => Err(Stop::Wrong("more promises were given out than there are slots")),
    }
}

fn failures(device: &'static dyn Device) -> Result<(), Stop> {
    for number in 0..rounds(device) / 4 {
        let expected = if number.is_multiple_of(2) { Ok(number / 2) } else { Err(Failure::Method(NoAnswer(number))) };
        require(FAR.half(number).get() == expected, "a failure is not what the method returned")?;
    }
    Ok(())
}

/// The answer comes from the last of many actors on alternating cores.
fn forward(device: &'static dyn Device) -> Result<(), Stop> {
    for round in 0..rounds(device) / 8 {
        let hops = round % 8;
        require_equal("hops from core 0", 100 + hops, answered(NEAR.hop(hops, 100, &NEAR, &FAR).get())?)?;
        require_equal("hops from core 1", 100 + hops, answered(FAR.hop(hops, 100, &FAR, &NEAR).get())?)?;
    }
    Ok(())
}
