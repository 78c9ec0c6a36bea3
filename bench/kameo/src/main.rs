//! The workloads on kameo: its actors with bounded mailboxes, `tell` and `ask`, on a tokio runtime.

use std::{collections::VecDeque, process::ExitCode, time::Instant};

use kameo::{
    mailbox,
    prelude::{Actor, ActorRef, Context, Message, Spawn},
};
use tokio::{
    runtime::Builder,
    sync::{mpsc, oneshot},
};
use workloads::{
    Answer, Command, Measured, Workload,
    dictionary::{CLIENTS, Client, Dictionary, Reply, Request, WINDOW},
    on_tokio::{self, seen_by},
    workload::{MAILBOX, RING},
};

fn main() -> ExitCode {
    let with_time = |runtime: &mut Builder| {
        runtime.enable_time();
    };
    on_tokio::main("kameo", with_time, run)
}

async fn run(command: Command) -> Measured {
    match command.workload {
        Workload::PingPong => ping_pong(command.round_trips()).await,
        Workload::Counting => counting(command.messages).await,
        Workload::Ask => ask(command.messages).await,
        Workload::Ring => ring(command.messages).await,
        Workload::DictionaryReads | Workload::DictionaryMixed => dictionary(&command).await,
    }
}

fn spawn<A: Actor<Args = A>>(actor: A) -> ActorRef<A> {
    A::spawn_with_mailbox(actor, mailbox::bounded(MAILBOX))
}

#[derive(Actor)]
struct Ping {
    pong: ActorRef<Pong>,
    ball: u64,
    round_trips: u64,
    pongs: u64,
    end: Option<oneshot::Sender<u64>>,
}

#[derive(Actor)]
struct Pong;

struct Serve;

struct PingBall {
    ball: u64,
    from: ActorRef<Ping>,
}

struct PongBall(u64);

impl Ping {
    async fn hit(&self, myself: &ActorRef<Self>) {
        let ball = PingBall { ball: self.ball, from: myself.clone() };
        self.pong.tell(ball).await.expect("pong is alive");
    }
}

impl Message<Serve> for Ping {
    type Reply = ();

    async fn handle(&mut self, _: Serve, context: &mut Context<Self, ()>) {
        self.hit(context.actor_ref()).await;
    }
}

impl Message<PongBall> for Ping {
    type Reply = ();

    async fn handle(&mut self, PongBall(ball): PongBall, context: &mut Context<Self, ()>) {
        self.pongs += u64::from(ball == self.ball);
        self.ball += 1;
        if self.ball < self.round_trips {
            self.hit(context.actor_ref()).await;
        } else if let Some(end) = self.end.take() {
            let _ = end.send(self.pongs);
        }
    }
}

impl Message<PingBall> for Pong {
    type Reply = ();

    async fn handle(&mut self, PingBall { ball, from }: PingBall, _: &mut Context<Self, ()>) {
        from.tell(PongBall(ball)).await.expect("ping is alive");
    }
}

async fn ping_pong(round_trips: u64) -> Measured {
    let (end, ended) = oneshot::channel();
    let pong = spawn(Pong);
    let ping = spawn(Ping { pong, ball: 0, round_trips, pongs: 0, end: Some(end) });
    let start = Instant::now();
    ping.tell(Serve).await.expect("ping is alive");
    let pongs = ended.await.expect("ping reports");
    Measured { elapsed: start.elapsed(), answer: Answer::Pongs(pongs) }
}

#[derive(Actor)]
struct Counter {
    count: u64,
}

struct Increment;
struct Retrieve;
struct IncrementAndRetrieve;

impl Message<Increment> for Counter {
    type Reply = ();

    async fn handle(&mut self, _: Increment, _: &mut Context<Self, ()>) {
        self.count += 1;
    }
}

impl Message<Retrieve> for Counter {
    type Reply = u64;

    async fn handle(&mut self, _: Retrieve, _: &mut Context<Self, u64>) -> u64 {
        self.count
    }
}

