//! Letters on their way: sizes, full mailboxes, order, interrupts, pinned actors, wake-ups, and letters that could never run.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Mutex as Lock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use flockwork::{
    Actor, Any, Body, Coalesce, Death, DropNewest, DropOldest, Failure, Id, Inbox, LANES, Letter, Mail, Monitor, Mutex,
    OneAtATime, Parallel, Pinned, ReadersWriter, Ref, Refused, Resources, Serial, Several, Unrunnable, actor,
    on_dead_letter,
};
use flockwork_host_sim as sim;
use support::{core, device, device_with_interrupts, insist, insist_outside, lock, require, run_until, spin_until};

// ---- KER-1 ----

/// Checks that the letters of each sender arrive in order, each once.
pub struct Ledger {
    next: [u32; 16],
}

impl Ledger {
    const fn new() -> Self {
        Self { next: [0; 16] }
    }
}

#[actor]
impl Ledger {
    pub fn note(&mut self, sender: usize, number: u32) {
        require(self.next[sender] == number, "KER-3: letters of one sender arrive in order, each once");
        self.next[sender] = number + 1;
    }
    pub fn noted(&mut self) -> u32 {
        self.next.iter().sum()
    }
    pub fn clear(&mut self) {
        self.next = [0; 16];
    }
}

/// KER-1: what an actor takes is a compile-time constant, and grows with its capacities by exactly their elements.
#[test]
fn ram_is_known_before_flashing_ker_1() {
    const fn mail<const N: usize, const P: usize, const L: usize>() -> usize {
        size_of::<Mail<Ledger, ReadersWriter, N, P, L>>()
    }
    const fn body<const N: usize>() -> usize {
        size_of::<Body<Ledger, ReadersWriter, N, 4, LANES>>()
    }
    const SMALL: usize = mail::<8, 4, 1>();
    const { assert!(SMALL < 1024 && body::<8>() < 256) };
    // Lanes are padded to cache lines on a host, so capacities are compared in steps that fill lines.
    const LETTERS: usize = mail::<128, 4, 1>() - mail::<64, 4, 1>();
    assert_eq!(mail::<256, 4, 1>() - mail::<128, 4, 1>(), 2 * LETTERS, "letters cost the same each");
    const { assert!(LETTERS / 64 <= 72, "a letter takes more bytes than that") };
    const LANES_8: usize = mail::<64, 4, 9>() - mail::<64, 4, 1>();
    assert_eq!(mail::<64, 4, 25>() - mail::<64, 4, 1>(), 3 * LANES_8, "lanes cost the same each");
    assert_eq!(body::<8>(), body::<4096>(), "the state lies apart from the letters");
    #[actor]
    static LEDGER: Actor<Ledger, ReadersWriter, 8> = Ledger::new();
    assert_eq!(size_of_val(&LEDGER), body::<8>(), "and an actor is nothing but its body");
    assert_eq!(flockwork::Report::of(&LEDGER).capacity, 8);
}

// ---- KER-2 ----

/// Keeps what it is given.
pub struct Shelf {
    books: Vec<String>,
}

#[actor]
impl Shelf {
    pub fn put(&mut self, book: String) {
        self.books.push(book);
    }
    pub fn count(&mut self) -> usize {
        self.books.len()
    }
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.books)
    }
}

/// KER-2: a full mailbox gives the message back as it was, a retry works, and nothing is lost; under every kind of monitor.
#[test]
fn a_full_mailbox_gives_the_message_back_ker_2() {
    #[actor]
    static ALONE: Actor<Shelf, Serial, 4> = Shelf { books: Vec::new() };
    #[actor]
    static MUTEX: Actor<Shelf, Mutex, 4> = Shelf { books: Vec::new() };
    #[actor]
    static PARALLEL: Actor<Shelf, ReadersWriter, 4> = Shelf { books: Vec::new() };
    for shelf in [&ALONE as Ref<Shelf>, &MUTEX, &PARALLEL] {
        // One core: a second one might make room at any moment.
        device(1, || {
            (0..4).for_each(|book| shelf.put(format!("book {book}")).tell().unwrap());
            let rejected = shelf.put("book 4".to_owned()).tell().unwrap_err();
            assert_eq!(rejected.why(), Refused::Full);
            let rejected = rejected.retry().unwrap_err();
            assert_eq!(rejected.why(), Refused::Full, "still");
            let ShelfMessage::Put(book, _) = rejected.into_message() else { panic!("another message came back") };
            assert_eq!(book, "book 4");

            let mut kept = Some(shelf.put(book).tell().unwrap_err());
            run_until(|| {
                kept = kept.take().and_then(|rejected| rejected.retry().err());
                kept.is_none()
            });
            let books = shelf.take().get().unwrap();
            assert_eq!(books, ["book 0", "book 1", "book 2", "book 3", "book 4"]);
        });
    }
}

/// KER-2: an `ask` without room comes back as well, and its promise is kept for the retry.
#[test]
fn an_ask_without_room_can_be_retried_ker_2() {
    #[actor]
    static SHELF: Actor<Shelf, Serial, 2> = Shelf { books: Vec::new() };
    device(1, || {
        SHELF.put("a".to_owned()).tell().unwrap();
        SHELF.put("b".to_owned()).tell().unwrap();
        let unasked = SHELF.count().ask().unwrap_err();
        assert_eq!(unasked.why(), Refused::Full);
        let mut unasked = Some(unasked);
        let mut promise = None;
        run_until(|| {
            match unasked.take().expect("it comes back each time").retry() {
                Ok(asked) => promise = Some(asked),
                Err(again) => unasked = Some(again),
            }
            promise.is_some()
        });
        use flockwork::Eventually as _;
        assert_eq!(promise.expect("asked").get(), Ok(2));
        assert_eq!(SHELF.take().get().unwrap(), ["a", "b"], "`get` waits for room by itself");
    });
}

