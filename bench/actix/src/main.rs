//! The workloads on actix: its actors with bounded mailboxes, on arbiters.
//!
//! An arbiter is a thread with a single-threaded tokio runtime, and an actor stays on the arbiter it was started on.
//! The first worker is the system's own arbiter on the main thread; further workers are arbiters of their own. With
//! two workers the partners of a workload are placed on different ones.

use std::{collections::VecDeque, process::ExitCode, time::Instant};

use actix::{Actor, Addr, Arbiter, ArbiterHandle, AsyncContext, Context, Handler, Message, System, dev::SendError};
use tokio::sync::{mpsc, oneshot};
use workloads::{
    Answer, Command, Measured, Workload,
    dictionary::{CLIENTS, Client, Dictionary, Reply, Request, Tally, WINDOW},
    workload::{MAILBOX, RING},
};

fn main() -> ExitCode {
    workloads::main("actix", &[], |command| {
        let system = System::new();
        let command = command.clone();
        Some(system.block_on(async move {
            let others: Vec<_> = (1..command.workers).map(|_| Arbiter::new()).collect();
            let mut workers = vec![Arbiter::current()];
            workers.extend(others.iter().map(Arbiter::handle));
            run(&workers, &command).await
        }))
    })
}

async fn run(workers: &[ArbiterHandle], command: &Command) -> Measured {
    match command.workload {
        Workload::PingPong => ping_pong(workers, command.round_trips()).await,
        Workload::Counting => counting(workers, command.messages).await,
        Workload::Ask => ask(workers, command.messages).await,
        Workload::Ring => ring(workers, command.messages).await,
        Workload::DictionaryReads | Workload::DictionaryMixed => dictionary(workers, command).await,
    }
}

/// Starts an actor on worker number `worker`, modulo their number.
fn start<A>(workers: &[ArbiterHandle], worker: usize, actor: A) -> Addr<A>
where
    A: Actor<Context = Context<A>> + Send,
{
    A::start_in_arbiter(&workers[worker % workers.len()], move |context| {
        context.set_mailbox_capacity(MAILBOX);
        actor
    })
}

struct Ping {
    pong: Addr<Pong>,
    ball: u64,
    round_trips: u64,
    pongs: u64,
    end: Option<oneshot::Sender<u64>>,
}

struct Pong;

#[derive(Message)]
#[rtype(result = "()")]
struct Serve;

#[derive(Message)]
#[rtype(result = "()")]
struct PingBall {
    ball: u64,
    from: Addr<Ping>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct PongBall(u64);

impl Actor for Ping {
    type Context = Context<Self>;
}

impl Actor for Pong {
    type Context = Context<Self>;
}

impl Handler<Serve> for Ping {
    type Result = ();

    fn handle(&mut self, _: Serve, context: &mut Context<Self>) {
        self.pong.do_send(PingBall { ball: self.ball, from: context.address() });
    }
}

impl Handler<PongBall> for Ping {
    type Result = ();

    fn handle(&mut self, PongBall(ball): PongBall, context: &mut Context<Self>) {
        self.pongs += u64::from(ball == self.ball);
        self.ball += 1;
        if self.ball < self.round_trips {
            self.pong.do_send(PingBall { ball: self.ball, from: context.address() });
        } else if let Some(end) = self.end.take() {
            let _ = end.send(self.pongs);
        }
    }
}

impl Handler<PingBall> for Pong {
    type Result = ();

    fn handle(&mut self, PingBall { ball, from }: PingBall, _: &mut Context<Self>) {
        from.do_send(PongBall(ball));
    }
}

async fn ping_pong(workers: &[ArbiterHandle], round_trips: u64) -> Measured {
    let (end, ended) = oneshot::channel();
    let pong = start(workers, 1, Pong);
    let ping = start(workers, 0, Ping { pong, ball: 0, round_trips, pongs: 0, end: Some(end) });
    let start = Instant::now();
    ping.do_send(Serve);
    let pongs = ended.await.expect("ping reports");
    Measured { elapsed: start.elapsed(), answer: Answer::Pongs(pongs) }
}

struct Counter {
    count: u64,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Increment;

#[derive(Message)]
#[rtype(result = "u64")]
struct Retrieve;

#[derive(Message)]
#[rtype(result = "u64")]
struct IncrementAndRetrieve;

impl Actor for Counter {
    type Context = Context<Self>;
}

impl Handler<Increment> for Counter {
    type Result = ();

    fn handle(&mut self, _: Increment, _: &mut Context<Self>) {
        self.count += 1;
    }
}

impl Handler<Retrieve> for Counter {
    type Result = u64;

    fn handle(&mut self, _: Retrieve, _: &mut Context<Self>) -> u64 {
        self.count
    }
}

impl Handler<IncrementAndRetrieve> for Counter {
    type Result = u64;