impl Message<IncrementAndRetrieve> for Counter {
    type Reply = u64;

    async fn handle(&mut self, _: IncrementAndRetrieve, _: &mut Context<Self, u64>) -> u64 {
        self.count += 1;
        self.count
    }
}

async fn counting(increments: u64) -> Measured {
    let counter = spawn(Counter { count: 0 });
    let start = Instant::now();
    for _ in 0..increments {
        counter.tell(Increment).await.expect("the counter is alive");
    }
    let total = counter.ask(Retrieve).await.expect("the counter replies");
    Measured { elapsed: start.elapsed(), answer: Answer::Total(total) }
}

async fn ask(requests: u64) -> Measured {
    let server = spawn(Counter { count: 0 });
    let start = Instant::now();
    let mut right = 0;
    for number in 1..=requests {
        let reply = server.ask(IncrementAndRetrieve).await.expect("the server replies");
        right += u64::from(reply == number);
    }
    Measured { elapsed: start.elapsed(), answer: Answer::Replies(right) }
}

#[derive(Actor)]
struct Link {
    index: usize,
    next: Option<ActorRef<Link>>,
    end: mpsc::Sender<usize>,
}

struct Next(ActorRef<Link>);
struct Token(u64);

impl Message<Next> for Link {
    type Reply = ();

    async fn handle(&mut self, Next(next): Next, _: &mut Context<Self, ()>) {
        self.next = Some(next);
    }
}

impl Message<Token> for Link {
    type Reply = ();

    async fn handle(&mut self, Token(token): Token, _: &mut Context<Self, ()>) {
        match token.checked_sub(1) {
            Some(token) => {
                let next = self.next.as_ref().expect("the ring is closed before the token enters");
                next.tell(Token(token)).await.expect("the next actor is alive");
            }
            None => self.end.send(self.index).await.expect("somebody waits for the end"),
        }
    }
}

async fn ring(hops: u64) -> Measured {
    let (end, mut ended) = mpsc::channel(1);
    let actors: Vec<_> = (0..RING).map(|index| spawn(Link { index, next: None, end: end.clone() })).collect();
    for index in 0..RING {
        let next = actors[(index + 1) % RING].clone();
        actors[index].ask(Next(next)).await.expect("the actor is alive");
    }
    let start = Instant::now();
    actors[0].tell(Token(hops)).await.expect("the first actor is alive");
    let end = ended.recv().await.expect("one actor receives zero");
    Measured { elapsed: start.elapsed(), answer: Answer::End(end) }
}

#[derive(Actor)]
struct Shelf {
    dictionary: Box<Dictionary>,
}

struct Look(Request);
struct Size;

impl Message<Look> for Shelf {
    type Reply = Reply;

    async fn handle(&mut self, Look(request): Look, _: &mut Context<Self, Reply>) -> Reply {
        self.dictionary.serve(request)
    }
}

impl Message<Size> for Shelf {
    type Reply = usize;

    async fn handle(&mut self, _: Size, _: &mut Context<Self, usize>) -> usize {
        self.dictionary.len()
    }
}

async fn dictionary(command: &Command) -> Measured {
    let shelf = spawn(Shelf { dictionary: Box::new(Dictionary::new()) });
    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (shelf, mut state) = (shelf.clone(), Client::new(command.requests(client)));
            tokio::spawn(async move {
                let mut window = VecDeque::with_capacity(WINDOW);
                loop {
                    while let Some(request) = state.next_request() {
                        let reply = shelf.ask(Look(request)).enqueue().await;
                        window.push_back(reply.expect("the dictionary is alive"));
                    }
                    let Some(oldest) = window.pop_front() else {
                        return state.tally();
                    };
                    state.accept(oldest.await.expect("the dictionary replies"));
                }
            })
        })
        .collect();
    let seen = seen_by(clients).await;
    let elapsed = start.elapsed();
    let size = shelf.ask(Size).await.expect("the dictionary replies");
    Measured { elapsed, answer: Answer::Dictionary(seen, size) }
}
