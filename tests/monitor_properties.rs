//! Whatever a monitor decides: random letters under good monitors and under bad ones.
//!
//! Every step is checked against a model that knows nothing of gates or lists: what runs at once may run at once, every
//! letter is granted at most once and leaves once, and none is lost.
#![cfg(not(loom))]

use std::marker::PhantomData;

use flockwork::rehearsal::LetterId;
use flockwork::{
    Access, Any, Claims, CollectiveBound, Discipline, Id, Inbox, Join, JoinLeft, JoinRight, Letter, Method, Monitor,
    Mutex, OneAtATime, Parallel, Philosophers, ReadersFirst, ReadersWriter, Rehearsal, Release, Request, Resources,
    Serial, Several, WritersFirst,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

static METHODS: [Method; 7] = [
    Method::new("get", Access::Reader),
    Method::new("put", Access::Writer),
    Method::new("touch", Access::Objects),
    Method::new("request", Access::Reader).tagged(Request::CATEGORY),
    Method::new("release", Access::Reader).tagged(Release::CATEGORY),
    Method::new("left", Access::Reader).tagged(JoinLeft::CATEGORY),
    Method::new("right", Access::Reader).tagged(JoinRight::CATEGORY),
];

/// How much is tried; less under Miri, which takes minutes for it.
const CASES: u32 = if cfg!(miri) { 2 } else { 256 };
const STEPS: usize = if cfg!(miri) { 20 } else { 80 };
/// Letters that wait or run at once.
const ROOM: usize = 12;
/// Objects of the actor.
const OBJECTS: usize = 5;

/// A letter as the model sees it: how it needs each object, if it does.
#[derive(Clone, Debug)]
struct Sent {
    method: &'static str,
    objects: [Option<Need>; OBJECTS],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Need {
    Shared,
    Alone,
}

impl Sent {
    fn claims(&self) -> Claims {
        let mut claims = Claims::NONE;
        for (place, need) in self.objects.iter().enumerate() {
            let id = Id::new(place as u8);
            claims = match need {
                None => claims,
                Some(Need::Shared) => claims.shared::<Several<(), OBJECTS>>(id).unwrap(),
                Some(Need::Alone) => claims.exclusive::<Several<(), OBJECTS>>(id).unwrap(),
            };
        }
        claims
    }

    /// Whether the two could not run at once, whatever the monitor.
    fn conflicts_with(&self, other: &Self) -> bool {
        let both = |one: &Option<Need>, other: &Option<Need>| match (one, other) {
            (Some(one), Some(other)) => *one == Need::Alone || *other == Need::Alone,
            _ => false,
        };
        self.method == "put"
            || other.method == "put"
            || self.objects.iter().zip(&other.objects).any(|(one, other)| both(one, other))
    }
}

/// What the world does to an actor.
#[derive(Clone, Debug)]
enum Step {
    Post(Sent),
    Schedule,
    /// One of the letters that run.
    Finish(Index),
}

/// Letters for these methods; `touch` names some objects.
fn steps(methods: &'static [&'static str]) -> impl Strategy<Value = Vec<Step>> {
    let need = prop_oneof![3 => Just(None), 1 => Just(Some(Need::Shared)), 1 => Just(Some(Need::Alone))];
    let sent = (prop::sample::select(methods), prop::array::uniform5(need)).prop_map(|(method, objects)| Sent {
        method,
        objects: if method == "touch" { objects } else { [None; OBJECTS] },
    });
    vec(
        prop_oneof![
            4 => sent.prop_map(Step::Post),
            2 => Just(Step::Schedule),
            3 => any::<Index>().prop_map(Step::Finish),
        ],
        1..STEPS,
    )
}

/// All methods.
fn anything() -> impl Strategy<Value = Vec<Step>> {
    steps(&["get", "put", "touch", "touch", "request", "release", "left", "right"])
}

/// No objects.
fn readers_and_writers() -> impl Strategy<Value = Vec<Step>> {
    steps(&["get", "get", "put"])
}

/// A monitor under observation: what it hears is counted from its side.
struct Watched<M> {
    monitor: M,
    leaves: usize,
    empty: usize,
}

impl<M: Monitor> Monitor for Watched<M> {
    type Discipline = M::Discipline;
    const NEW: Self = Self { monitor: M::NEW, leaves: 0, empty: 0 };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        self.empty += usize::from(inbox.is_empty() || inbox.letters().next().is_none());
        self.monitor.schedule(inbox);
    }

    fn leave(&mut self, letter: Letter<'_>) {
        self.leaves += 1;
        self.monitor.leave(letter);
    }
}

