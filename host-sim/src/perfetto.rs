//! A run as a Perfetto trace, to be opened at <https://ui.perfetto.dev>.
//!
//! | in the trace | in the run |
//! |---|---|
//! | process | board |
//! | track | core |
//! | slice | the turn of a letter, named `Actor::method`; turns that a `get` ran while it waited are nested |
//! | instant | a send, a refused grant, a dropped letter |
//! | flow (an arrow) | a letter, from its send to its turn |
//! | counter | letters in a mailbox, running ones included |
//!
//! The file is Perfetto's own protobuf format, of which the messages below are the part that is used. The same run gives the same
//! bytes.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! let run = flockwork_host_sim::Device::stepped(2).run(|| { /* … */ });
//! flockwork_host_sim::perfetto::write(&run, "flock.pftrace")?;
//! # Ok(()) }
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flockwork::trace::Hop;
/// What reads and writes [`Trace`].
pub use prost;
use prost::Message;

use crate::run::{Event, Run};
use crate::turns::{self, Depth};

/// Writes the run of one device as a trace.
///
/// # Errors
/// If the file cannot be written; the error names it. If the run had letters but kept no events.
pub fn write<R>(run: &Run<R>, path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    turns::check_events(run)?;
    let write = || {
        let mut trace = TraceWriter::new(BufWriter::new(File::create(path)?));
        trace.board("board", run)?;
        trace.finish()
    };
    write().map(drop).map_err(turns::about(path))
}

/// Writes the runs of several boards into one trace, one after the other.
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: W,
    boards: u32,
}

impl<W: Write> TraceWriter<W> {
    /// A trace without boards yet.
    pub fn new(out: W) -> Self {
        Self { out, boards: 0 }
    }

    /// Adds a board and all that happened on it.
    ///
    /// # Errors
    /// Those of the writer, and if the run had letters but kept no events.
    pub fn board<R>(&mut self, name: &str, run: &Run<R>) -> io::Result<()> {
        turns::check_events(run)?;
        self.boards += 1;
        let board = Board {
            number: self.boards,
            megahertz: u64::from(run.megahertz.max(1)),
            actors: turns::names(run.actors.iter().map(|actor| actor.name)),
        };
        self.describe(&board, name, run)?;
        self.events(&board, run)
    }

    /// Gives the writer back, with everything written.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn describe<R>(&mut self, board: &Board, name: &str, run: &Run<R>) -> io::Result<()> {
        let process = ProcessDescriptor { pid: Some(board.number as i32), process_name: Some(name.to_owned()) };
        self.track(TrackDescriptor { uuid: Some(board.uuid()), process: Some(process), ..Default::default() })?;
        let parent_uuid = Some(board.uuid());
        for core in 0..run.cores.len() {
            let name = Some(format!("core {core}"));
            let uuid = Some(board.core(core as u8));
            self.track(TrackDescriptor { uuid, name, parent_uuid, ..Default::default() })?;
        }
        for actor in turns::depths(run).into_keys() {
            let name = Some(format!("mailbox of {}", board.actors[usize::from(actor)]));
            let counter = Some(CounterDescriptor { unit: Some(COUNT) });
            let uuid = Some(board.mailbox(actor));
            self.track(TrackDescriptor { uuid, name, parent_uuid, counter, ..Default::default() })?;
        }
        Ok(())
    }

    fn events<R>(&mut self, board: &Board, run: &Run<R>) -> io::Result<()> {
        let letters = |hop| run.events.iter().filter(move |event| event.hop == hop).filter_map(|event| event.letter);
        let sent = letters(Hop::Sent).collect::<HashSet<_>>();
        let started = letters(Hop::Started).collect::<HashSet<_>>();
        // An arrow has two ends: a letter that was sent but never run has none, nor has one that was sent before the run.
        let flow = |event: &Event| {
            let letter = event.letter.filter(|letter| sent.contains(letter) && started.contains(letter));
            letter.map(|letter| board.flow(letter.get())).into_iter().collect::<Vec<_>>()
        };
        let mut depths = BTreeMap::<u16, Depth>::new();
        let mut open = vec![0_u32; run.cores.len()];
        for event in &run.events {
            let core = Some(board.core(event.core));
            let name = || board.name(event);
            let on_core = match event.hop {
                Hop::Sent => Some(TrackEvent {
                    name: Some(format!("send {}", name())),
                    flow_ids: flow(event),
                    ..TrackEvent::of(INSTANT, core)
                }),
                Hop::Started => {
                    open[usize::from(event.core)] += 1;
                    Some(TrackEvent {
                        name: Some(name()),
                        terminating_flow_ids: flow(event),
                        ..TrackEvent::of(SLICE_BEGIN, core)
                    })
                }
                Hop::Ended => {
                    let open = &mut open[usize::from(event.core)];
                    let began = open.checked_sub(1).map(|left| *open = left);
                    began.map(|()| TrackEvent::of(SLICE_END, core))
                }
                Hop::Refused => {
                    Some(TrackEvent { name: Some(format!("refused {}", name())), ..TrackEvent::of(INSTANT, core) })
                }
                Hop::Dropped => {
                    Some(TrackEvent { name: Some(format!("dropped {}", name())), ..TrackEvent::of(INSTANT, core) })
                }
                Hop::Granted | Hop::Left => None,
            };
            let time = board.nanoseconds(event.time);
            on_core.map_or(Ok(()), |on_core| self.event(time, on_core))?;
            if let Some(depth) = depths.entry(event.actor).or_default().after(event.hop) {
                let mailbox = Some(board.mailbox(event.actor));
                self.event(time, TrackEvent { counter_value: Some(depth as i64), ..TrackEvent::of(COUNTER, mailbox) })?;
            }
        }
        // Turns in which the run ended: `main` does not wait for what it did not ask for.
        let end = board.nanoseconds(turns::end(run));
        for (core, open) in (0..).zip(open) {
            (0..open).try_for_each(|_| self.event(end, TrackEvent::of(SLICE_END, Some(board.core(core)))))?;
        }
        Ok(())
    }

    fn track(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket { track_descriptor: Some(track), ..Default::default() })
    }

    fn event(&mut self, nanoseconds: u64, event: TrackEvent) -> io::Result<()> {
        self.packet(TracePacket { timestamp: Some(nanoseconds), track_event: Some(event), ..Default::default() })
    }

    /// Traces are concatenated by concatenating their bytes, so no more than one packet is kept in memory.
    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        let packet = TracePacket { trusted_packet_sequence_id: Some(1), ..packet };
        self.out.write_all(&Trace { packet: vec![packet] }.encode_to_vec())
    }
}

