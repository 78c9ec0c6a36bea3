//! The dictionary that the clients of the dictionary workloads read and write.
//!
//! It is an association list, searched linearly, as the papers' was: a request costs some hundred nanoseconds, so
//! that serving two readers at once is worth something. Every system uses this very [`Dictionary`] and its clients
//! follow this very [`Client`], so that only what lies between them differs.

use crate::pseudo_random::PseudoRandom;

/// Number of entries, all present from the start.
pub const ENTRIES: usize = 4096;

/// Number of clients.
pub const CLIENTS: usize = 4;

/// Requests that one client may have outstanding. All clients together keep the dictionary busy.
pub const WINDOW: usize = 16;

/// Keys are below this: odd, as the generator asks for.
const KEYS: u32 = ENTRIES as u32 - 1;

/// The low bits of a value, which repeat the key it was written under. The initial value of a key is the key.
const KEY_MASK: u32 = ENTRIES as u32 - 1;

/// What a client asks of the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Read the value of a key.
    Get {
        /// The key to search for.
        key: u32,
    },
    /// Replace the value of a key.
    Put {
        /// The key to search for.
        key: u32,
        /// Its new value.
        value: u32,
    },
}

/// What the dictionary answers: the value found, or the value replaced.
pub type Reply = Option<u32>;

/// The association list.
#[derive(Debug)]
pub struct Dictionary {
    entries: [Entry; ENTRIES],
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u32,
    value: u32,
}

impl Dictionary {
    /// A dictionary that holds every key.
    pub const fn new() -> Self {
        let mut entries = [Entry { key: 0, value: 0 }; ENTRIES];
        let mut key = 0;
        while key < ENTRIES {
            entries[key] = Entry { key: key as u32, value: key as u32 };
            key += 1;
        }
        Self { entries, len: ENTRIES }
    }

    /// The value of `key`.
    pub fn get(&self, key: u32) -> Reply {
        self.position(key).map(|index| self.entries[index].value)
    }

    /// Sets the value of `key` and returns the one it replaces. A new key is appended while there is room.
    pub fn put(&mut self, key: u32, value: u32) -> Reply {
        match self.position(key) {
            Some(index) => Some(std::mem::replace(&mut self.entries[index].value, value)),
            None => {
                if let Some(free) = self.entries.get_mut(self.len) {
                    *free = Entry { key, value };
                    self.len += 1;
                }
                None
            }
        }
    }

    /// Serves any request, for systems that serve one at a time.
    pub fn serve(&mut self, request: Request) -> Reply {
        match request {
            Request::Get { key } => self.get(key),
            Request::Put { key, value } => self.put(key, value),
        }
    }

    /// Number of entries.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Never inlined: the search is the same machine code in every system.
    #[inline(never)]
    fn position(&self, key: u32) -> Option<usize> {
        self.entries[..self.len].iter().position(|entry| entry.key == key)
    }
}

impl Default for Dictionary {
    fn default() -> Self {
        Self::new()
    }
}

/// The requests of one client, in order. The same client asks the same in every system.
#[derive(Clone, Debug)]
pub struct Requests {
    generator: PseudoRandom,
    write_percent: u32,
    left: u64,
}

impl Requests {
    /// The requests of client number `client`, `count` of them, `write_percent` of a hundred being writes.
    pub const fn new(client: usize, count: u64, write_percent: u32) -> Self {
        let seed = (client as u32).wrapping_add(count as u32).wrapping_add(write_percent);
        Self { generator: PseudoRandom::new(seed), write_percent, left: count }
    }
}

impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.left = self.left.checked_sub(1)?;
        let write = self.generator.below(100) < self.write_percent;
        let key = self.generator.below(KEYS);
        Some(if write {
            let value = key | self.generator.draw() << KEY_MASK.count_ones();
            Request::Put { key, value }
        } else {
            Request::Get { key }
        })
    }
}

/// One client: hands out its requests while its window has room and checks the replies, which come back in the
/// order of the requests.
#[derive(Clone, Debug)]
pub struct Client {
    unsent: Requests,
    unanswered: Requests,
    outstanding: usize,
    tally: Tally,
}

