//! For any letters from any senders, on any cores, under any monitor, good or malicious: grants never alias, ages never go
//! backwards per sender, and no letter is lost or run twice.
//!
//! A case is a plan: what each sender sends. It is run on threads against every monitor here, so what is random is not
//! only the plan but also how the threads race; the properties hold for all of it.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::sync::Mutex as Lock;
use std::thread;

use flockwork::{
    Actor, Any, Id, Inbox, Letter, Methods, Monitor, Mutex, OneAtATime, Parallel, Pinned, Post, Readers, ReadersFirst,
    ReadersWriter, Ref, Resources, Serial, Several, Writers, WritersFirst, actor,
};
use proptest::prelude::*;
use support::{Careless, Occupancy, device, insist, insist_outside, lock, require, run_until};

const SENDERS: usize = 4;

/// What one letter does.
#[derive(Clone, Copy, Debug)]
pub enum Deed {
    Read,
    Write,
    /// One object for itself.
    Touch(u8),
    /// Two objects, one of them shared.
    Pair(u8, u8),
    Panic,
}

/// Who sent it, and as which of its letters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin {
    sender: usize,
    number: u32,
}

pub struct Slot(Occupancy);

/// The borrows of a state and its objects, watched; and the letters that ran.
pub struct Target {
    whole: Occupancy,
    ran: Lock<Vec<Origin>>,
}

impl Target {
    const fn new() -> Self {
        Self { whole: Occupancy::new(), ran: Lock::new(Vec::new()) }
    }

    fn note(&self, origin: Origin) {
        lock(&self.ran).push(origin);
    }
}

const fn slots() -> Several<Slot, 3> {
    Several::new([const { Slot(Occupancy::new()) }; 3])
}

#[actor(objects = Several<Slot, 3>)]
impl Target {
    pub fn read(&self, origin: Origin) {
        self.whole.read(|| self.note(origin));
    }
    pub fn write(&mut self, origin: Origin) {
        self.whole.write(|| self.note(origin));
    }
    pub fn touch(&self, slot: &mut Slot, origin: Origin) {
        self.whole.read(|| slot.0.write(|| self.note(origin)));
    }
    pub fn pair(&self, one: &Slot, other: &mut Slot, origin: Origin) {
        self.whole.read(|| one.0.read(|| other.0.write(|| self.note(origin))));
    }
    pub fn panic(&self, origin: Origin) {
        self.whole.read(|| self.note(origin));
        std::panic::resume_unwind(Box::new("a method fails on purpose, without a message"));
    }
    pub fn take(&mut self, all: &mut Several<Slot, 3>) -> Vec<Origin> {
        let _ = all.iter_mut().count();
        std::mem::take(&mut *lock(&self.ran))
    }
}

/// Whether it was accepted.
fn send(to: Ref<Target>, deed: Deed, origin: Origin) -> Result<(), ()> {
    let id = |place: u8| Id::new(place % 3);
    match deed {
        Deed::Read => to.read(origin).tell().map_err(drop),
        Deed::Write => to.write(origin).tell().map_err(drop),
        Deed::Touch(slot) => to.touch(id(slot), origin).tell().map_err(drop),
        Deed::Pair(one, other) if one % 3 == other % 3 => to.touch(id(one), origin).tell().map_err(drop),
        Deed::Pair(one, other) => to.pair(id(one), id(other), origin).tell().map_err(drop),
        Deed::Panic => to.panic(origin).tell().map_err(drop),
    }
}

/// Sends a plan from the core it is run on.
pub struct Courier {
    sender: usize,
    sent: usize,
}

#[actor]
impl Courier {
    pub fn deliver(&mut self, me: Ref<Courier>, to: Ref<Target>, plan: Vec<Deed>, first: u32) {
        for _ in 0..4 {
            let Some(deed) = plan.get(self.sent) else { break };
            let origin = Origin { sender: self.sender, number: first + self.sent as u32 };
            if send(to, *deed, origin).is_err() {
                break;
            }
            self.sent += 1;
        }
        if self.sent < plan.len() {
            require(me.deliver(me, to, plan, first).tell().is_ok(), "it has one letter to itself");
        } else {
            self.sent = 0;
        }
    }
    pub fn is_done(&self) -> bool {
        self.sent == 0
    }
}

