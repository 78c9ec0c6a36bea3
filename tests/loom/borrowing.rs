//! The borrow gate under two workers: whatever the monitor grants, references to the state never alias (SAFE-1), nor do
//! those to objects (SAFE-2).
//!
//! The state and the objects hold cells that loom watches; the monitor here grants everything it sees. That a letter
//! granted behind a writer would wait for it anyway (writers run under the lock, in the order they were granted) is no
//! excuse: the gate refuses it.

use crate::harness::{Extent, core, join, model};
use crate::port::become_core;
use crate::probe::{Actor, LANES, Log};
use flockwork::model::{enrol, put, visit_next};
use flockwork::{
    Access, Body, Claims, Detached, Grant, Id, Inbox, Letter, Mail, Method, Methods, Monitor, Parallel, Readers, Reply,
    Several, Unrunnable, Writers, dispatch,
};
use loom::cell::UnsafeCell;

/// Grants every letter, whatever runs. It only notes which grants the gate let through.
struct Careless {
    readers: usize,
    writers: usize,
}

impl Monitor for Careless {
    type Discipline = Parallel;
    const NEW: Self = Self { readers: 0, writers: 0 };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        self.writers += inbox.execute_all(Writers);
        self.readers += inbox.execute_all(Readers);
        assert!(self.writers == 0 || (self.writers == 1 && self.readers == 0), "a writer is alone");
    }

    fn leave(&mut self, letter: Letter<'_>) {
        dispatch!(letter;
            Readers => self.readers -= 1,
            Writers => self.writers -= 1,
        );
    }
}

/// What kind of letter a core sends.
#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
}
use Kind::{Read, Write};

fn never_alias(name: &str, extent: Extent, scene: &'static [&'static [Kind]]) {
    model(name, scene.len() as u8, extent, move || {
        let (actor, log) = (Actor::<Careless, 2, 1, LANES>::new(), Log::default());
        let letters: usize = scene.iter().map(|letters| letters.len()).sum();
        for (place, &letters) in scene.iter().enumerate() {
            let log = log.clone();
            core(place as u8, move || {
                for letter in letters {
                    let log = log.clone();
                    let sent = match letter {
                        Read => actor.read(move |state| state.read(|| log.add(0))),
                        Write => actor.write(move |state| state.write(|| log.add(0))),
                    };
                    sent.expect("there is room");
                }
                while visit_next(place as u8) {}
            });
        }
        join();
        become_core(0);
        assert_eq!((log.len(), actor.letters()), (letters, 0), "every letter has run and left");
        actor.end();
    });
}

#[test]
fn a_reader_and_a_writer() {
    never_alias("careless: a reader, a writer", Extent::Bounded(5), &[&[Read], &[Write]]);
}

#[test]
fn two_readers_and_a_writer() {
    never_alias("careless: two readers, a writer", Extent::Bounded(3), &[&[Read, Write], &[Read]]);
}

#[test]
#[ignore = "takes a minute"]
fn two_readers_and_a_writer_longer() {
    never_alias("careless: two readers, a writer", Extent::Bounded(4), &[&[Read, Write], &[Read]]);
}

/// An actor with two objects, and letters that need one of them.
struct Shelf;

/// An object that loom watches.
struct Book(UnsafeCell<()>);

#[expect(unsafe_code, reason = "a place to race for")]
// SAFETY: it is what loom checks.
unsafe impl Sync for Book {}

/// Which object, and whether it is written.
struct Take(u8, Kind);

impl Methods for Shelf {
    type Message = Take;
    type Replies = ();
    type Objects = Several<Book, 2>;
    type Front<B: ?Sized + 'static> = B;
    const METHODS: &'static [Method] = &[Method::new("take", Access::Objects)];

    fn method(_: &Take) -> u8 {
        0
    }

    fn claims(message: &Take) -> Result<Claims, Unrunnable> {
        match *message {
            Take(book, Read) => Claims::NONE.shared::<Self::Objects>(Id::new(book)),
            Take(book, Write) => Claims::NONE.exclusive::<Self::Objects>(Id::new(book)),
        }
    }

    fn detach(_: &mut Take) -> Detached {
        Reply::<u32>::nobody().detach()
    }

    fn run(grant: Grant<'_, Self>, Take(book, kind): Take) {
        let (_, mut picked) = grant.objects();
        match kind {
            Read => picked.shared(Id::new(book)).0.with(|_| ()),
            Write => picked.exclusive(Id::new(book)).0.with_mut(|_| ()),
        }
    }
}

fn objects_never_alias(name: &str, extent: Extent, scene: [&'static [(u8, Kind)]; 2]) {
    model(name, 2, extent, move || {
        let mail: &'static Mail<Shelf, Careless, 2, 1, LANES> = Box::leak(Box::new(Mail::new()));
        let books = Several::new([(); 2].map(|()| Book(UnsafeCell::new(()))));
        let body: &'static Body<_, _, 2, 1, LANES> = Box::leak(Box::new(Body::new(mail, (Shelf, books))));
        enrol(body);
        for (place, letters) in scene.into_iter().enumerate() {
            core(place as u8, move || {
                for &(book, kind) in letters {
                    put(body, Take(book, kind)).expect("there is room");
                }
                while visit_next(place as u8) {}
            });
        }
        join();
        become_core(0);
        assert_eq!(body.report().letters, 0, "every letter has run and left");
    });
}

#[test]
fn one_object() {
    objects_never_alias("careless: one object", Extent::Bounded(4), [&[(0, Read)], &[(0, Write)]]);
}

#[test]
fn two_objects() {
    objects_never_alias("careless: two objects", Extent::Bounded(3), [&[(0, Write), (1, Write)], &[(1, Read)]]);
}
