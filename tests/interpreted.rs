//! Every unsafe path of the kernel, once or a few times: small enough for an interpreter (`cargo xtask miri`), which sees
//! undefined behaviour, data races and leaks. It passes natively too; but what a letter does is proven elsewhere, with larger
//! numbers.
//!
//! Values have a heap part wherever they can, so that one that is dropped twice, too early or never is noticed.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::cell::Cell;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Mutex as Lock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::task::Poll;
use std::thread;

use flockwork::worker::spawner;
use flockwork::{
    Actor, Answered, Any, Coalesce, DropNewest, DropOldest, Eventually as _, Failure, Id, Inbox, Letter, Monitor,
    Mutex, OneAtATime, Parallel, Pinned, Promise, PromiseState, ReadersWriter, Ref, Refused, Reply, Resources, Serial,
    Several, Token, Unrunnable, actor, on_dead_letter,
};
use flockwork_host_sim as sim;
use support::{
    Careless, Meeting, core, device, device_with_interrupts, insist, insist_outside, lock, require, run_until,
};

/// Runs a device on one core, then on two.
fn on_one_and_two(main: impl Fn(usize)) {
    for cores in [1, 2] {
        device(cores, || main(cores));
    }
}

fn text(number: u32) -> String {
    format!("text {number}")
}

// ---- letters ----

/// Keeps what it is given, and has a method of every kind.
pub struct Shelf {
    books: Vec<String>,
    replies: Vec<Reply<String, String>>,
}

impl Shelf {
    const fn new() -> Self {
        Self { books: Vec::new(), replies: Vec::new() }
    }
}

/// Where turns meet to show that they overlap.
static LOBBY: Meeting = Meeting::new();
/// Raised by a method that is about to answer.
static ANSWERING: AtomicBool = AtomicBool::new(false);

#[actor]
impl Shelf {
    pub fn put(&mut self, book: String) {
        self.books.push(book);
    }
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.books)
    }
    pub fn first(&self) -> Option<String> {
        self.books.first().cloned()
    }
    pub fn meet(&self, people: usize) -> String {
        LOBBY.meet(people);
        self.books.concat()
    }
    /// What is sent meanwhile waits.
    pub fn hold(&mut self) {
        LOBBY.meet(2);
    }
    pub fn echo(&mut self, book: String) -> String {
        ANSWERING.store(true, SeqCst);
        book
    }
    pub fn refuse(&mut self, book: String) -> Result<String, String> {
        Err(book)
    }
    pub fn explode(&mut self, _book: String) -> String {
        resume_unwind(Box::new("a method fails on purpose, without a message"))
    }
    pub fn explode_reading(&self, _book: String) -> String {
        resume_unwind(Box::new("a method fails on purpose, without a message"))
    }
    /// Answered by `settle`, or dropped by `lose`.
    pub fn later<'t>(&mut self, reply: Token<'t, String, String>) -> Answered<'t> {
        reply.later(|reply| self.replies.push(reply))
    }
    pub fn settle(&mut self, book: String) -> bool {
        self.replies.pop().map(|reply| reply.answer(book)).is_some()
    }
    pub fn lose(&mut self) {
        self.replies.clear();
    }
    /// Lets another shelf answer.
    pub fn pass<'t>(&mut self, to: Ref<Shelf>, book: String, reply: Token<'t, String>) -> Answered<'t> {
        to.echo(book).forward(reply).unwrap_or_else(|(reply, why)| reply.fail(why))
    }
    /// The same, after it has left no room there.
    pub fn pass_in_vain<'t>(&mut self, to: Ref<Shelf>, book: String, reply: Token<'t, String>) -> Answered<'t> {
        while to.put(text(0)).tell().is_ok() {}
        match to.echo(book).forward(reply) {
            Ok(answered) => answered,
            Err((reply, _)) => reply.done("came back".to_owned()),
        }
    }
    /// Asks another shelf, and becomes what its answer becomes.
    pub fn follow<'t>(&mut self, to: Ref<Shelf>, book: String, reply: Token<'t, String>) -> Answered<'t> {
        ANSWERING.store(true, SeqCst);
        match to.echo(book).ask() {
            Ok(promise) => reply.follow(promise),
            Err(unasked) => reply.fail(unasked.why()),
        }
    }
    pub fn unify<'t>(&mut self, with: Promise<String, String>, reply: Token<'t, String, String>) -> Answered<'t> {
        reply.follow(with)
    }
    pub fn ask_in_a_turn(&mut self, to: Ref<Shelf>, book: String) -> String {
        to.echo(book).get().unwrap_or_default()
    }
}