/// KER-2: a `tell` from a thread that is no core never waits, however busy the cores are.
#[test]
fn a_tell_from_outside_never_waits_ker_2() {
    #[actor]
    static LEDGER: Actor<Ledger, Serial, 64> = Ledger::new();
    #[actor]
    static PINNED: Actor<Ledger, Pinned<0>, 64> = Ledger::new();
    device(1, || {
        // Core 0 is here and runs no letters meanwhile.
        let sender = thread::spawn(|| {
            for number in 0..64 {
                LEDGER.note(0, number).tell().unwrap();
                PINNED.note(0, number).tell().unwrap();
            }
            assert_eq!(LEDGER.note(0, 64).tell().unwrap_err().why(), Refused::Full);
        });
        sender.join().unwrap();
        assert_eq!(insist(|| LEDGER.noted().ask().map(flockwork::Eventually::get)), Ok(64));
        assert_eq!(insist(|| PINNED.noted().ask().map(flockwork::Eventually::get)), Ok(64));
    });
}

/// KER-2: a letter from outside does not wait behind a busy core while another is free.
#[test]
fn a_letter_from_outside_finds_the_free_core_ker_2() {
    static BUSY: AtomicBool = AtomicBool::new(false);
    static FREE: AtomicBool = AtomicBool::new(false);
    pub struct Stubborn;
    #[actor]
    impl Stubborn {
        /// Ends only when the other core ran a letter.
        pub fn wait(&mut self) {
            BUSY.store(true, SeqCst);
            spin_until(|| FREE.load(SeqCst));
        }
        pub fn free(&mut self) {
            FREE.store(true, SeqCst);
        }
    }
    #[actor]
    static STUBBORN: Actor<Stubborn, Pinned<0>, 2> = Stubborn;
    #[actor]
    static HELPER: Actor<Stubborn, Serial, 2> = Stubborn;
    for round in 0..20 {
        BUSY.store(false, SeqCst);
        FREE.store(false, SeqCst);
        device(2, || {
            let sender = thread::spawn(move || {
                spin_until(|| BUSY.load(SeqCst));
                // Sometimes the other core is still awake, sometimes it sleeps.
                thread::sleep(Duration::from_micros(50 * round));
                HELPER.free().tell().unwrap();
            });
            STUBBORN.wait().get().unwrap();
            sender.join().unwrap();
        });
    }
}

static SENT: AtomicU32 = AtomicU32::new(0);

#[embassy_executor::task(pool_size = 3)]
async fn send_patiently(to: Ref<Ledger>, sender: usize, letters: u32) {
    for number in 0..letters {
        to.note(sender, number).send().await.unwrap();
        SENT.fetch_add(1, SeqCst);
    }
}

/// KER-2: `send().await` waits for room: three tasks share a mailbox of one place, and nothing is lost.
#[test]
fn send_await_waits_for_room_ker_2() {
    #[actor]
    static ALONE: Actor<Ledger, Serial, 1> = Ledger::new();
    #[actor]
    static MUTEX: Actor<Ledger, Mutex, 1> = Ledger::new();
    #[actor]
    static OF_CORE_1: Actor<Ledger, Pinned<1>, 1> = Ledger::new();
    #[actor]
    static ONE_LANE: Actor<Ledger, Serial, 1, 2, 1> = Ledger::new();
    for (ledger, cores) in [
        (&ALONE as Ref<Ledger>, 1),
        (&ALONE, 2),
        (&MUTEX, 1),
        (&MUTEX, 2),
        (&OF_CORE_1, 2),
        (&ONE_LANE, 1),
        (&ONE_LANE, 2),
    ] {
        SENT.store(0, SeqCst);
        device(cores, || {
            let spawner = flockwork::worker::spawner();
            for sender in 0..3 {
                spawner.spawn(send_patiently(ledger, sender, 200).unwrap());
            }
            run_until(|| SENT.load(SeqCst) == 600);
            assert_eq!(ledger.noted().get(), Ok(600));
            ledger.clear().get().unwrap();
        });
    }
}

/// KER-2: the future of a `send` that is dropped while it waits sends nothing.
#[test]
fn a_send_that_is_cancelled_sends_nothing_ker_2() {
    static DONE: AtomicBool = AtomicBool::new(false);
    #[embassy_executor::task]
    async fn cancel(to: Ref<Ledger>) {
        to.note(0, 0).tell().unwrap();
        {
            let mut waiting = std::pin::pin!(to.note(0, 7).send());
            let first = std::future::poll_fn(|context| std::task::Poll::Ready(waiting.as_mut().poll(context))).await;
            require(first.is_pending(), "there is no room");
        }
        DONE.store(true, SeqCst);
    }
    #[actor]
    static LEDGER: Actor<Ledger, Serial, 1> = Ledger::new();
    device(1, || {
        flockwork::worker::spawner().spawn(cancel(&LEDGER).unwrap());
        run_until(|| DONE.load(SeqCst));
        assert_eq!(LEDGER.noted().get(), Ok(1));
    });
}

/// Waits in its turn for an answer that comes only after somebody else got room in its mailbox.
pub struct Host {
    guests: u32,
}

