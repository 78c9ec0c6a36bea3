//! The monitor protocol: sends against leaves against sends. Every letter is scheduled (PAM-G1), run and left (PAM-G5) exactly
//! once and none is lost; `schedule` and `leave` never run at once (PAM-G2), and `schedule` never sees an empty inbox
//! (PAM-G3). A worker never waits for a monitor (PAM-13): where it could not go on, the models would not end.

use crate::harness::{Extent, core, join, model};
use crate::port::become_core;
use crate::probe::{Actor, LANES, Log, ProbeMonitor};
use flockwork::model::visit_next;
use flockwork::{DropOldest, Inbox, Letter, Monitor, Mutex, Parallel, ReadersWriter, Serial};
use loom::cell::UnsafeCell;

/// Where the watched monitor notes that it decides, for loom to see if it does so twice at once.
struct Deciding(UnsafeCell<()>);

#[expect(unsafe_code, reason = "a place to race for")]
// SAFETY: it is what loom checks.
unsafe impl Sync for Deciding {}

loom::lazy_static! {
    static ref DECIDING: Deciding = Deciding(UnsafeCell::new(()));
}

/// `ReadersWriter`, watched: it decides alone, and never about an empty inbox.
struct Watched(ReadersWriter);

impl Monitor for Watched {
    type Discipline = Parallel;
    const NEW: Self = Self(ReadersWriter::NEW);

    fn schedule(&mut self, inbox: Inbox<'_>) {
        assert!(!inbox.is_empty(), "`schedule` sees a letter");
        DECIDING.0.with_mut(|_| self.0.schedule(inbox));
    }

    fn leave(&mut self, letter: Letter<'_>) {
        DECIDING.0.with_mut(|_| self.0.leave(letter));
    }
}

/// What kind of letter a core sends.
#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
}
use Kind::{Read, Write};

/// Each core sends its letters and then visits what it finds ready. In the end, every letter has run and left.
fn nothing_is_lost<M: ProbeMonitor, const N: usize>(name: &str, extent: Extent, scene: &'static [&'static [Kind]]) {
    model(name, scene.len() as u8, extent, move || {
        let _ = &*DECIDING;
        let (actor, log) = (Actor::<M, N, 1, LANES>::new(), Log::default());
        let mut number = 0;
        for (place, &letters) in scene.iter().enumerate() {
            let log = log.clone();
            let first = number;
            number += letters.len() as u32;
            core(place as u8, move || {
                for (number, letter) in (first..).zip(letters) {
                    let log = log.clone();
                    let sent = match letter {
                        Read => actor.read(move |state| state.read(|| log.add(number))),
                        Write => actor.write(move |state| state.write(|| log.add(number))),
                    };
                    sent.expect("there is room");
                }
                // A core without letters of its own comes to help.
                if letters.is_empty() {
                    actor.visit(place as u8);
                }
                while visit_next(place as u8) {}
            });
        }
        join();
        become_core(0);
        let mut ran = log.taken();
        ran.sort_unstable();
        assert_eq!(ran, Vec::from_iter(0..number), "every letter has run, once");
        assert_eq!(actor.letters(), 0, "every letter has left");
        assert_eq!(actor.refused_grants(), 0, "a good monitor is not refused");
        actor.end();
    });
}

#[test]
fn two_cores_without_a_monitor() {
    nothing_is_lost::<Serial, 1>("two cores, no monitor", Extent::Exhaustive, &[&[Write], &[Write]]);
}

#[test]
#[ignore = "takes half a minute"]
fn three_cores_without_a_monitor() {
    nothing_is_lost::<Serial, 1>("three cores, no monitor", Extent::Bounded(2), THREE_WRITERS);
}

#[test]
#[ignore = "takes many minutes"]
fn three_cores_without_a_monitor_longer() {
    nothing_is_lost::<Serial, 1>("three cores, no monitor", Extent::Bounded(3), THREE_WRITERS);
}

const THREE_WRITERS: &[&[Kind]] = &[&[Write], &[Write], &[Write]];

#[test]
fn a_helper_without_a_monitor() {
    nothing_is_lost::<Serial, 1>("two cores and a helper, no monitor", Extent::Bounded(3), &[&[Write], &[Write], &[]]);
}

#[test]
fn two_cores_with_a_mutex() {
    nothing_is_lost::<Mutex, 1>("two cores, mutex", Extent::Exhaustive, &[&[Write], &[Write]]);
}

#[test]
fn two_readers() {
    nothing_is_lost::<Watched, 1>("two readers", Extent::Bounded(4), &[&[Read], &[Read]]);
}

#[test]
#[ignore = "takes half a minute"]
fn two_readers_longer() {
    nothing_is_lost::<Watched, 1>("two readers", Extent::Bounded(5), &[&[Read], &[Read]]);
}

#[test]
fn a_reader_and_a_writer() {
    nothing_is_lost::<Watched, 1>("a reader and a writer", Extent::Bounded(5), &[&[Read], &[Write]]);
}