/// A shelf of a test's own: its monitor, and its capacities.
macro_rules! shelf {
    ($monitor:ty, $($capacity:literal),+) => {{
        #[actor]
        static SHELF: Actor<Shelf, $monitor, $($capacity),+> = Shelf::new();
        &SHELF as Ref<Shelf>
    }};
}

fn is_idle(shelf: Ref<Shelf>) -> bool {
    shelf.body.report().letters == 0
}

/// Lanes that are full, give letters back and wrap around: without a monitor, with one, with one lane for all.
#[test]
fn letters_fill_a_mailbox_come_back_and_wrap_around() {
    for shelf in [
        shelf!(Serial, 2),
        shelf!(Mutex, 2),
        shelf!(ReadersWriter, 2),
        shelf!(Pinned<0>, 2),
        shelf!(Serial, 2, 2, 1),
        shelf!(Mutex, 2, 2, 1),
    ] {
        on_one_and_two(|cores| {
            let sent = [0, 1, 2].map(|book| shelf.put(text(book)).tell());
            assert!(cores == 2 || sent[2].is_err(), "two is all there is room for");
            for rejected in sent.into_iter().filter_map(Result::err) {
                assert_eq!(rejected.why(), Refused::Full);
                let ShelfMessage::Put(book, _) = rejected.into_message() else { panic!("another message") };
                let mut kept = shelf.put(book).tell().err();
                run_until(|| {
                    kept = kept.take().and_then(|rejected| rejected.retry().err());
                    kept.is_none()
                });
            }
            let mut books = shelf.take().get().unwrap();
            books.sort();
            assert_eq!(books, [text(0), text(1), text(2)]);
            // One that is given back and dropped.
            let rejected: Vec<_> = (0..3).filter_map(|book| shelf.put(text(book)).tell().err()).collect();
            drop(rejected);
            run_until(|| is_idle(shelf));
            shelf.take().get().unwrap();
        });
    }
}

/// Grants one at a time, the youngest first, and reads every message meanwhile.
struct Youngest(bool);

static READ: AtomicU32 = AtomicU32::new(0);

impl Monitor for Youngest {
    type Discipline = Parallel;
    const NEW: Self = Self(false);
    fn schedule(&mut self, inbox: Inbox<'_>) {
        for letter in inbox.letters() {
            require(letter.message::<Bank>().is_none(), "it is another actor's");
            if let Some(ShelfMessage::Put(book, _)) = letter.message::<Shelf>() {
                READ.fetch_add(book.len() as u32, SeqCst);
            }
        }
        self.0 = self.0 || inbox.execute_youngest(Any);
    }
    fn leave(&mut self, letter: Letter<'_>) {
        require(letter.message::<Shelf>().is_none(), "its method has taken it");
        self.0 = false;
    }
}

/// Slots that are freed in another order than they were sent, and then used again; messages that a monitor reads.
#[test]
fn slots_are_freed_out_of_order() {
    let shelf = shelf!(Youngest, 4);
    on_one_and_two(|cores| {
        for round in 0..2 {
            (0..4).for_each(|book| insist(|| shelf.put(text(book)).tell()));
            run_until(|| is_idle(shelf));
            let books = shelf.take().get().unwrap();
            assert!(cores == 2 || books == [3, 2, 1, 0].map(text), "round {round}: {books:?}");
            assert_eq!(books.len(), 4);
        }
    });
    assert!(READ.load(SeqCst) > 0);
}

