//! The workloads on tokio: plain tasks with bounded mpsc channels on the multi-threaded runtime.
//!
//! No actor library: an actor is a task that owns its state and receives from its channel.

use std::{process::ExitCode, time::Instant};

use tokio::sync::{mpsc, oneshot};
use workloads::{
    Answer, Command, Measured, Workload,
    dictionary::{CLIENTS, Client, Dictionary, Reply, Request, WINDOW},
    on_tokio::{self, seen_by},
    workload::{MAILBOX, RING},
};

fn main() -> ExitCode {
    on_tokio::main("tokio", |_runtime| {}, run)
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

async fn ping_pong(round_trips: u64) -> Measured {
    let (to_pong, mut pong_inbox) = mpsc::channel(MAILBOX);
    let (to_ping, mut ping_inbox) = mpsc::channel(MAILBOX);
    tokio::spawn(async move {
        while let Some(ball) = pong_inbox.recv().await {
            if to_ping.send(ball).await.is_err() {
                break;
            }
        }
    });
    let start = Instant::now();
    let mut pongs = 0;
    for ball in 0..round_trips {
        to_pong.send(ball).await.expect("pong outlives ping");
        pongs += u64::from(ping_inbox.recv().await == Some(ball));
    }
    Measured { elapsed: start.elapsed(), answer: Answer::Pongs(pongs) }
}

async fn counting(increments: u64) -> Measured {
    enum Message {
        Increment,
        Retrieve(oneshot::Sender<u64>),
    }
    let (counter, mut inbox) = mpsc::channel(MAILBOX);
    tokio::spawn(async move {
        let mut count = 0;
        while let Some(message) = inbox.recv().await {
            match message {
                Message::Increment => count += 1,
                Message::Retrieve(reply) => {
                    let _ = reply.send(count);
                }
            }
        }
    });
    let start = Instant::now();
    for _ in 0..increments {
        counter.send(Message::Increment).await.expect("the counter outlives its sender");
    }
    let (reply, total) = oneshot::channel();
    counter.send(Message::Retrieve(reply)).await.expect("the counter outlives its sender");
    let total = total.await.expect("the counter replies");
    Measured { elapsed: start.elapsed(), answer: Answer::Total(total) }
}

async fn ask(requests: u64) -> Measured {
    let (server, mut inbox) = mpsc::channel::<oneshot::Sender<u64>>(MAILBOX);
    tokio::spawn(async move {
        let mut served = 0;
        while let Some(reply) = inbox.recv().await {
            served += 1;
            let _ = reply.send(served);
        }
    });
    let start = Instant::now();
    let mut right = 0;
    for number in 1..=requests {
        let (reply, answer) = oneshot::channel();
        server.send(reply).await.expect("the server outlives its asker");
        right += u64::from(answer.await == Ok(number));
    }
    Measured { elapsed: start.elapsed(), answer: Answer::Replies(right) }
}

async fn ring(hops: u64) -> Measured {
    let (actors, inboxes): (Vec<_>, Vec<_>) = (0..RING).map(|_| mpsc::channel::<u64>(MAILBOX)).unzip();
    let (end, mut ended) = mpsc::channel(1);
    for (index, mut inbox) in inboxes.into_iter().enumerate() {
        let (next, end) = (actors[(index + 1) % RING].clone(), end.clone());
        tokio::spawn(async move {
            while let Some(token) = inbox.recv().await {
                match token.checked_sub(1) {
                    Some(token) => next.send(token).await.expect("the next actor is alive"),
                    None => end.send(index).await.expect("somebody waits for the end"),
                }
            }
        });
    }
    let start = Instant::now();
    actors[0].send(hops).await.expect("the first actor is alive");
    let end = ended.recv().await.expect("one actor receives zero");
    Measured { elapsed: start.elapsed(), answer: Answer::End(end) }
}

async fn dictionary(command: &Command) -> Measured {
    let (dictionary, mut inbox) = mpsc::channel::<(usize, Request)>(MAILBOX);
    let (replies, reply_inboxes): (Vec<_>, Vec<_>) = (0..CLIENTS).map(|_| mpsc::channel::<Reply>(WINDOW)).unzip();
    let server = tokio::spawn(async move {
        let mut entries = Box::new(Dictionary::new());
        while let Some((client, request)) = inbox.recv().await {
            replies[client].send(entries.serve(request)).await.expect("a client waits for its replies");
        }
        entries.len()
    });
    let start = Instant::now();
    let clients: Vec<_> = reply_inboxes
        .into_iter()
        .enumerate()
        .map(|(client, mut inbox)| {
            let (dictionary, mut state) = (dictionary.clone(), Client::new(command.requests(client)));
            tokio::spawn(async move {
                loop {
                    while let Some(request) = state.next_request() {
                        dictionary.send((client, request)).await.expect("the dictionary is alive");
                    }
                    if state.outstanding() == 0 {
                        return state.tally();
                    }
                    state.accept(inbox.recv().await.expect("the dictionary is alive"));
                }
            })
        })
        .collect();
    let seen = seen_by(clients).await;
    let elapsed = start.elapsed();
    drop(dictionary);
    let size = server.await.expect("the dictionary does not panic");
    Measured { elapsed, answer: Answer::Dictionary(seen, size) }
}
