//! The other examples. Each is a program of its own (`cargo run --bin bank`), and a command of this one (`cargo run -- bank`): the very
//! same source.
#![allow(unreachable_pub, reason = "as programs of their own, the examples show what a crate would make public")]

use std::process::{ExitCode, Termination};

#[path = "../bin/bank.rs"]
mod bank;
#[path = "../bin/by_hand.rs"]
mod by_hand;
#[path = "../bin/forward.rs"]
mod forward;
#[path = "../bin/hello.rs"]
mod hello;
#[path = "../bin/own_monitor.rs"]
mod own_monitor;
#[path = "../bin/tasks.rs"]
mod tasks;

/// An example: what it is called, what it shows, and its `main`.
pub(crate) struct Example {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) main: fn() -> ExitCode,
}

pub(crate) const EXAMPLES: &[Example] = &[
    Example { name: "hello", about: "The smallest program: tell and ask.", main: || exit_code(hello::main) },
    Example {
        name: "bank",
        about: "Several objects in one actor, and letters that name them.",
        main: || exit_code(bank::main),
    },
    Example {
        name: "own_monitor",
        about: "A monitor of your own: two functions.",
        main: || exit_code(own_monitor::main),
    },
    Example {
        name: "forward",
        about: "An actor lets another one answer in its place.",
        main: || exit_code(forward::main),
    },
    Example {
        name: "tasks",
        about: "Embassy tasks that await answers, and room in a mailbox.",
        main: || exit_code(tasks::main),
    },
    Example { name: "by_hand", about: "What `#[actor]` writes, as plain traits.", main: || exit_code(by_hand::main) },
];

/// What a program ends with, whatever its `main` returns.
fn exit_code<R: Termination>(main: fn() -> R) -> ExitCode {
    main().report()
}
