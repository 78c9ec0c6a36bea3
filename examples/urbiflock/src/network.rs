//! The incremental engine: a RETE network with signed tokens.
//!
//! Conditions and operators of all predicates are nodes; equal ones are shared. A node remembers for whom it holds. An event
//! about a person reaches the conditions it concerns. A node whose memory changes for that person, and only then, emits a
//! token: plus if the person came in, minus if it went out. A node after it is looked at only if it gets a token. What the last
//! node of a predicate emits, its flock tells its listeners.
//!
//! ```text
//!  join(42):  isNearby ──+42──▶ and ──(no edge: 42's partner is away)
//!  join(7), partner of 42:  isNearby ──+7──▶ and ──+7──▶        partnerNearby ──+42──▶ and ──+42──▶
//! ```

use crate::people::People;
use crate::predicate::{Facts, MAX_DEPTH, Op, Predicate};
use crate::profile::Uid;

/// Conditions and operators of all flocks of a device, equal ones counted once.
pub const MAX_NODES: usize = 32;

pub(crate) struct Network {
    /// A node comes after those it gets tokens from.
    nodes: [Node; MAX_NODES],
    length: usize,
    /// Working memory: what a condition about one person needs to know of another.
    pub(crate) friends: People,
    pub(crate) nearby: People,
    /// How many nodes were looked at so far.
    pub(crate) activations: u32,
}

struct Node {
    kind: Kind,
    memory: People,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Condition(Op),
    Not(u8),
    And(u8, u8),
    Or(u8, u8),
}

/// The last node of a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Root(u8);

/// Which nodes emitted a token about a person.
#[derive(Clone, Copy)]
pub(crate) struct Tokens(u32);

impl Tokens {
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    pub(crate) fn has(self, root: Root) -> bool {
        self.0 & 1 << root.0 != 0
    }
}

const _: () = assert!(MAX_NODES <= u32::BITS as usize);

/// What an event changed about a person.
#[derive(Clone, Copy)]
pub(crate) struct Cause(u8);

impl Cause {
    pub(crate) const FRIEND: Self = Self(1 << 0);
    pub(crate) const NEARBY: Self = Self(1 << 1);
    pub(crate) const TIME: Self = Self(1 << 2);
    pub(crate) const PARTNER: Self = Self(1 << 3);
    pub(crate) const PROFILE: Self = Self(1 << 4);
    const KNOWN: Self = Self(1 << 5);
    /// The person was not known before, or is not any more.
    pub(crate) const EVERYTHING: Self = Self(0xff);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn concerns(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What a condition depends on.
    const fn of(condition: &Op) -> Self {
        match condition {
            Op::True => Self::KNOWN,
            Op::IsFriend => Self::FRIEND,
            Op::IsNearby => Self::NEARBY,
            Op::WasNearby(_) => Self::NEARBY.and(Self::TIME),
            Op::PartnerNearby => Self::PARTNER,
            _ => Self::PROFILE,
        }
    }
}

impl Network {
    pub(crate) const EMPTY: Self = Self {
        nodes: [const { Node { kind: Kind::Condition(Op::True), memory: People::NONE } }; MAX_NODES],
        length: 0,
        friends: People::NONE,
        nearby: People::NONE,
        activations: 0,
    };

    /// Forgets all nodes and everybody.
    pub(crate) fn clear(&mut self) {
        self.length = 0;
        self.friends.clear();
        self.nearby.clear();
        self.activations = 0;
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Adds the nodes of a predicate that are not there yet; nothing if there is no room. Those from `len` before the call on
    /// are new: who is known must be [`settle`](Self::settle)d into them.
    pub(crate) fn add(&mut self, predicate: &Predicate) -> Option<Root> {
        let before = self.length;
        let root = self.add_nodes(predicate);
        if root.is_none() {
            self.length = before;
        }
        root
    }

    fn add_nodes(&mut self, predicate: &Predicate) -> Option<Root> {
        let mut stack = [0; MAX_DEPTH];
        let mut values = 0;
        for op in predicate.ops() {
            values -= op.operands();
            let kind = match op {
                Op::Not => Kind::Not(stack[values]),
                Op::And => Kind::And(stack[values], stack[values + 1]),
                Op::Or => Kind::Or(stack[values], stack[values + 1]),
                condition => Kind::Condition(*condition),
            };
            stack[values] = self.node(kind)?;
            values += 1;
        }
        Some(Root(stack[0]))
    }

    fn node(&mut self, kind: Kind) -> Option<u8> {
        if let Some(place) = self.nodes[..self.length].iter().position(|node| node.kind == kind) {
            return Some(place as u8);
        }
        let node = self.nodes.get_mut(self.length)?;
        node.kind = kind;
        node.memory.clear();
        self.length += 1;
        Some((self.length - 1) as u8)
    }

    /// For whom the predicate holds that ends in this node.
    pub(crate) fn members(&self, root: Root) -> &People {
        &self.nodes[usize::from(root.0)].memory
    }

    /// An event about a person: `facts` are what is known now, or nothing if the person is not known (any more).
    pub(crate) fn tell(&mut self, uid: Uid, facts: Option<&Facts<'_>>, cause: Cause) -> Tokens {
        self.propagate(0, uid, facts, cause)
    }

    /// Brings a person into the nodes from `first` on, which are new.
    pub(crate) fn settle(&mut self, first: usize, uid: Uid, facts: Option<&Facts<'_>>) {
        self.propagate(first, uid, facts, Cause::EVERYTHING);
    }

    fn propagate(&mut self, first: usize, uid: Uid, facts: Option<&Facts<'_>>, cause: Cause) -> Tokens {
        let everything = cause.concerns(Cause::KNOWN);
        let mut emitted = 0_u32;
        for place in first..self.length {
            let kind = self.nodes[place].kind;
            let reached = match kind {
                Kind::Condition(op) => cause.concerns(Cause::of(&op)),
                // A negation holds for who is known, and its operand may stay silent about a newcomer.
                Kind::Not(of) => everything || emitted & 1 << of != 0,
                Kind::And(one, other) | Kind::Or(one, other) => {
                    // New nodes may stand after old ones that hold already.
                    first > 0 || emitted & (1 << one | 1 << other) != 0
                }
            };
            if !reached {
                continue;
            }
            self.activations = self.activations.wrapping_add(1);
            let holds = |node: u8| self.nodes[usize::from(node)].memory.contains(uid);
            let value = match kind {
                Kind::Condition(op) => facts.is_some_and(|facts| op.holds(facts)),
                Kind::Not(of) => facts.is_some() && !holds(of),
                Kind::And(one, other) => holds(one) && holds(other),
                Kind::Or(one, other) => holds(one) || holds(other),
            };
            if self.nodes[place].memory.set(uid, value) {
                emitted |= 1 << place;
            }
        }
        Tokens(emitted)
    }
}
