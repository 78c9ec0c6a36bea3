//! The workloads: what a message is in each, how many there are by default, and what the right answer is.

use std::{fmt, str::FromStr, time::Duration};

use crate::{
    command::Command,
    dictionary::{CLIENTS, ENTRIES, Requests, Tally},
};

/// Room in a bounded mailbox. A sender that finds it full waits: that is the credit of the counting workload.
pub const MAILBOX: usize = 1024;

/// Actors in the ring.
pub const RING: usize = 100;

/// One workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Two actors send a ball to and fro. A message is one hop, so a round trip is two.
    PingPong,
    /// One sender, one counter, bounded mailbox. A message is one increment; at the end the total is retrieved.
    Counting,
    /// One asker, one server, one request at a time. A message is one request together with its reply.
    Ask,
    /// [`RING`] actors pass on a token that counts down to zero. A message is one hop.
    Ring,
    /// [`CLIENTS`] clients read a dictionary. A message is one request together with its reply.
    DictionaryReads,
    /// The same with 10 % writes.
    DictionaryMixed,
}

impl Workload {
    /// All workloads, in the order of the table.
    pub const ALL: [Self; 6] =
        [Self::PingPong, Self::Counting, Self::Ask, Self::Ring, Self::DictionaryReads, Self::DictionaryMixed];

    /// The name on the command line, in records and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PingPong => "ping-pong",
            Self::Counting => "counting",
            Self::Ask => "ask",
            Self::Ring => "ring",
            Self::DictionaryReads => "dictionary-100",
            Self::DictionaryMixed => "dictionary-90",
        }
    }

    /// Whether this is one of the dictionary workloads.
    pub const fn is_dictionary(self) -> bool {
        matches!(self, Self::DictionaryReads | Self::DictionaryMixed)
    }

    /// How many of a hundred requests to the dictionary are writes.
    pub const fn write_percent(self) -> u32 {
        match self {
            Self::DictionaryMixed => 10,
            _ => 0,
        }
    }

    /// Messages in a run of some tenths of a second.
    pub const fn default_messages(self) -> u64 {
        match self {
            Self::Counting => 1_000_000,
            Self::PingPong => 500_000,
            Self::Ask | Self::Ring => 250_000,
            Self::DictionaryReads | Self::DictionaryMixed => 200_000,
        }
    }

    /// The next number of messages, from `messages` up, that this workload can have.
    pub const fn round_up(self, messages: u64) -> u64 {
        let step = match self {
            Self::PingPong => 2,
            Self::DictionaryReads | Self::DictionaryMixed => CLIENTS as u64,
            Self::Counting | Self::Ask | Self::Ring => 1,
        };
        messages.next_multiple_of(step)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A name that no workload has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWorkload(String);

impl fmt::Display for UnknownWorkload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Workload::ALL.map(Workload::name).join(", ");
        write!(formatter, "unknown workload `{}`; there are: {names}", self.0)
    }
}

impl std::error::Error for UnknownWorkload {}

impl FromStr for Workload {
    type Err = UnknownWorkload;

    fn from_str(name: &str) -> Result<Self, UnknownWorkload> {
        Self::ALL.into_iter().find(|workload| workload.name() == name).ok_or_else(|| UnknownWorkload(name.to_owned()))
    }
}

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Ping-pong: the pongs that came back, each to the ping that caused it.
    Pongs(u64),
    /// Counting: the total retrieved.
    Total(u64),
    /// Ask: the replies that were right. The server numbers its requests from one and replies with the number.
    Replies(u64),
    /// Ring: the index of the actor that received zero.
    End(usize),
    /// Dictionary: what the clients saw, and the number of entries afterwards.
    Dictionary(Tally, usize),
}

/// The outcome of a run: how long it took, from the first message to the last, and what it came to.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Time from just before the first message until the answer was there. Starting threads is not part of it.
    pub elapsed: Duration,
    /// What the run came to.
    pub answer: Answer,
}

impl Command {
    /// Round trips of the ping-pong workload.
    pub fn round_trips(&self) -> u64 {
        self.messages / 2
    }

    /// The requests of client number `client` of a dictionary workload.
    pub fn requests(&self, client: usize) -> Requests {
        Requests::new(client, self.messages / CLIENTS as u64, self.workload.write_percent())
    }

    /// The answer that this command must come to.
    pub fn expected(&self) -> Answer {
        match self.workload {
            Workload::PingPong => Answer::Pongs(self.round_trips()),
            Workload::Counting => Answer::Total(self.messages),
            Workload::Ask => Answer::Replies(self.messages),
            Workload::Ring => Answer::End((self.messages % RING as u64) as usize),
            Workload::DictionaryReads | Workload::DictionaryMixed => Answer::Dictionary(
                Tally::expected(self.messages / CLIENTS as u64, self.workload.write_percent()),
                ENTRIES,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_workloads() {
        for workload in Workload::ALL {
            assert_eq!(workload.name().parse(), Ok(workload));
        }
        let error = "pingpong".parse::<Workload>().unwrap_err().to_string();
        assert!(error.contains("`pingpong`") && error.contains("ping-pong"), "{error}");
    }

    #[test]
    fn sizes_are_rounded_up_to_what_a_workload_can_have() {
        assert_eq!(Workload::PingPong.round_up(7), 8);
        assert_eq!(Workload::DictionaryReads.round_up(9), 12);
        assert_eq!(Workload::Ask.round_up(7), 7);
    }
}