/// What is known after all steps were made and everything that can end has ended.
struct Outcome {
    /// The letters in the order they were posted.
    sent: Vec<Sent>,
    /// Their numbers in the order they were granted.
    granted: Vec<usize>,
    waiting: usize,
    refused: u32,
}

impl Outcome {
    /// Nothing waits for ever.
    fn all_ran(self) -> Self {
        assert_eq!(self.waiting, 0, "letters wait although nothing runs");
        self
    }

    /// The monitor asked for nothing that would have aliased.
    fn never_refused(self) -> Self {
        assert_eq!(self.refused, 0, "a good monitor was refused");
        self
    }

    /// Letters that cannot run at once were granted in the order they came.
    fn in_order(self) -> Self {
        for (place, earlier) in self.granted.iter().enumerate() {
            for later in &self.granted[place + 1..] {
                let passed = later < earlier && self.sent[*later].conflicts_with(&self.sent[*earlier]);
                assert!(!passed, "letter #{earlier} passed #{later}, and cannot run beside it");
            }
        }
        self
    }
}

/// Makes the steps and then lets everything end, checking the safety properties all the way.
fn play<M: Monitor>(steps: &[Step]) -> Outcome {
    let one_at_a_time = M::Discipline::is_one_at_a_time();
    let actor = Rehearsal::<Watched<M>, ROOM>::new(&METHODS);
    let mut sent: Vec<Sent> = Vec::new();
    let mut granted: Vec<usize> = Vec::new();
    let mut running: Vec<LetterId> = Vec::new();
    let mut finished = 0;

    let check = |sent: &[Sent], granted: &mut Vec<usize>, running: &mut Vec<LetterId>, finished, now: &[LetterId]| {
        for letter in now {
            let number = letter.number() as usize;
            assert!(number < sent.len(), "{letter:?} was never posted");
            assert!(!granted.contains(&number), "{letter:?} was granted twice");
            for other in &*running {
                let conflict = sent[number].conflicts_with(&sent[other.number() as usize]);
                assert!(!one_at_a_time && !conflict, "{letter:?} runs beside {other:?}");
            }
            granted.push(number);
            running.push(*letter);
        }
        assert!(running.iter().all(|letter| actor.is_running(*letter)));
        assert_eq!(actor.waiting(), sent.len() - granted.len(), "a letter was lost");
        assert_eq!(actor.schedule_calls_on_empty(), 0);
        actor.monitor(|watched| assert_eq!((watched.leaves, watched.empty), (finished, 0)));
    };

    for step in steps {
        let now = match step {
            Step::Post(letter) => {
                if running.len() + actor.waiting() == ROOM {
                    continue;
                }
                let id = actor.post_naming(letter.method, letter.claims());
                assert_eq!(id.number() as usize, sent.len());
                sent.push(letter.clone());
                continue;
            }
            Step::Schedule => actor.schedule(),
            Step::Finish(_) if running.is_empty() => continue,
            Step::Finish(which) => {
                finished += 1;
                actor.finish(running.remove(which.index(running.len())))
            }
        };
        check(&sent, &mut granted, &mut running, finished, &now);
    }

    // A monitor that tosses coins may need several tries.
    for _ in 0..60 {
        if actor.waiting() + running.len() == 0 {
            break;
        }
        let now = actor.schedule();
        check(&sent, &mut granted, &mut running, finished, &now);
        while !running.is_empty() {
            finished += 1;
            let now = actor.finish(running.remove(0));
            check(&sent, &mut granted, &mut running, finished, &now);
        }
    }
    assert_eq!(finished, granted.len());
    Outcome { sent, granted, waiting: actor.waiting(), refused: actor.refused() }
}

