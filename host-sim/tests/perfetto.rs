//! A trace is read back, with the messages it was written with, and says of the run what the run says itself.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use flockwork::trace::Hop;
use flockwork::{Actor, Eventually, ReadersWriter, Report, Serial, actor};
use flockwork_host_sim::perfetto::prost::Message;
use flockwork_host_sim::perfetto::{
    self, COUNTER, INSTANT, SLICE_BEGIN, SLICE_END, Trace, TraceWriter, TrackDescriptor, TrackEvent,
};
use flockwork_host_sim::{Device, Faults, Run, charge, run_until};

/// Set in a process that writes a trace: where.
const FILE: &str = "FLOCKWORK_TEST_TRACE";

pub struct Shelf(u32);

#[actor]
impl Shelf {
    pub fn look(&self) -> u32 {
        charge(4_000);
        self.0
    }

    pub fn add(&mut self, books: u32) {
        charge(1_500);
        self.0 += books;
    }
}

#[actor]
static SHELF: Actor<Shelf, ReadersWriter, 32, 32> = Shelf(0);

pub struct Reader;

#[actor]
impl Reader {
    /// Waits for the shelf inside its turn, which runs what else there is to run meanwhile.
    pub fn visit(&mut self) -> u32 {
        charge(700);
        SHELF.add(1).tell().expect("there is room");
        SHELF.look().get().unwrap_or(0)
    }
}

#[actor]
static ANN: Actor<Reader, Serial, 16, 16> = Reader;
#[actor]
static BOB: Actor<Reader, Serial, 16, 16> = Reader;

/// Ends when every letter has left its mailbox.
fn readers_visit(device: Device) -> Run<()> {
    device.run(|| {
        for _ in 0..6 {
            let asked = [&ANN, &BOB].map(|reader| reader.visit().ask().expect("there is room"));
            let looks = [0; 4].map(|_| SHELF.look().ask().expect("there is room"));
            asked.into_iter().for_each(|answer| assert!(answer.get().is_ok()));
            looks.into_iter().for_each(|answer| assert!(answer.get().is_ok()));
        }
        run_until(|| [Report::of(&SHELF), Report::of(&ANN), Report::of(&BOB)].iter().all(|report| report.letters == 0));
    })
}

fn trace_of(run: &Run<()>) -> Trace {
    let mut trace = TraceWriter::new(Vec::new());
    trace.board("board", run).expect("memory can be written");
    Trace::decode(&*trace.finish().expect("memory can be written")).expect("what was written can be read")
}

fn tracks(trace: &Trace) -> Vec<&TrackDescriptor> {
    trace.packet.iter().filter_map(|packet| packet.track_descriptor.as_ref()).collect()
}

/// By track: its events with their times, in the order of the file.
fn events(trace: &Trace) -> BTreeMap<u64, Vec<(u64, &TrackEvent)>> {
    let mut events = BTreeMap::<_, Vec<_>>::new();
    for packet in &trace.packet {
        if let Some(event) = &packet.track_event {
            let time = packet.timestamp.expect("an event has a time");
            events.entry(event.track_uuid.expect("an event has a track")).or_default().push((time, event));
        }
    }
    events
}