/// Two readers at once, on two cores, between writers; each leaves when it is done, in any order.
#[test]
fn readers_share_the_state_on_two_cores() {
    let shelf = shelf!(ReadersWriter, 4);
    device(2, || {
        for round in 0..3 {
            LOBBY.clear();
            shelf.put(text(round)).get().unwrap();
            let readers = [0, 1].map(|_| shelf.meet(2).ask().unwrap());
            let writer = shelf.take().ask().unwrap();
            for reader in readers {
                assert_eq!(reader.get(), Ok(text(round)));
            }
            assert_eq!(writer.get(), Ok(vec![text(round)]));
            assert_eq!(shelf.first().get(), Ok(None));
        }
    });
}

/// Many readers are granted at once, and each core takes several; one of them fails, and the other core takes back what is behind one that
/// lasts until all others are over.
#[test]
fn cores_take_shares_of_many_readers() {
    let shelf = shelf!(ReadersWriter, 16, 16);
    device(2, || {
        LOBBY.clear();
        shelf.put(text(1)).get().unwrap();
        let held = shelf.hold().ask().unwrap();
        let last = shelf.meet(4).ask().unwrap();
        let readers = [(); 8].map(|()| shelf.first().ask().unwrap());
        let failed = shelf.explode_reading(text(2)).ask().unwrap();
        let met = shelf.meet(4).ask().unwrap();
        LOBBY.meet(2);
        for reader in readers {
            assert_eq!(reader.get(), Ok(Some(text(1))));
        }
        assert_eq!(failed.get(), Err(Failure::Panicked));
        assert_eq!((held.get(), last.get(), met.get()), (Ok(()), Ok(text(1)), Ok(text(1))));
        assert_eq!(shelf.take().get(), Ok(vec![text(1)]));
    });
}

/// Threads that are no core share a lane and its promises.
#[test]
fn foreign_threads_send_and_ask() {
    for shelf in [shelf!(Serial, 2, 1), shelf!(ReadersWriter, 2, 1), shelf!(Pinned<0>, 2, 1), shelf!(Serial, 2, 1, 1)] {
        on_one_and_two(|_| {
            let outside = [0, 1].map(|thread| {
                thread::spawn(move || {
                    insist_outside(|| shelf.put(text(2)).tell());
                    assert_eq!(shelf.echo(text(thread)).get(), Ok(text(thread)));
                })
            });
            run_until(|| outside.iter().all(thread::JoinHandle::is_finished));
            outside.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(shelf.take().get().unwrap().len(), 2);
        });
    }
}

/// Interrupts send through the lane of the core they interrupt, ask, and drop what they asked.
#[test]
fn interrupts_share_their_cores_lane() {
    for shelf in [shelf!(Serial, 2, 2), shelf!(Mutex, 2, 2), shelf!(Pinned<0>, 2, 2)] {
        for cores in [1, 2] {
            device_with_interrupts(cores, || {
                let interrupts = thread::spawn(move || {
                    for round in 0..2 {
                        let of = (round % cores) as u8;
                        insist_outside(|| sim::interrupt(of, || shelf.put(text(0)).tell()));
                        let asked = sim::interrupt(of, || shelf.echo(text(1)).ask().ok());
                        thread::yield_now();
                        sim::interrupt(of, || drop(asked));
                    }
                });
                for book in 0..3 {
                    insist(|| shelf.put(text(book)).tell());
                }
                run_until(|| interrupts.is_finished() && is_idle(shelf));
                interrupts.join().unwrap();
                assert_eq!(shelf.take().get().unwrap().len(), 5);
            });
        }
    }
}

