//! Four clients of a dictionary, under the monitor that the variant names.
//!
//! The clients take turns on the main thread, as tasks would: each asks while its window has room and then waits for its
//! oldest answer. While `main` waits, its core serves requests like any other.

use std::collections::VecDeque;

use flockwork::{Actor, Eventually, Mutex, Promise, ReadersWriter, Ref, Serial, actor};
use workloads::{
    Answer, Command,
    dictionary::{CLIENTS, Client, Dictionary, Reply as Found, Request, Tally, WINDOW},
};

/// All that can be outstanding at once.
const OUTSTANDING: usize = CLIENTS * WINDOW;
/// Room for it, and more: a letter keeps its place until it has left, a moment after its answer.
const ROOM: usize = 2 * OUTSTANDING;

struct Library(Dictionary);

#[actor]
impl Library {
    /// The value of a key.
    pub fn get(&self, key: u32) -> Found {
        self.0.get(key)
    }

    /// Sets the value of a key; the answer is the one replaced.
    pub fn put(&mut self, key: u32, value: u32) -> Found {
        self.0.put(key, value)
    }

    /// The number of entries.
    pub fn size(&self) -> usize {
        self.0.len()
    }
}

#[actor]
static READERS_WRITER: Actor<Library, ReadersWriter, ROOM, OUTSTANDING> = Library(Dictionary::new());

#[actor]
static MUTEX: Actor<Library, Mutex, ROOM, OUTSTANDING> = Library(Dictionary::new());

#[actor]
static DEFAULT: Actor<Library, Serial, ROOM, OUTSTANDING> = Library(Dictionary::new());

fn ask(library: Ref<Library>, request: Request) -> Promise<Found> {
    match request {
        Request::Get { key } => library.get(key).ask().expect("the dictionary has room for all windows"),
        Request::Put { key, value } => library.put(key, value).ask().expect("the dictionary has room for all windows"),
    }
}

pub(crate) fn run(command: &Command) -> Answer {
    let library: Ref<Library> = match command.variant.as_deref() {
        Some("mutex") => &MUTEX,
        Some("default") => &DEFAULT,
        _ => &READERS_WRITER,
    };
    let mut clients = [0, 1, 2, 3]
        .map(|client| (Client::new(command.requests(client)), VecDeque::<Promise<Found>>::with_capacity(WINDOW)));
    let mut going = true;
    while going {
        going = false;
        for (client, window) in &mut clients {
            while let Some(request) = client.next_request() {
                window.push_back(ask(library, request));
            }
            if let Some(oldest) = window.pop_front() {
                client.accept(oldest.get().expect("the dictionary answers"));
                going = true;
            }
        }
    }
    let seen = clients.iter().fold(Tally::default(), |seen, (client, _)| seen.merge(client.tally()));
    Answer::Dictionary(seen, library.size().get().expect("the dictionary answers"))
}
