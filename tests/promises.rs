//! Promises and cooperation: every way to wait, to combine, to forward, to fail and to lose interest.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Mutex as Lock;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::thread;

use flockwork::worker::{MAX_NESTED_GETS, spawner, step_once};
use flockwork::{
    Actor, Answered, Any, Eventually as _, Failure, Inbox, Letter, Monitor, Mutex, OneAtATime, Parallel, Pinned,
    Promise, PromiseState, ReadersWriter, Ref, Refused, Reply, Serial, Token, actor, unread_replies,
};
use support::{Meeting, core, device, insist, insist_outside, lock, require, run_until, spin_until, step};

/// The error of a failing method.
#[derive(Debug, PartialEq)]
pub struct Odd(u32);

/// Answers in every way there is.
pub struct Clerk {
    kept: Vec<Reply<u32, Odd>>,
}

impl Clerk {
    const fn new() -> Self {
        Self { kept: Vec::new() }
    }
}

#[actor]
impl Clerk {
    pub fn double(&mut self, n: u32) -> u32 {
        n * 2
    }
    pub fn half(&mut self, n: u32) -> Result<u32, Odd> {
        if n.is_multiple_of(2) { Ok(n / 2) } else { Err(Odd(n)) }
    }
    pub fn broken(&mut self) -> u32 {
        panic!("a method panics on purpose")
    }
    /// Answered by `settle`, or never.
    pub fn later<'t>(&mut self, reply: Token<'t, u32, Odd>) -> Answered<'t> {
        reply.later(|reply| self.kept.push(reply))
    }
    pub fn lose<'t>(&mut self, reply: Token<'t, u32, Odd>) -> Answered<'t> {
        reply.later(drop)
    }
    /// Answers the oldest that waits; how many wait then.
    pub fn settle(&mut self, result: Result<u32, Odd>) -> usize {
        if !self.kept.is_empty() {
            self.kept.remove(0).result(result);
        }
        self.kept.len()
    }
    /// Lets another clerk answer: the first form of forwarding.
    pub fn delegate<'t>(&mut self, to: Ref<Clerk>, n: u32, reply: Token<'t, u32, Odd>) -> Answered<'t> {
        to.half(n).forward(reply).unwrap_or_else(|(reply, why)| reply.fail(why))
    }
    /// Unifies the answer with another promise: the second form.
    pub fn unify<'t>(&mut self, with: Promise<u32, Odd>, reply: Token<'t, u32, Odd>) -> Answered<'t> {
        reply.follow(with)
    }
    /// Asks another clerk, then follows.
    pub fn ask_and_follow<'t>(&mut self, to: Ref<Clerk>, n: u32, reply: Token<'t, u32, Odd>) -> Answered<'t> {
        match to.half(n).ask() {
            Ok(promise) => reply.follow(promise),
            Err(unasked) => reply.fail(unasked.why()),
        }
    }
}

#[actor]
static ON_0: Actor<Clerk, Pinned<0>, 8> = Clerk::new();
#[actor]
static ON_1: Actor<Clerk, Pinned<1>, 8> = Clerk::new();

/// A clerk of a test's own.
macro_rules! clerk {
    ($monitor:ty) => {{
        #[actor]
        static CLERK: Actor<Clerk, $monitor, 8> = Clerk::new();
        &CLERK as Ref<Clerk>
    }};
}

// ---- states ----

/// OCA-1, OCA-2, OCA-3, OCA-7: an ask returns its promise at once; it is empty, then fulfilled or failed, once, and stays so.
#[test]
fn empty_then_fulfilled_or_failed_oca_1_2_3_7() {
    for clerk in [clerk!(Serial), clerk!(Mutex), clerk!(ReadersWriter)] {
        device(1, || {
            // Nothing runs before the worker does, so an ask cannot have waited.
            let mut good = clerk.half(8).ask().unwrap();
            let mut bad = clerk.half(7).ask().unwrap();
            assert_eq!((good.state(), good.is_ready()), (PromiseState::Empty, false));
            assert_eq!(bad.state(), PromiseState::Empty);
            let good_again = good.try_take().unwrap_err();
            good = good_again;
            run_until(|| good.is_ready() && bad.is_ready());
            for _ in 0..3 {
                assert_eq!(good.state(), PromiseState::Fulfilled);
                assert_eq!(bad.state(), PromiseState::Failed);
                step_once();
            }
            assert_eq!(good.get(), Ok(4));
            assert_eq!(bad.try_take().unwrap(), Err(Failure::Method(Odd(7))));
            assert_eq!(clerk.double(4).get(), Ok(8), "from main (OCA-4)");
        });
    }
}

/// OCA-2, OCA-17: a token is used once: kept for later, it resolves its promise once; who answers last does not matter.
#[test]
fn a_kept_reply_answers_later_oca_2_17() {
    let clerk = clerk!(Serial);
    for cores in [1, 2] {
        device(cores, || {
            let mut first = clerk.later().ask().unwrap();
            let second = clerk.later().ask().unwrap();
            assert_eq!(clerk.settle(Ok(1)).get(), Ok(1));
            assert_eq!(first.state(), PromiseState::Fulfilled);
            assert_eq!(clerk.settle(Err(Odd(5))).get(), Ok(0));
            assert_eq!(second.get(), Err(Failure::Method(Odd(5))));
            assert_eq!(first.get(), Ok(1));
        });
    }
}

// ---- awaiting ----

static AWAITED: AtomicU32 = AtomicU32::new(0);

#[embassy_executor::task(pool_size = 4)]
async fn ask_often(clerk: Ref<Clerk>, rounds: u32) {
    for n in 0..rounds {
        require(clerk.half(2 * n).await == Ok(n), "OCA-5: the answer arrives");
        require(
            clerk.half(2 * n + 1).await == Err(Failure::Method(Odd(2 * n + 1))),
            "OCA-24: a failure wakes the waiter",
        );
        AWAITED.fetch_add(1, SeqCst);
    }
}

/// Starts tasks on its own core.
pub struct Host;

#[actor]
impl Host {
    pub fn ask_often(&mut self, clerk: Ref<Clerk>, rounds: u32) {
        spawner().spawn(ask_often(clerk, rounds).unwrap());
    }
}

