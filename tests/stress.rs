//! Millions of letters from every kind of sender through tiny mailboxes, every one accounted for.
//!
//! `FLOCKWORK_STRESS_LETTERS` is how many letters all tests together send, about. `cargo xtask tsan` runs this suite under
//! ThreadSanitizer.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::thread;

use flockwork::{
    Actor, Answered, Failure, Mutex, Pinned, Post, ReadersFirst, ReadersWriter, Ref, Serial, Token, WritersFirst, actor,
};
use flockwork_host_sim as sim;
use support::{core, device, device_with_interrupts, insist, insist_outside, number_from, require, run_until};

/// All letters of this suite, about.
fn letters() -> u64 {
    number_from("FLOCKWORK_STRESS_LETTERS", 2_000_000)
}

/// A number that stands for a letter: its bits are mixed, so that a lost and a doubled letter do not cancel out.
fn fingerprint(sender: usize, number: u32) -> u64 {
    let mixed = (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(sender as u32 * 5 + 1);
    mixed ^ (mixed >> 29)
}

/// What all letters of these senders amount to.
fn expected(senders: usize, each: u32) -> Tally {
    let mut tally = Tally::default();
    for sender in 0..senders {
        (0..each).for_each(|number| tally.add(sender, number));
    }
    tally
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    count: u64,
    sum: u64,
    xor: u64,
}

impl Tally {
    fn add(&mut self, sender: usize, number: u32) {
        let print = fingerprint(sender, number);
        self.count += 1;
        self.sum = self.sum.wrapping_add(print);
        self.xor ^= print;
    }
}

const SENDERS: usize = 8;

/// Accounts for letters that must come one at a time, in each sender's order.
pub struct Sink {
    next: [u32; SENDERS],
    tally: Tally,
}

impl Sink {
    const fn new() -> Self {
        Self { next: [0; SENDERS], tally: Tally { count: 0, sum: 0, xor: 0 } }
    }
}

#[actor]
impl Sink {
    pub fn take(&mut self, sender: usize, number: u32) {
        require(self.next[sender] == number, "letters of one sender come in order, each once");
        self.next[sender] = number.wrapping_add(1);
        self.tally.add(sender, number);
    }
    pub fn count(&self) -> u64 {
        self.tally.count
    }
    pub fn clear(&mut self) -> Tally {
        self.next = [0; SENDERS];
        std::mem::take(&mut self.tally)
    }
}

/// Sends from whatever core it is run on, and goes on with itself.
pub struct Pump {
    to: Ref<Sink>,
    sender: usize,
    next: u32,
}

#[actor]
impl Pump {
    pub fn pump(&mut self, me: Ref<Pump>, each: u32) {
        for _ in 0..16 {
            if self.next == each || self.to.take(self.sender, self.next).tell().is_err() {
                break;
            }
            self.next += 1;
        }
        if self.next < each {
            require(me.pump(me, each).tell().is_ok(), "it has one letter to itself");
        } else {
            self.next = 0;
        }
    }
}

/// Three pumps, `main`, two threads and an interrupt of each of two cores send `each` letters to a sink.
fn flood(cores: usize, sink: Ref<Sink>, pumps: [Ref<Pump>; 3], each: u32) {
    device_with_interrupts(cores, || {
        for pump in pumps {
            pump.pump(pump, each).tell().unwrap();
        }
        let mut others: Vec<_> = (3..5)
            .map(|sender| {
                thread::spawn(move || (0..each).for_each(|number| insist_outside(|| sink.take(sender, number).tell())))
            })
            .collect();
        for sender in 5..7 {
            let of = sender as u8 % cores as u8;
            others.push(thread::spawn(move || {
                (0..each).for_each(|number| {
                    insist_outside(|| sim::interrupt(of, || sink.take(sender, number).tell()));
                });
            }));
        }
        for number in 0..each {
            insist(|| sink.take(7, number).tell());
        }
        run_until(|| others.iter().all(thread::JoinHandle::is_finished));
        others.into_iter().for_each(|thread| thread.join().unwrap());
        run_until(|| sink.count().get() == Ok(u64::from(each) * SENDERS as u64));
        assert_eq!(sink.clear().get(), Ok(expected(SENDERS, each)));
    });
}

/// KER-2, KER-3, KER-4, PAM-G1: floods of mixed senders into mailboxes of two places, under every kind of monitor.
#[test]
fn every_letter_is_accounted_for() {
    macro_rules! sink {
        ($monitor:ty, $capacity:literal) => {{
            #[actor]
            static SINK: Actor<Sink, $monitor, $capacity> = Sink::new();
            #[actor]
            static A: Actor<Pump, Serial, 1> = Pump { to: &SINK, sender: 0, next: 0 };
            #[actor]
            static B: Actor<Pump, Mutex, 2> = Pump { to: &SINK, sender: 1, next: 0 };
            #[actor]
            static C: Actor<Pump, ReadersWriter, 2> = Pump { to: &SINK, sender: 2, next: 0 };
            (&SINK as Ref<Sink>, [&A as Ref<Pump>, &B, &C])
        }};
    }
    let sinks = [
        sink!(Serial, 1),
        sink!(Serial, 8),
        sink!(Mutex, 2),
        sink!(ReadersWriter, 2),
        sink!(WritersFirst, 4),
        sink!(Pinned<0>, 2),
    ];
    let each = (letters() * 3 / 10 / (sinks.len() * SENDERS * 2) as u64) as u32;
    for (sink, pumps) in sinks {
        for cores in [2, 4] {
            flood(cores, sink, pumps, each);
        }
    }
}

/// Accounts for letters that may run in any order and at once.
pub struct Library {
    count: AtomicU64,
    sum: AtomicU64,
    xor: AtomicU64,
    edition: u64,
}

#[actor]
impl Library {
    pub fn read(&self, sender: usize, number: u32) {
        let print = fingerprint(sender, number);
        let edition = self.edition;
        self.count.fetch_add(1, SeqCst);
        self.sum.fetch_add(print, SeqCst);
        self.xor.fetch_xor(print, SeqCst);
        require(self.edition == edition, "a writer came while a reader read");
    }
    /// Plain writes that a reader at the same time would see torn.
    pub fn print(&mut self) {
        self.edition += 1;
    }
    pub fn count(&self) -> u64 {
        self.count.load(SeqCst)
    }
    pub fn clear(&mut self) -> (Tally, u64) {
        let tally = Tally {
            count: std::mem::take(self.count.get_mut()),
            sum: std::mem::take(self.sum.get_mut()),
            xor: std::mem::take(self.xor.get_mut()),
        };
        (tally, std::mem::take(&mut self.edition))
    }
}

/// Reads and sometimes writes.
pub struct Reader {
    library: Ref<Library>,
    sender: usize,
    next: u32,
}

#[actor]
impl Reader {
    pub fn go(&mut self, me: Ref<Reader>, each: u32) {
        for _ in 0..16 {
            if self.next == each || self.library.read(self.sender, self.next).tell().is_err() {
                break;
            }
            self.next += 1;
        }
        if self.next < each {
            require(me.go(me, each).tell().is_ok(), "it has one letter to itself");
        } else {
            self.next = 0;
        }
    }
}

/// SAFE-1, PAM-10, PAM-G1: readers in parallel with writers between, under all three readers/writer monitors.
#[test]
fn readers_and_writers_are_accounted_for() {
    macro_rules! library {
        ($monitor:ty) => {{
            #[actor]
            static LIBRARY: Actor<Library, $monitor, 8> =
                Library { count: AtomicU64::new(0), sum: AtomicU64::new(0), xor: AtomicU64::new(0), edition: 0 };
            #[actor]
            static A: Actor<Reader, Serial, 1> = Reader { library: &LIBRARY, sender: 0, next: 0 };
            #[actor]
            static B: Actor<Reader, Serial, 1> = Reader { library: &LIBRARY, sender: 1, next: 0 };
            (&LIBRARY as Ref<Library>, [&A as Ref<Reader>, &B], &LIBRARY.body as &'static dyn Post<Library>)
        }};
    }
    let libraries = [library!(ReadersWriter), library!(ReadersFirst), library!(WritersFirst)];
    let each = (letters() / 2 / (libraries.len() * 3 * 2) as u64) as u32;
    for (library, readers, report) in libraries {
        for cores in [2, 4] {
            device(cores, || {
                for reader in readers {
                    reader.go(reader, each).tell().unwrap();
                }
                let outside = thread::spawn(move || {
                    for number in 0..each {
                        insist_outside(|| library.read(2, number).tell());
                    }
                });
                for _ in 0..each / 10 {
                    insist(|| library.print().tell());
                }
                run_until(|| outside.is_finished());
                outside.join().unwrap();
                run_until(|| library.count().get() == Ok(3 * u64::from(each)));
                run_until(|| report.report().letters == 0);
                assert_eq!(library.clear().get(), Ok((expected(3, each), u64::from(each / 10))));
                assert_eq!(report.report().refused_grants, 0);
            });
        }
    }
}

/// Answers, by itself or through another.
pub struct Oracle {
    other: Option<Ref<Oracle>>,
    asked: u32,
}

#[actor]
impl Oracle {
    pub fn ask(&mut self, n: u32) -> Result<u32, u32> {
        self.asked += 1;
        if n.is_multiple_of(7) { Err(n) } else { Ok(n + 1) }
    }
    pub fn forward<'t>(&mut self, n: u32, reply: Token<'t, u32, u32>) -> Answered<'t> {
        match self.other {
            Some(other) => other.ask(n).forward(reply).unwrap_or_else(|(reply, why)| reply.fail(why)),
            None => reply.done(n + 1),
        }
    }
    pub fn follow<'t>(&mut self, n: u32, reply: Token<'t, u32, u32>) -> Answered<'t> {
        match self.other.map(|other| other.ask(n).ask()) {
            Some(Ok(promise)) => reply.follow(promise),
            Some(Err(unasked)) => reply.fail(unasked.why()),
            None => reply.done(n + 1),
        }
    }
}