/// The monitor `M`, which looks at the ages of what it sees: letters of one sender are in order, and none comes in before one
/// that was there.
struct Aging<M> {
    monitor: M,
    seen: [u32; SENDERS],
}

impl<M: Monitor> Monitor for Aging<M> {
    type Discipline = M::Discipline;
    const NEW: Self = Self { monitor: M::NEW, seen: [0; SENDERS] };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        let mut last = [0; SENDERS];
        for origin in inbox.letters().filter_map(|letter| origin_of(&letter)) {
            let number = origin.number + 1;
            require(last[origin.sender] < number, "ages of one sender's letters never go backwards");
            last[origin.sender] = number;
        }
        for (seen, last) in self.seen.iter_mut().zip(last) {
            *seen = last.max(*seen);
        }
        self.monitor.schedule(inbox);
    }

    fn leave(&mut self, letter: Letter<'_>) {
        require(origin_of(&letter).is_none(), "the message is gone when its letter leaves");
        self.monitor.leave(letter);
    }
}

fn origin_of(letter: &Letter<'_>) -> Option<Origin> {
    match letter.message::<Target>()? {
        TargetMessage::Read(origin, _)
        | TargetMessage::Write(origin, _)
        | TargetMessage::Touch(_, origin, _)
        | TargetMessage::Pair(_, _, origin, _)
        | TargetMessage::Panic(origin, _) => Some(*origin),
        TargetMessage::Take(_) => None,
    }
}

/// As careless as [`Careless`], under the other discipline; and it grants each letter twice, youngest first.
struct Greedy;

