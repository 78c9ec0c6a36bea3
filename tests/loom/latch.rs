//! The latch and the ready set: no wake-up is lost between a core that goes idle and one that has something for it
//! (KER-7). Surplus in the ready ring, a letter to an actor pinned elsewhere, room in a full mailbox, a free promise slot.
//!
//! The cores run the worker's own loop. One that sleeps for good is a deadlock, which loom reports.

use crate::harness::{Event, Extent, core, join, model};
use crate::port::become_core;
use crate::probe::{Actor, LANES, Log, Message, Probe};
use flockwork::model::{help_others, promise, put, visit_next};
use flockwork::worker::run_while;
use flockwork::{
    Call, Eventually, Filter as _, Inbox, Letter, Monitor, Parallel, Pinned, Post, Readers, Reply, Serial, Writers,
};
use loom::sync::atomic::{AtomicU32, Ordering};
use std::cell::RefCell;
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// A count that some core reads to know when it is done.
#[derive(Clone)]
struct Count(Arc<AtomicU32>);

impl Count {
    fn new() -> Self {
        Self(Arc::new(AtomicU32::new(0)))
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    fn is_below(&self, limit: u32) -> bool {
        self.0.load(Ordering::Acquire) < limit
    }
}

/// What two letters do: the turn of one waits until the other has run, which is counted.
fn wait_and_go_on(ran: Count) -> (impl FnOnce(&mut Probe) + Send, impl FnOnce(&mut Probe) + Send) {
    let event = Event::new();
    let waited_for = event.clone();
    let wait = move |_: &mut Probe| waited_for.wait();
    let go_on = move |_: &mut Probe| {
        ran.add();
        event.set();
    };
    (wait, go_on)
}

/// A core with two ready actors runs one whose letter ends only after the other's has: an idle core must come and run one
/// of them.
#[test]
fn surplus_finds_the_idle_core() {
    model("surplus against idle", 2, Extent::Bounded(5), || {
        let [waits, goes_on] = [Actor::<Serial, 1, 1, LANES>::new(), Actor::new()];
        let ran = Count::new();
        let (wait, go_on) = wait_and_go_on(ran.clone());
        core(0, move || {
            waits.write(wait).expect("there is room");
            goes_on.write(go_on).expect("there is room");
            while visit_next(0) {}
        });
        core(1, move || run_while(|| ran.is_below(1)));
        join();
        waits.end();
        goes_on.end();
    });
}

/// An actor stays in the set of a core that has one turn after another, and gets a letter between them, for which the second turn waits:
/// it is offered a second time, perhaps just as the other core hears of the first.
#[test]
fn what_is_offered_again_is_found() {
    model("an offer after another one", 2, Extent::Bounded(3), || {
        let [passes, waits] = [Actor::<Serial, 1, 1, LANES>::new(), Actor::new()];
        let offered = Actor::<Serial, 2, 1, LANES>::new();
        let ran = Count::new();
        let (wait, go_on) = wait_and_go_on(ran.clone());
        core(0, move || {
            offered.write(|_| ()).expect("there is room");
            waits.write(wait).expect("there is room");
            passes.write(|_| ()).expect("there is room");
            visit_next(0);
            offered.write(go_on).expect("there is room");
            while visit_next(0) {}
        });
        core(1, move || run_while(|| ran.is_below(1)));
        join();
        passes.end();
        waits.end();
        offered.end();
    });
}

/// Readers at once; writers only when there are so many, one after the other.
struct Party<const SIZE: usize> {
    readers: usize,
    writing: bool,
    complete: bool,
}

std::thread_local! {
    /// What the monitor does whose writers are not complete.
    static INVITE: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

impl<const SIZE: usize> Monitor for Party<SIZE> {
    type Discipline = Parallel;
    const NEW: Self = Self { readers: 0, writing: false, complete: false };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        // It looks at all letters, so they are listed.
        let waiting = inbox.len();
        let granted = if self.writing { 0 } else { inbox.execute_all(Readers) };
        assert!(granted <= waiting, "granted from what waits");
        self.readers += granted;
        if self.writing || granted != 0 {
            return;
        }
        let writers = inbox.letters().filter(|letter| Writers.pass(letter)).count();
        self.complete |= writers == SIZE;
        if self.complete && self.readers == 0 {
            self.writing = inbox.execute_oldest(Writers);
        } else if writers > 0 {
            INVITE.with_borrow(|invite| invite.iter().for_each(|invite| invite()));
        }
    }

    fn leave(&mut self, letter: Letter<'_>) {
        if Writers.pass(&letter) { self.writing = false } else { self.readers -= 1 }
    }
}

/// A core has run readers, and offered some of them, when a writer waits that is not complete. The letter that the monitor sends then is noted
/// where the offer was, which is taken back.
#[test]
fn what_waits_is_still_noted() {
    model("a note beside an offer", 2, Extent::Exhaustive, || {
        let (actor, log) = (Actor::<Party<3>, 4, 1, LANES>::new(), Log::default());
        let (readers, writers) = (log.clone(), log.clone());
        core(0, move || {
            let write = move || {
                let log = writers.clone();
                actor.write(move |state| state.write(|| log.add(3))).expect("there is room");
            };
            INVITE.set(Some(Box::new(write.clone())));
            for number in 0..3 {
                let (log, write) = (readers.clone(), write.clone());
                let read = move |state: &Probe| {
                    state.read(|| log.add(number));
                    if number == 2 {
                        write();
                    }
                };
                actor.read(read).expect("there is room");
            }
            while visit_next(0) {}
        });
        join();
        INVITE.set(None);
        assert_eq!((log.taken(), actor.letters()), (vec![0, 1, 2, 3, 3, 3], 0), "all have run and left");
        actor.end();
    });
}

/// The same with two cores: the last letter of a share has ended, and left by the other core, when its own core lists what it has sent.
#[test]
fn what_is_listed_for_a_share_that_has_left_is_decided_about() {
    model("a note beside an offer, two cores", 2, Extent::Bounded(2), || {
        let (actor, log) = (Actor::<Party<2>, 4, 1, LANES>::new(), Log::default());
        let write = move |log: Log| actor.write(move |state| state.write(|| log.add(3))).expect("there is room");
        let (begun, helped) = (Event::new(), Event::new());
        core(0, {
            let (log, begun, helped) = (log.clone(), begun.clone(), helped.clone());
            move || {
                for number in 0..3 {
                    let (log, begun, helped) = (log.clone(), begun.clone(), helped.clone());
                    let read = move |state: &Probe| {
                        state.read(|| log.add(number));
                        if number == 0 {
                            begun.set();
                            helped.wait();
                            write(log);
                        }
                    };
                    actor.read(read).expect("there is room");
                }
                while visit_next(0) {}
            }
        });
        core(1, {
            let log = log.clone();
            move || {
                begun.wait();
                // Takes back what the other core has not begun, and runs it.
                actor.visit(1);
                helped.set();
                write(log);
                while visit_next(1) {}
            }
        });
        join();
        let mut ran = log.taken();
        ran.sort_unstable();
        assert_eq!((ran, actor.letters()), (vec![0, 1, 2, 3, 3], 0), "all have run and left");
        become_core(0);
        actor.end();
    });
}

/// A core that looks into another's ready set finds an actor there that has just got its number.
#[test]
fn a_new_actor_is_found() {
    model("a new actor in another core's set", 2, Extent::Exhaustive, || {
        let actor = Actor::<Serial, 1, 1, LANES>::unknown();
        let ran = Count::new();
        core(0, {
            let ran = ran.clone();
            move || {
                actor.write(move |_| ran.add()).expect("there is room");
                while visit_next(0) {}
            }
        });
        core(1, || {
            help_others(1);
        });
        join();
        assert!(!ran.is_below(1), "the letter has run");
        actor.end();
    });
}

/// Letters to actors pinned to another core: that core is invited, and runs all of them. Each inviter sends one to each of
/// `ACTORS`.
fn invitations_arrive<const ACTORS: usize>(name: &str, extent: Extent, inviters: &'static [u8]) {
    model(name, 1 + inviters.len() as u8, extent, move || {
        let actors = [(); ACTORS].map(|()| Actor::<Pinned<0>, 1, 1, LANES>::new());
        let ran = Count::new();
        let expected = (inviters.len() * ACTORS) as u32;
        for &inviter in inviters {
            let ran = ran.clone();
            core(inviter, move || {
                for actor in actors {
                    let ran = ran.clone();
                    actor.write(move |state| state.write(|| ran.add())).expect("there is room");
                    while visit_next(inviter) {}
                }
            });
        }
        core(0, move || run_while(|| ran.is_below(expected)));
        join();
        actors.into_iter().for_each(Actor::end);
    });
}

#[test]
fn pinned_letters_arrive() {
    invitations_arrive::<2>("hand-over to pinned actors", Extent::Bounded(5), &[1]);
}

/// Two letters to the same actor: at the second, it may be invited already, or the invitation may just be taken.
#[test]
fn pinned_letters_of_one_actor_arrive() {
    model("two letters to a pinned actor", 2, Extent::Bounded(4), || {
        let actor = Actor::<Pinned<0>, 2, 1, LANES>::new();
        let ran = Count::new();
        core(1, {
            let ran = ran.clone();
            move || {
                for _ in 0..2 {
                    let ran = ran.clone();
                    actor.write(move |state| state.write(|| ran.add())).expect("there is room");
                }
            }
        });
        core(0, move || run_while(|| ran.is_below(2)));
        join();
        actor.end();
    });
}

#[test]
fn pinned_letters_of_two_cores_arrive() {
    invitations_arrive::<1>("hand-over of two cores", Extent::Bounded(2), &[1, 2]);
}

/// Wakes a task of the models: it runs again when its core's worker has seen this.
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(1, Ordering::Relaxed);
    }
}