/// OCA-5: tasks of both cores await promises of actors on both cores, through mailboxes and pools smaller than the demand.
#[test]
fn tasks_await_promises_oca_5() {
    #[actor]
    static SMALL: Actor<Clerk, Serial, 1, 1> = Clerk::new();
    #[actor]
    static MONITORED: Actor<Clerk, Mutex, 1, 1> = Clerk::new();
    #[actor]
    static ONE_LANE: Actor<Clerk, Serial, 2, 1, 1> = Clerk::new();
    #[actor]
    static HOST: Actor<Host, Pinned<1>, 4> = Host;
    let clerks: [(&str, Ref<Clerk>); 5] = [
        ("pinned to 0", &ON_0),
        ("pinned to 1", &ON_1),
        ("unpinned", &SMALL),
        ("monitored", &MONITORED),
        ("one shared lane", &ONE_LANE),
    ];
    for (name, clerk) in clerks {
        eprintln!("{name}");
        device(2, || {
            AWAITED.store(0, SeqCst);
            (0..2).for_each(|_| spawner().spawn(ask_often(clerk, 150).unwrap()));
            (0..2).for_each(|_| HOST.ask_often(clerk, 150).tell().unwrap());
            run_until(|| AWAITED.load(SeqCst) == 600);
        });
    }
}

/// Counts how often the future inside it is polled.
struct Polls<F>(F, &'static AtomicU32);

impl<F: Future + Unpin> Future for Polls<F> {
    type Output = F::Output;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.1.fetch_add(1, SeqCst);
        Pin::new(&mut self.0).poll(context)
    }
}

/// OCA-5, OCA-11: while a task waits, other letters of the same actor run; the task is not polled meanwhile, and when
/// nothing else is to do the worker has nothing to do.
#[test]
fn waiting_is_passive_oca_5_11() {
    static POLLS: AtomicU32 = AtomicU32::new(0);
    static ANSWER: AtomicU32 = AtomicU32::new(0);
    #[embassy_executor::task]
    async fn wait(clerk: Ref<Clerk>) {
        let promise = clerk.later().ask().unwrap();
        let answer = Polls(pin!(promise.into_future()), &POLLS).await;
        ANSWER.store(answer.unwrap(), SeqCst);
    }
    let clerk = clerk!(Serial);
    device(1, || {
        spawner().spawn(wait(clerk).unwrap());
        run_until(|| POLLS.load(SeqCst) > 0);
        while step_once() {}
        let before = POLLS.load(SeqCst);
        for n in 0..100 {
            assert_eq!(clerk.double(n).get(), Ok(2 * n), "OCA-5: the actor serves others");
        }
        while step_once() {}
        assert!(!step_once(), "OCA-11: an empty actor sleeps");
        let polls = POLLS.load(SeqCst) - before;
        assert!(polls <= 100, "OCA-11: at most one spurious wake-up for each answer, not {polls}");
        clerk.settle(Ok(7)).tell().unwrap();
        run_until(|| ANSWER.load(SeqCst) == 7);
    });
}

/// OCA-5: a wait that is cancelled leaves nothing behind: the method still runs, and the slot is free again.
#[test]
fn a_cancelled_wait_leaves_nothing_behind_oca_5() {
    static DONE: AtomicBool = AtomicBool::new(false);
    #[actor]
    static CLERK: Actor<Clerk, Serial, 2, 1> = Clerk::new();
    #[embassy_executor::task]
    async fn cancel() {
        for _ in 0..20 {
            {
                let mut waiting = pin!(CLERK.later().into_future());
                let polled = std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await;
                require(polled.is_pending(), "nobody answers yet");
            }
            // The only promise slot is in use until the reply is gone as well.
            while CLERK.settle(Ok(1)).send().await.is_err() {}
            require(CLERK.half(2).await == Ok(1), "the slot is free again");
        }
        DONE.store(true, SeqCst);
    }
    device(1, || {
        spawner().spawn(cancel().unwrap());
        run_until(|| DONE.load(SeqCst));
    });
}

// ---- get inside a turn ----

/// Asks in the middle of a turn.
pub struct Boss {
    clerk: Ref<Clerk>,
}

#[actor]
impl Boss {
    pub fn consult(&mut self, n: u32) -> u32 {
        self.clerk.half(2 * n).get().unwrap_or(u32::MAX)
    }
    pub fn consult_reading(&self, n: u32) -> u32 {
        self.clerk.half(2 * n).get().unwrap_or(u32::MAX)
    }
    pub fn wait(&mut self) -> u32 {
        self.clerk.later().get().unwrap_or(u32::MAX)
    }
}

/// OCA-4, OCA-28: `get` inside a turn blocks the actor, never the core: neighbours on the same core go on, and one of them
/// must, for the wait to end.
#[test]
fn get_in_a_turn_leaves_the_core_to_its_neighbours_oca_28() {
    static SETTLED: AtomicBool = AtomicBool::new(false);
    /// Settles what the boss waits for, after some turns; on another core that may be before it waits.
    pub struct Neighbour {
        clerk: Ref<Clerk>,
    }
    #[actor]
    impl Neighbour {
        pub fn go(&mut self, me: Ref<Neighbour>, turns: u32) {
            if turns == 0 {
                let _ = self.clerk.settle(Ok(42)).tell();
            }
            if !SETTLED.load(SeqCst) {
                require(me.go(me, turns.saturating_sub(1)).tell().is_ok(), "it has one letter to itself");
            }
        }
    }
    #[actor]
    static CLERK: Actor<Clerk, Serial, 8> = Clerk::new();
    #[actor]
    static ALONE: Actor<Boss, Serial, 4> = Boss { clerk: &CLERK };
    #[actor]
    static MUTEX: Actor<Boss, Mutex, 4> = Boss { clerk: &CLERK };
    #[actor]
    static PARALLEL: Actor<Boss, ReadersWriter, 4> = Boss { clerk: &CLERK };
    #[actor]
    static NEIGHBOUR: Actor<Neighbour, Serial, 4> = Neighbour { clerk: &CLERK };
    for boss in [&ALONE as Ref<Boss>, &MUTEX, &PARALLEL] {
        for cores in [1, 2, 4] {
            device(cores, || {
                SETTLED.store(false, SeqCst);
                let waiting = boss.wait().ask().unwrap();
                NEIGHBOUR.go(&NEIGHBOUR, 3).tell().unwrap();
                assert_eq!(waiting.get(), Ok(42));
                SETTLED.store(true, SeqCst);
                run_until(|| flockwork::Report::of(&NEIGHBOUR).letters + flockwork::Report::of(&CLERK).letters == 0);
                for n in 0..50 {
                    let one = boss.consult(n).ask().unwrap();
                    let other = boss.consult_reading(n + 1).ask().unwrap();
                    assert_eq!(one.join(other).get(), Ok((n, n + 1)));
                }
            });
        }
    }
}