/// The disciplines, as the model has to know them.
trait Known {
    fn is_one_at_a_time() -> bool;
}

impl<D: Discipline> Known for D {
    fn is_one_at_a_time() -> bool {
        std::any::TypeId::of::<D>() != std::any::TypeId::of::<Parallel>()
    }
}

/// Bad monitors, under either discipline.
macro_rules! bad_monitor {
    ($(#[$doc:meta])* $name:ident, |$inbox:ident, $coin:ident| $decision:expr) => {
        $(#[$doc])*
        struct $name<D> {
            coin: Coin,
            discipline: PhantomData<fn() -> D>,
        }

        impl<D: Discipline> Monitor for $name<D> {
            type Discipline = D;
            const NEW: Self = Self { coin: Coin(0x9E37_79B9), discipline: PhantomData };

            fn schedule(&mut self, $inbox: Inbox<'_>) {
                let $coin = &mut self.coin;
                let _ = &$coin;
                $decision;
            }
            fn leave(&mut self, _: Letter<'_>) {}
        }
    };
}

struct Coin(u32);

impl Coin {
    fn toss(&mut self) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0.is_multiple_of(3)
    }
}

bad_monitor! {
    /// Everything, at once.
    GrantsEverything, |inbox, coin| inbox.execute_all(Any)
}
bad_monitor! {
    /// Youngest first, as many as there are.
    GrantsYoungest, |inbox, coin| while inbox.execute_youngest(Any) {}
}
bad_monitor! {
    /// Whatever a coin says.
    GrantsAtRandom, |inbox, coin| inbox.letters().filter(|letter| coin.toss() && inbox.execute(*letter)).count()
}
bad_monitor! {
    /// Everything, and everything again, while iterating.
    GrantsTwice, |inbox, coin| {
        let before: Vec<_> = inbox.letters().collect();
        for letter in inbox.letters() {
            inbox.execute(letter);
            assert!(!inbox.execute(letter), "granted twice");
            inbox.execute_youngest(Any);
            inbox.execute_together(&[letter, letter]);
        }
        let granted_again = before.iter().filter(|letter| !inbox.admits(&[**letter]) && inbox.execute(**letter)).count();
        assert_eq!(granted_again, 0);
    }
}
bad_monitor! {
    /// Groups of letters that have nothing in common, if they are let.
    GrantsGroups, |inbox, coin| {
        while let Some(group) = inbox.oldest_of_each(&[&Any, &Any]) {
            let waiting = inbox.len();
            let together = inbox.execute_together(&group);
            assert_eq!(waiting - inbox.len(), if together { 2 } else { 0 }, "all or none");
            if !together && !inbox.execute_oldest(Any) {
                break;
            }
        }
        inbox.execute_oldest(Any);
    }
}
bad_monitor! {
    /// Nothing, ever.
    GrantsNothing, |inbox, coin| assert!(!inbox.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    /// SAFE-1, SAFE-2, PAM-G3, PAM-G5, PAM-A4: bad monitors cost progress or parallelism, never an alias or a letter.
    #[test]
    fn safe_1_safe_2_bad_monitors_cannot_make_letters_alias(steps in anything()) {
        play::<GrantsEverything<Parallel>>(&steps).all_ran();
        play::<GrantsEverything<OneAtATime>>(&steps).all_ran().in_order();
        play::<GrantsYoungest<Parallel>>(&steps).all_ran();
        play::<GrantsYoungest<OneAtATime>>(&steps).all_ran();
        play::<GrantsAtRandom<Parallel>>(&steps).all_ran();
        play::<GrantsAtRandom<OneAtATime>>(&steps).all_ran();
        play::<GrantsTwice<Parallel>>(&steps).all_ran();
        play::<GrantsTwice<OneAtATime>>(&steps).all_ran();
        play::<GrantsGroups<Parallel>>(&steps).all_ran();
        play::<GrantsGroups<OneAtATime>>(&steps).all_ran();
    }

    /// PAM-9, PAM-G3: under a monitor that grants nothing every letter stays in the inbox.
    #[test]
    fn pam_9_what_is_not_granted_stays(steps in anything()) {
        let outcome = play::<GrantsNothing<Parallel>>(&steps);
        prop_assert_eq!(outcome.waiting, outcome.sent.len());
    }

    /// PAM-5, PAM-L1: one letter at a time, oldest first.
    #[test]
    fn pam_5_pam_l1_one_at_a_time_is_first_come_first_served(steps in anything()) {
        for outcome in [play::<Serial>(&steps), play::<Mutex>(&steps)] {
            let outcome = outcome.all_ran();
            prop_assert!(outcome.granted.is_sorted());
        }
        play::<Mutex>(&steps).never_refused();
    }

    /// PAM-L3: no reader passes an older writer, no writer passes an older reader, and nothing starves.
    #[test]
    fn pam_l3_readers_and_writers_in_the_order_they_came(steps in readers_and_writers()) {
        play::<ReadersWriter>(&steps).all_ran().never_refused().in_order();
    }

    /// PAM-L3: the unfair ones are safe too, and run everything once the stream ends.
    #[test]
    fn pam_l3_readers_first_and_writers_first(steps in readers_and_writers()) {
        play::<ReadersFirst>(&steps).all_ran().never_refused();
        play::<WritersFirst>(&steps).all_ran().never_refused();
    }

    /// PAM-L5: letters that need a common object run in the order they came, and nothing starves.
    #[test]
    fn pam_l5_resources_in_the_order_they_came(steps in anything()) {
        play::<Resources>(&steps).all_ran().never_refused().in_order();
    }

    /// PAM-L5: philosophers too (their letters may name further objects, which they also get one after another).
    #[test]
    fn pam_l5_philosophers(steps in anything()) {
        play::<Philosophers<OBJECTS>>(&steps).all_ran().never_refused();
    }

    /// PAM-L6: never more requests than `MAX` beyond the releases.
    #[test]
    fn pam_l6_collective_bound_holds_after_every_grant(steps in anything()) {
        let outcome = play::<CollectiveBound<3>>(&steps).never_refused();
        let mut outstanding = 0usize;
        for number in &outcome.granted {
            match outcome.sent[*number].method {
                "request" => outstanding += 1,
                "release" => outstanding = outstanding.saturating_sub(1),
                _ => {}
            }
            prop_assert!(outstanding <= 3);
        }
        let waiting = outcome.sent.len() - outcome.granted.len();
        prop_assert!(waiting == 0 || outstanding == 3, "something waits although there is room");
    }

    /// PAM-F2: as many left as right ones ran, and only the rest of one side waits.
    #[test]
    fn pam_f2_join_runs_pairs(steps in anything()) {
        let outcome = play::<Join>(&steps).never_refused();
        let ran = |method| outcome.granted.iter().filter(|number| outcome.sent[**number].method == method).count();
        let sent = |method| outcome.sent.iter().filter(|sent| sent.method == method).count();
        prop_assert_eq!(ran("left"), ran("right"));
        prop_assert_eq!(ran("left"), sent("left").min(sent("right")));
        prop_assert_eq!(outcome.waiting, sent("left").abs_diff(sent("right")));
    }
}
