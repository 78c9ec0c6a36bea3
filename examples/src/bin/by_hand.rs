//! What `#[actor]` writes, by hand: plain traits, no `unsafe`. The actor is the counter of `hello`.

use flockwork::{Access, Body, Call, Detached, Grant, LANES, Mail, Method, Methods, Outcome, Post, Reply, Serial};

/// Counts.
pub struct Counter {
    total: u32,
}

/// A call of one of its methods: the arguments, and the right to answer.
pub enum CounterMessage {
    /// Adds to the total.
    Add(u32, Reply<()>),
    /// The total so far.
    Total(Reply<u32>),
}

/// What senders call methods on. The body may be unsized: then it is what is behind a `Ref<Counter>`.
pub struct CounterFront<B: ?Sized> {
    body: B,
}

impl<B: ?Sized + Post<Counter>> CounterFront<B> {
    /// Adds to the total.
    pub fn add(&'static self, n: u32) -> Call<Counter, B, impl FnOnce(Reply<()>) -> CounterMessage, ()> {
        Call::new(&self.body, move |reply| CounterMessage::Add(n, reply))
    }

    /// The total so far.
    pub fn total(&'static self) -> Call<Counter, B, impl FnOnce(Reply<u32>) -> CounterMessage, u32> {
        Call::new(&self.body, CounterMessage::Total)
    }
}

impl Methods for Counter {
    type Message = CounterMessage;
    // As large as any outcome; a union of them if they differ much.
    type Replies = Outcome<u32>;
    type Objects = ();
    type Front<B: ?Sized + 'static> = CounterFront<B>;
    const METHODS: &'static [Method] = &[Method::new("add", Access::Writer), Method::new("total", Access::Reader)];

    fn method(message: &CounterMessage) -> u8 {
        match message {
            CounterMessage::Add(..) => 0,
            CounterMessage::Total(..) => 1,
        }
    }

    fn detach(message: &mut CounterMessage) -> Detached {
        match message {
            CounterMessage::Add(_, reply) => reply.detach(),
            CounterMessage::Total(reply) => reply.detach(),
        }
    }

    fn run(grant: Grant<'_, Self>, message: CounterMessage) {
        match message {
            CounterMessage::Add(n, reply) => {
                grant.writer().total += n;
                reply.answer(());
            }
            CounterMessage::Total(reply) => reply.answer(grant.reader().total),
        }
    }
}

// Mailbox and actor are two statics: a mailbox of zeros takes no flash.
static MAIL: Mail<Counter, Serial, 8, 4, LANES> = Mail::new();
static COUNTER: CounterFront<Body<Counter, Serial, 8, 4, LANES>> =
    CounterFront { body: Body::new(&MAIL, Counter { total: 0 }) };

pub(crate) fn main() {
    flockwork_host_sim::program(2, || {
        for n in 1..=4 {
            COUNTER.add(n).tell().expect("four letters fit");
        }
        println!("1 + 2 + 3 + 4 = {:?}", COUNTER.total().get());
    });
}