impl Client {
    /// The client with these requests.
    pub fn new(requests: Requests) -> Self {
        Self { unsent: requests.clone(), unanswered: requests, outstanding: 0, tally: Tally::default() }
    }

    /// The next request to send; none while the window is full, and none after the last.
    pub fn next_request(&mut self) -> Option<Request> {
        if self.outstanding == WINDOW {
            return None;
        }
        let request = self.unsent.next()?;
        self.outstanding += 1;
        Some(request)
    }

    /// Number of requests sent and not yet answered. The client is done when there is no next request and none
    /// outstanding.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Checks the reply to the oldest outstanding request.
    pub fn accept(&mut self, reply: Reply) {
        self.outstanding -= 1;
        match self.unanswered.next() {
            Some(request) => self.tally.add(request, reply),
            None => self.tally.wrong += 1,
        }
    }

    /// What this client has seen.
    pub fn tally(&self) -> Tally {
        self.tally
    }
}

/// What clients have seen: how many reads and writes were answered, and how many of the answers were wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Answered reads.
    pub reads: u64,
    /// Answered writes.
    pub writes: u64,
    /// Answers that no dictionary could have given, since a value tells the key it belongs to.
    pub wrong: u64,
}

impl Tally {
    /// Counts one answered request.
    pub fn add(&mut self, request: Request, reply: Reply) {
        let key = match request {
            Request::Get { key } => {
                self.reads += 1;
                key
            }
            Request::Put { key, .. } => {
                self.writes += 1;
                key
            }
        };
        if reply.is_none_or(|value| value & KEY_MASK != key) {
            self.wrong += 1;
        }
    }

    /// Both tallies in one.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self { reads: self.reads + other.reads, writes: self.writes + other.writes, wrong: self.wrong + other.wrong }
    }

    /// What all clients must have seen together.
    pub fn expected(requests_per_client: u64, write_percent: u32) -> Self {
        let mut expected = Self::default();
        for client in 0..CLIENTS {
            for request in Requests::new(client, requests_per_client, write_percent) {
                match request {
                    Request::Get { .. } => expected.reads += 1,
                    Request::Put { .. } => expected.writes += 1,
                }
            }
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_clients_with_500_requests_write_215_times() {
        let expected = Tally::expected(500, 10);
        assert_eq!(expected, Tally { reads: 1785, writes: 215, wrong: 0 });
    }

    #[test]
    fn no_writes_at_zero_percent() {
        assert_eq!(Tally::expected(500, 0).writes, 0);
    }

    #[test]
    fn a_client_served_in_order_finds_nothing_wrong() {
        let mut dictionary = Dictionary::new();
        let mut client = Client::new(Requests::new(3, 500, 10));
        let mut inbox = std::collections::VecDeque::new();
        loop {
            while let Some(request) = client.next_request() {
                inbox.push_back(request);
            }
            assert!(inbox.len() <= WINDOW);
            let Some(request) = inbox.pop_front() else {
                break;
            };
            client.accept(dictionary.serve(request));
        }
        assert_eq!(client.outstanding(), 0);
        assert_eq!(client.tally().reads + client.tally().writes, 500);
        assert_eq!(client.tally().wrong, 0);
        assert_eq!(dictionary.len(), ENTRIES);
    }

    #[test]
    fn a_reply_from_another_key_is_wrong() {
        let mut tally = Tally::default();
        tally.add(Request::Get { key: 7 }, Some(8));
        tally.add(Request::Get { key: 7 }, None);
        tally.add(Request::Get { key: 7 }, Some(7));
        assert_eq!(tally, Tally { reads: 3, writes: 0, wrong: 2 });
    }

    #[test]
    fn a_put_is_read_back() {
        let mut dictionary = Dictionary::new();
        assert_eq!(dictionary.put(7, 1 << 12 | 7), Some(7));
        assert_eq!(dictionary.get(7), Some(1 << 12 | 7));
        assert_eq!(dictionary.get(ENTRIES as u32), None);
    }
}
