//! The workloads on ractor: its actors with `cast` and `call`, on a tokio runtime.
//!
//! ractor's mailboxes are unbounded. The counting workload therefore takes its credit by a call after every
//! mailbox-full of messages, which returns once all of them have been handled.

use std::{collections::VecDeque, process::ExitCode, time::Instant};

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, concurrency};
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
    on_tokio::main("ractor", with_time, run)
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

async fn spawn<A: Actor>(actor: A, arguments: A::Arguments) -> ActorRef<A::Msg> {
    let (actor, _) = Actor::spawn(None, actor, arguments).await.expect("the actor starts");
    actor
}

/// Sends a request and returns where its reply will arrive.
fn request<M: ractor::Message, R>(
    actor: &ActorRef<M>,
    message: impl FnOnce(RpcReplyPort<R>) -> M,
) -> concurrency::OneshotReceiver<R> {
    let (port, reply) = concurrency::oneshot();
    actor.cast(message(port.into())).expect("the actor is alive");
    reply
}

struct Ping;

struct PingState {
    pong: ActorRef<PingBall>,
    ball: u64,
    round_trips: u64,
    pongs: u64,
    end: Option<oneshot::Sender<u64>>,
}

enum PingMessage {
    Serve,
    Pong(u64),
}

impl PingState {
    fn hit(&self, from: ActorRef<PingMessage>) -> Result<(), ActorProcessingErr> {
        Ok(self.pong.cast(PingBall { ball: self.ball, from })?)
    }
}

impl Actor for Ping {
    type Msg = PingMessage;
    type State = PingState;
    type Arguments = PingState;

    async fn pre_start(&self, _: ActorRef<PingMessage>, state: PingState) -> Result<PingState, ActorProcessingErr> {
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<PingMessage>,
        message: PingMessage,
        state: &mut PingState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            PingMessage::Serve => state.hit(myself)?,
            PingMessage::Pong(ball) => {
                state.pongs += u64::from(ball == state.ball);
                state.ball += 1;
                if state.ball < state.round_trips {
                    state.hit(myself)?;
                } else if let Some(end) = state.end.take() {
                    let _ = end.send(state.pongs);
                }
            }
        }
        Ok(())
    }
}

struct Pong;

struct PingBall {
    ball: u64,
    from: ActorRef<PingMessage>,
}

impl Actor for Pong {
    type Msg = PingBall;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<PingBall>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        _: ActorRef<PingBall>,
        PingBall { ball, from }: PingBall,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        Ok(from.cast(PingMessage::Pong(ball))?)
    }
}

async fn ping_pong(round_trips: u64) -> Measured {
    let (end, ended) = oneshot::channel();
    let pong = spawn(Pong, ()).await;
    let ping = spawn(Ping, PingState { pong, ball: 0, round_trips, pongs: 0, end: Some(end) }).await;
    let start = Instant::now();
    ping.cast(PingMessage::Serve).expect("ping is alive");
    let pongs = ended.await.expect("ping reports");
    Measured { elapsed: start.elapsed(), answer: Answer::Pongs(pongs) }
}

struct Counter;

enum CounterMessage {
    Increment,
    Retrieve(RpcReplyPort<u64>),
    IncrementAndRetrieve(RpcReplyPort<u64>),
}

impl Actor for Counter {
    type Msg = CounterMessage;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<CounterMessage>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(
        &self,
        _: ActorRef<CounterMessage>,
        message: CounterMessage,
        count: &mut u64,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            CounterMessage::Increment => *count += 1,
            CounterMessage::Retrieve(reply) => reply.send(*count)?,
            CounterMessage::IncrementAndRetrieve(reply) => {
                *count += 1;
                reply.send(*count)?;
            }
        }
        Ok(())
    }
}

async fn counting(increments: u64) -> Measured {
    let counter = spawn(Counter, ()).await;
    let start = Instant::now();
    for sent in 1..=increments {
        counter.cast(CounterMessage::Increment).expect("the counter is alive");
        if sent % MAILBOX as u64 == 0 {
            request(&counter, CounterMessage::Retrieve).await.expect("the counter replies");
        }
    }
    let total = request(&counter, CounterMessage::Retrieve).await.expect("the counter replies");
    Measured { elapsed: start.elapsed(), answer: Answer::Total(total) }
}

async fn ask(requests: u64) -> Measured {
    let server = spawn(Counter, ()).await;
    let start = Instant::now();
    let mut right = 0;
    for number in 1..=requests {
        let reply = request(&server, CounterMessage::IncrementAndRetrieve).await;
        right += u64::from(reply == Ok(number));
    }
    Measured { elapsed: start.elapsed(), answer: Answer::Replies(right) }
}

struct Link {
    index: usize,
    end: mpsc::Sender<usize>,
}

enum LinkMessage {
    Next(ActorRef<LinkMessage>),
    Token(u64),
}

impl Actor for Link {
    type Msg = LinkMessage;
    type State = Option<ActorRef<LinkMessage>>;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<LinkMessage>, (): ()) -> Result<Self::State, ActorProcessingErr> {
        Ok(None)
    }

    async fn handle(
        &self,
        _: ActorRef<LinkMessage>,
        message: LinkMessage,
        next: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            LinkMessage::Next(actor) => *next = Some(actor),
            LinkMessage::Token(token) => match token.checked_sub(1) {
                Some(token) => {
                    let next = next.as_ref().expect("the ring is closed before the token enters");
                    next.cast(LinkMessage::Token(token))?;
                }
                None => self.end.send(self.index).await?,
            },
        }
        Ok(())
    }
}

async fn ring(hops: u64) -> Measured {
    let (end, mut ended) = mpsc::channel(1);
    let mut actors = Vec::new();
    for index in 0..RING {
        actors.push(spawn(Link { index, end: end.clone() }, ()).await);
    }
    for index in 0..RING {
        let next = actors[(index + 1) % RING].clone();
        actors[index].cast(LinkMessage::Next(next)).expect("the actor is alive");
    }
    let start = Instant::now();
    actors[0].cast(LinkMessage::Token(hops)).expect("the first actor is alive");
    let end = ended.recv().await.expect("one actor receives zero");
    Measured { elapsed: start.elapsed(), answer: Answer::End(end) }
}

struct Shelf;

enum ShelfMessage {
    Look(Request, RpcReplyPort<Reply>),
    Size(RpcReplyPort<usize>),
}

impl Actor for Shelf {
    type Msg = ShelfMessage;
    type State = Box<Dictionary>;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<ShelfMessage>, (): ()) -> Result<Self::State, ActorProcessingErr> {
        Ok(Box::new(Dictionary::new()))
    }

    async fn handle(
        &self,
        _: ActorRef<ShelfMessage>,
        message: ShelfMessage,
        dictionary: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ShelfMessage::Look(request, reply) => reply.send(dictionary.serve(request))?,
            ShelfMessage::Size(reply) => reply.send(dictionary.len())?,
        }
        Ok(())
    }
}

async fn dictionary(command: &Command) -> Measured {
    let shelf = spawn(Shelf, ()).await;
    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (shelf, mut state) = (shelf.clone(), Client::new(command.requests(client)));
            tokio::spawn(async move {
                let mut window = VecDeque::with_capacity(WINDOW);
                loop {
                    while let Some(asked) = state.next_request() {
                        window.push_back(request(&shelf, |reply| ShelfMessage::Look(asked, reply)));
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
    let size = request(&shelf, ShelfMessage::Size).await.expect("the dictionary replies");
    Measured { elapsed, answer: Answer::Dictionary(seen, size) }
}
