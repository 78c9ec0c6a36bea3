//! Age: letters of one sender keep their order, also if it moves to another core, and a cause is older than its effect
//! whatever path it took, while a third core takes letters out (KER-3).
//!
//! Each is shown for an actor without a monitor, whose letters are run straight from the lanes, and for one with a monitor,
//! whose letters are drained into the inbox.

use crate::harness::{Extent, core, join, model};
use crate::port::become_core;
use crate::probe::{Actor, LANES, Log, Probe, ProbeMonitor};
use flockwork::model::{promise, visit_next};
use flockwork::{Inbox, Letter, Monitor, Mutex, OneAtATime, ReadersWriter, Serial};
use loom::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

type Receiver<M> = Actor<M, 4, 1, LANES>;
type OnCore = Box<dyn FnOnce(u8)>;

/// Runs the cause on one core and the effect on another, while core 2 visits the receiver: what ran there must be a
/// beginning of 1, 2. Both ways round, because letters of the same age are taken lane by lane.
fn in_order<M: ProbeMonitor>(
    name: &str,
    extent: Extent,
    scene: impl Fn(Receiver<M>, Log) -> [OnCore; 2] + Copy + Send + Sync + 'static,
) {
    for (cause_on, effect_on) in [(0, 1), (1, 0)] {
        model(&format!("{name}, from core {cause_on} to {effect_on}"), 3, extent, move || {
            let (receiver, log) = (Receiver::<M>::new(), Log::default());
            let [cause, effect] = scene(receiver, log.clone());
            core(cause_on, move || cause(cause_on));
            core(effect_on, move || effect(effect_on));
            core(2, move || {
                receiver.visit(2);
            });
            join();
            end_in_order(receiver, &log);
        });
    }
}

/// Core 2 runs what the cores have left; all that ran must be a beginning of 1, 2.
fn end_in_order<M: ProbeMonitor>(receiver: Receiver<M>, log: &Log) {
    receiver.finish(2);
    assert_eq!(receiver.letters(), 0, "nothing is left");
    let ran = log.taken();
    assert!([1, 2].starts_with(&ran), "a cause is older than its effect: {ran:?}");
    receiver.end();
}

fn send<M: ProbeMonitor>(receiver: Receiver<M>, number: u32, log: &Log) {
    let log = log.clone();
    receiver.write(move |state| state.write(|| log.add(number))).expect("there is room");
}

/// The cause goes through state that both cores share.
fn through_shared_state<M: ProbeMonitor>(receiver: Receiver<M>, log: Log) -> [OnCore; 2] {
    let sent = Arc::new(AtomicBool::new(false));
    let (seen, other) = (sent.clone(), log.clone());
    let cause = move |_| {
        send(receiver, 1, &log);
        sent.store(true, Ordering::Release);
    };
    let effect = move |_| {
        if seen.load(Ordering::Acquire) {
            send(receiver, 2, &other);
        }
    };
    [Box::new(cause), Box::new(effect)]
}

/// The cause is an answer: who gets it sends the effect.
fn through_a_reply<M: ProbeMonitor>(receiver: Receiver<M>, log: Log) -> [OnCore; 2] {
    become_core(0);
    let (answer, reply) = promise::<Probe, u32, ()>(receiver.body()).expect("a slot is free");
    let other = log.clone();
    let cause = move |_| {
        send(receiver, 1, &log);
        reply.answer(7);
    };
    let effect = move |_| {
        if let Ok(answer) = answer.try_take() {
            assert!(matches!(answer, Ok(7)));
            send(receiver, 2, &other);
        }
    };
    [Box::new(cause), Box::new(effect)]
}

/// A sender with two letters, each of which makes it send one; both cores visit it.
fn by_one_sender<M: ProbeMonitor>(receiver: Receiver<M>, log: Log) -> [OnCore; 2] {
    become_core(0);
    let sender = Actor::<Serial, 2, 1, LANES>::new();
    for number in [1, 2] {
        let log = log.clone();
        sender.write(move |_| send(receiver, number, &log)).expect("there is room");
    }
    let visit = move |core| {
        sender.visit(core);
    };
    [Box::new(visit), Box::new(visit)]
}

#[test]
fn cause_in_shared_state() {
    in_order::<Serial>("cause in shared state, no monitor", Extent::Exhaustive, through_shared_state);
}

#[test]
fn cause_in_shared_state_with_a_monitor() {
    in_order::<Mutex>("cause in shared state, monitor", Extent::Exhaustive, through_shared_state);
}

#[test]
fn cause_in_a_reply() {
    in_order::<Serial>("a reply as cause, no monitor", Extent::Exhaustive, through_a_reply);
}

#[test]
fn cause_in_a_reply_with_a_monitor() {
    in_order::<Mutex>("a reply as cause, monitor", Extent::Exhaustive, through_a_reply);
}