    fn handle(&mut self, _: IncrementAndRetrieve, _: &mut Context<Self>) -> u64 {
        self.count += 1;
        self.count
    }
}

async fn counting(workers: &[ArbiterHandle], increments: u64) -> Measured {
    let counter = start(workers, 1, Counter { count: 0 });
    let start = Instant::now();
    for _ in 0..increments {
        match counter.try_send(Increment) {
            Ok(()) => {}
            // The one way actix has to wait for room: an awaited send, which waits until it was handled too.
            Err(SendError::Full(increment)) => counter.send(increment).await.expect("the counter is alive"),
            Err(SendError::Closed(_)) => panic!("the counter is alive"),
        }
    }
    let total = counter.send(Retrieve).await.expect("the counter replies");
    Measured { elapsed: start.elapsed(), answer: Answer::Total(total) }
}

async fn ask(workers: &[ArbiterHandle], requests: u64) -> Measured {
    let server = start(workers, 1, Counter { count: 0 });
    let start = Instant::now();
    let mut right = 0;
    for number in 1..=requests {
        let reply = server.send(IncrementAndRetrieve).await.expect("the server replies");
        right += u64::from(reply == number);
    }
    Measured { elapsed: start.elapsed(), answer: Answer::Replies(right) }
}

struct Link {
    index: usize,
    next: Option<Addr<Link>>,
    end: mpsc::UnboundedSender<usize>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Next(Addr<Link>);

#[derive(Message)]
#[rtype(result = "()")]
struct Token(u64);

impl Actor for Link {
    type Context = Context<Self>;
}

impl Handler<Next> for Link {
    type Result = ();

    fn handle(&mut self, Next(next): Next, _: &mut Context<Self>) {
        self.next = Some(next);
    }
}

impl Handler<Token> for Link {
    type Result = ();

    fn handle(&mut self, Token(token): Token, _: &mut Context<Self>) {
        match token.checked_sub(1) {
            Some(token) => {
                let next = self.next.as_ref().expect("the ring is closed before the token enters");
                next.do_send(Token(token));
            }
            None => self.end.send(self.index).expect("somebody waits for the end"),
        }
    }
}

async fn ring(workers: &[ArbiterHandle], hops: u64) -> Measured {
    let (end, mut ended) = mpsc::unbounded_channel();
    let actors: Vec<_> =
        (0..RING).map(|index| start(workers, index, Link { index, next: None, end: end.clone() })).collect();
    for index in 0..RING {
        let next = actors[(index + 1) % RING].clone();
        actors[index].send(Next(next)).await.expect("the actor is alive");
    }
    let start = Instant::now();
    actors[0].do_send(Token(hops));
    let end = ended.recv().await.expect("one actor receives zero");
    Measured { elapsed: start.elapsed(), answer: Answer::End(end) }
}

struct Shelf {
    dictionary: Box<Dictionary>,
}

#[derive(Message)]
#[rtype(result = "Reply")]
struct Look(Request);

#[derive(Message)]
#[rtype(result = "usize")]
struct Size;

impl Actor for Shelf {
    type Context = Context<Self>;
}

impl Handler<Look> for Shelf {
    type Result = Reply;

    fn handle(&mut self, Look(request): Look, _: &mut Context<Self>) -> Reply {
        self.dictionary.serve(request)
    }
}

impl Handler<Size> for Shelf {
    type Result = usize;

    fn handle(&mut self, _: Size, _: &mut Context<Self>) -> usize {
        self.dictionary.len()
    }
}

async fn dictionary(workers: &[ArbiterHandle], command: &Command) -> Measured {
    // The dictionary has the last arbiter to itself; the clients share the others.
    let shelf = start(workers, workers.len() - 1, Shelf { dictionary: Box::new(Dictionary::new()) });
    let others = &workers[..(workers.len() - 1).max(1)];
    let (tallies, mut seen_by_clients) = mpsc::unbounded_channel();
    let start = Instant::now();
    for client in 0..CLIENTS {
        let (shelf, tallies) = (shelf.clone(), tallies.clone());
        let mut state = Client::new(command.requests(client));
        others[client % others.len()].spawn(async move {
            let mut window = VecDeque::with_capacity(WINDOW);
            loop {
                while let Some(request) = state.next_request() {
                    window.push_back(shelf.send(Look(request)));
                }
                let Some(oldest) = window.pop_front() else {
                    break;
                };
                state.accept(oldest.await.expect("the dictionary replies"));
            }
            tallies.send(state.tally()).expect("somebody waits for the tallies");
        });
    }
    let mut seen = Tally::default();
    for _ in 0..CLIENTS {
        seen = seen.merge(seen_by_clients.recv().await.expect("every client reports"));
    }
    let elapsed = start.elapsed();
    let size = shelf.send(Size).await.expect("the dictionary replies");
    Measured { elapsed, answer: Answer::Dictionary(seen, size) }
}