#[test]
fn readers_around_a_writer() {
    nothing_is_lost::<Watched, 2>("readers around a writer", Extent::Bounded(3), &[&[Read, Write], &[Read]]);
}

#[test]
#[ignore = "takes a minute"]
fn readers_around_a_writer_longer() {
    nothing_is_lost::<Watched, 2>("readers around a writer", Extent::Bounded(4), &[&[Read, Write], &[Read]]);
}

#[test]
#[ignore = "takes a minute"]
fn three_cores_with_a_monitor() {
    nothing_is_lost::<Watched, 1>("three cores, readers and a writer", Extent::Bounded(2), READERS_AND_A_WRITER);
}

#[test]
#[ignore = "takes many minutes"]
fn three_cores_with_a_monitor_longer() {
    nothing_is_lost::<Watched, 1>("three cores, readers and a writer", Extent::Bounded(3), READERS_AND_A_WRITER);
}

const READERS_AND_A_WRITER: &[&[Kind]] = &[&[Read], &[Write], &[Read]];

#[test]
fn a_helper_with_a_monitor() {
    nothing_is_lost::<Watched, 1>("a reader, a writer and a helper", Extent::Bounded(2), A_HELPER);
}

#[test]
#[ignore = "takes many minutes"]
fn a_helper_with_a_monitor_longer() {
    nothing_is_lost::<Watched, 1>("a reader, a writer and a helper", Extent::Bounded(3), A_HELPER);
}

const A_HELPER: &[&[Kind]] = &[&[Read], &[Write], &[]];

/// A reader that is run by a standing grant, as a guest of the gate, keeps a writer out, and goes without the lock: whoever waits for that
/// hears of it.
#[test]
fn a_guest_and_a_writer() {
    nothing_is_lost::<ReadersWriter, 1>("a guest and a writer", Extent::Bounded(5), &[&[Read], &[Write]]);
}

#[test]
fn two_guests() {
    nothing_is_lost::<ReadersWriter, 1>("two guests", Extent::Bounded(5), &[&[Read], &[Read]]);
}

/// Guests come and go, one after the other, and each time the writer may be waiting.
#[test]
fn guests_around_a_writer() {
    nothing_is_lost::<ReadersWriter, 2>("guests around a writer", Extent::Bounded(3), &[&[Read, Write], &[Read]]);
}

#[test]
#[ignore = "takes a minute"]
fn guests_around_a_writer_longer() {
    nothing_is_lost::<ReadersWriter, 2>("guests around a writer", Extent::Bounded(4), &[&[Read, Write], &[Read]]);
}

#[test]
fn two_guests_and_a_writer_on_three_cores() {
    nothing_is_lost::<ReadersWriter, 1>("two guests and a writer", Extent::Bounded(2), READERS_AND_A_WRITER);
}

/// Three readers: whoever finds them takes two at once, and the other core may take one of these back.
#[test]
fn a_share_is_taken_back() {
    nothing_is_lost::<ReadersWriter, 4>("a share, taken back", Extent::Bounded(3), &[&[Read, Read, Read], &[]]);
}

#[test]
#[ignore = "takes a minute"]
fn a_share_is_taken_back_longer() {
    nothing_is_lost::<Watched, 4>("a share, taken back", Extent::Bounded(4), &[&[Read, Read, Read], &[]]);
}

/// The same before a writer, which must see that all have ended, whoever hears it.
#[test]
fn a_share_before_a_writer() {
    nothing_is_lost::<Watched, 4>("a share before a writer", Extent::Bounded(2), &[&[Read, Read, Read], &[Write]]);
}

#[test]
#[ignore = "takes half a minute"]
fn a_share_before_a_writer_longer() {
    nothing_is_lost::<Watched, 4>("a share before a writer", Extent::Bounded(3), &[&[Read, Read, Read], &[Write]]);
}

/// A letter that says what became of it.
struct Witness(u32, Log);

impl Drop for Witness {
    fn drop(&mut self) {
        self.1.add(self.0);
    }
}

/// A full lane whose oldest letter gives way, while another core visits: every letter is run or dropped, once.
#[test]
fn oldest_letter_gives_way() {
    model("an oldest letter that gives way", 2, Extent::Bounded(5), || {
        let (actor, log) = (Actor::<DropOldest<Mutex>, 1, 1, LANES>::new(), Log::default());
        let ended = log.clone();
        core(0, move || {
            for number in [0, 1] {
                let witness = Witness(number, ended.clone());
                actor.write(move |state| state.write(|| drop(witness))).expect("there is room in the end");
            }
            while visit_next(0) {}
        });
        core(1, move || {
            actor.visit(1);
        });
        join();
        become_core(0);
        let mut ended = log.taken();
        ended.sort_unstable();
        assert_eq!((ended, actor.letters()), (vec![0, 1], 0), "every letter has run or was dropped");
        actor.end();
    });
}