/// OCA-8: `get`s that wait inside each other are bounded by the stack: one too deep fails with `WouldDeadlock`, and all else
/// goes on.
#[test]
fn too_many_nested_gets_are_refused_oca_8() {
    pub struct Link {
        next: Option<Ref<Link>>,
    }
    #[actor]
    impl Link {
        /// How many links from here can be asked.
        pub fn depth(&mut self) -> u32 {
            match self.next.map(|next| next.depth().get()) {
                None => 1,
                Some(Ok(depth)) => depth + 1,
                Some(Err(Failure::WouldDeadlock)) => 1000,
                Some(Err(_)) => 5000,
            }
        }
    }
    macro_rules! links {
        ($first:ident) => {
            #[actor]
            static $first: Actor<Link, Serial, 4> = Link { next: None };
        };
        ($first:ident $second:ident $($rest:ident)*) => {
            #[actor]
            static $first: Actor<Link, Serial, 4> = Link { next: Some(&$second) };
            links!($second $($rest)*);
        };
    }
    links!(L1 L2 L3 L4 L5 L6 L7 L8 L9 L10 L11 L12);
    device(1, || {
        for _ in 0..3 {
            // `main` waits as well, so the chain breaks at the last allowed link.
            assert_eq!(L1.depth().get(), Ok(1000 + u32::from(MAX_NESTED_GETS) - 1));
            assert_eq!(L9.depth().get(), Ok(4), "a shorter chain is fine");
            while step_once() {}
        }
    });
    device(2, || {
        let depth = L1.depth().get().unwrap();
        assert!(depth == 12 || depth >= 1000, "some answer: {depth}");
        run_until(|| {
            [flockwork::Report::of(&L1), flockwork::Report::of(&L9), flockwork::Report::of(&L12)]
                .iter()
                .all(|report| report.letters == 0)
        });
    });
}

/// OCA-8: `get` inside a monitor is refused at once; a send from there works.
#[test]
fn a_monitor_can_send_but_not_wait_oca_8() {
    static CLERK: &ClerkFront<flockwork::Body<Clerk, Serial, 8, 4, { flockwork::LANES }>> = {
        #[actor]
        static CLERK: Actor<Clerk, Serial, 8> = Clerk::new();
        &CLERK
    };
    static REFUSED: AtomicU32 = AtomicU32::new(0);
    static SETTLED: AtomicU32 = AtomicU32::new(0);
    struct Chatty(bool);
    impl Monitor for Chatty {
        type Discipline = OneAtATime;
        const NEW: Self = Self(false);
        fn schedule(&mut self, inbox: Inbox<'_>) {
            if CLERK.half(2).get() == Err(Failure::WouldDeadlock) {
                REFUSED.fetch_add(1, SeqCst);
            }
            if !self.0 {
                self.0 = inbox.execute_oldest(Any);
            }
        }
        fn leave(&mut self, _: Letter<'_>) {
            self.0 = false;
            if CLERK.settle(Ok(9)).tell().is_ok() {
                SETTLED.fetch_add(1, SeqCst);
            }
        }
    }
    let chatty = clerk!(Chatty);
    for cores in [1, 2] {
        device(cores, || {
            let waiting = CLERK.later().ask().unwrap();
            assert_eq!(chatty.double(2).get(), Ok(4));
            assert_eq!(waiting.get(), Ok(9), "the letter that `leave` sent");
        });
    }
    assert!(REFUSED.load(SeqCst) >= 2 && SETTLED.load(SeqCst) >= 2);
}

// ---- combining ----

/// OCA-23, OCA-24: map, and_then and join, with values and with failures, waited for by `get`.
#[test]
fn map_and_then_join_oca_23_24() {
    let clerk = clerk!(Serial);
    for cores in [1, 2] {
        device(cores, || {
            let ask = |n| clerk.half(n).ask().unwrap();
            let never = |_: u32| -> u32 { panic!("a failure is not mapped") };
            assert_eq!(ask(8).map(|n| n + 1).get(), Ok(5));
            assert_eq!(ask(7).map(never).get(), Err(Failure::Method(Odd(7))));
            assert_eq!(ask(8).and_then(|n| clerk.half(n).ask().unwrap()).get(), Ok(2));
            assert_eq!(ask(14).and_then(|n| clerk.half(n).ask().unwrap()).get(), Err(Failure::Method(Odd(7))));
            let second = AtomicBool::new(false);
            let failed = ask(9).and_then(|n| {
                second.store(true, SeqCst);
                clerk.half(n).ask().unwrap()
            });
            assert_eq!(failed.get(), Err(Failure::Method(Odd(9))));
            assert!(!second.load(SeqCst), "what follows a failure is not asked");
            assert_eq!(ask(8).join(ask(6)).get(), Ok((4, 3)));
            assert_eq!(ask(7).join(ask(6)).get(), Err(Failure::Method(Odd(7))));
            assert_eq!(ask(8).join(ask(5)).get(), Err(Failure::Method(Odd(5))));
            assert_eq!(ask(7).join(ask(5)).get(), Err(Failure::Method(Odd(7))), "the first failure");
            let all = ask(8).join(ask(6)).map(|(a, b)| a * 10 + b).and_then(|n| clerk.half(n * 2).ask().unwrap());
            assert_eq!(all.get(), Ok(43));
        });
    }
}

/// OCA-23: on a resolved promise a callback runs at once, without the worker.
#[test]
fn a_callback_on_a_resolved_promise_runs_at_once_oca_23() {
    let clerk = clerk!(Serial);
    device(1, || {
        let mut promise = clerk.half(8).ask().unwrap();
        let mut other = clerk.half(6).ask().unwrap();
        run_until(|| promise.is_ready() && other.is_ready());
        let mut mapped = promise.join(other).map(|(a, b)| a + b);
        assert!(mapped.is_ready());
        assert_eq!(mapped.take_now(), Some(Ok(7)));
        assert_eq!(mapped.take_now(), None, "once");
    });
}

