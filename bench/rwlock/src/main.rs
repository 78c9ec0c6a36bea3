//! The dictionary workloads without actors: threads that share the dictionary behind a parking_lot `RwLock`.
//!
//! The clients are divided among the threads, and a thread runs its clients in turn. There are no messages; this is
//! what the shared data itself allows.

use std::{process::ExitCode, sync::Barrier, thread, time::Instant};

use parking_lot::RwLock;
use workloads::{
    Answer, Command, Measured,
    dictionary::{CLIENTS, Dictionary, Request, Tally},
};

fn main() -> ExitCode {
    workloads::main("rwlock", &[], |command| command.workload.is_dictionary().then(|| dictionary(command)))
}

fn dictionary(command: &Command) -> Measured {
    let dictionary = Box::new(RwLock::new(Dictionary::new()));
    let begin = Barrier::new(command.workers);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..command.workers)
            .map(|worker| {
                let (dictionary, begin) = (&dictionary, &begin);
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    begin.wait();
                    let start = Instant::now();
                    for client in (worker..CLIENTS).step_by(command.workers) {
                        for request in command.requests(client) {
                            let reply = match request {
                                Request::Get { key } => dictionary.read().get(key),
                                Request::Put { key, value } => dictionary.write().put(key, value),
                            };
                            tally.add(request, reply);
                        }
                    }
                    (tally, start, Instant::now())
                })
            })
            .collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no client panics")).collect();
        let start = results.iter().map(|(_, start, _)| *start).min().expect("at least one worker");
        let end = results.iter().map(|(_, _, end)| *end).max().expect("at least one worker");
        let seen = results.iter().fold(Tally::default(), |seen, (tally, ..)| seen.merge(*tally));
        Measured { elapsed: end - start, answer: Answer::Dictionary(seen, dictionary.read().len()) }
    })
}