fn fits(n: u32, answer: Result<u32, Failure<u32>>) -> bool {
    match answer {
        Ok(value) => value == n + 1,
        Err(Failure::Method(error)) => error == n && n.is_multiple_of(7),
        Err(Failure::Refused(_)) => true,
        Err(_) => false,
    }
}

static ANSWERED: AtomicU32 = AtomicU32::new(0);

#[embassy_executor::task(pool_size = 4)]
async fn ask_on(oracle: Ref<Oracle>, each: u32) {
    for n in 0..each {
        let answer = match n % 3 {
            0 => oracle.ask(n).await,
            1 => oracle.forward(n).await,
            _ => oracle.follow(n).await,
        };
        require(fits(n, answer), "each question gets its own answer");
    }
    ANSWERED.fetch_add(1, SeqCst);
}

/// Runs tasks on its core.
pub struct Host;

#[actor]
impl Host {
    pub fn ask_on(&mut self, oracle: Ref<Oracle>, each: u32) {
        require(core() == 1, "it is pinned");
        flockwork::worker::spawner().spawn(ask_on(oracle, each).unwrap());
    }
}

/// OCA-2, OCA-15, OCA-16, KER-7: hundreds of thousands of asks from tasks of two cores, threads and `main`, through pools of one.
#[test]
fn every_question_gets_its_answer() {
    #[actor]
    static HOST: Actor<Host, Pinned<1>, 2> = Host;
    macro_rules! oracle {
        ($monitor:ty) => {{
            #[actor]
            static OTHER: Actor<Oracle, Serial, 4, 2> = Oracle { other: None, asked: 0 };
            #[actor]
            static ORACLE: Actor<Oracle, $monitor, 2, 1> = Oracle { other: Some(&OTHER), asked: 0 };
            &ORACLE as Ref<Oracle>
        }};
    }
    let oracles = [oracle!(Serial), oracle!(Mutex), oracle!(ReadersWriter), oracle!(Pinned<1>)];
    let each = (letters() / 5 / (oracles.len() * 6 * 2) as u64) as u32;
    for oracle in oracles {
        ANSWERED.store(0, SeqCst);
        device(2, || {
            (0..2).for_each(|_| flockwork::worker::spawner().spawn(ask_on(oracle, each).unwrap()));
            (0..2).for_each(|_| HOST.ask_on(oracle, each).tell().unwrap());
            let outside = thread::spawn(move || {
                for n in 0..each {
                    assert!(fits(n, oracle.forward(n).get()));
                }
            });
            for n in 0..each {
                assert!(fits(n, oracle.follow(n).get()));
            }
            run_until(|| ANSWERED.load(SeqCst) == 4 && outside.is_finished());
            outside.join().unwrap();
        });
    }
}