#[test]
fn boards_cores_and_mailboxes_have_tracks_of_their_own() {
    let run = readers_visit(Device::stepped(2).seed(1));
    let trace = trace_of(&run);
    let tracks = tracks(&trace);
    let uuids = tracks.iter().map(|track| track.uuid).collect::<BTreeSet<_>>();
    assert_eq!(uuids.len(), tracks.len(), "{tracks:?}");

    let process = tracks.iter().find(|track| track.process.is_some()).expect("a process");
    assert_eq!(process.process.as_ref().and_then(|process| process.process_name.as_deref()), Some("board"));
    let named = |is_counter: bool| {
        let tracks = tracks.iter().filter(move |track| track.name.is_some() && track.counter.is_some() == is_counter);
        tracks
            .map(|track| {
                assert_eq!(track.parent_uuid, process.uuid, "{track:?}");
                track.name.as_deref().unwrap_or_default()
            })
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(named(false), BTreeSet::from(["core 0", "core 1"]));
    assert_eq!(named(true), BTreeSet::from(["mailbox of Reader #1", "mailbox of Reader #2", "mailbox of Shelf"]));
    assert!(events(&trace).keys().all(|track| uuids.contains(&Some(*track))), "an event on a track that is not there");
}

/// Slices of a core nest, each as long as its turn, and times do not go back. Gives how deep they nest.
fn assert_nested(run: &Run<()>, trace: &Trace) -> usize {
    let (mut slices, mut deepest, mut longest) = (0, 0, 0);
    for (track, events) in events(trace) {
        assert!(events.is_sorted_by_key(|(time, _)| time), "track {track:#x}");
        let mut open = Vec::new();
        for (time, event) in events {
            match event.r#type {
                Some(SLICE_BEGIN) => {
                    slices += 1;
                    open.push(time);
                    deepest = deepest.max(open.len());
                }
                Some(SLICE_END) => longest = longest.max(time - open.pop().expect("only what has begun ends")),
                _ => {}
            }
        }
        assert!(open.is_empty(), "something on track {track:#x} does not end");
    }
    assert_eq!(slices, run.letters());
    // With what was nested in it, and with sleep.
    let started = |letter| run.events.iter().find(|event| event.hop == Hop::Started && event.letter == letter);
    let ended = run.events.iter().filter(|event| event.hop == Hop::Ended);
    let lengths = ended.filter_map(|end| Some(end.time - started(end.letter)?.time));
    let cycles = lengths.max().unwrap_or(0);
    assert_eq!(longest, cycles * 1000 / u64::from(run.megahertz));
    deepest
}