/// Keeps the question until somebody rings.
pub struct Door {
    waiting: Option<flockwork::Reply<()>>,
}

#[actor]
impl Door {
    pub fn ringing<'t>(&mut self, token: flockwork::Token<'t, ()>) -> flockwork::Answered<'t> {
        token.later(|reply| self.waiting = Some(reply))
    }
    pub fn ring(&mut self) {
        self.waiting.take().expect("somebody listens").answer(());
    }
}

#[actor]
static DOOR: Actor<Door, Serial, 2> = Door { waiting: None };

#[actor]
impl Host {
    pub fn listen(&mut self) {
        require(DOOR.ringing().get().is_ok(), "the guest rings");
    }
    pub fn greet(&mut self) {
        self.guests += 1;
    }
    pub fn guests(&mut self) -> u32 {
        self.guests
    }
}

/// KER-2, KER-7: a turn that waits has freed its letter's place, and who waits for that place hears of it then, not when the
/// turn has ended: the answer may depend on it.
#[test]
fn a_turn_that_waits_tells_of_its_room_ker_2_7() {
    #[actor]
    static HOST: Actor<Host, Serial, 1> = Host { guests: 0 };
    static CAME: AtomicBool = AtomicBool::new(false);
    #[embassy_executor::task]
    async fn guest() {
        HOST.listen().tell().unwrap();
        HOST.greet().send().await.unwrap();
        DOOR.ring().tell().unwrap();
        CAME.store(true, SeqCst);
    }
    device(1, || {
        flockwork::worker::spawner().spawn(guest().unwrap());
        run_until(|| CAME.load(SeqCst));
        assert_eq!(HOST.guests().get(), Ok(1));
    });
}

/// KER-2: declared overflow policies count every drop and show it to the dead-letter hook.
#[test]
fn overflow_policies_count_and_show_what_they_drop_ker_2() {
    static DEAD: Lock<Vec<(String, Death)>> = Lock::new(Vec::new());
    on_dead_letter(|letter| {
        let Some(ShelfMessage::Put(book, _)) = letter.message.downcast_ref() else { return };
        lock(&DEAD).push((book.clone(), letter.death));
    });
    #[actor]
    static NEWEST: Actor<Shelf, DropNewest<Serial>, 2> = Shelf { books: Vec::new() };
    #[actor]
    static OLDEST: Actor<Shelf, DropOldest<Serial>, 2> = Shelf { books: Vec::new() };
    #[actor]
    static OLDEST_MONITORED: Actor<Shelf, DropOldest<Mutex>, 2> = Shelf { books: Vec::new() };
    #[actor]
    static COALESCE: Actor<Shelf, Coalesce<Mutex>, 2> = Shelf { books: Vec::new() };
    let put = |shelf: Ref<Shelf>| {
        ["a", "b", "c", "d"].map(|book| shelf.put(book.to_owned()).tell().map_err(|rejected| rejected.why()))
    };
    // One core: a second one might make room at any moment.
    device(1, || {
        assert_eq!(put(&NEWEST), [Ok(()); 4]);
        // Not `get` at once: its own letter would be dropped as well.
        run_until(|| flockwork::Report::of(&NEWEST).letters == 0);
        assert_eq!(NEWEST.take().get().unwrap(), ["a", "b"]);
        assert_eq!(flockwork::Report::of(&NEWEST).dropped, 2);
        let dead = std::mem::take(&mut *lock(&DEAD));
        assert_eq!(dead, [("c".to_owned(), Death::NoRoom), ("d".to_owned(), Death::NoRoom)]);

        for (shelf, dropped) in [
            (&OLDEST as Ref<Shelf>, &OLDEST.body as &dyn flockwork::Post<Shelf>),
            (&OLDEST_MONITORED, &OLDEST_MONITORED.body),
        ] {
            assert_eq!(put(shelf), [Ok(()); 4]);
            run_until(|| dropped.report().letters == 0);
            assert_eq!(shelf.take().get().unwrap(), ["c", "d"]);
            assert_eq!(dropped.report().dropped, 2);
            let dead = std::mem::take(&mut *lock(&DEAD));
            assert_eq!(dead, [("a".to_owned(), Death::Replaced), ("b".to_owned(), Death::Replaced)]);
        }

        // Letters of one method have one key, unless an actor says otherwise.
        COALESCE.put("a".to_owned()).tell().unwrap();
        COALESCE.count().tell().unwrap();
        COALESCE.put("b".to_owned()).tell().unwrap();
        let dead = std::mem::take(&mut *lock(&DEAD));
        assert_eq!(dead, [("a".to_owned(), Death::Replaced)]);
        assert_eq!(COALESCE.take().tell().unwrap_err().why(), Refused::Full, "no letter with its key waits");
        run_until(|| flockwork::Report::of(&COALESCE).letters == 0);
        assert_eq!(COALESCE.take().get().unwrap(), ["b"]);
        assert_eq!(flockwork::Report::of(&COALESCE).dropped, 1);
    });
}

// ---- KER-3 ----

/// Sends numbers to a ledger, in turns on whatever core it gets.
pub struct Source {
    to: Ref<Ledger>,
    sender: usize,
    next: u32,
}