/// State that stays on its core, whoever sends: it need not be `Send`.
#[test]
fn pinned_actors_keep_state_that_must_not_move() {
    pub struct Local(Option<Rc<Cell<u32>>>);
    #[actor]
    impl Local {
        pub fn touch(&mut self) -> u32 {
            let count = self.0.get_or_insert_with(Rc::default);
            count.set(count.get() + 1);
            u32::from(core())
        }
        pub fn forget(&mut self) {
            self.0 = None;
        }
    }
    #[actor]
    static ON_0: Actor<Local, Pinned<0>, 2> = Local(None);
    #[actor]
    static ON_1: Actor<Local, Pinned<1>, 2> = Local(None);
    device(2, || {
        for _ in 0..2 {
            let outside = thread::spawn(|| insist_outside(|| ON_0.touch().tell()));
            assert_eq!(ON_1.touch().get(), Ok(1));
            assert_eq!(ON_0.touch().get(), Ok(0));
            run_until(|| outside.is_finished());
            outside.join().unwrap();
        }
        ON_0.forget().get().unwrap();
        ON_1.forget().get().unwrap();
    });
}

// ---- objects ----

#[derive(Debug)]
pub struct Account {
    balance: u64,
    history: Vec<u64>,
}

pub struct Bank {
    transfers: AtomicU32,
}

#[actor(objects = Several<Account, 4>)]
impl Bank {
    pub fn transfer(&self, from: &mut Account, to: &mut Account, amount: u64) -> u64 {
        self.transfers.fetch_add(1, SeqCst);
        from.balance -= amount;
        to.balance += amount;
        from.history.push(amount);
        to.history.push(amount);
        from.balance
    }
    /// With two accounts in hand, until so many are here.
    pub fn meet(&self, one: &mut Account, other: &Account, people: usize) -> u64 {
        one.history.push(other.balance);
        LOBBY.meet(people);
        one.history.pop().unwrap_or_default()
    }
    pub fn check(&self, account: &Account) -> u64 {
        account.balance + account.history.len() as u64
    }
    pub fn total(&mut self, all: &mut Several<Account, 4>) -> u64 {
        all.iter_mut().for_each(|account| account.history = Vec::new());
        all.iter_mut().map(|account| account.balance).sum()
    }
}

macro_rules! bank {
    ($monitor:ty) => {{
        #[actor]
        static BANK: Actor<Bank, $monitor, 4> = (
            Bank { transfers: AtomicU32::new(0) },
            Several::new([const { Account { balance: 10, history: Vec::new() } }; 4]),
        );
        &BANK as Ref<Bank>
    }};
}

/// Letters that name objects: those of different letters are borrowed at once, the same never; all of them by a writer.
#[test]
fn objects_are_borrowed_by_claims() {
    let [a, b, c, d] = [0, 1, 2, 3].map(Id::new);
    // The others let a letter pass one that is refused.
    for (bank, in_order) in
        [(bank!(Resources), true), (bank!(ReadersWriter), false), (bank!(Serial), true), (bank!(Careless), false)]
    {
        on_one_and_two(|_| {
            for (from, to) in [(a, b), (c, d), (b, c), (d, a)] {
                insist(|| bank.transfer(from, to, 1).tell());
            }
            let checked = insist(|| bank.check(a).ask()).get();
            assert!(checked == Ok(12) || !in_order, "{checked:?}");
            run_until(|| bank.body.report().letters == 0);
            assert_eq!(bank.total().get(), Ok(40));
            let twice = Refused::Unrunnable(Unrunnable::SameObjectTwice { index: 0 });
            assert_eq!(bank.transfer(a, a, 1).get(), Err(Failure::Refused(twice)));
        });
    }
    let bank = bank!(Resources);
    device(2, || {
        for (one, shared, other) in [(a, b, c), (d, c, b)] {
            LOBBY.clear();
            // Two letters at once on two cores: each has one object for itself, and they share one.
            let asked = [bank.meet(one, shared, 2).ask().unwrap(), bank.meet(other, shared, 2).ask().unwrap()];
            for promise in asked {
                assert_eq!(promise.get(), Ok(10));
            }
        }
        assert_eq!(bank.total().get(), Ok(40));
    });
}

// ---- promises ----

