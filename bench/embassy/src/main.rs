//! The workloads on bare embassy: embassy-sync channels between embassy tasks, on executors that spin.
//!
//! This is the peer closest to firmware: no allocation per message, no system call, a fixed ring per mailbox. Each
//! worker is a thread with its own executor ([`executors`]); a task stays on the executor it was spawned on, so with
//! two workers the partners of a workload are placed on different ones.

mod executors;
mod one_thread;

use std::process::ExitCode;

use embassy_sync::{
    blocking_mutex::raw::{CriticalSectionRawMutex, RawMutex},
    channel::Channel,
    signal::Signal,
};
use executors::Executors;
use one_thread::OneThreadRawMutex;
use workloads::{
    Answer, Command, Measured, Workload,
    dictionary::{CLIENTS, Client, Dictionary, Reply, Request, Tally, WINDOW},
    workload::{MAILBOX, RING},
};

/// Room in the mailboxes of workloads that never fill one.
const SMALL: usize = 4;

fn main() -> ExitCode {
    workloads::main("embassy", &[], |command| {
        Some(if command.workers == 1 {
            // Nothing crosses a thread, so nothing needs a lock: this is how one builds it for one core.
            run::<OneThreadRawMutex>(command)
        } else {
            run::<CriticalSectionRawMutex>(command)
        })
    })
}

fn run<M: RawMutex + Send + Sync + 'static>(command: &Command) -> Measured {
    let executors = Executors::new(command.workers);
    match command.workload {
        Workload::PingPong => ping_pong::<M>(executors, command.round_trips()),
        Workload::Counting => counting::<M>(executors, command.messages),
        Workload::Ask => ask::<M>(executors, command.messages),
        Workload::Ring => ring::<M>(executors, command.messages),
        Workload::DictionaryReads | Workload::DictionaryMixed => dictionary::<M>(executors, command),
    }
}

/// A value that is never freed: embassy's tasks borrow for `'static`, and a run ends with its process.
fn forever<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn ping_pong<M: RawMutex + Send + Sync + 'static>(executors: Executors, round_trips: u64) -> Measured {
    let to_pong = forever(Channel::<M, u64, SMALL>::new());
    let to_ping = forever(Channel::<M, u64, SMALL>::new());
    executors.spawn(1, async move {
        loop {
            to_ping.send(to_pong.receive().await).await;
        }
    });
    executors.measure(async move {
        let mut pongs = 0;
        for ball in 0..round_trips {
            to_pong.send(ball).await;
            pongs += u64::from(to_ping.receive().await == ball);
        }
        Answer::Pongs(pongs)
    })
}

fn counting<M: RawMutex + Send + Sync + 'static>(executors: Executors, increments: u64) -> Measured {
    enum Message {
        Increment,
        Retrieve,
    }
    let counter = forever(Channel::<M, Message, MAILBOX>::new());
    let total = forever(Signal::<M, u64>::new());
    executors.spawn(1, async move {
        let mut count = 0;
        loop {
            match counter.receive().await {
                Message::Increment => count += 1,
                Message::Retrieve => total.signal(count),
            }
        }
    });
    executors.measure(async move {
        for _ in 0..increments {
            counter.send(Message::Increment).await;
        }
        counter.send(Message::Retrieve).await;
        Answer::Total(total.wait().await)
    })
}

fn ask<M: RawMutex + Send + Sync + 'static>(executors: Executors, requests: u64) -> Measured {
    // 32 bits: a `Signal` of a `u64` is laid out so that this takes 40 instructions more.
    struct Ask<M: RawMutex + Send + Sync + 'static> {
        reply: &'static Signal<M, u32>,
    }
    let server = forever(Channel::<M, Ask<M>, SMALL>::new());
    let reply = forever(Signal::<M, u32>::new());
    executors.spawn(1, async move {
        let mut served = 0;
        loop {
            let request = server.receive().await;
            served += 1;
            request.reply.signal(served);
        }
    });
    executors.measure(async move {
        let mut right = 0;
        for number in 1..=requests {
            server.send(Ask { reply }).await;
            right += u64::from(u64::from(reply.wait().await) == number);
        }
        Answer::Replies(right)
    })
}

fn ring<M: RawMutex + Send + Sync + 'static>(executors: Executors, hops: u64) -> Measured {
    let actors: &'static [Channel<M, u64, SMALL>; RING] = forever([const { Channel::new() }; RING]);
    let end = forever(Signal::<M, usize>::new());
    for index in 0..RING {
        executors.spawn(index, async move {
            let next = &actors[(index + 1) % RING];
            loop {
                match actors[index].receive().await.checked_sub(1) {
                    Some(token) => next.send(token).await,
                    None => end.signal(index),
                }
            }
        });
    }
    executors.measure(async move {
        actors[0].send(hops).await;
        Answer::End(end.wait().await)
    })
}

fn dictionary<M: RawMutex + Send + Sync + 'static>(executors: Executors, command: &Command) -> Measured {
    enum Message {
        Request { client: usize, request: Request },
        Size,
    }
    let dictionary = forever(Channel::<M, Message, MAILBOX>::new());
    let replies: &'static [Channel<M, Reply, WINDOW>; CLIENTS] = forever([const { Channel::new() }; CLIENTS]);
    let size = forever(Signal::<M, usize>::new());
    let tallies = forever(Channel::<M, Tally, CLIENTS>::new());
    let start: &'static [Signal<M, ()>; CLIENTS] = forever([const { Signal::new() }; CLIENTS]);

    // The dictionary has the last executor to itself; the clients share the others.
    executors.spawn(command.workers - 1, async move {
        let mut entries = Box::new(Dictionary::new());
        loop {
            match dictionary.receive().await {
                Message::Request { client, request } => replies[client].send(entries.serve(request)).await,
                Message::Size => size.signal(entries.len()),
            }
        }
    });
    for client in 0..CLIENTS {
        let mut state = Client::new(command.requests(client));
        executors.spawn(client % (command.workers - 1).max(1), async move {
            start[client].wait().await;
            loop {
                while let Some(request) = state.next_request() {
                    dictionary.send(Message::Request { client, request }).await;
                }
                if state.outstanding() == 0 {
                    break;
                }
                state.accept(replies[client].receive().await);
            }
            tallies.send(state.tally()).await;
        });
    }
    executors.measure(async move {
        for signal in start {
            signal.signal(());
        }
        let mut seen = Tally::default();
        for _ in 0..CLIENTS {
            seen = seen.merge(tallies.receive().await);
        }
        dictionary.send(Message::Size).await;
        Answer::Dictionary(seen, size.wait().await)
    })
}
