//! An actor whose letters are closures, so that each model says in place what its letters do.
#![expect(unsafe_code, reason = "actors live as long as one run of a model, which the kernel takes for ever")]

use crate::port::become_core;
use flockwork::model::{enrol, visit};
use flockwork::port::MAX_CORES;
use flockwork::{
    Access, Body, Detached, Grant, Mail, Method, Methods, Monitor, Outcome, Permits, Post, Refused, Reply,
};
use loom::cell::UnsafeCell;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

/// The state: a value that loom watches, so that borrows that overlap are found.
pub(crate) struct Probe {
    watched: UnsafeCell<u32>,
}

// SAFETY: `watched` is read by readers and written by writers only, and loom reports every overlap.
unsafe impl Sync for Probe {}

impl Probe {
    /// What a reader does: the state is read during `meanwhile`.
    pub(crate) fn read<R>(&self, meanwhile: impl FnOnce() -> R) -> R {
        self.watched.with(|_| meanwhile())
    }

    /// What a writer does: the state is written during `meanwhile`.
    pub(crate) fn write<R>(&mut self, meanwhile: impl FnOnce() -> R) -> R {
        self.watched.with_mut(|_| meanwhile())
    }
}

/// A monitor that can have a probe as its actor's state.
pub(crate) trait ProbeMonitor: Monitor<Discipline: Permits<Probe>> {}

impl<M: Monitor<Discipline: Permits<Probe>>> ProbeMonitor for M {}

/// A letter.
pub(crate) enum Message {
    Read(Box<dyn FnOnce(&Probe) + Send>),
    Write(Box<dyn FnOnce(&mut Probe) + Send>),
}

impl Methods for Probe {
    type Message = Message;
    type Replies = Outcome<Value>;
    type Objects = ();
    type Front<B: ?Sized + 'static> = B;
    const METHODS: &'static [Method] = &[Method::new("read", Access::Reader), Method::new("write", Access::Writer)];

    fn method(message: &Message) -> u8 {
        match message {
            Message::Read(_) => 0,
            Message::Write(_) => 1,
        }
    }

    fn detach(_: &mut Message) -> Detached {
        Reply::<u32>::nobody().detach()
    }

    fn run(grant: Grant<'_, Self>, message: Message) {
        match message {
            Message::Read(method) => method(grant.reader()),
            Message::Write(method) => method(grant.writer()),
        }
    }
}

/// A lane for each core there can be.
pub(crate) const LANES: usize = MAX_CORES;

/// An actor of one run of a model: `N` letters and `P` promises in each of `L` lanes.
pub(crate) struct Actor<M: Monitor, const N: usize, const P: usize, const L: usize> {
    body: &'static Body<Probe, M, N, P, L>,
    mail: &'static Mail<Probe, M, N, P, L>,
}

impl<M: Monitor, const N: usize, const P: usize, const L: usize> Clone for Actor<M, N, P, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Monitor, const N: usize, const P: usize, const L: usize> Copy for Actor<M, N, P, L> {}

impl<M: ProbeMonitor, const N: usize, const P: usize, const L: usize> Actor<M, N, P, L> {
    /// An actor without a number, as a declaration makes it.
    pub(crate) fn unknown() -> Self {
        let mail: &'static _ = Box::leak(Box::new(Mail::new()));
        let body = Box::leak(Box::new(Body::new(mail, Probe { watched: UnsafeCell::new(0) })));
        Self { body, mail }
    }

    /// An actor that has its number already.
    pub(crate) fn new() -> Self {
        let actor = Self::unknown();
        enrol(actor.body);
        actor
    }

    pub(crate) fn body(self) -> &'static dyn Post<Probe> {
        self.body
    }

    pub(crate) fn write(self, method: impl FnOnce(&mut Probe) + Send + 'static) -> Result<(), Refused> {
        flockwork::model::put(self.body, Message::Write(Box::new(method)))
    }

    pub(crate) fn read(self, method: impl FnOnce(&Probe) + Send + 'static) -> Result<(), Refused> {
        flockwork::model::put(self.body, Message::Read(Box::new(method)))
    }

    /// What a core does that finds the actor ready.
    pub(crate) fn visit(self, core: u8) -> bool {
        visit(self.body, core)
    }

    /// What is left of a run is done, on this core.
    pub(crate) fn finish(self, core: u8) {
        become_core(core);
        while self.visit(core) {}
    }

    /// Letters that have not left.
    pub(crate) fn letters(self) -> usize {
        self.body.report().letters
    }

    pub(crate) fn refused_grants(self) -> u32 {
        self.body.report().refused_grants
    }

    /// Frees the actor, at the end of a run. All cores have ended.
    pub(crate) fn end(self) {
        // SAFETY: made by `Box::leak` in `unknown`; nothing uses the actor any more.
        unsafe {
            drop(Box::from_raw(std::ptr::from_ref(self.body).cast_mut()));
            drop(Box::from_raw(std::ptr::from_ref(self.mail).cast_mut()));
        }
    }
}

/// What happened, in the order it happened. Loom does not know of it, so it orders nothing.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u32>>>);

impl Log {
    pub(crate) fn add(&self, event: u32) {
        self.0.lock().expect("no panic while it is held").push(event);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().expect("no panic while it is held").len()
    }

    pub(crate) fn taken(&self) -> Vec<u32> {
        std::mem::take(&mut self.0.lock().expect("no panic while it is held"))
    }
}

/// An answer: a number, and a count of those that are alive.
pub(crate) struct Value {
    number: u32,
    alive: Alive,
}

/// How many values are alive. Loom does not know of it, so it orders nothing.
#[derive(Clone, Default)]
pub(crate) struct Alive(Arc<AtomicI32>);

impl Alive {
    pub(crate) fn alive(&self) -> i32 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Value {
    pub(crate) fn counter() -> Alive {
        Alive::default()
    }

    pub(crate) fn new(number: u32, alive: &Alive) -> Self {
        alive.0.fetch_add(1, Ordering::Relaxed);
        Self { number, alive: alive.clone() }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.alive.0.fetch_sub(1, Ordering::Relaxed);
    }
}