/// OCA-23, OCA-24: the same combinations awaited in a task.
#[test]
fn combinations_are_awaited_oca_23_24() {
    static DONE: AtomicBool = AtomicBool::new(false);
    #[embassy_executor::task]
    async fn combine(here: Ref<Clerk>, there: Ref<Clerk>) {
        for n in 0..100 {
            let both = here.half(4 * n).ask().unwrap().join(there.half(2 * n).ask().unwrap());
            require(both.await == Ok((2 * n, n)), "join");
            let chained = here.half(4 * n).ask().unwrap().and_then(|half| there.half(half).ask().unwrap());
            require(chained.map(|n| n + 1).await == Ok(n + 1), "and_then, map");
            let failed = here.half(4 * n + 2).ask().unwrap().and_then(|half| there.half(half).ask().unwrap());
            require(failed.await == Err(Failure::Method(Odd(2 * n + 1))), "and_then fails");
        }
        DONE.store(true, SeqCst);
    }
    device(2, || {
        spawner().spawn(combine(&ON_0, &ON_1).unwrap());
        run_until(|| DONE.load(SeqCst));
    });
}

// ---- forwarding ----

/// OCA-15, OCA-24: another actor fills my promise: values and failures, from core to core, told ones too.
#[test]
fn forward_lets_another_actor_answer_oca_15() {
    device(2, || {
        for n in 0..200 {
            assert_eq!(ON_0.delegate(&ON_1, 2 * n).get(), Ok(n));
            assert_eq!(ON_1.delegate(&ON_0, 2 * n + 1).get(), Err(Failure::Method(Odd(2 * n + 1))));
        }
        ON_0.delegate(&ON_1, 4).tell().unwrap();
        assert_eq!(ON_1.double(1).get(), Ok(2));
    });
}

/// OCA-15: a forward to a full mailbox gives the token back, and the method can still answer.
#[test]
fn forward_to_a_full_mailbox_gives_the_token_back_oca_15() {
    pub struct Forwarder {
        to: Ref<Clerk>,
    }
    #[actor]
    impl Forwarder {
        pub fn half<'t>(&mut self, n: u32, reply: Token<'t, u32, Odd>) -> Answered<'t> {
            match self.to.half(n).forward(reply) {
                Ok(answered) => answered,
                Err((reply, Refused::Full)) => reply.done(1000 + n),
                Err((reply, why)) => reply.fail(why),
            }
        }
    }
    static GATE: AtomicBool = AtomicBool::new(false);
    struct Closed(bool);
    impl Monitor for Closed {
        type Discipline = OneAtATime;
        const NEW: Self = Self(false);
        fn schedule(&mut self, inbox: Inbox<'_>) {
            if GATE.load(SeqCst) && !self.0 {
                self.0 = inbox.execute_oldest(Any);
            }
        }
        fn leave(&mut self, _: Letter<'_>) {
            self.0 = false;
        }
    }
    #[actor]
    static CLERK: Actor<Clerk, Closed, 2> = Clerk::new();
    #[actor]
    static FORWARDER: Actor<Forwarder, Serial, 8> = Forwarder { to: &CLERK };
    device(1, || {
        let asked = [2, 4, 6, 7].map(|n| FORWARDER.half(n).ask().unwrap());
        run_until(|| flockwork::Report::of(&FORWARDER).letters == 0);
        GATE.store(true, SeqCst);
        CLERK.double(1).tell().unwrap_err().into_message();
        // A full mailbox hears nothing new: another letter must come for `schedule` to be asked again.
        let [a, b, c, d] = asked;
        assert_eq!(c.get(), Ok(1006), "the third found no room");
        assert_eq!(d.get(), Ok(1007));
        drop((a, b));
    });
}

/// OCA-16, OCA-24: a promise unified with another becomes what that becomes: resolved before or after, in chains, across cores.
#[test]
fn unified_promises_oca_16() {
    let clerk = clerk!(Mutex);
    for (one, other) in [(clerk, clerk), (&ON_0, &ON_0), (&ON_0, &ON_1), (&ON_1, &ON_0)] {
        device(2, || {
            for n in 0..50 {
                // The other one is resolved first.
                let mut inner = other.half(2 * n).ask().unwrap();
                run_until(|| inner.is_ready());
                assert_eq!(one.unify(inner).get(), Ok(n));
                // The other one is resolved last.
                let inner = other.later().ask().unwrap();
                let mut outer = one.unify(inner).ask().unwrap();
                run_until(|| one_is_idle(one));
                assert_eq!(outer.state(), PromiseState::Empty);
                assert_eq!(other.settle(Ok(n)).get(), Ok(0));
                assert_eq!(outer.get(), Ok(n));
                // A failure goes through.
                let inner = other.later().ask().unwrap();
                let outer = one.unify(inner).ask().unwrap();
                other.settle(Err(Odd(n))).tell().unwrap();
                assert_eq!(outer.get(), Err(Failure::Method(Odd(n))));
                // Nobody waits for the one that follows.
                drop(one.unify(other.half(2 * n).ask().unwrap()).ask().unwrap());
                one.unify(other.half(2 * n).ask().unwrap()).tell().unwrap();
                assert_eq!(one.ask_and_follow(other, 2 * n).get(), Ok(n));
            }
            // A chain of three, followed from the end and from the start.
            for n in 0..50 {
                let end = other.later().ask().unwrap();
                let chain = one.unify(one.unify(end).ask().unwrap()).ask().unwrap();
                assert_eq!(other.settle(Ok(n)).get(), Ok(0));
                assert_eq!(chain.get(), Ok(n));
                let end = other.half(2 * n).ask().unwrap();
                assert_eq!(one.unify(one.unify(end).ask().unwrap()).get(), Ok(n));
            }
        });
    }
}

fn one_is_idle(clerk: Ref<Clerk>) -> bool {
    clerk.body.report().letters == 0
}

// ---- losing interest, and failing ----

/// OCA-2: a promise that is dropped at any moment disturbs nobody: the method runs, and its answer is dropped and counted.
#[test]
fn a_dropped_promise_disturbs_nobody_oca_2() {
    let clerk = clerk!(Serial);
    for cores in [1, 2] {
        device(cores, || {
            let before = unread_replies();
            for n in 0..500 {
                drop(insist(|| clerk.half(n).ask()));
                for _ in 0..n % 7 {
                    step_once();
                }
            }
            run_until(|| one_is_idle(clerk));
            assert!(unread_replies() > before, "an answer nobody waits for is counted");
            assert_eq!(clerk.half(4).get(), Ok(2));
        });
    }
}

