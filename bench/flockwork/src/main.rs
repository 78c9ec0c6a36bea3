//! The workloads on this project's kernel, each in a file of its own, written as any user would write them.
//!
//! Workers are the threads of the host port. `main` of a workload runs on core 0, whose worker it is while it waits.

mod ask;
mod counting;
mod dictionary;
mod ping_pong;
mod ring;
mod start;

use std::{process::ExitCode, time::Instant};

use workloads::{Answer, Command, Measured, Workload};

fn main() -> ExitCode {
    workloads::main("flockwork", &["mutex", "default"], |command| {
        if command.variant.is_some() && !command.workload.is_dictionary() {
            return None;
        }
        Some(flockwork_host_sim::run(command.workers, || {
            start::wait_for(command.workers);
            let start = Instant::now();
            let answer = run(command);
            Measured { elapsed: start.elapsed(), answer }
        }))
    })
}

fn run(command: &Command) -> Answer {
    match command.workload {
        Workload::PingPong => ping_pong::run(command.round_trips()),
        Workload::Counting => counting::run(command.messages),
        Workload::Ask => ask::run(command.messages),
        Workload::Ring => ring::run(command.messages),
        Workload::DictionaryReads | Workload::DictionaryMixed => dictionary::run(command),
    }
}
