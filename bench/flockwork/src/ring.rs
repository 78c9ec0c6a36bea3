//! A hundred actors that pass on a token.

use flockwork::{Actor, Answered, Eventually, Ref, Reply, Serial, Token, actor};
use workloads::{Answer, workload::RING};

/// Room in a mailbox that never holds more than one letter.
const SMALL: usize = 4;

struct Node {
    index: usize,
}

#[actor]
impl Node {
    /// The token comes.
    pub fn token(&mut self, token: u64) {
        match token.checked_sub(1) {
            Some(token) => node((self.index + 1) % RING).token(token).tell().expect("one token always has room"),
            None => GOAL.reached(self.index).tell().expect("the token ends once"),
        }
    }
}

/// Ten nodes, whose indices follow `$tens`.
macro_rules! ten_nodes {
    ($tens:literal: $($ones:literal)*) => {
        [$({
            #[actor]
            static NODE: Actor<Node, Serial, SMALL> = Node { index: 10 * $tens + $ones };
            &NODE
        }),*]
    };
}

/// An actor is a static, so a hundred are declared by a macro.
macro_rules! nodes {
    ($($tens:literal)*) => { [$(ten_nodes!($tens: 0 1 2 3 4 5 6 7 8 9)),*] };
}

static NODES: [[Ref<Node>; 10]; RING / 10] = nodes!(0 1 2 3 4 5 6 7 8 9);

fn node(index: usize) -> Ref<Node> {
    NODES[index / 10][index % 10]
}

struct Goal(Option<Reply<usize>>);

#[actor]
impl Goal {
    /// The answer is the index of the node at which the token ends.
    pub fn watch<'t>(&mut self, end: Token<'t, usize>) -> Answered<'t> {
        end.later(|reply| self.0 = Some(reply))
    }

    /// The token ends here.
    pub fn reached(&mut self, index: usize) {
        if let Some(end) = self.0.take() {
            end.answer(index);
        }
    }
}

#[actor]
static GOAL: Actor<Goal, Serial, SMALL> = Goal(None);

pub(crate) fn run(hops: u64) -> Answer {
    let end = GOAL.watch().ask().expect("the goal has room");
    node(0).token(hops).tell().expect("the first node has room");
    Answer::End(end.get().expect("the goal answers"))
}
