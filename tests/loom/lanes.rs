//! Lanes at the full and at the empty edge: every letter arrives once, in order, and no slot is written while it is read
//! (KER-2, KER-3).

use crate::harness::{Extent, core, join, model};
use crate::probe::Log;
use flockwork::model::{LaneAlone, Received};
use flockwork::{Access, Detached, Grant, Method, Methods, Reply};
use std::rc::Rc;

/// An actor whose letters are numbers.
struct Numbers;

impl Methods for Numbers {
    type Message = u32;
    type Replies = ();
    type Objects = ();
    type Front<B: ?Sized + 'static> = B;
    const METHODS: &'static [Method] = &[Method::new("number", Access::Writer)];

    fn method(_: &u32) -> u8 {
        0
    }

    fn detach(_: &mut u32) -> Detached {
        Reply::<u32>::nobody().detach()
    }

    fn run(_: Grant<'_, Self>, _: u32) {}
}

/// One core tries to send `tries` times while another receives with `receive`. What is left is received at the end, and all
/// that was accepted must have arrived in order.
fn sends_against<const N: usize, const IN_ORDER: bool>(
    name: &'static str,
    tries: u32,
    receive: impl Fn(&LaneAlone<Numbers, N, IN_ORDER>, &mut dyn FnMut(u32)) + Copy + Send + Sync + 'static,
) {
    model(name, 2, Extent::Exhaustive, move || {
        let lane = Rc::new(LaneAlone::<Numbers, N, IN_ORDER>::new());
        let arrived = Log::default();
        let accepted = Log::default();
        core(0, {
            let (lane, accepted) = (lane.clone(), accepted.clone());
            move || {
                let mut next = 0;
                for _ in 0..tries {
                    if lane.send(next).is_ok() {
                        accepted.add(next);
                        next += 1;
                    }
                }
            }
        });
        core(1, {
            let (lane, arrived) = (lane.clone(), arrived.clone());
            move || receive(&lane, &mut |number| arrived.add(number))
        });
        join();
        loop {
            let before = arrived.len();
            receive(&lane, &mut |number| arrived.add(number));
            if arrived.len() == before {
                break;
            }
        }
        let accepted = accepted.taken();
        assert!(accepted.len() >= N.min(tries as usize), "an empty lane has room");
        assert_eq!(arrived.taken(), accepted, "letters arrive once and in order");
    });
}

#[test]
fn one_slot_in_order() {
    sends_against::<1, true>("lane of 1, in order", 3, |lane, arrive| {
        for _ in 0..3 {
            if let Some(number) = lane.receive_in_order() {
                arrive(number);
            }
        }
    });
}

#[test]
fn two_slots_in_order() {
    sends_against::<2, true>("lane of 2, in order", 4, |lane, arrive| {
        for _ in 0..3 {
            if let Some(number) = lane.receive_in_order() {
                arrive(number);
            }
        }
    });
}

/// Letters with a monitor leave in any order, and their slots are used again in that order.
fn frees_the_younger_first(lane: &LaneAlone<Numbers, 2, false>, arrive: &mut dyn FnMut(u32)) {
    let received: [Option<Received<u32>>; 3] = std::array::from_fn(|_| lane.receive());
    for letter in received.iter().flatten() {
        arrive(letter.message);
    }
    for letter in received.into_iter().rev().flatten() {
        lane.free(letter);
    }
    if let Some(letter) = lane.receive() {
        arrive(letter.message);
        lane.free(letter);
    }
}

#[test]
fn two_slots_freed_out_of_order() {
    sends_against::<2, false>("lane of 2, freed out of order", 4, frees_the_younger_first);
}