/// OCA-2, OCA-6: a reply that is dropped unanswered fails its promise, and the waiter hears of it.
#[test]
fn a_dropped_reply_fails_its_promise_oca_6() {
    for cores in [1, 2] {
        device(cores, || {
            let clerks: &[Ref<Clerk>] = if cores == 1 { &[&ON_0] } else { &[&ON_0, &ON_1] };
            for clerk in clerks {
                assert_eq!(clerk.lose().get(), Err(Failure::Unanswered));
                assert_eq!(clerk.half(2).get(), Ok(1));
            }
        });
    }
}

/// OCA-6: readers that were granted together with one that panics are run all the same: each once, and answered.
#[test]
fn readers_behind_one_that_panics_are_run_oca_6() {
    const QUESTIONS: usize = 16;
    pub struct Shaky;
    static RUNS: [AtomicU32; QUESTIONS] = [const { AtomicU32::new(0) }; QUESTIONS];
    #[actor]
    impl Shaky {
        pub fn read(&self, question: usize) -> usize {
            RUNS[question].fetch_add(1, SeqCst);
            if question % 5 == 1 {
                std::panic::resume_unwind(Box::new("a reader panics on purpose, without a message"));
            }
            question
        }
    }
    /// For two rounds: a letter keeps its place until it has left, a moment after its answer.
    const ROOM: usize = 2 * QUESTIONS;
    #[actor]
    static SHAKY: Actor<Shaky, ReadersWriter, ROOM, QUESTIONS> = Shaky;
    for cores in [1, 2, 4] {
        device(cores, || {
            for _ in 0..50 {
                let answers: Vec<_> = (0..QUESTIONS).map(|question| SHAKY.read(question).ask().unwrap()).collect();
                for (question, answer) in answers.into_iter().enumerate() {
                    let expected = if question % 5 == 1 { Err(Failure::Panicked) } else { Ok(question) };
                    assert_eq!(answer.get(), expected);
                    assert_eq!(RUNS[question].swap(0, SeqCst), 1, "question {question} was run once");
                }
                while step() {}
            }
        });
    }
}

/// OCA-28: a reader that waits holds no other reader of its actor back, so one may wait for what another does.
#[test]
fn a_reader_waits_for_another_one_oca_28() {
    const READERS: u32 = 16;
    static OPEN: AtomicU32 = AtomicU32::new(0);
    pub struct Porter;
    #[actor]
    impl Porter {
        pub fn is_open(&self) -> bool {
            OPEN.load(SeqCst) == 1
        }
    }
    #[actor]
    static PORTER: Actor<Porter, Serial, 16, 16> = Porter;
    pub struct Hall;
    #[actor]
    impl Hall {
        pub fn enter(&self, reader: u32) -> u32 {
            match reader {
                // The last one opens; the first one waits, and its core works meanwhile.
                0 => while PORTER.is_open().get() != Ok(true) {},
                reader if reader == READERS - 1 => OPEN.store(1, SeqCst),
                _ => {}
            }
            reader
        }
    }
    #[actor]
    static HALL: Actor<Hall, ReadersWriter, 32, 16> = Hall;
    for cores in [2, 4] {
        device(cores, || {
            for _ in 0..50 {
                OPEN.store(0, SeqCst);
                let answers: Vec<_> = (0..READERS).map(|reader| HALL.enter(reader).ask().unwrap()).collect();
                for (reader, answer) in (0..).zip(answers) {
                    assert_eq!(answer.get(), Ok(reader));
                }
                while step() {}
            }
        });
    }
}

/// OCA-6, OCA-24: a method that panics fails its promise, and the actor goes on: readers and writers, under every monitor,
/// with letters waiting behind.
#[test]
fn a_panic_in_a_method_fails_its_promise_oca_6() {
    pub struct Shaky {
        runs: AtomicU32,
    }
    #[actor]
    impl Shaky {
        pub fn read(&self, panics: bool) -> u32 {
            self.runs.fetch_add(1, SeqCst);
            assert!(!panics, "a reader panics on purpose");
            1
        }
        pub fn write(&mut self, panics: bool) -> u32 {
            *self.runs.get_mut() += 1;
            assert!(!panics, "a writer panics on purpose");
            2
        }
        pub fn runs(&mut self) -> u32 {
            std::mem::take(self.runs.get_mut())
        }
    }
    macro_rules! shaky {
        ($monitor:ty) => {{
            #[actor]
            static SHAKY: Actor<Shaky, $monitor, 16, 16> = Shaky { runs: AtomicU32::new(0) };
            &SHAKY as Ref<Shaky>
        }};
    }
    for shaky in [shaky!(Serial), shaky!(Mutex), shaky!(ReadersWriter), shaky!(Pinned<0>)] {
        for cores in [1, 2] {
            device(cores, || {
                let turns = [(false, true), (true, false), (false, false), (true, true), (false, true), (true, false)];
                let asked = turns.map(|(reader, panics)| {
                    let ask = if reader {
                        shaky.read(panics).ask().map_err(|_| ())
                    } else {
                        shaky.write(panics).ask().map_err(|_| ())
                    };
                    (ask.unwrap(), if panics { Err(Failure::Panicked) } else { Ok(if reader { 1 } else { 2 }) })
                });
                for (promise, wanted) in asked {
                    assert_eq!(promise.get(), wanted);
                }
                assert_eq!(shaky.runs().get(), Ok(turns.len() as u32), "each ran once");
            });
        }
    }
}

/// OCA-6: a panic inside a `get` inside a turn ends the inner turn only.
#[test]
fn a_panic_below_a_get_stays_there_oca_6() {
    pub struct Outer {
        clerk: Ref<Clerk>,
    }
    #[actor]
    impl Outer {
        pub fn risk(&mut self) -> bool {
            self.clerk.broken().get() == Err(Failure::Panicked)
        }
    }
    #[actor]
    static CLERK: Actor<Clerk, Serial, 8> = Clerk::new();
    #[actor]
    static OUTER: Actor<Outer, Serial, 8> = Outer { clerk: &CLERK };
    for cores in [1, 2] {
        device(cores, || {
            for _ in 0..5 {
                assert_eq!(OUTER.risk().get(), Ok(true));
                assert_eq!(CLERK.double(3).get(), Ok(6));
            }
        });
    }
}