#[actor]
impl Source {
    /// Goes on with itself.
    pub fn send_all(&mut self, me: Ref<Source>, end: u32) {
        for _ in 0..5 {
            if self.next < end && self.to.note(self.sender, self.next).tell().is_ok() {
                self.next += 1;
            }
        }
        if self.next < end {
            require(me.send_all(me, end).tell().is_ok(), "it has one letter to itself");
        }
    }
    /// Goes on with the drivers, from core to core.
    pub fn send_one(&mut self, drivers: &'static [Ref<Driver>], end: u32) {
        if self.next < end && self.to.note(self.sender, self.next).tell().is_ok() {
            self.next += 1;
        }
        if self.next < end {
            let driver = drivers[self.next as usize % drivers.len()];
            require(driver.drive(drivers, end).tell().is_ok(), "there is one token");
        }
    }
    pub fn restart(&mut self) {
        self.next = 0;
    }
}

/// Lives on one core and sends the source its next letter from there.
pub struct Driver {
    source: Ref<Source>,
}

#[actor]
impl Driver {
    pub fn drive(&mut self, drivers: &'static [Ref<Driver>], end: u32) {
        require(self.source.send_one(drivers, end).tell().is_ok(), "there is one token");
    }
}

#[actor]
static SERIAL_LEDGER: Actor<Ledger, Serial, 4> = Ledger::new();
#[actor]
static MUTEX_LEDGER: Actor<Ledger, Mutex, 4> = Ledger::new();
#[actor]
static PARALLEL_LEDGER: Actor<Ledger, ReadersWriter, 4> = Ledger::new();
#[actor]
static ONE_LANE_LEDGER: Actor<Ledger, Serial, 8, 4, 1> = Ledger::new();