/// Asks and answers of every kind, in a pool of two slots, with values that are dropped by whoever has them last.
#[test]
fn promises_are_answered_and_dropped_in_every_order() {
    for shelf in [shelf!(Serial, 4, 2), shelf!(Mutex, 4, 2), shelf!(Serial, 4, 2, 1), shelf!(Pinned<0>, 4, 2)] {
        on_one_and_two(|_| {
            // Taken; failed; combined.
            let mut promise = shelf.echo(text(0)).ask().unwrap();
            run_until(|| promise.state() != PromiseState::Empty);
            assert_eq!(promise.state(), PromiseState::Fulfilled);
            assert_eq!(promise.try_take().unwrap(), Ok(text(0)));
            assert_eq!(shelf.refuse(text(0)).get(), Err(Failure::Method(text(0))));
            let joined = shelf.echo(text(1)).ask().unwrap().join(shelf.echo(text(2)).ask().unwrap());
            assert_eq!(joined.map(|(one, other)| one + &other).get(), Ok(text(1) + &text(2)));
            let next = shelf.echo(text(1)).ask().unwrap().and_then(|book| shelf.echo(book).ask().unwrap());
            assert_eq!(next.get(), Ok(text(1)));
            // The promise goes first.
            drop(shelf.echo(text(3)).ask().unwrap());
            run_until(|| is_idle(shelf));
            // The value is there, and goes with the promise.
            let mut promise = shelf.echo(text(4)).ask().unwrap();
            run_until(|| promise.is_ready());
            drop(promise);
            // The reply goes first, with an answer and without.
            let promise = shelf.later().ask().unwrap();
            assert_eq!(shelf.settle(text(5)).get(), Ok(true));
            assert_eq!(promise.get(), Ok(text(5)));
            let promise = shelf.later().ask().unwrap();
            shelf.lose().get().unwrap();
            assert_eq!(promise.get(), Err(Failure::Unanswered));
            // No slot, then one again: for the call, and for the letter that was told.
            let two = [(); 2].map(|()| shelf.later().ask().unwrap());
            assert_eq!(shelf.echo(text(6)).ask().unwrap_err().why(), Refused::NoPromise);
            drop(two);
            insist(|| shelf.lose().tell());
            assert_eq!(shelf.echo(text(7)).get(), Ok(text(7)));
            insist(|| shelf.echo(text(8)).tell());
            run_until(|| is_idle(shelf));
        });
    }
}

/// Promises that are dropped at the very moment they are resolved on another core, by a value or by another promise: then the
/// value stays in its slot until the slot is used again.
#[test]
fn leftover_values_are_dropped_when_their_slot_is_used_again() {
    let (shelf, other) = (shelf!(Pinned<1>, 2, 1), shelf!(Pinned<1>, 2, 1));
    device(2, || {
        for round in 0..12 {
            ANSWERING.store(false, SeqCst);
            let promise = match round % 2 {
                0 => insist(|| shelf.echo(text(round)).ask()),
                _ => insist(|| shelf.follow(other, text(round)).ask()),
            };
            run_until(|| ANSWERING.load(SeqCst));
            // From the last line of the method to its answer, and beyond.
            (0..round % 3).for_each(|_| thread::yield_now());
            drop(promise);
        }
        // A slot may hold a promise that was followed, whose slot holds a value.
        for _ in 0..2 {
            assert_eq!(shelf.follow(other, text(0)).get(), Ok(text(0)));
            assert_eq!(shelf.echo(text(1)).get(), Ok(text(1)));
        }
    });
}