/// OCA-6, PAM-G5: a monitor that panics loses one decision and nothing else: the letters stay, run later, and each leaves once.
#[test]
fn a_panic_in_a_monitor_loses_no_letter_oca_6() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    static PANICS: AtomicBool = AtomicBool::new(true);
    static LEAVES: AtomicU32 = AtomicU32::new(0);
    fn mood(when: u32) {
        let call = CALLS.fetch_add(1, SeqCst);
        assert!(!PANICS.load(SeqCst) || call % 5 != when, "a monitor panics on purpose");
    }
    /// Panics in some of its calls, before or after it decided.
    struct Nervous;
    impl Monitor for Nervous {
        type Discipline = Parallel;
        const NEW: Self = Self;
        fn schedule(&mut self, inbox: Inbox<'_>) {
            mood(1);
            inbox.execute_oldest(Any);
            mood(2);
        }
        fn leave(&mut self, _: Letter<'_>) {
            LEAVES.fetch_add(1, SeqCst);
            mood(3);
        }
    }
    #[actor]
    static CLERK: Actor<Clerk, Nervous, 8> = Clerk::new();
    for cores in [1, 2] {
        PANICS.store(true, SeqCst);
        LEAVES.store(0, SeqCst);
        device(cores, || {
            let mut asked = 0;
            let promises: Vec<_> = (0..3).map(|n| CLERK.half(2 * n).ask().unwrap()).collect();
            asked += promises.len() as u32;
            // Events, so that a decision that was lost is asked for again.
            for n in 0..20 {
                insist(|| CLERK.double(n).tell());
                asked += 1;
                (0..10).for_each(|_| {
                    step();
                });
            }
            PANICS.store(false, SeqCst);
            asked += 1;
            assert_eq!(CLERK.double(1).get(), Ok(2));
            for (n, promise) in promises.into_iter().enumerate() {
                assert_eq!(promise.get(), Ok(n as u32));
            }
            run_until(|| flockwork::Report::of(&CLERK).letters == 0);
            assert_eq!(LEAVES.load(SeqCst), asked, "PAM-G5: one leave each");
        });
    }
}

/// OCA-6, PAM-G5: when `leave` panics, the letters that wait are still scheduled, without another event.
#[test]
fn a_panic_in_leave_does_not_stop_those_that_wait_oca_6() {
    struct Clumsy {
        busy: bool,
    }
    impl Monitor for Clumsy {
        type Discipline = OneAtATime;
        const NEW: Self = Self { busy: false };
        fn schedule(&mut self, inbox: Inbox<'_>) {
            if !self.busy {
                self.busy = inbox.execute_oldest(Any);
            }
        }
        fn leave(&mut self, letter: Letter<'_>) {
            self.busy = false;
            assert!(letter.method() != "double", "leave panics on purpose");
        }
    }
    let clerk = clerk!(Clumsy);
    for cores in [1, 2] {
        device(cores, || {
            clerk.double(1).tell().unwrap();
            let waiting = clerk.half(8).ask().unwrap();
            assert_eq!(waiting.get(), Ok(4));
        });
    }
}

// ---- the pool ----

/// A call with every slot in use is refused with `NoPromise` and given back; taking or dropping an answer makes room.
/// (OCA-3: an error at the call; nothing leaks.)
#[test]
fn an_exhausted_pool_refuses_and_recovers_oca_3() {
    #[actor]
    static CLERK: Actor<Clerk, Serial, 16, 3> = Clerk::new();
    for cores in [1, 2] {
        device(cores, || {
            for round in 0..50 {
                let mut asked: Vec<_> = (0..3).map(|n| CLERK.half(2 * n).ask().unwrap()).collect();
                let unasked = CLERK.half(8).ask().unwrap_err();
                assert_eq!(unasked.why(), Refused::NoPromise);
                let unasked = unasked.retry().unwrap_err();
                CLERK.double(1).tell().unwrap();
                // Unread answers do not fill the mailbox, only the pool.
                run_until(|| asked.iter_mut().all(Promise::is_ready));
                assert_eq!(unasked.why(), Refused::NoPromise);
                match round % 3 {
                    0 => drop(asked.swap_remove(0)),
                    1 => assert_eq!(asked.swap_remove(0).get(), Ok(0)),
                    _ => asked.clear(),
                }
                let Ok(fourth) = unasked.retry() else { panic!("a slot is free") };
                assert_eq!(fourth.get(), Ok(4));
                asked.clear();
                assert_eq!(CLERK.half(6).get(), Ok(3));
            }
        });
    }
}

/// A slot is in use until both halves are gone: a dropped promise alone does not free it, so no late answer hits the next use.
#[test]
fn a_slot_is_free_when_both_halves_are_gone_oca_2() {
    #[actor]
    static CLERK: Actor<Clerk, Serial, 8, 1> = Clerk::new();
    device(1, || {
        drop(CLERK.later().ask().unwrap());
        run_until(|| flockwork::Report::of(&CLERK).letters == 0);
        assert_eq!(CLERK.half(2).ask().unwrap_err().why(), Refused::NoPromise, "the reply is still out");
        CLERK.settle(Ok(1)).tell().unwrap();
        run_until(|| flockwork::Report::of(&CLERK).letters == 0);
        assert_eq!(CLERK.half(2).get(), Ok(1));
    });
}

/// A task that waits for a free slot hears of it also when it is the reply that goes last (OCA-11: no polling, and KER-7: no
/// wake-up is lost).
#[test]
fn a_slot_freed_by_its_reply_is_told_of_oca_11_ker_7() {
    static CANCELLED: AtomicU32 = AtomicU32::new(0);
    static POLLED: AtomicU32 = AtomicU32::new(0);
    static DONE: AtomicU32 = AtomicU32::new(0);
    #[embassy_executor::task]
    async fn cancel(clerk: Ref<Clerk>) {
        let mut waiting = pin!(clerk.later().into_future());
        let polled = std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await;
        require(polled.is_pending(), "nobody answers yet");
        CANCELLED.fetch_add(1, SeqCst);
    }
    #[embassy_executor::task]
    async fn wait(clerk: Ref<Clerk>) {
        require(Polls(pin!(clerk.half(4).into_future()), &POLLED).await == Ok(2), "an answer at last");
        DONE.fetch_add(1, SeqCst);
    }
    #[actor]
    static NEAR: Actor<Clerk, Serial, 4, 1> = Clerk::new();
    #[actor]
    static FAR: Actor<Clerk, Pinned<1>, 4, 1> = Clerk::new();
    #[actor]
    static SHARED: Actor<Clerk, Serial, 4, 1, 1> = Clerk::new();
    for (clerk, cores) in [(&NEAR as Ref<Clerk>, 1), (&NEAR, 2), (&FAR, 2), (&SHARED, 1), (&SHARED, 2)] {
        for _ in 0..20 {
            [&CANCELLED, &POLLED, &DONE].iter().for_each(|count| count.store(0, SeqCst));
            device(cores, || {
                spawner().spawn(cancel(clerk).unwrap());
                run_until(|| CANCELLED.load(SeqCst) == 1);
                run_until(|| one_is_idle(clerk));
                spawner().spawn(wait(clerk).unwrap());
                run_until(|| POLLED.load(SeqCst) > 0);
                while step() {}
                require(DONE.load(SeqCst) == 0, "the only slot is in use");
                clerk.settle(Ok(1)).tell().unwrap();
                run_until(|| DONE.load(SeqCst) == 1);
            });
        }
    }
}

