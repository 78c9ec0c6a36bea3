//! Forwarding: an actor lets another one answer in its place. The reply travels, so one promise serves the whole way.

use flockwork::{Actor, Answered, Ref, Serial, Token, actor};

/// One station of a ring.
pub struct Station {
    name: &'static str,
    next: Ref<Station>,
}

#[actor]
impl Station {
    /// Passes the question on until `hops` are used up; that station answers.
    pub fn pass<'t>(&mut self, hops: u32, reply: Token<'t, &'static str>) -> Answered<'t> {
        if hops == 0 {
            return reply.done(self.name);
        }
        // The token moves, so it is answered once, and last. If the next mailbox is full, it comes back.
        self.next.pass(hops - 1).forward(reply).unwrap_or_else(|(reply, full)| reply.fail(full))
    }
}

// Statics may name each other in a circle.
#[actor]
static NORTH: Actor<Station, Serial, 2> = Station { name: "north", next: &EAST };
#[actor]
static EAST: Actor<Station, Serial, 2> = Station { name: "east", next: &SOUTH };
#[actor]
static SOUTH: Actor<Station, Serial, 2> = Station { name: "south", next: &NORTH };

pub(crate) fn main() {
    flockwork_host_sim::program(2, || {
        for hops in [0, 1, 2, 1000] {
            println!("{hops} hops from north: {:?}", NORTH.pass(hops).get());
        }
    });
}