/// Runs a future as the only task of a core, with the worker's loop between two polls.
pub(crate) fn task<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let woken = Arc::new(Woken(AtomicU32::new(0)));
    let waker = Waker::from(woken.clone());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        run_while(|| woken.0.load(Ordering::Relaxed) == 0);
        woken.0.store(0, Ordering::Relaxed);
    }
}

type AnyBody = dyn Post<Probe>;

/// A task waits for room in a lane of one place, which another core makes.
#[test]
fn room_is_told_of() {
    model("room against waiting for it", 2, Extent::Bounded(3), || {
        become_core(0);
        let (actor, log) = (Actor::<Serial, 1, 1, LANES>::new(), Log::default());
        let letter = |number| {
            let log = log.clone();
            Message::Write(Box::new(move |state: &mut Probe| state.write(|| log.add(number))))
        };
        let (first, second, third) = (letter(1), letter(2), letter(3));
        put(actor.body(), first).expect("there is room");
        core(0, move || {
            for message in [second, third] {
                let call = Call::<Probe, AnyBody, _, u32>::new(actor.body(), |_| message);
                task(call.send()).expect("it can run");
            }
        });
        core(1, move || {
            actor.visit(1);
            actor.visit(1);
        });
        join();
        actor.finish(0);
        assert_eq!(log.taken(), [1, 2, 3]);
        actor.end();
    });
}