impl Monitor for Greedy {
    type Discipline = OneAtATime;
    const NEW: Self = Self;
    fn schedule(&mut self, inbox: Inbox<'_>) {
        while inbox.execute_youngest(Any) {}
        for letter in inbox.letters() {
            inbox.execute(letter);
            inbox.execute(letter);
        }
    }
    fn leave(&mut self, _: Letter<'_>) {}
}

/// Decides by a die, with every operation there is; only never to do nothing at all when nothing runs.
struct Moody {
    dice: u32,
    running: usize,
}

impl Monitor for Moody {
    type Discipline = Parallel;
    const NEW: Self = Self { dice: 0x2545_f491, running: 0 };
    fn schedule(&mut self, inbox: Inbox<'_>) {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 17;
        self.dice ^= self.dice << 5;
        let before = inbox.len();
        match self.dice % 8 {
            0 => inbox.execute_older_than(Readers, Writers),
            1 => inbox.execute_younger_than(Any, Writers),
            2 => inbox.execute_all(Writers),
            3 => inbox.execute_all_older_than(Readers),
            4 => inbox.letters().step_by(2).filter(|letter| inbox.execute(*letter)).count(),
            5 => usize::from(
                inbox.oldest_of_each(&[&Readers, &Writers]).is_some_and(|pair| inbox.execute_together(&pair)),
            ),
            6 => usize::from(inbox.execute_youngest(Any)),
            _ => 0,
        };
        self.running += before - inbox.len();
        if self.running == 0 {
            self.running += usize::from(inbox.execute_oldest(Any));
        }
    }
    fn leave(&mut self, _: Letter<'_>) {
        self.running -= 1;
    }
}

#[actor]
static COURIER_0: Actor<Courier, Pinned<0>, 2> = Courier { sender: 0, sent: 0 };
#[actor]
static COURIER_ANY: Actor<Courier, Serial, 2> = Courier { sender: 1, sent: 0 };

/// Runs a plan against one target, and checks what must hold for all.
fn check(
    name: &str,
    target: Ref<Target>,
    report: &'static dyn Post<Target>,
    cores: usize,
    plans: &[Vec<Deed>; SENDERS],
) {
    // Numbers go on from case to case, so that a letter of an earlier case would be found out.
    static NEXT: Lock<u32> = Lock::new(0);
    let first = std::mem::replace(&mut *lock(&NEXT), 0);
    *lock(&NEXT) = first + 1000;
    let ran = device(cores, || {
        let couriers = [&COURIER_0 as Ref<Courier>, &COURIER_ANY];
        for (courier, plan) in couriers.into_iter().zip(plans) {
            courier.deliver(courier, target, plan.clone(), first).tell().unwrap();
        }
        let plan = plans[2].clone();
        let outside = thread::spawn(move || {
            for (place, deed) in plan.into_iter().enumerate() {
                let origin = Origin { sender: 2, number: first + place as u32 };
                insist_outside(|| send(target, deed, origin));
            }
        });
        for (place, deed) in plans[3].iter().enumerate() {
            let origin = Origin { sender: 3, number: first + place as u32 };
            insist(|| send(target, *deed, origin));
        }
        run_until(|| outside.is_finished() && couriers.iter().all(|courier| courier.is_done().get() == Ok(true)));
        run_until(|| report.report().letters == 0);
        outside.join().unwrap();
        target.take().get().unwrap()
    });
    let wanted: usize = plans.iter().map(Vec::len).sum();
    assert_eq!(ran.len(), wanted, "{name}: nothing is lost or run twice");
    for (sender, plan) in plans.iter().enumerate() {
        let mut numbers: Vec<u32> =
            ran.iter().filter(|origin| origin.sender == sender).map(|origin| origin.number).collect();
        // Without a monitor, letters run in the order of their ages.
        if name.ends_with("Serial") {
            assert!(numbers.is_sorted(), "{name}: FIFO per sender: {numbers:?}");
        }
        numbers.sort_unstable();
        let wanted = first..first + plan.len() as u32;
        assert!(numbers.iter().copied().eq(wanted), "{name}: sender {sender}: each letter ran once: {numbers:?}");
    }
}

fn plans() -> impl Strategy<Value = [Vec<Deed>; SENDERS]> {
    let deed = prop_oneof![
        4 => Just(Deed::Read),
        3 => Just(Deed::Write),
        3 => (0..3u8).prop_map(Deed::Touch),
        3 => (0..3u8, 0..3u8).prop_map(|(one, other)| Deed::Pair(one, other)),
        1 => Just(Deed::Panic),
    ];
    prop::array::uniform4(prop::collection::vec(deed, 0..40))
}

macro_rules! holds_under {
    ($($(#[$doc:meta])* $test:ident: $monitor:ty, $capacity:literal;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig {
                cases: support::number_from("FLOCKWORK_PROPERTY_CASES", 64) as u32,
                failure_persistence: None,
                max_shrink_iters: 200,
                ..ProptestConfig::default()
            })]
            $(
                $(#[$doc])*
                #[test]
                fn $test(cores in 1..=4usize, plans in plans()) {
                    #[actor]
                    static TARGET: Actor<Target, $monitor, $capacity> = (Target::new(), slots());
                    check(stringify!($monitor), &TARGET, &TARGET.body, cores, &plans);
                }
            )*
        }
    };
}

holds_under! {
    /// PAM-5, KER-3, SAFE-1: without a monitor.
    holds_without_a_monitor: Serial, 4;
    /// KER-5: pinned, without a monitor.
    holds_for_a_pinned_actor: Pinned<0>, 2;
    /// SAFE-1, KER-3: under `Mutex`.
    holds_under_mutex: Aging<Mutex>, 4;
    /// SAFE-1, SAFE-2, KER-3: under `ReadersWriter`, which knows nothing of objects.
    holds_under_readers_writer: Aging<ReadersWriter>, 4;
    /// SAFE-1, SAFE-2: with letters that pass others.
    holds_under_readers_first: Aging<ReadersFirst>, 8;
    /// SAFE-1, SAFE-2: with letters that pass others.
    holds_under_writers_first: Aging<WritersFirst>, 1;
    /// SAFE-2: under `Resources`.
    holds_under_resources: Aging<Resources>, 8;
    /// SAFE-1, SAFE-2, PAM-A4: under a monitor that grants everything.
    holds_under_a_careless_monitor: Aging<Careless>, 8;
    /// SAFE-1, PAM-A4: under a monitor that grants everything twice, although one at a time is allowed.
    holds_under_a_greedy_monitor: Aging<Greedy>, 4;
    /// SAFE-1, SAFE-2, PAM-A3: under a monitor that decides by a die.
    holds_under_a_moody_monitor: Aging<Moody>, 8;
}

/// The plans reach every method.
#[test]
fn all_methods_are_reached() {
    assert_eq!(Target::METHODS.len(), 6);
}
