//! Four clients of a dictionary, under the monitor that the variant names.
//!
//! A client tells its requests, and the dictionary tells the answers back. Readers run in parallel, so the answers of one
//! client can come in another order than its requests: each names the request it belongs to.

use flockwork::{Actor, Answered, Eventually, Mutex, ReadersWriter, Ref, Reply, Serial, Token, actor};
use workloads::{
    Answer, Command,
    dictionary::{CLIENTS, Client, Dictionary, Reply as Found, Request, Requests, Tally, WINDOW},
};

/// Room for all that can be outstanding, and more: a letter keeps its place until it has left, a moment after its answer.
const ROOM: usize = 2 * CLIENTS * WINDOW;

struct Library(Dictionary);

#[actor]
impl Library {
    /// Looks up a key for a client.
    pub fn get(&self, key: u32, client: Ref<Customer>) {
        tell(client, Request::Get { key }, self.0.get(key));
    }

    /// Sets the value of a key for a client.
    pub fn put(&mut self, key: u32, value: u32, client: Ref<Customer>) {
        let replaced = self.0.put(key, value);
        tell(client, Request::Put { key, value }, replaced);
    }

    /// The number of entries.
    pub fn size(&self) -> usize {
        self.0.len()
    }
}

fn tell(client: Ref<Customer>, request: Request, found: Found) {
    client.served(request, found).tell().expect("a client has room for all that it asked");
}

#[actor]
static READERS_WRITER: Actor<Library, ReadersWriter, ROOM> = Library(Dictionary::new());

#[actor]
static MUTEX: Actor<Library, Mutex, ROOM> = Library(Dictionary::new());

#[actor]
static DEFAULT: Actor<Library, Serial, ROOM> = Library(Dictionary::new());

struct Customer {
    index: usize,
    visit: Option<Visit>,
}

/// A client at work.
struct Visit {
    client: Client,
    library: Ref<Library>,
    over: Reply<Tally>,
}

#[actor]
impl Customer {
    /// Sends the requests; the answer is what the client saw, after the last.
    pub fn visit<'t>(&mut self, requests: Requests, library: Ref<Library>, over: Token<'t, Tally>) -> Answered<'t> {
        over.later(|over| {
            self.visit = Some(Visit { client: Client::new(requests), library, over });
            self.go_on();
        })
    }

    /// The answer to a request.
    pub fn served(&mut self, request: Request, found: Found) {
        if let Some(visit) = &mut self.visit {
            visit.client.accept_for(request, found);
        }
        self.go_on();
    }
}

impl Customer {
    fn go_on(&mut self) {
        let Some(visit) = &mut self.visit else { return };
        while let Some(request) = visit.client.next_request() {
            let me = CUSTOMERS[self.index];
            match request {
                Request::Get { key } => visit.library.get(key, me).tell(),
                Request::Put { key, value } => visit.library.put(key, value, me).tell(),
            }
            .expect("the dictionary has room for all windows");
        }
        if visit.client.outstanding() == 0
            && let Some(visit) = self.visit.take()
        {
            visit.over.answer(visit.client.tally());
        }
    }
}

macro_rules! customers {
    ($($index:literal)*) => {
        [$({
            #[actor]
            static CUSTOMER: Actor<Customer, Serial, WINDOW> = Customer { index: $index, visit: None };
            &CUSTOMER
        }),*]
    };
}

static CUSTOMERS: [Ref<Customer>; CLIENTS] = customers!(0 1 2 3);

pub(crate) fn run(command: &Command) -> Answer {
    let library: Ref<Library> = match command.variant.as_deref() {
        Some("mutex") => &MUTEX,
        Some("default") => &DEFAULT,
        _ => &READERS_WRITER,
    };
    let visits = [0, 1, 2, 3].map(|client| {
        CUSTOMERS[client].visit(command.requests(client), library).ask().expect("a client has room for one visit")
    });
    let seen =
        visits.into_iter().fold(Tally::default(), |seen, visit| seen.merge(visit.get().expect("a client answers")));
    Answer::Dictionary(seen, library.size().get().expect("the dictionary answers"))
}