/// Chains of promises that become one another, and replies that travel on.
#[test]
fn promises_follow_and_replies_are_forwarded() {
    for (shelf, other, full) in [
        (shelf!(Serial, 4, 4), shelf!(Mutex, 4, 4), shelf!(Serial, 1)),
        (shelf!(ReadersWriter, 4, 4), shelf!(Pinned<0>, 4, 4), shelf!(Mutex, 1)),
    ] {
        on_one_and_two(|_| {
            assert_eq!(shelf.pass(other, text(1)).get(), Ok(text(1)));
            assert_eq!(shelf.follow(other, text(2)).get(), Ok(text(2)));
            let answer = shelf.pass_in_vain(full, text(3)).get().unwrap();
            assert!(answer == "came back" || answer == text(3));
            run_until(|| is_idle(full));
            full.take().get().unwrap();
            // A chain of three, resolved from its end.
            let last = other.later().ask().unwrap();
            let middle = shelf.unify(last).ask().unwrap();
            let mut first = other.unify(middle).ask().unwrap();
            run_until(|| is_idle(shelf));
            assert_eq!(first.state(), PromiseState::Empty);
            assert_eq!(other.settle(text(4)).get(), Ok(true));
            assert_eq!(first.get(), Ok(text(4)));
            // A chain that nobody wants any more: dropped before and after its parts are joined.
            for patient in [false, true] {
                let last = other.later().ask().unwrap();
                let first = shelf.unify(last).ask().unwrap();
                if patient {
                    run_until(|| is_idle(shelf));
                }
                drop(first);
                run_until(|| is_idle(shelf));
                assert_eq!(other.settle(text(5)).get(), Ok(true));
            }
            // Told, not asked: nobody follows, and nobody hears.
            insist(|| shelf.follow(other, text(6)).tell());
            insist(|| shelf.pass(other, text(7)).tell());
            run_until(|| is_idle(shelf) && is_idle(other));
            assert_eq!(shelf.ask_in_a_turn(other, text(8)).get(), Ok(text(8)));
        });
    }
}

// ---- waiting ----

static DONE: AtomicU32 = AtomicU32::new(0);

/// Waits for answers, for room and for promises; and gives up some of it.
#[embassy_executor::task(pool_size = 4)]
async fn wait_for_all(shelf: Ref<Shelf>) {
    require(shelf.put(text(0)).send().await.is_ok(), "there is room at last");
    require(shelf.echo(text(0)).await == Ok(text(0)), "an answer");
    {
        let mut sending = pin!(shelf.put(text(0)).send());
        let _ = std::future::poll_fn(|context| Poll::Ready(sending.as_mut().poll(context))).await;
        let mut waiting = pin!(shelf.echo(text(0)).into_future());
        let _ = std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await;
    }
    if let Ok(promise) = shelf.refuse(text(0)).ask() {
        require(promise.await == Err(Failure::Method(text(0))), "an error");
    }
    DONE.fetch_add(1, SeqCst);
}

/// Starts tasks on its own core.
pub struct Host;

#[actor]
impl Host {
    pub fn start(&mut self, shelf: Ref<Shelf>) {
        spawner().spawn(wait_for_all(shelf).expect("a free place for the task"));
    }
}

/// Tasks of both cores wait for answers and for room, all in one list per core, and leave it in any order.
#[test]
fn tasks_wait_and_give_up() {
    #[actor]
    static ON_1: Actor<Host, Pinned<1>, 2> = Host;
    for shelf in [shelf!(Serial, 1, 1), shelf!(Mutex, 1, 1), shelf!(Serial, 1, 1, 1)] {
        on_one_and_two(|cores| {
            DONE.store(0, SeqCst);
            (0..2).for_each(|_| spawner().spawn(wait_for_all(shelf).expect("a free place for the task")));
            if cores == 2 {
                ON_1.start(shelf).get().unwrap();
            }
            run_until(|| DONE.load(SeqCst) == 1 + cores as u32);
            run_until(|| is_idle(shelf));
            shelf.take().get().unwrap();
        });
    }
}

// ---- overflow ----

