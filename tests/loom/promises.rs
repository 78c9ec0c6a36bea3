//! Promises: resolving against dropping against forwarding. A value is dropped or taken exactly once, a slot is not used
//! again before both halves are gone, and whoever waits is woken (OCA-1, OCA-2, OCA-15, OCA-16).

use crate::harness::{Extent, core, join, model};
use crate::latch::task;
use crate::port::become_core;
use crate::probe::{Actor, LANES, Probe, Value};
use flockwork::model::promise;
use flockwork::{Eventually, Promise, Reply, Serial};

type Pool<const P: usize> = Actor<Serial, 1, P, LANES>;
type Pair = (Promise<Value>, Reply<Value>);

fn pair<const P: usize>(pool: Pool<P>) -> Option<Pair> {
    promise::<Probe, _, _>(pool.body())
}

/// Two questions through one slot: each answer is the one to its question, or nobody's.
fn asked_twice(name: &str, extent: Extent, use_promise: fn(Promise<Value>)) {
    model(name, 2, extent, move || {
        become_core(0);
        let (pool, alive) = (Pool::<1>::new(), Value::counter());
        let (first, reply) = pair(pool).expect("a slot is free");
        let (answer, next) = (Value::new(1, &alive), alive.clone());
        core(0, move || {
            use_promise(first);
            if let Some((second, reply)) = pair(pool) {
                reply.answer(Value::new(2, &next));
                let answer = second.try_take().map_err(drop).expect("it is answered").expect("with a value");
                assert_eq!(answer.number(), 2);
            }
        });
        core(1, move || reply.answer(answer));
        join();
        // The next use of a slot drops what its last one left there.
        become_core(0);
        drop(pair(pool).expect("both halves are gone"));
        assert_eq!(alive.alive(), 0, "every value is dropped once");
        pool.end();
    });
}

#[test]
fn resolved_against_dropped() {
    asked_twice("resolve against drop", Extent::Exhaustive, drop);
}

#[test]
fn resolved_against_taken() {
    asked_twice("resolve against take", Extent::Exhaustive, |promise| {
        if let Ok(answer) = promise.try_take() {
            assert_eq!(answer.expect("a value").number(), 1);
        }
    });
}

/// The first half is dropped on another core than the pool's, so that the pool sees both halves from afar.
#[test]
fn both_halves_go_elsewhere() {
    model("both halves on other cores", 3, Extent::Exhaustive, || {
        become_core(0);
        let (pool, alive) = (Pool::<1>::new(), Value::counter());
        let (first, reply) = pair(pool).expect("a slot is free");
        let (answer, next) = (Value::new(1, &alive), alive.clone());
        core(1, move || {
            if let Ok(answer) = first.try_take() {
                assert_eq!(answer.expect("a value").number(), 1);
            }
        });
        core(2, move || reply.answer(answer));
        core(0, move || {
            if let Some((second, reply)) = pair(pool) {
                reply.answer(Value::new(2, &next));
                assert!(matches!(second.try_take(), Ok(Ok(value)) if value.number() == 2));
            }
        });
        join();
        become_core(0);
        drop(pair(pool).expect("both halves are gone"));
        assert_eq!(alive.alive(), 0, "every value is dropped once");
        pool.end();
    });
}

/// A reply is resolved with another promise, which a third core answers, while the first is dropped or taken.
fn followed(name: &str, extent: Extent, use_promise: fn(Promise<Value>)) {
    model(name, 3, extent, move || {
        become_core(0);
        let (pool, alive) = (Pool::<2>::new(), Value::counter());
        let (first, reply) = pair(pool).expect("a slot is free");
        let (second, other_reply) = pair(pool).expect("two are");
        let answer = Value::new(1, &alive);
        core(0, move || use_promise(first));
        core(1, move || reply.follow(second));
        core(2, move || other_reply.answer(answer));
        join();
        become_core(0);
        // What the slots were left with is dropped with their next use; what was followed may free its slot only then.
        for _ in 0..2 {
            drop([pair(pool), pair(pool)]);
        }
        assert!(pair(pool).is_some() && alive.alive() == 0, "slots are free and every value is dropped once");
        pool.end();
    });
}

#[test]
fn followed_against_dropped() {
    followed("follow against drop", Extent::Exhaustive, drop);
}

#[test]
fn followed_against_taken() {
    followed("follow against take", Extent::Exhaustive, |promise| {
        if let Ok(answer) = promise.try_take() {
            assert_eq!(answer.expect("a value").number(), 1);
        }
    });
}

/// A core waits for an answer that another gives.
fn waited_for(name: &str, extent: Extent, wait: fn(Promise<Value>) -> Value) {
    model(name, 2, extent, move || {
        become_core(0);
        let (pool, alive) = (Pool::<1>::new(), Value::counter());
        let (promise, reply) = pair(pool).expect("a slot is free");
        let answer = Value::new(1, &alive);
        core(0, move || assert_eq!(wait(promise).number(), 1));
        core(1, move || reply.answer(answer));
        join();
        assert_eq!(alive.alive(), 0, "every value is dropped once");
        pool.end();
    });
}

#[test]
fn got() {
    waited_for("get against answer", Extent::Exhaustive, |promise| promise.get().expect("an answer"));
}

#[test]
fn awaited() {
    waited_for("await against answer", Extent::Exhaustive, |promise| task(promise.into_future()).expect("an answer"));
}

/// A core waits for a promise that is made to follow another meanwhile, which a third core answers.
#[test]
fn got_after_following() {
    model("get against follow against answer", 3, Extent::Bounded(3), || {
        become_core(0);
        let (pool, alive) = (Pool::<2>::new(), Value::counter());
        let (first, reply) = pair(pool).expect("a slot is free");
        let (second, other_reply) = pair(pool).expect("two are");
        let answer = Value::new(1, &alive);
        core(0, move || assert_eq!(first.get().expect("an answer").number(), 1));
        core(1, move || reply.follow(second));
        core(2, move || other_reply.answer(answer));
        join();
        assert_eq!(alive.alive(), 0, "every value is dropped once");
        pool.end();
    });
}