/// Tasks that share an exhausted pool wait for each other, also where cores share one lane and its pool.
#[test]
fn tasks_wait_for_a_free_promise_oca_11() {
    static DONE: AtomicU32 = AtomicU32::new(0);
    #[embassy_executor::task(pool_size = 3)]
    async fn hold(clerk: Ref<Clerk>, settle: bool) {
        for _ in 0..50 {
            let answer = if settle {
                while clerk.settle(Ok(3)).send().await.is_err() {}
                clerk.half(6).await
            } else {
                clerk.half(6).await
            };
            require(answer == Ok(3), "an answer");
        }
        DONE.fetch_add(1, SeqCst);
    }
    #[actor]
    static OWN: Actor<Clerk, Serial, 4, 1> = Clerk::new();
    #[actor]
    static SHARED: Actor<Clerk, Serial, 4, 1, 1> = Clerk::new();
    #[actor]
    static SHARED_FAR: Actor<Clerk, Pinned<1>, 4, 1, 1> = Clerk::new();
    for (name, clerk, cores) in [
        ("own", &OWN as Ref<Clerk>, 1),
        ("own", &OWN, 2),
        ("shared", &SHARED, 1),
        ("shared", &SHARED, 2),
        ("far", &SHARED_FAR, 2),
    ] {
        eprintln!("{name} on {cores} cores");
        DONE.store(0, SeqCst);
        device(cores, || {
            (0..3).for_each(|task| spawner().spawn(hold(clerk, task == 0).unwrap()));
            run_until(|| DONE.load(SeqCst) == 3);
        });
    }
}

// ---- values that must be dropped ----

static LIVE: AtomicIsize = AtomicIsize::new(0);

/// A value whose copies are counted.
#[derive(Debug)]
pub struct Counted(AtomicBool);

impl Counted {
    fn new() -> Self {
        LIVE.fetch_add(1, SeqCst);
        Self(AtomicBool::new(true))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        require(self.0.swap(false, SeqCst), "a value was dropped twice");
        LIVE.fetch_sub(1, SeqCst);
    }
}

pub struct Factory {
    next: Option<Ref<Factory>>,
}

#[actor]
impl Factory {
    pub fn make(&mut self) -> Counted {
        Counted::new()
    }
    pub fn echo(&mut self, value: Counted) -> Counted {
        value
    }
    pub fn fail(&mut self, value: Counted) -> Result<Counted, Counted> {
        Err(value)
    }
    pub fn pass<'t>(&mut self, value: Counted, reply: Token<'t, Counted>) -> Answered<'t> {
        match self.next {
            Some(next) => next.echo(value).forward(reply).unwrap_or_else(|(reply, why)| reply.fail(why)),
            None => reply.done(value),
        }
    }
    pub fn follow<'t>(&mut self, reply: Token<'t, Counted>) -> Answered<'t> {
        match self.next.map(|next| next.make().ask()) {
            Some(Ok(promise)) => reply.follow(promise),
            Some(Err(unasked)) => reply.fail(unasked.why()),
            None => reply.done(Counted::new()),
        }
    }
    pub fn explode(&mut self, _value: Counted) -> Counted {
        panic!("a method with a value panics on purpose")
    }
}

/// Values in letters, replies and errors are dropped exactly once, whenever promises are dropped (OCA-2, KER-11: nothing
/// lost or corrupted).
#[test]
fn values_are_dropped_exactly_once_oca_2() {
    #[actor]
    static LAST: Actor<Factory, Serial, 4> = Factory { next: None };
    #[actor]
    static FIRST: Actor<Factory, ReadersWriter, 4> = Factory { next: Some(&LAST) };
    fn exercise(rounds: u32, go_on: fn()) {
        let factories: [Ref<Factory>; 2] = [&FIRST, &LAST];
        for round in 0..rounds {
            let factory = factories[round as usize % 2];
            let patience = round % 5;
            let wait = || (0..patience).for_each(|_| go_on());
            match round % 9 {
                0 => drop(factory.make().ask()),
                1 => drop(factory.echo(Counted::new()).ask()),
                2 => drop(factory.fail(Counted::new()).ask()),
                3 => drop(factory.pass(Counted::new()).ask()),
                4 => drop(factory.follow().ask()),
                5 => drop(factory.echo(Counted::new()).tell()),
                6 => {
                    let promise = factory.make().ask();
                    wait();
                    drop(promise);
                }
                7 => {
                    let promise = factory.pass(Counted::new()).ask();
                    wait();
                    drop(promise.map(|promise| promise.map(|value| (value, Counted::new()))));
                }
                _ => {
                    let promise = factory.follow().ask();
                    wait();
                    if let Ok(promise) = promise
                        && round % 3 == 0
                    {
                        drop(promise.get());
                    }
                }
            }
            if round % 500 == 0 {
                drop(factory.explode(Counted::new()).get());
            }
        }
    }
    /// Takes every slot of this lane into use once, so that answers nobody took are dropped.
    fn flush() {
        for factory in [&FIRST as Ref<Factory>, &LAST] {
            loop {
                let asked: Vec<_> = (0..4).map_while(|_| factory.make().ask().ok()).collect();
                let all = asked.len() == 4;
                asked.into_iter().for_each(|promise| drop(promise.get()));
                if all {
                    break;
                }
            }
        }
    }
    for cores in [1, 2] {
        device(cores, || {
            let outside = thread::spawn(|| {
                exercise(3000, thread::yield_now);
                flush();
            });
            exercise(3000, || {
                step();
            });
            run_until(|| outside.is_finished());
            outside.join().unwrap();
            run_until(|| flockwork::Report::of(&FIRST).letters + flockwork::Report::of(&LAST).letters == 0);
            // Twice: a slot may hold a promise that it followed.
            flush();
            flush();
        });
        // What FIRST asked LAST for went through the lanes of whatever core it ran on: flush them from there.
        pub struct Flusher;
        #[actor]
        impl Flusher {
            pub fn flush(&mut self) {
                flush();
            }
        }
        #[actor]
        static ON_1: Actor<Flusher, Pinned<1>, 1> = Flusher;
        if cores == 2 {
            device(2, || {
                ON_1.flush().get().unwrap();
                ON_1.flush().get().unwrap();
            });
        }
        assert_eq!(LIVE.load(SeqCst), 0, "on {cores} cores: what was made is dropped");
    }
}