macro_rules! sources {
    ($ledger:expr) => {{
        #[actor]
        static A: Actor<Source, Serial, 2> = Source { to: &$ledger, sender: 0, next: 0 };
        #[actor]
        static B: Actor<Source, Mutex, 2> = Source { to: &$ledger, sender: 1, next: 0 };
        #[actor]
        static C: Actor<Source, ReadersWriter, 2> = Source { to: &$ledger, sender: 2, next: 0 };
        #[actor]
        static MOVING: Actor<Source, Serial, 2> = Source { to: &$ledger, sender: 3, next: 0 };
        #[actor]
        static ON_0: Actor<Driver, Pinned<0>, 2> = Driver { source: &MOVING };
        #[actor]
        static ON_1: Actor<Driver, Pinned<1>, 2> = Driver { source: &MOVING };
        static TWO: [Ref<Driver>; 2] = [&ON_0, &ON_1];
        let ledger: Ref<Ledger> = &$ledger;
        (ledger, [&A as Ref<Source>, &B, &C], &MOVING as Ref<Source>, &TWO as &'static [Ref<Driver>])
    }};
}

/// KER-3: letters of one sender arrive in order, each once: from actors on every core, from one that moves between cores,
/// from `main` and from two threads that are no core; into small mailboxes; with more cores than lanes, too.
#[test]
fn fifo_per_sender_ker_3() {
    const EACH: u32 = 1000;
    for (ledger, sources, moving, drivers) in
        [sources!(SERIAL_LEDGER), sources!(MUTEX_LEDGER), sources!(PARALLEL_LEDGER), sources!(ONE_LANE_LEDGER)]
    {
        for cores in [1, 2, 4, 6] {
            let drivers = &drivers[..drivers.len().min(cores)];
            device(cores, || {
                for source in sources {
                    source.send_all(source, EACH).tell().unwrap();
                }
                moving.send_one(drivers, EACH).tell().unwrap();
                let outside: Vec<_> = (4..6)
                    .map(|sender| {
                        thread::spawn(move || {
                            (0..EACH).for_each(|number| insist_outside(|| ledger.note(sender, number).tell()));
                        })
                    })
                    .collect();
                for number in 0..EACH {
                    insist(|| ledger.note(6, number).tell());
                }
                run_until(|| ledger.noted().get() == Ok(7 * EACH));
                outside.into_iter().for_each(|thread| thread.join().unwrap());
                ledger.clear().get().unwrap();
                for source in sources.into_iter().chain([moving]) {
                    source.restart().get().unwrap();
                }
            });
        }
    }
}

/// Hears of things directly and by a detour.
pub struct Witness {
    direct: u32,
    detours: u32,
}

#[actor]
impl Witness {
    pub fn direct(&mut self, number: u32) {
        require(self.direct == number, "direct letters in order");
        self.direct = number + 1;
    }
    pub fn by_detour(&mut self, number: u32) {
        require(self.direct > number, "KER-3: the cause is older than its effect");
        self.detours += 1;
    }
    pub fn detours(&self) -> u32 {
        self.detours
    }
}

pub struct Relay {
    witness: Ref<Witness>,
    waiting: Vec<u32>,
}

#[actor]
impl Relay {
    pub fn pass(&mut self, number: u32) {
        self.waiting.push(number);
        self.pass_on();
    }
    /// Passes on what the witness had no room for.
    pub fn pass_on(&mut self) {
        let witness = self.witness;
        self.waiting.retain(|number| witness.by_detour(*number).tell().is_err());
    }
}

/// KER-3: age respects causality: a letter sent before another one caused by it is older, whatever core relayed it.
#[test]
fn a_cause_is_older_than_its_effect_ker_3() {
    #[actor]
    static WITNESS: Actor<Witness, Serial, 64> = Witness { direct: 0, detours: 0 };
    #[actor]
    static MONITORED: Actor<Witness, ReadersWriter, 64> = Witness { direct: 0, detours: 0 };
    #[actor]
    static RELAY_1: Actor<Relay, Pinned<1>, 64> = Relay { witness: &WITNESS, waiting: Vec::new() };
    #[actor]
    static RELAY_2: Actor<Relay, Pinned<1>, 64> = Relay { witness: &MONITORED, waiting: Vec::new() };
    for (witness, relay) in [(&WITNESS as Ref<Witness>, &RELAY_1 as Ref<Relay>), (&MONITORED, &RELAY_2)] {
        device(3, || {
            for number in 0..3000 {
                insist(|| witness.direct(number).tell());
                insist(|| relay.pass(number).tell());
            }
            run_until(|| {
                insist(|| relay.pass_on().tell());
                witness.detours().get() == Ok(3000)
            });
        });
    }
}

// ---- KER-4 ----

/// KER-4: interrupts of both cores send into busy actors, sharing their core's lane; all letters arrive, in order.
#[test]
fn interrupts_send_into_busy_actors_ker_4() {
    const EACH: u32 = 2000;
    #[actor]
    static ALONE: Actor<Ledger, Serial, 8> = Ledger::new();
    #[actor]
    static PARALLEL: Actor<Ledger, ReadersWriter, 8> = Ledger::new();
    #[actor]
    static ON_0: Actor<Ledger, Pinned<0>, 8> = Ledger::new();
    macro_rules! source {
        ($ledger:expr, $sender:expr) => {{
            #[actor]
            static SOURCE: Actor<Source, Serial, 2> = Source { to: &$ledger, sender: $sender, next: 0 };
            &SOURCE as Ref<Source>
        }};
    }
    for (ledger, source) in
        [(&ALONE as Ref<Ledger>, source!(ALONE, 0)), (&PARALLEL, source!(PARALLEL, 0)), (&ON_0, source!(ON_0, 0))]
    {
        for cores in [1, 2] {
            device_with_interrupts(cores, || {
                source.send_all(source, EACH).tell().unwrap();
                let interrupts: Vec<_> = (0..cores as u8)
                    .map(|of| {
                        thread::spawn(move || {
                            for number in 0..EACH {
                                // A handler does not wait: a letter without room is sent by the next interrupt.
                                insist_outside(|| {
                                    sim::interrupt(of, || {
                                        require(core() == of, "an interrupt is its core's");
                                        ledger.note(1 + usize::from(of), number).tell()
                                    })
                                });
                            }
                        })
                    })
                    .collect();
                for number in 0..EACH {
                    insist(|| ledger.note(3, number).tell());
                }
                run_until(|| ledger.noted().get() == Ok((2 + cores as u32) * EACH));
                interrupts.into_iter().for_each(|thread| thread.join().unwrap());
                ledger.clear().get().unwrap();
                source.restart().get().unwrap();
            });
        }
    }
}

/// KER-4, KER-7: an interrupt's letter wakes its sleeping core.
#[test]
fn an_interrupt_wakes_its_core_ker_4() {
    static RAN: AtomicU32 = AtomicU32::new(0);
    pub struct Handler;
    #[actor]
    impl Handler {
        pub fn handle(&mut self) {
            RAN.fetch_add(1, SeqCst);
        }
    }
    #[actor]
    static ANYWHERE: Actor<Handler, Serial, 4> = Handler;
    #[actor]
    static ON_1: Actor<Handler, Pinned<1>, 4> = Handler;
    device_with_interrupts(2, || {
        // `main` runs no letters here: core 1 must wake up and run them.
        let interrupts = thread::spawn(|| {
            for round in 0..300 {
                sim::interrupt(1, || ANYWHERE.handle().tell().unwrap());
                sim::interrupt(1, || ON_1.handle().tell().unwrap());
                spin_until(|| RAN.load(SeqCst) == 2 * (round + 1));
                if round % 50 == 0 {
                    thread::sleep(Duration::from_millis(2));
                }
            }
        });
        interrupts.join().unwrap();
    });
}

// ---- KER-5 ----

/// State that must not move: it is neither `Send` nor `Sync`.
struct Peripheral {
    runs: Rc<Cell<u32>>,
    core: u8,
}

impl Peripheral {
    fn touch(&mut self) -> u32 {
        require(core() == self.core, "KER-5: a pinned actor runs on its core only");
        self.runs.set(self.runs.get() + 1);
        Rc::strong_count(&self.runs) as u32
    }
    fn touches(&self) -> u32 {
        require(core() == self.core, "KER-5: a pinned actor runs on its core only");
        self.runs.get()
    }
    fn clear(&mut self) {
        self.runs = Rc::default();
    }
}

/// KER-5: a pinned actor runs on its core, whoever sends: its own core, others, `main`, threads that are no core. Its state
/// need not be `Send`: its type says where it lives.
#[test]
fn pinned_actors_stay_on_their_core_ker_5() {
    // `Rc` cannot be made in a constant; an actor for each core gets its own in its first turn.
    pub struct Lazy {
        peripheral: Option<Peripheral>,
        core: u8,
    }
    impl Lazy {
        fn peripheral(&mut self) -> &mut Peripheral {
            let core = self.core;
            self.peripheral.get_or_insert_with(|| Peripheral { runs: Rc::default(), core })
        }
    }
    #[actor]
    impl Lazy {
        pub fn touch(&mut self) -> u32 {
            self.peripheral().touch()
        }
        pub fn touches(&mut self) -> u32 {
            self.peripheral().touches()
        }
        pub fn clear(&mut self) {
            self.peripheral().clear();
        }
    }
    pub struct Hand {
        lazies: [Ref<Lazy>; 3],
        done: u32,
    }
    #[actor]
    impl Hand {
        pub fn touch(&mut self, me: Ref<Hand>, cores: usize, end: u32) {
            if self.lazies[self.done as usize % cores.min(3)].touch().tell().is_ok() {
                self.done += 1;
            }
            if self.done < end {
                require(me.touch(me, cores, end).tell().is_ok(), "it has one letter to itself");
            } else {
                self.done = 0;
            }
        }
    }
    #[actor]
    static P0: Actor<Lazy, Pinned<0>, 4> = Lazy { peripheral: None, core: 0 };
    #[actor]
    static P1: Actor<Lazy, Pinned<1>, 4> = Lazy { peripheral: None, core: 1 };
    #[actor]
    static P2: Actor<Lazy, Pinned<2>, 4> = Lazy { peripheral: None, core: 2 };
    static LAZIES: [Ref<Lazy>; 3] = [&P0, &P1, &P2];
    #[actor]
    static HAND_1: Actor<Hand, Serial, 2> = Hand { lazies: [&P0, &P1, &P2], done: 0 };
    #[actor]
    static HAND_2: Actor<Hand, Mutex, 2> = Hand { lazies: [&P0, &P1, &P2], done: 0 };
    const EACH: u32 = 999;
    for cores in [1, 2, 4] {
        device(cores, || {
            let here = &LAZIES[..cores.min(3)];
            HAND_1.touch(&HAND_1, cores, EACH).tell().unwrap();
            HAND_2.touch(&HAND_2, cores, EACH).tell().unwrap();
            let outside = thread::spawn(move || {
                for number in 0..EACH {
                    insist_outside(|| here[number as usize % here.len()].touch().tell());
                }
            });
            for number in 0..EACH {
                assert_eq!(here[number as usize % here.len()].touch().get(), Ok(1));
            }
            run_until(|| here.iter().map(|lazy| lazy.touches().get().unwrap()).sum::<u32>() == 4 * EACH);
            outside.join().unwrap();
            here.iter().for_each(|lazy| lazy.clear().get().unwrap());
        });
    }
}

// ---- KER-7 ----

/// KER-7: thousands of rounds in which one core sleeps until the other wakes it, with every distance between check and sleep.
#[test]
fn no_wake_up_is_lost_ker_7() {
    static OVER: AtomicBool = AtomicBool::new(false);
    pub struct End;
    #[actor]
    impl End {
        pub fn end(&mut self) {
            OVER.store(true, SeqCst);
        }
    }
    #[actor]
    static LAST: Actor<End, Pinned<0>, 1> = End;
    #[actor]
    static FAR: Actor<Ledger, Pinned<1>, 2> = Ledger::new();
    #[actor]
    static NEAR: Actor<Ledger, Serial, 2> = Ledger::new();
    device(2, || {
        for round in 0..5000 {
            FAR.note(0, round).tell().unwrap();
            assert_eq!(FAR.noted().get(), Ok(round + 1));
            // Sometimes long enough for core 1 to fall asleep, mostly just about.
            for _ in 0..(round * 7 % 400) {
                std::hint::spin_loop();
            }
            if round % 500 == 0 {
                thread::sleep(Duration::from_millis(3));
            }
        }
        // From outside: nobody but the sender is awake.
        let outside = thread::spawn(|| {
            for round in 0..2000 {
                NEAR.note(0, round).tell().unwrap();
                spin_until(|| flockwork::Report::of(&NEAR).letters == 0);
                assert_eq!(NEAR.noted().get(), Ok(round + 1));
                if round % 200 == 0 {
                    thread::sleep(Duration::from_millis(3));
                }
            }
            LAST.end().tell().unwrap();
        });
        // Core 0 sleeps in its worker until the last letter comes.
        flockwork::worker::run_while(|| !OVER.load(SeqCst));
        outside.join().unwrap();
    });
}

/// KER-7: what is left over on a busy core is picked up by a core that becomes idle, also one that is itself busy at first.
#[test]
fn surplus_is_picked_up_by_a_busy_core_ker_7() {
    static HELPED: AtomicBool = AtomicBool::new(false);
    static WAITING: AtomicBool = AtomicBool::new(false);
    static STOP: AtomicBool = AtomicBool::new(false);
    /// Never idle.
    pub struct Restless;
    #[actor]
    impl Restless {
        pub fn again(&mut self, me: Ref<Restless>) {
            if !STOP.load(SeqCst) {
                require(me.again(me).tell().is_ok(), "it has one letter to itself");
            }
        }
    }
    pub struct Waiter;
    #[actor]
    impl Waiter {
        pub fn wait(&mut self) {
            WAITING.store(true, SeqCst);
            spin_until(|| HELPED.load(SeqCst));
        }
        pub fn help(&mut self) {
            HELPED.store(true, SeqCst);
        }
    }
    #[actor]
    static RESTLESS: Actor<Restless, Pinned<1>, 2> = Restless;
    #[actor]
    static WAITER: Actor<Waiter, Pinned<0>, 2> = Waiter;
    #[actor]
    static HELPER: Actor<Waiter, Serial, 2> = Waiter;
    device(2, || {
        RESTLESS.again(&RESTLESS).tell().unwrap();
        flockwork::worker::step_once();
        // Core 0 has two ready actors; it is stuck in the first, and core 1 has work of its own.
        WAITER.wait().tell().unwrap();
        HELPER.help().tell().unwrap();
        run_until(|| HELPED.load(SeqCst));
        STOP.store(true, SeqCst);
        run_until(|| flockwork::Report::of(&RESTLESS).letters == 0 && flockwork::Report::of(&WAITER).letters == 0);
    });
}

// ---- KER-11 ----

pub struct Account {
    balance: u64,
}

pub struct Bank;

#[actor(objects = Several<Account, 3>)]
impl Bank {
    pub fn transfer(&self, from: &mut Account, to: &mut Account, amount: u64) -> u64 {
        from.balance -= amount;
        to.balance += amount;
        from.balance
    }
    pub fn compare(&self, one: &Account, other: &Account) -> bool {
        one.balance < other.balance
    }
    pub fn total(&mut self, all: &mut Several<Account, 3>) -> u64 {
        all.iter_mut().map(|account| account.balance).sum()
    }
}

/// KER-11: a letter that could never run (the same key twice, an id out of range) is refused at the send, by every way of
/// sending; nothing is lost, and what is behind it goes on.
#[test]
fn unrunnable_letters_are_refused_at_the_send_ker_11() {
    #[actor]
    static BANK: Actor<Bank, Resources, 4> = (Bank, Several::new([const { Account { balance: 10 } }; 3]));
    #[actor]
    static ALONE: Actor<Bank, Serial, 4> = (Bank, Several::new([const { Account { balance: 10 } }; 3]));
    let [a, b, c] = [0, 1, 2].map(Id::<Account>::new);
    let beyond = Id::<Account>::new(3);
    let far_beyond = Id::<Account>::new(255);
    for bank in [&BANK as Ref<Bank>, &ALONE] {
        device(2, || {
            let twice = Refused::Unrunnable(Unrunnable::SameObjectTwice { index: 0 });
            let rejected = bank.transfer(a, a, 1).tell().unwrap_err();
            assert_eq!(rejected.why(), twice);
            assert_eq!(rejected.retry().unwrap_err().why(), twice, "a retry does not help");
            for (from, to, index) in [(beyond, a, 3), (a, beyond, 3), (a, far_beyond, 255)] {
                let why = bank.transfer(from, to, 1).tell().unwrap_err().why();
                assert_eq!(why, Refused::Unrunnable(Unrunnable::NoSuchObject { index, objects: 3 }));
            }
            assert_eq!(
                bank.transfer(b, b, 1).ask().unwrap_err().why(),
                Refused::Unrunnable(Unrunnable::SameObjectTwice { index: 1 })
            );
            assert_eq!(bank.transfer(a, a, 1).get(), Err(Failure::Refused(twice)));
            assert_eq!(bank.compare(c, c).get(), Ok(false), "the same object may be shared twice");
            assert_eq!(bank.transfer(a, b, 4).get(), Ok(6));
            assert_eq!(bank.total().get(), Ok(30));
            // The refused asks gave their promise slots back.
            for _ in 0..20 {
                assert!(bank.transfer(c, c, 1).ask().is_err());
            }
            assert_eq!(bank.compare(a, b).get(), Ok(true));
        });
    }
}

/// An actor by hand whose messages may name a method that it does not have.
pub struct Lax;

impl flockwork::Methods for Lax {
    type Message = u8;
    type Replies = ();
    type Objects = ();
    type Front<B: ?Sized + 'static> = B;
    const METHODS: &'static [flockwork::Method] = &[flockwork::Method::new("only", flockwork::Access::Writer)];

    fn method(message: &u8) -> u8 {
        *message
    }
    fn detach(_: &mut u8) -> flockwork::Detached {
        flockwork::Reply::<()>::nobody().detach()
    }
    fn run(_: flockwork::Grant<'_, Self>, _: u8) {
        LAX_RAN.fetch_add(1, SeqCst);
    }
}

static LAX_RAN: AtomicU32 = AtomicU32::new(0);

/// KER-11: a hand-written actor's message that names no method of it is refused at the send, before a monitor sees it.
#[test]
fn a_letter_for_no_method_is_refused_ker_11() {
    static MAIL: Mail<Lax, Mutex, 2, 1, LANES> = Mail::new();
    static LAX: Body<Lax, Mutex, 2, 1, LANES> = Body::new(&MAIL, Lax);
    let call = |method| flockwork::Call::<Lax, _, _, ()>::new(&LAX, move |_| method);
    device(1, || {
        let none = Refused::Unrunnable(Unrunnable::NoSuchMethod { method: 1, methods: 1 });
        assert_eq!(call(1).tell().unwrap_err().why(), none);
        assert!(none.to_string().contains("calls method 1, but the actor's METHODS has 1"), "{none}");
        call(0).tell().unwrap();
        run_until(|| LAX_RAN.load(SeqCst) == 1);
        call(0).tell().unwrap();
        run_until(|| LAX_RAN.load(SeqCst) == 2);
    });
}

/// An actor by hand whose key fails for one of its messages, when it is told to.
pub struct Touchy;

static TOUCHED: AtomicBool = AtomicBool::new(false);
static TOUCHY_RAN: AtomicU32 = AtomicU32::new(0);

impl flockwork::Methods for Touchy {
    type Message = u8;
    type Replies = ();
    type Objects = ();
    type Front<B: ?Sized + 'static> = B;
    const METHODS: &'static [flockwork::Method] = &[flockwork::Method::new("only", flockwork::Access::Writer)];

    fn method(_: &u8) -> u8 {
        0
    }
    fn key(message: &u8) -> u32 {
        if *message == 1 && TOUCHED.load(SeqCst) {
            std::panic::resume_unwind(Box::new("a key fails on purpose"));
        }
        u32::from(*message)
    }
    fn detach(_: &mut u8) -> flockwork::Detached {
        flockwork::Reply::<()>::nobody().detach()
    }
    fn run(_: flockwork::Grant<'_, Self>, _: u8) {
        TOUCHY_RAN.fetch_add(1, SeqCst);
    }
}

/// KER-2: a key that fails under the actor's lock harms its sender alone: the letters that wait still run.
#[test]
fn a_key_that_fails_harms_nobody_else_ker_2() {
    macro_rules! check {
        ($monitor:ty) => {{
            static MAIL: Mail<Touchy, $monitor, 2, 1, LANES> = Mail::new();
            static TOUCHY: Body<Touchy, $monitor, 2, 1, LANES> = Body::new(&MAIL, Touchy);
            let tell = |message| flockwork::Call::<Touchy, _, _, ()>::new(&TOUCHY, move |_| message).tell().is_ok();
            TOUCHY_RAN.store(0, SeqCst);
            device(1, || {
                assert!(tell(1) && tell(2));
                TOUCHED.store(true, SeqCst);
                assert!(std::panic::catch_unwind(|| tell(3)).is_err());
                TOUCHED.store(false, SeqCst);
                assert!(tell(1), "it takes the place of the other one");
                run_until(|| TOUCHY_RAN.load(SeqCst) == 2);
            });
        }};
    }
    check!(Coalesce<Serial>);
    check!(Coalesce<Mutex>);
}

// ---- reports ----

/// The report of an actor tells how full its mailbox ever was, under every kind of monitor.
#[test]
fn the_high_water_mark_stays() {
    #[actor]
    static ALONE: Actor<Shelf, Serial, 4> = Shelf { books: Vec::new() };
    #[actor]
    static PARALLEL: Actor<Shelf, ReadersWriter, 4> = Shelf { books: Vec::new() };
    macro_rules! check {
        ($shelf:ident) => {{
            let high_water = || flockwork::Report::of(&$shelf).high_water;
            device(1, || {
                assert_eq!(high_water(), 0);
                for letters in [1, 3, 2] {
                    (0..letters).for_each(|_| $shelf.put(String::new()).tell().unwrap());
                    $shelf.count().get().unwrap();
                }
                assert_eq!(high_water(), 4, "three books and the question");
                let report = flockwork::Report::of(&$shelf);
                assert_eq!((report.letters, report.capacity), (0, 4));
            });
        }};
    }
    check!(ALONE);
    check!(PARALLEL);
}

/// A method that sends to its own actor has its slot while the letters wait, if its monitor was asked about it: then they count together, also
/// for a letter that was alone. By a standing grant a letter gives up its slot before it runs.
#[test]
fn a_running_letter_counts_in_the_high_water_mark_if_it_has_its_slot() {
    pub struct Echo;

    /// Whoever is next, with the state of its discipline.
    macro_rules! whoever_is_next {
        ($name:ident, $discipline:ty) => {
            pub struct $name {
                busy: bool,
            }

            impl Monitor for $name {
                type Discipline = $discipline;
                const NEW: Self = Self { busy: false };

                fn schedule(&mut self, inbox: Inbox<'_>) {
                    self.busy = self.busy || inbox.execute_oldest(Any);
                }

                fn leave(&mut self, _: Letter<'_>) {
                    self.busy = false;
                }
            }
        };
    }
    whoever_is_next!(Asked, OneAtATime);
    whoever_is_next!(AskedInParallel, Parallel);

    #[actor]
    impl Echo {
        pub fn fall_silent(&mut self) {}

        pub fn shout(&mut self, me: Ref<Echo>) {
            (0..3).for_each(|_| me.fall_silent().tell().unwrap());
        }

        pub fn call(&self, me: Ref<Echo>) {
            (0..3).for_each(|_| me.fall_silent().tell().unwrap());
        }

        pub fn is_silent(&self) -> bool {
            true
        }
    }

    #[actor]
    static LOCKED: Actor<Echo, Mutex, 4> = Echo;
    #[actor]
    static WRITTEN: Actor<Echo, ReadersWriter, 4> = Echo;
    #[actor]
    static READ: Actor<Echo, ReadersWriter, 4> = Echo;
    #[actor]
    static ASKED: Actor<Echo, Asked, 4> = Echo;
    #[actor]
    static WRITTEN_ASKED: Actor<Echo, AskedInParallel, 4> = Echo;
    #[actor]
    static READ_ASKED: Actor<Echo, AskedInParallel, 4> = Echo;
    device(1, || {
        LOCKED.shout(&LOCKED).get().unwrap();
        WRITTEN.shout(&WRITTEN).get().unwrap();
        READ.call(&READ).get().unwrap();
        for (echo, name) in [(&LOCKED as Ref<Echo>, "locked"), (&WRITTEN, "written"), (&READ, "read")] {
            assert_eq!(echo.is_silent().get(), Ok(true));
            assert_eq!(flockwork::Report::of(echo).high_water, 3, "{name}: three wait");
        }
        ASKED.shout(&ASKED).get().unwrap();
        WRITTEN_ASKED.shout(&WRITTEN_ASKED).get().unwrap();
        READ_ASKED.call(&READ_ASKED).get().unwrap();
        for (echo, name) in [(&ASKED as Ref<Echo>, "asked"), (&WRITTEN_ASKED, "written"), (&READ_ASKED, "read")] {
            assert_eq!(echo.is_silent().get(), Ok(true));
            assert_eq!(flockwork::Report::of(echo).high_water, 4, "{name}: one runs and three wait");
        }
    });
}

/// Nobody is in a turn on a core that there cannot be.
#[test]
fn a_core_that_is_none_has_no_turn() {
    assert_eq!(flockwork::worker::in_turn(200), None);
}