/// Readers are taken out of the lanes several at once, and not by age: so not if one of them was caused by a writer that is still there. Two
/// readers are there when it is sent: a visit took others before, and made way for a neighbour.
#[test]
fn readers_in_hand_pass_no_writer() {
    model("readers in hand after a writer", 3, Extent::Bounded(1), || {
        let neighbour = Actor::<Serial, 1, 1, LANES>::new();
        let (receiver, log) = (Receiver::<ReadersWriter>::new(), Log::default());
        become_core(2);
        neighbour.write(|_| ()).expect("there is room");
        become_core(1);
        for _ in 0..4 {
            receiver.read(|state| state.read(|| ())).expect("there is room");
        }
        become_core(2);
        assert!(receiver.visit(2) && receiver.letters() == 3, "one has left, one is granted, and two are in the lane");
        assert!(visit_next(2) && neighbour.letters() == 0, "the neighbour waits no longer");
        let sent = Arc::new(AtomicBool::new(false));
        let (seen, caused, effects) = (sent.clone(), log.clone(), log.clone());
        core(1, move || {
            send(receiver, 1, &caused);
            sent.store(true, Ordering::Release);
        });
        core(0, move || {
            if seen.load(Ordering::Acquire) {
                receiver.read(move |state| state.read(|| effects.add(2))).expect("there is room");
            }
        });
        core(2, move || {
            receiver.visit(2);
        });
        join();
        end_in_order(receiver, &log);
        neighbour.end();
    });
}

/// A writer is sent while a core takes readers out of the lanes, and would be the second of them: it would run beside the third.
#[test]
fn a_writer_is_not_overlooked() {
    model("a writer that is being sent", 3, Extent::Bounded(3), || {
        let (receiver, log) = (Receiver::<ReadersWriter>::new(), Log::default());
        for core in [0, 2] {
            become_core(core);
            receiver.read(|state| state.read(|| ())).expect("there is room");
        }
        let written = log.clone();
        core(1, move || {
            send(receiver, 1, &written);
            receiver.visit(1);
        });
        core(0, move || {
            receiver.visit(0);
        });
        join();
        receiver.finish(0);
        assert_eq!((receiver.letters(), log.taken().len()), (0, 1), "all have run");
        receiver.end();
    });
}

#[test]
fn sender_that_moves() {
    in_order::<Serial>("a sender that moves, no monitor", Extent::Bounded(3), by_one_sender);
}

#[test]
fn sender_that_moves_with_a_monitor() {
    in_order::<Mutex>("a sender that moves, monitor", Extent::Bounded(3), by_one_sender);
}

/// Three senders: the pass over the lanes is made because of another letter, and may see the effect and miss the cause.
///
/// Two threads stand for two cores each, one after the other: the first sends the cause as core 0 and the effect as core 2;
/// the other sends `others` letters as core 1 and visits as core 3.
fn with_a_third_sender<M: ProbeMonitor>(name: &str, extent: Extent, others: u32) {
    model(name, 4, extent, move || {
        let (receiver, log) = (Receiver::<M>::new(), Log::default());
        let caused = log.clone();
        let other = log.clone();
        core(0, move || {
            send(receiver, 1, &caused);
            become_core(2);
            send(receiver, 2, &caused);
        });
        core(1, move || {
            (0..others).for_each(|_| send(receiver, 0, &other));
            become_core(3);
            receiver.visit(3);
        });
        join();
        receiver.finish(3);
        let mut ran = log.taken();
        ran.retain(|&number| number != 0);
        assert_eq!(ran, [1, 2], "a cause is older than its effect");
        receiver.end();
    });
}

#[test]
fn third_sender() {
    with_a_third_sender::<Serial>("a third sender, no monitor", Extent::Bounded(2), 3);
}

#[test]
#[ignore = "takes a minute"]
fn third_sender_longer() {
    with_a_third_sender::<Serial>("a third sender, no monitor", Extent::Bounded(3), 3);
}

#[test]
fn third_sender_with_a_monitor() {
    with_a_third_sender::<Mutex>("a third sender, monitor", Extent::Exhaustive, 1);
}

/// `Mutex`, but it looks at all letters before it decides: so they are listed.
struct Thorough(Mutex);

impl Monitor for Thorough {
    type Discipline = OneAtATime;
    const NEW: Self = Self(Mutex::NEW);

    fn schedule(&mut self, inbox: Inbox<'_>) {
        assert!(!inbox.is_empty());
        self.0.schedule(inbox);
    }

    fn leave(&mut self, letter: Letter<'_>) {
        self.0.leave(letter);
    }
}

#[test]
fn third_sender_with_lists() {
    with_a_third_sender::<Thorough>("a third sender, lists", Extent::Bounded(2), 2);
}