// ---- many actors on few cores ----

static ORDER: Lock<Vec<&'static str>> = Lock::new(Vec::new());

pub struct Named(&'static str, u32);

#[actor]
impl Named {
    pub fn turn(&mut self) {
        self.1 += 1;
        let name: &'static str = match (self.0, self.1) {
            ("A", 1) => "A1",
            ("A", 2) => "A2",
            ("A", 3) => "A3",
            ("B", 1) => "B1",
            ("C", 1) => "C1",
            ("C", 2) => "C2",
            _ => "?",
        };
        lock(&ORDER).push(name);
    }
}

/// OCA-26: round robin between ready actors, one letter each. Golden: A:3, B:1, C:2 → A1 B1 C1 A2 C2 A3.
#[test]
fn round_robin_golden_oca_26() {
    macro_rules! golden {
        ($($monitor:ty),*) => {$({
            #[actor]
            static A: Actor<Named, $monitor, 4> = Named("A", 0);
            #[actor]
            static B: Actor<Named, $monitor, 4> = Named("B", 0);
            #[actor]
            static C: Actor<Named, $monitor, 4> = Named("C", 0);
            lock(&ORDER).clear();
            device(1, || {
                (0..3).for_each(|_| A.turn().tell().unwrap());
                B.turn().tell().unwrap();
                (0..2).for_each(|_| C.turn().tell().unwrap());
                run_until(|| lock(&ORDER).len() == 6);
            });
            assert_eq!(*lock(&ORDER), ["A1", "B1", "C1", "A2", "C2", "A3"], stringify!($monitor));
        })*};
    }
    golden!(Serial, Mutex, ReadersWriter, Pinned<0>);
}

/// OCA-25: ready actors spread over the cores: as many as there are cores run at once.
#[test]
fn actors_spread_over_the_cores_oca_25() {
    static GUESTS: Meeting = Meeting::new();
    static CORES_SEEN: AtomicUsize = AtomicUsize::new(0);
    pub struct Guest;
    #[actor]
    impl Guest {
        pub fn meet(&mut self, people: usize) {
            CORES_SEEN.fetch_or(1 << core(), SeqCst);
            GUESTS.meet(people);
        }
    }
    #[actor]
    static G1: Actor<Guest, Serial, 2> = Guest;
    #[actor]
    static G2: Actor<Guest, Mutex, 2> = Guest;
    #[actor]
    static G3: Actor<Guest, ReadersWriter, 2> = Guest;
    #[actor]
    static G4: Actor<Guest, Serial, 2> = Guest;
    let guests: [Ref<Guest>; 4] = [&G1, &G2, &G3, &G4];
    for cores in [2, 3, 4] {
        for _ in 0..10 {
            GUESTS.clear();
            CORES_SEEN.store(0, SeqCst);
            device(cores, || {
                guests[..cores].iter().for_each(|guest| guest.meet(cores).tell().unwrap());
                run_until(|| GUESTS.arrived() == cores);
                assert_eq!(CORES_SEEN.load(SeqCst), (1 << cores) - 1, "one on each core");
            });
        }
    }
}

/// OCA-27: an actor that is flooded, by itself and from outside, does not stop its neighbours, tasks included.
#[test]
fn a_flooded_actor_does_not_stop_its_neighbours_oca_27() {
    static STOP: AtomicBool = AtomicBool::new(false);
    static TASK: AtomicU32 = AtomicU32::new(0);
    pub struct Flooded;
    #[actor]
    impl Flooded {
        pub fn drown(&mut self, me: Ref<Flooded>) {
            if !STOP.load(SeqCst) {
                require(me.drown(me).tell().is_ok(), "it replaces its own letter");
            }
        }
        pub fn drop_in(&mut self) {}
    }
    #[embassy_executor::task]
    async fn neighbour(clerk: Ref<Clerk>) {
        for n in 0..20 {
            require(clerk.double(n).await == Ok(2 * n), "a neighbour answers");
        }
        TASK.fetch_add(1, SeqCst);
    }
    #[actor]
    static ALONE: Actor<Flooded, Serial, 32> = Flooded;
    #[actor]
    static MUTEX: Actor<Flooded, Mutex, 32> = Flooded;
    let clerk = clerk!(Serial);
    for (flooded, report) in
        [(&ALONE as Ref<Flooded>, &ALONE.body as &'static dyn flockwork::Post<Flooded>), (&MUTEX, &MUTEX.body)]
    {
        for cores in [1, 2] {
            STOP.store(false, SeqCst);
            TASK.store(0, SeqCst);
            device(cores, || {
                (0..16).for_each(|_| flooded.drown(flooded).tell().unwrap());
                let outside = thread::spawn(move || {
                    while !STOP.load(SeqCst) {
                        insist_outside(|| flooded.drop_in().tell());
                    }
                });
                spawner().spawn(neighbour(clerk).unwrap());
                for n in 0..50 {
                    assert_eq!(clerk.double(n).get(), Ok(2 * n));
                }
                run_until(|| TASK.load(SeqCst) == 1);
                STOP.store(true, SeqCst);
                run_until(|| outside.is_finished() && report.report().letters == 0);
                outside.join().unwrap();
            });
        }
    }
}

/// OCA-4: a thread that is no core can ask and wait as well; it has no worker to run meanwhile.
#[test]
fn a_thread_that_is_no_core_gets_answers_oca_4() {
    let clerk = clerk!(ReadersWriter);
    for cores in [1, 2] {
        device(cores, || {
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    thread::spawn(move || {
                        for n in 0..200 {
                            assert_eq!(clerk.half(2 * n).get(), Ok(n));
                            assert_eq!(clerk.half(2 * n + 1).get(), Err(Failure::Method(Odd(2 * n + 1))));
                        }
                    })
                })
                .collect();
            run_until(|| threads.iter().all(thread::JoinHandle::is_finished));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
    spin_until(|| true);
}