/// What the events of one board need: who is who.
struct Board {
    /// From 1.
    number: u32,
    megahertz: u64,
    actors: Vec<String>,
}

impl Board {
    fn uuid(&self) -> u64 {
        u64::from(self.number) << 32
    }

    fn core(&self, core: u8) -> u64 {
        self.uuid() | 0x1_0000 | u64::from(core)
    }

    fn mailbox(&self, actor: u16) -> u64 {
        self.uuid() | 0x2_0000 | u64::from(actor)
    }

    /// The letter's number on the first board; others count from elsewhere, because an arrow's number is unique in a trace.
    fn flow(&self, letter: u32) -> u64 {
        u64::from(self.number - 1) << 32 | u64::from(letter)
    }

    fn nanoseconds(&self, cycles: u64) -> u64 {
        (u128::from(cycles) * 1000 / u128::from(self.megahertz)) as u64
    }

    fn name(&self, event: &Event) -> String {
        let actor = self.actors.get(usize::from(event.actor)).map_or("?", String::as_str);
        match event.method_name() {
            Some(method) => format!("{actor}::{method}"),
            None => actor.to_owned(),
        }
    }
}

/// A unit of [`CounterDescriptor`]: things are counted.
pub const COUNT: i32 = 2;
/// A type of [`TrackEvent`]: a slice begins.
pub const SLICE_BEGIN: i32 = 1;
/// A type of [`TrackEvent`]: the innermost slice of its track ends.
pub const SLICE_END: i32 = 2;
/// A type of [`TrackEvent`]: something that takes no time.
pub const INSTANT: i32 = 3;
/// A type of [`TrackEvent`]: a counter has a new value.
pub const COUNTER: i32 = 4;

/// A whole trace.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// Descriptions of tracks, and what happened on them.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// One entry of a trace.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// In nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Who wrote it.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// What happened.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    /// Or which track there is.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// A track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Its number, unique in the trace.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// What it is called.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The process it stands for.
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// The track it belongs to.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// Set if it is a counter.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

/// A process: a board.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessDescriptor {
    /// The number of the board, from 1.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// What it is called.
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// A counter: a mailbox.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// What is counted.
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
}

/// Something that happened on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// One of [`SLICE_BEGIN`], [`SLICE_END`], [`INSTANT`] and [`COUNTER`].
    #[prost(int32, optional, tag = "9")]
    pub r#type: Option<i32>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// What it is called.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// The new value of a counter.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// Arrows that go from here.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    /// Arrows that end here.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}

impl TrackEvent {
    fn of(kind: i32, track_uuid: Option<u64>) -> Self {
        Self { r#type: Some(kind), track_uuid, ..Self::default() }
    }
}