/// Letters that are dropped or replaced, and shown to the hook.
#[test]
fn overflow_policies_bury_what_they_drop() {
    static DEAD: Lock<Vec<String>> = Lock::new(Vec::new());
    on_dead_letter(|letter| {
        if let Some(ShelfMessage::Put(book, _)) = letter.message.downcast_ref() {
            lock(&DEAD).push(book.clone());
        }
    });
    for (shelf, survivors) in [
        (shelf!(DropNewest<Serial>, 2), [0, 1]),
        (shelf!(DropNewest<Mutex>, 2), [0, 1]),
        (shelf!(DropOldest<Serial>, 2), [2, 3]),
        (shelf!(DropOldest<Mutex>, 2), [2, 3]),
        (shelf!(DropOldest<ReadersWriter>, 2, 2, 1), [2, 3]),
        (shelf!(Coalesce<Serial>, 2), [2, 3]),
        (shelf!(Coalesce<Mutex>, 2), [2, 3]),
    ] {
        on_one_and_two(|cores| {
            lock(&DEAD).clear();
            // On two cores the other one may hold the receiver's lock: then `Coalesce` gives a letter back.
            let back = (0..4).filter_map(|book| shelf.put(text(book)).tell().err()).count();
            run_until(|| is_idle(shelf));
            let books = shelf.take().get().unwrap();
            assert_eq!(books.len() + lock(&DEAD).len() + back, 4);
            assert!(cores == 2 || books == survivors.map(text), "{books:?}");
        });
        // What is dropped may have a promise.
        device(1, || {
            let asked: Vec<_> = (0..3).filter_map(|book| shelf.echo(text(book)).ask().ok()).collect();
            asked.into_iter().for_each(|promise| drop(promise.get()));
        });
    }
}

// ---- panics ----

/// Grants one at a time, and panics the first time it is asked and the first time it is told.
struct Nervous {
    busy: bool,
    asked: bool,
    told: bool,
}

impl Monitor for Nervous {
    type Discipline = OneAtATime;
    const NEW: Self = Self { busy: false, asked: false, told: false };
    fn schedule(&mut self, inbox: Inbox<'_>) {
        self.busy = self.busy || inbox.execute_oldest(Any);
        if !std::mem::replace(&mut self.asked, true) {
            resume_unwind(Box::new("a monitor fails on purpose, without a message"));
        }
    }
    fn leave(&mut self, _: Letter<'_>) {
        self.busy = false;
        if !std::mem::replace(&mut self.told, true) {
            resume_unwind(Box::new("a monitor fails on purpose, without a message"));
        }
    }
}

/// A panic ends its turn: message, answer, borrow and slot are given back, whoever panics.
#[test]
fn panics_give_everything_back() {
    for shelf in [
        shelf!(Serial, 2),
        shelf!(Mutex, 2),
        shelf!(ReadersWriter, 2),
        shelf!(Pinned<0>, 2),
        shelf!(Nervous, 2),
        shelf!(Serial, 2, 2, 1),
    ] {
        on_one_and_two(|_| {
            assert_eq!(shelf.explode(text(0)).get(), Err(Failure::Panicked));
            assert_eq!(shelf.explode_reading(text(0)).get(), Err(Failure::Panicked));
            assert_eq!(shelf.echo(text(0)).get(), Ok(text(0)));
            insist(|| shelf.explode(text(3)).tell());
            run_until(|| is_idle(shelf));
        });
    }
}

// ---- trace ----

/// The rings of both cores are written and read while letters pass, those of interrupts included.
#[cfg(feature = "trace")]
#[test]
fn hops_are_traced() {
    use flockwork::trace::drain;
    let shelf = shelf!(ReadersWriter, 2);
    for cores in [1, 2] {
        device_with_interrupts(cores, || {
            drain(|_| ());
            let interrupts = thread::spawn(|| insist_outside(|| sim::interrupt(0, || shelf.put(text(0)).tell())));
            insist(|| shelf.put(text(1)).tell());
            run_until(|| interrupts.is_finished());
            interrupts.join().unwrap();
            assert_eq!(shelf.take().get().unwrap().len(), 2);
            let mut hops = 0;
            drain(|_| hops += 1);
            assert!(hops >= 3, "core 0 sent three letters");
        });
    }
}