/// A task waits for the room of a letter whose turn waits for that task's answer.
#[test]
fn room_of_a_turn_that_waits_is_told_of() {
    model("room of a turn that waits", 2, Extent::Bounded(2), || {
        become_core(0);
        let (actor, ran) = (Actor::<Pinned<0>, 1, 1, LANES>::new(), Count::new());
        let (answer, reply) = promise::<Probe, u32, Infallible>(actor.body()).expect("a slot is free");
        let [first, second] = [ran.clone(), ran.clone()];
        become_core(1);
        let waits = Message::Write(Box::new(move |_: &mut Probe| {
            assert!(matches!(answer.get(), Ok(1)));
            first.add();
        }));
        put(actor.body(), waits).expect("there is room");
        core(0, move || run_while(|| ran.is_below(2)));
        core(1, move || {
            let next = Message::Write(Box::new(move |_: &mut Probe| second.add()));
            let call = Call::<Probe, AnyBody, _, u32>::new(actor.body(), |_| next);
            task(call.send()).expect("it can run");
            reply.answer(1);
        });
        join();
        actor.end();
    });
}

/// All promise slots are in use; a core that asks waits until another drops one. Then it runs its letter itself.
#[test]
fn free_promise_slots_are_told_of() {
    model("a promise slot against waiting for it", 2, Extent::Exhaustive, || {
        become_core(0);
        let actor = Actor::<Serial, 1, 1, LANES>::new();
        let (unread, reply) = promise::<Probe, u32, Infallible>(actor.body()).expect("a slot is free");
        reply.answer(1);
        core(0, move || {
            let question = Call::<Probe, AnyBody, _, u32>::new(actor.body(), |reply: Reply<u32>| {
                Message::Write(Box::new(move |_| reply.answer(2)))
            });
            assert!(matches!(question.get(), Ok(2)));
        });
        core(1, move || drop(unread));
        join();
        actor.end();
    });
}

/// The first letters of an actor, from two cores at once: it gets one number, and both letters run.
#[test]
fn first_letters() {
    model("first letters of two cores", 2, Extent::Bounded(5), || {
        let (actor, log) = (Actor::<Serial, 1, 1, LANES>::unknown(), Log::default());
        for here in [0, 1] {
            let log = log.clone();
            core(here, move || {
                actor.write(move |_| log.add(0)).expect("there is room");
                while visit_next(here) {}
            });
        }
        join();
        assert_eq!(log.len(), 2, "both letters have run");
        actor.end();
    });
}