/// Each letter is one arrow, from its send to its turn.
fn assert_arrows(run: &Run<()>, trace: &Trace) {
    let mut arrows = BTreeMap::<u64, (Vec<(u64, &str)>, Vec<(u64, &str)>)>::new();
    for (time, event) in events(trace).into_values().flatten() {
        let end = (time, event.name.as_deref().unwrap_or_default());
        for flow in &event.flow_ids {
            assert_eq!(event.r#type, Some(INSTANT));
            arrows.entry(*flow).or_default().0.push(end);
        }
        for flow in &event.terminating_flow_ids {
            assert_eq!(event.r#type, Some(SLICE_BEGIN));
            arrows.entry(*flow).or_default().1.push(end);
        }
    }
    let letters = run.events.iter().filter(|event| event.hop == Hop::Sent).filter_map(|event| event.letter);
    let mut letters = letters.map(|letter| u64::from(letter.get())).collect::<Vec<_>>();
    letters.sort_unstable();
    assert_eq!(arrows.keys().copied().collect::<Vec<_>>(), letters);
    for (letter, (from, to)) in arrows {
        let ([(sent, send)], [(started, turn)]) = (&from[..], &to[..]) else {
            panic!("letter {letter}: {from:?}, {to:?}")
        };
        assert!(sent <= started, "letter {letter} was run before it was sent");
        assert_eq!(*send, format!("send {turn}"));
    }
}

/// Mailboxes are never less than empty, as full as the run says, and empty in the end.
fn assert_mailboxes(run: &Run<()>, trace: &Trace) {
    let events = events(trace);
    let mut highest = BTreeMap::new();
    for track in tracks(trace).into_iter().filter(|track| track.counter.is_some()) {
        let events = &events[&track.uuid.expect("a track has a number")];
        assert!(events.iter().all(|(_, event)| event.r#type == Some(COUNTER)));
        let values = events.iter().map(|(_, event)| event.counter_value.expect("a value")).collect::<Vec<_>>();
        assert!(values.iter().all(|value| *value >= 0), "{values:?}");
        assert_eq!(values.last(), Some(&0), "{track:?}");
        highest.insert(track.name.clone(), values.into_iter().max());
    }
    let shelf = run.actors.iter().find(|actor| actor.name.is_some_and(|path| path.ends_with("Shelf")));
    let high_water = shelf.expect("it had letters").high_water as i64;
    assert!(high_water > 1);
    assert_eq!(highest[&Some("mailbox of Shelf".to_owned())], Some(high_water));
}

#[test]
fn a_simulated_run_is_what_its_trace_shows() {
    for seed in 0..8 {
        let run = readers_visit(Device::stepped(3).seed(seed).faults(Faults::some()));
        let trace = trace_of(&run);
        assert!(assert_nested(&run, &trace) > 1, "a turn that waits runs others inside");
        assert_arrows(&run, &trace);
        assert_mailboxes(&run, &trace);
    }
}

#[test]
fn a_run_on_threads_is_what_its_trace_shows() {
    for _ in 0..8 {
        let run = readers_visit(Device::threads(2));
        let trace = trace_of(&run);
        assert_nested(&run, &trace);
        assert_arrows(&run, &trace);
        assert_mailboxes(&run, &trace);
    }
}

#[test]
fn a_letter_that_is_never_run_is_no_arrow_and_stays_in_its_mailbox() {
    pub struct Lazy;

    #[actor]
    impl Lazy {
        pub fn work(&self) {}
    }

    #[actor]
    static LAZY: Actor<Lazy, Serial, 8> = Lazy;
    // Nobody but `main` could run them, and it does not wait.
    let run = Device::stepped(1).run(|| (0..3).for_each(|_| LAZY.work().tell().expect("there is room")));
    let trace = trace_of(&run);
    let all = events(&trace).into_values().flatten().map(|(_, event)| event).collect::<Vec<_>>();
    assert!(all.iter().all(|event| event.flow_ids.is_empty() && event.terminating_flow_ids.is_empty()), "{all:?}");
    assert_eq!(all.iter().filter(|event| event.name.as_deref() == Some("send Lazy::work")).count(), 3);
    assert_eq!(all.iter().filter_map(|event| event.counter_value).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn two_boards_share_a_trace_but_no_track_and_no_arrow() {
    let (first, second) = (readers_visit(Device::stepped(2).seed(5)), readers_visit(Device::stepped(2).seed(6)));
    let mut trace = TraceWriter::new(Vec::new());
    trace.board("left", &first).expect("memory can be written");
    trace.board("right", &second).expect("memory can be written");
    let trace = Trace::decode(&*trace.finish().expect("memory can be written")).expect("it can be read");
    let tracks = tracks(&trace);
    assert_eq!(tracks.iter().map(|track| track.uuid).collect::<BTreeSet<_>>().len(), tracks.len());
    let processes = tracks.iter().filter_map(|track| track.process.as_ref());
    let processes = processes.map(|process| (process.pid, process.process_name.as_deref())).collect::<Vec<_>>();
    assert_eq!(processes, [(Some(1), Some("left")), (Some(2), Some("right"))]);
    let sends = trace.packet.iter().filter_map(|packet| packet.track_event.as_ref()).flat_map(|event| &event.flow_ids);
    let arrows = sends.clone().collect::<BTreeSet<_>>();
    assert_eq!(arrows.len(), sends.count());
    assert_eq!(arrows.len() as u64, first.letters() + second.letters());
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    if let Some(file) = std::env::var_os(FILE) {
        let run = readers_visit(Device::stepped(3).seed(7).faults(Faults::some()));
        return perfetto::write(&run, file).expect("the file can be written");
    }
    let trace = |name: &str| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let this = std::env::current_exe().expect("a test runs from a file");
        let mut command = Command::new(this);
        let output = command.args(["--exact", "the_same_seed_gives_the_same_bytes"]).env(FILE, &file).output();
        assert!(output.expect("this very file can be run").status.success());
        std::fs::read(file).expect("the trace is there")
    };
    let first = trace("first.pftrace");
    assert!(first.len() > 1000);
    assert!(first == trace("second.pftrace"), "two runs with one seed differ");
}

#[test]
fn what_cannot_be_written_is_said() {
    let run = readers_visit(Device::stepped(1));
    let error = perfetto::write(&run, "no/such/folder/trace").expect_err("there is no such folder").to_string();
    assert!(error.starts_with("no/such/folder/trace: cannot be written: "), "{error}");
    let run = readers_visit(Device::stepped(1).keep_events(false));
    let error = perfetto::write(&run, "never-made").expect_err("there are no events").to_string();
    assert!(error.contains("keep_events"), "{error}");
    assert!(!Path::new("never-made").exists());
}
