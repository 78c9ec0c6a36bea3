//! The model and the five guarantees of parallel actor monitors, on threads with 1, 2 and 4 cores.
//!
//! Monitors are wrapped in [`Watched`], which counts what the kernel does with them. That letters run in parallel is shown
//! by letting them meet: each waits inside its turn until the others are there, however long that takes.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::cell::Cell;
use std::sync::Mutex as Lock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::thread;

use flockwork::{
    Actor, Answered, Any, Category, Inbox, Letter, Methods, Monitor, Mutex, OneAtATime, Parallel, Pinned, Readers,
    ReadersWriter, Ref, Serial, Token, actor,
};
use support::{
    Careless, Meeting, Occupancy, core, device, insist, insist_outside, lock, require, run_until, spin_until,
};

const CORES: [usize; 3] = [1, 2, 4];

/// What the kernel did with one monitor.
struct Watch {
    inside: AtomicBool,
    schedules: AtomicU32,
    schedules_on_empty: AtomicU32,
    granted: AtomicU32,
    leaves: AtomicU32,
    /// The calls in their order, with the core that made them, if they are wanted.
    log: Option<Lock<Vec<(&'static str, u8)>>>,
}

impl Watch {
    const fn new() -> Self {
        Self::with(None)
    }

    const fn logging() -> Self {
        Self::with(Some(Lock::new(Vec::new())))
    }

    const fn with(log: Option<Lock<Vec<(&'static str, u8)>>>) -> Self {
        Self {
            inside: AtomicBool::new(false),
            schedules: AtomicU32::new(0),
            schedules_on_empty: AtomicU32::new(0),
            granted: AtomicU32::new(0),
            leaves: AtomicU32::new(0),
            log,
        }
    }

    fn log(&self, event: &'static str) {
        if let Some(log) = &self.log {
            lock(log).push((event, core()));
        }
    }

    fn take_log(&self) -> Vec<(&'static str, u8)> {
        self.log.as_ref().map_or_else(Vec::new, |log| std::mem::take(&mut *lock(log)))
    }

    /// One call of the monitor (PAM-G2: never two at once; PAM-1: on a borrowed worker).
    fn call<R>(&self, event: &'static str, work: impl FnOnce() -> R) -> R {
        require(!self.inside.swap(true, SeqCst), "PAM-G2: schedule and leave exclude each other");
        require(core() < 64, "PAM-1: a monitor runs on a core's worker only");
        self.log(event);
        let result = work();
        require(self.inside.swap(false, SeqCst), "PAM-G2: schedule and leave exclude each other");
        result
    }

    /// Everything that was sent is over (PAM-G1, G3, G5).
    #[track_caller]
    fn assert_done(&self, letters: u32) {
        assert_eq!(self.schedules_on_empty.load(SeqCst), 0, "PAM-G3: no schedule with an empty inbox");
        assert_eq!(self.granted.load(SeqCst), letters, "PAM-G1: every letter is granted by its monitor, once");
        assert_eq!(self.leaves.load(SeqCst), letters, "PAM-G5: one leave for each letter");
    }
}

/// Names the watch of one monitor.
trait Watcher: Send + 'static {
    fn watch() -> &'static Watch;
}

/// Declares a watch.
macro_rules! watch {
    ($($name:ident = $watch:expr;)*) => {$(
        struct $name;
        impl Watcher for $name {
            fn watch() -> &'static Watch {
                static WATCH: Watch = $watch;
                &WATCH
            }
        }
    )*};
}

/// The monitor `M`, watched.
struct Watched<M, W> {
    monitor: M,
    watcher: std::marker::PhantomData<W>,
}

impl<M: Monitor, W: Watcher> Monitor for Watched<M, W> {
    type Discipline = M::Discipline;
    const NEW: Self = Self { monitor: M::NEW, watcher: std::marker::PhantomData };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        let watch = W::watch();
        watch.call("schedule", || {
            watch.schedules.fetch_add(1, SeqCst);
            if inbox.is_empty() || inbox.letters().next().is_none() {
                watch.schedules_on_empty.fetch_add(1, SeqCst);
            }
            let before = inbox.len();
            self.monitor.schedule(inbox);
            watch.granted.fetch_add((before - inbox.len()) as u32, SeqCst);
        });
    }

    fn leave(&mut self, letter: Letter<'_>) {
        let watch = W::watch();
        watch.call("leave", || {
            self.monitor.leave(letter);
            watch.leaves.fetch_add(1, SeqCst);
        });
    }
}

// ---- one actor, whatever its monitor ----

/// A dictionary whose borrows are watched.
pub struct Dictionary {
    meanings: [u32; 16],
    occupancy: Occupancy,
    reads: AtomicU32,
    writes: u32,
}

impl Dictionary {
    const fn new() -> Self {
        Self { meanings: [0; 16], occupancy: Occupancy::new(), reads: AtomicU32::new(0), writes: 0 }
    }
}

thread_local! {
    /// Whether this thread is inside a `tell` or an `ask` (PAM-16).
    static SENDING: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread is inside a turn (PAM-17).
    static IN_TURN: Cell<bool> = const { Cell::new(false) };
}

/// A send, during which no turn may start on this thread.
fn sending<R>(send: impl FnOnce() -> R) -> R {
    let before = SENDING.replace(true);
    let result = send();
    SENDING.set(before);
    result
}

/// A turn, which nothing interrupts.
fn turn<R>(work: impl FnOnce() -> R) -> R {
    require(!SENDING.get(), "PAM-16: a method ran inside a send");
    require(!IN_TURN.replace(true), "PAM-17: a turn began inside another");
    let result = work();
    require(IN_TURN.replace(false), "PAM-17: a turn ended twice");
    result
}

#[actor]
impl Dictionary {
    pub fn get(&self, word: u8) -> u32 {
        turn(|| {
            self.occupancy.read(|| {
                self.reads.fetch_add(1, SeqCst);
                self.meanings[usize::from(word) % 16]
            })
        })
    }
    pub fn put(&mut self, word: u8, meaning: u32) {
        let Self { meanings, occupancy, writes, .. } = self;
        turn(|| {
            occupancy.write(|| {
                meanings[usize::from(word) % 16] += meaning;
                *writes += 1;
            });
        });
    }
    pub fn totals(&mut self) -> (u32, u32, u32) {
        (*self.reads.get_mut(), self.writes, self.meanings.iter().sum())
    }
}

/// A client that knows neither the monitor nor the capacity (PAM-6).
pub struct Client {
    dictionary: Ref<Dictionary>,
    left: u32,
}

#[actor]
impl Client {
    pub fn work(&mut self, me: Ref<Client>, letters: u32) {
        require(!SENDING.get(), "PAM-16: a method ran inside a send");
        self.left += letters;
        let mut budget = 8;
        while self.left > 0 && budget > 0 {
            let word = self.left as u8;
            let sent = if self.left.is_multiple_of(3) {
                sending(|| self.dictionary.put(word, 1).tell()).is_ok()
            } else {
                sending(|| self.dictionary.get(word).tell()).is_ok()
            };
            if !sent {
                break;
            }
            self.left -= 1;
            budget -= 1;
        }
        if self.left > 0 {
            require(me.work(me, 0).tell().is_ok(), "a client has one letter to itself at a time");
        }
    }
}

/// Two clients and `main` use a dictionary; all must be the same whatever its monitor is.
fn use_dictionary(cores: usize, dictionary: Ref<Dictionary>, clients: [Ref<Client>; 2]) -> u32 {
    const EACH: u32 = 300;
    device(cores, || {
        let (reads, writes, sum) = dictionary.totals().get().unwrap();
        for client in clients {
            client.work(client, EACH).tell().unwrap();
        }
        for word in 0..EACH {
            let put = insist(|| sending(|| dictionary.put(word as u8, 2).ask()));
            drop(put);
        }
        let foreign = thread::spawn(move || {
            for word in 0..EACH {
                insist_outside(|| sending(|| dictionary.get(word as u8).tell()));
            }
        });
        let wanted = (reads + 2 * (EACH - EACH / 3) + EACH, writes + 2 * (EACH / 3) + EACH);
        let mut asked = 2;
        loop {
            let (reads, writes, now) = dictionary.totals().get().unwrap();
            if (reads, writes) == wanted {
                assert_eq!(now, sum + 2 * (EACH / 3) + 2 * EACH, "every put arrived once");
                break;
            }
            assert!(reads <= wanted.0 && writes <= wanted.1, "a letter ran twice");
            asked += 1;
        }
        foreign.join().unwrap();
        4 * EACH + asked
    })
}

/// Declares the same dictionary and clients under one monitor, and lets them work on every number of cores. How many of the
/// monitor's grants were refused.
macro_rules! refused_grants_under {
    ($monitor:ty) => {{
        #[actor]
        static DICTIONARY: Actor<Dictionary, $monitor, 8> = Dictionary::new();
        #[actor]
        static ONE: Actor<Client, Serial, 2> = Client { dictionary: &DICTIONARY, left: 0 };
        #[actor]
        static OTHER: Actor<Client, Serial, 2> = Client { dictionary: &DICTIONARY, left: 0 };
        for cores in CORES {
            use_dictionary(cores, &DICTIONARY, [&ONE, &OTHER]);
        }
        flockwork::Report::of(&DICTIONARY).refused_grants
    }};
}

/// PAM-5, PAM-6, PAM-7, PAM-16, PAM-17: no monitor; one word of the declaration differs from the next two tests.
#[test]
fn same_source_without_a_monitor() {
    assert_eq!(refused_grants_under!(Serial), 0);
}

/// PAM-6, PAM-7, PAM-16, PAM-17: the same source under `Mutex`.
#[test]
fn same_source_under_mutex() {
    assert_eq!(refused_grants_under!(Mutex), 0);
}

/// PAM-6, PAM-7, PAM-16, PAM-17: the same source under `ReadersWriter`.
#[test]
fn same_source_under_readers_writer() {
    assert_eq!(refused_grants_under!(ReadersWriter), 0);
}

/// Declares a watched dictionary under one monitor and runs the clients on it.
macro_rules! watched {
    ($test:ident, $monitor:ty, $(#[$doc:meta])*) => {
        $(#[$doc])*
        #[test]
        fn $test() {
            watch! { Here = Watch::new(); }
            #[actor]
            static DICTIONARY: Actor<Dictionary, Watched<$monitor, Here>, 8> = Dictionary::new();
            #[actor]
            static ONE: Actor<Client, Serial, 2> = Client { dictionary: &DICTIONARY, left: 0 };
            #[actor]
            static OTHER: Actor<Client, Serial, 2> = Client { dictionary: &DICTIONARY, left: 0 };
            let mut letters = 0;
            for cores in CORES {
                letters += use_dictionary(cores, &DICTIONARY, [&ONE, &OTHER]);
                device(1, || run_until(|| Here::watch().leaves.load(SeqCst) >= letters));
                Here::watch().assert_done(letters);
                let calls = || (Here::watch().schedules.load(SeqCst), Here::watch().leaves.load(SeqCst));
                let before = calls();
                device(cores, || (0..200).for_each(|_| { flockwork::worker::step_once(); thread::yield_now(); }));
                assert_eq!(calls(), before, "PAM-1: a monitor does nothing by itself");
            }
        }
    };
}

watched! { counts_under_mutex, Mutex,
    /// PAM-1, PAM-G1, PAM-G2, PAM-G3, PAM-G5: calls of a one-at-a-time monitor are counted under load, on 1, 2 and 4 cores.
}
watched! { counts_under_readers_writer, ReadersWriter,
    /// PAM-1, PAM-G1, PAM-G2, PAM-G3, PAM-G5: the same for a parallel monitor.
}
watched! { counts_under_a_monitor_that_grants_one, OneLetter,
    /// PAM-1, PAM-G1, PAM-G2, PAM-G3, PAM-G5: the same for a user's own monitor that grants too little.
}

/// A parallel monitor that grants one letter per `schedule`, if nothing it granted runs.
struct OneLetter(bool);

impl Monitor for OneLetter {
    type Discipline = Parallel;
    const NEW: Self = Self(false);
    fn schedule(&mut self, inbox: Inbox<'_>) {
        if !self.0 {
            self.0 = inbox.execute_youngest(Any);
        }
    }
    fn leave(&mut self, _: Letter<'_>) {
        self.0 = false;
    }
}

// ---- order ----

/// Notes the numbers it is sent.
pub struct Diary {
    seen: Vec<u32>,
}

#[actor]
impl Diary {
    pub fn note(&mut self, number: u32) {
        self.seen.push(number);
    }
    pub fn take(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.seen)
    }
}

/// PAM-5: without a monitor, one letter at a time, oldest first: also if the letters come from several cores.
#[test]
fn without_a_monitor_oldest_first_pam_5() {
    #[actor]
    static DIARY: Actor<Diary, Serial, 64> = Diary { seen: Vec::new() };
    for cores in CORES {
        let seen = device(cores, || {
            (0..50).for_each(|number| DIARY.note(number).tell().unwrap());
            DIARY.take().get().unwrap()
        });
        assert!(seen.iter().copied().eq(0..50), "{seen:?}");
    }
}

// ---- what overlaps ----

/// Turns that wait for each other.
pub struct Table {
    occupancy: Occupancy,
}

/// How many turns met so far.
static GUESTS: Meeting = Meeting::new();

#[actor]
impl Table {
    /// Ends when so many readers are here at once.
    pub fn meet(&self, people: usize) {
        self.occupancy.read(|| GUESTS.meet(people));
    }
    pub fn look(&self) {
        self.occupancy.read(|| ());
    }
    pub fn clear(&mut self) -> usize {
        let most = self.occupancy.most_readers();
        self.occupancy = Occupancy::new();
        GUESTS.clear();
        most
    }
}

/// PAM-10, PAM-G4: one `schedule` grants several letters, and they run in parallel on as many cores.
#[test]
fn granted_together_run_in_parallel_pam_10() {
    watch! { Here = Watch::new(); }
    #[actor]
    static TABLE: Actor<Table, Watched<ReadersWriter, Here>, 8> = Table { occupancy: Occupancy::new() };
    let mut letters = 0;
    for cores in [2, 4] {
        device(cores, || {
            for _ in 0..20 {
                (0..cores).for_each(|_| TABLE.meet(cores).tell().unwrap());
                let most = TABLE.clear().get().unwrap();
                assert_eq!(most, cores);
                letters += cores as u32 + 1;
            }
            run_until(|| Here::watch().leaves.load(SeqCst) == letters);
        });
        Here::watch().assert_done(letters);
    }
}

/// Readers of which one needs all others to be over before it ends.
pub struct Crowd;

/// How many of the others are over.
static OVER: AtomicU32 = AtomicU32::new(0);
/// Raised when all letters of a round were sent.
static ALL_SENT: AtomicBool = AtomicBool::new(false);
/// The others of a round.
const OTHERS: u32 = 31;

fn wait_for_the_others() {
    spin_until(|| OVER.load(SeqCst) == OTHERS);
}

#[actor]
impl Crowd {
    /// Everything that is sent meanwhile is granted at once when it ends.
    pub fn begin(&mut self) {
        spin_until(|| ALL_SENT.load(SeqCst));
    }
    /// A long turn.
    pub fn outlast(&self) {
        wait_for_the_others();
    }
    /// A turn that waits.
    pub fn await_the_end(&self, doorman: Ref<Doorman>) {
        doorman.see_them_off().get().unwrap();
    }
    pub fn pass(&self) {
        OVER.fetch_add(1, SeqCst);
    }
    pub fn stumble(&self) {
        OVER.fetch_add(1, SeqCst);
        std::panic::resume_unwind(Box::new("a turn that fails"));
    }
}

pub struct Doorman;

#[actor]
impl Doorman {
    pub fn see_them_off(&mut self) {
        wait_for_the_others();
    }
}

/// Lets a crowd of readers be granted at once, the first of them as given.
fn crowd<W: Watcher>(crowd: Ref<Crowd>, letters: &mut u32, first: impl FnOnce()) {
    OVER.store(0, SeqCst);
    ALL_SENT.store(false, SeqCst);
    crowd.begin().tell().unwrap();
    first();
    for other in 0..OTHERS {
        let call = if other % 7 == 3 { crowd.stumble().tell() } else { crowd.pass().tell() };
        call.unwrap();
    }
    ALL_SENT.store(true, SeqCst);
    *letters += OTHERS + 2;
    run_until(|| W::watch().leaves.load(SeqCst) == *letters);
}

/// PAM-10, PAM-G1, PAM-G5: a core takes several readers at once; those behind a long one, or one that waits, run nevertheless. One that fails
/// takes none with it.
#[test]
fn nobody_is_stuck_in_a_share_pam_10() {
    watch! { Here = Watch::new(); }
    #[actor]
    static CROWD: Actor<Crowd, Watched<ReadersWriter, Here>, 64> = Crowd;
    #[actor]
    static DOORMAN: Actor<Doorman, Pinned<1>, 4> = Doorman;
    let mut letters = 0;
    for cores in [2, 4] {
        device(cores, || {
            for _ in 0..50 {
                crowd::<Here>(&CROWD, &mut letters, || CROWD.outlast().tell().unwrap());
                crowd::<Here>(&CROWD, &mut letters, || CROWD.await_the_end(&DOORMAN).tell().unwrap());
            }
        });
        Here::watch().assert_done(letters);
    }
}

/// PAM-11, PAM-G2, PAM-G3, PAM-G4: while a granted letter still runs, the monitor schedules and grants a later one, and it runs.
#[test]
fn grants_before_the_earlier_batch_ends_pam_11() {
    watch! { Here = Watch::new(); }
    #[actor]
    static TABLE: Actor<Table, Watched<ReadersWriter, Here>, 8> = Table { occupancy: Occupancy::new() };
    for cores in [2, 4] {
        device(cores, || {
            for _ in 0..20 {
                TABLE.meet(2).tell().unwrap();
                let later = thread::spawn(|| {
                    spin_until(|| GUESTS.arrived() == 1);
                    let schedules = Here::watch().schedules.load(SeqCst);
                    TABLE.meet(2).tell().unwrap();
                    spin_until(|| GUESTS.arrived() == 2);
                    assert!(
                        Here::watch().schedules.load(SeqCst) > schedules,
                        "PAM-G2: scheduled beside a running letter"
                    );
                });
                run_until(|| later.is_finished());
                later.join().unwrap();
                assert_eq!(TABLE.clear().get().unwrap(), 2);
            }
        });
    }
}

/// PAM-6: what a monitor holds back stays inside its actor: senders and other actors go on.
#[test]
fn a_monitor_that_grants_nothing_stops_nobody_else_pam_6() {
    static OPEN: AtomicBool = AtomicBool::new(false);
    /// Grants everything, once it is open.
    struct Later;
    impl Monitor for Later {
        type Discipline = OneAtATime;
        const NEW: Self = Self;
        fn schedule(&mut self, inbox: Inbox<'_>) {
            if OPEN.load(SeqCst) {
                inbox.execute_oldest(Any);
            }
        }
        fn leave(&mut self, _: Letter<'_>) {}
    }
    #[actor]
    static CLOSED: Actor<Diary, Later, 4> = Diary { seen: Vec::new() };
    #[actor]
    static OTHER: Actor<Diary, Serial, 4> = Diary { seen: Vec::new() };
    for cores in CORES {
        OPEN.store(false, SeqCst);
        device(cores, || {
            (0..3).for_each(|number| CLOSED.note(number).tell().unwrap());
            OTHER.note(7).tell().unwrap();
            assert_eq!(OTHER.take().get().unwrap(), [7]);
            assert_eq!(
                flockwork::Report::of(&CLOSED).letters,
                3,
                "PAM-9: a letter stays in the inbox until it is granted"
            );
            OPEN.store(true, SeqCst);
            assert_eq!(CLOSED.take().get().unwrap(), [0, 1, 2], "PAM-G1: those that waited are granted as well");
        });
    }
}

// ---- what a letter is ----

static LOUD: Category = Category::new("loud");

/// An actor with a category.
pub struct Speaker {
    said: Vec<u32>,
}

#[actor]
impl Speaker {
    #[category(LOUD)]
    pub fn shout(&mut self, word: u32) -> u32 {
        self.said.push(word);
        word * 2
    }
    pub fn whisper(&mut self, word: u32) {
        self.said.push(word);
    }
    pub fn said(&self) -> Vec<u32> {
        self.said.clone()
    }
}

/// PAM-9: a letter is message, receiver, category, age and reply; it stays in the inbox until it is granted.
#[test]
fn what_a_monitor_sees_of_a_letter_pam_9() {
    static SEEN: Lock<Vec<(String, bool, u32)>> = Lock::new(Vec::new());
    /// Waits for three letters, notes what they are, then grants them youngest first.
    struct Three {
        waiting: bool,
        busy: bool,
    }
    impl Monitor for Three {
        type Discipline = OneAtATime;
        const NEW: Self = Self { waiting: true, busy: false };
        fn schedule(&mut self, inbox: Inbox<'_>) {
            if self.waiting && inbox.len() < 3 {
                return;
            }
            if self.waiting {
                self.waiting = false;
                *lock(&SEEN) = inbox
                    .letters()
                    .map(|letter| {
                        let word = match letter.message::<Speaker>() {
                            Some(SpeakerMessage::Shout(word, _) | SpeakerMessage::Whisper(word, _)) => *word,
                            _ => 0,
                        };
                        require(letter.receiver().is_none(), "PAM-12: an actor that is one object has no receivers");
                        (letter.method().to_owned(), letter.category() == Some(&LOUD), word)
                    })
                    .collect();
            }
            if !self.busy {
                self.busy = inbox.execute_youngest(Any);
            }
        }
        fn leave(&mut self, letter: Letter<'_>) {
            require(letter.message::<Speaker>().is_none(), "a letter that leaves has no message any more");
            require(!letter.method().is_empty(), "but it is still that letter");
            self.busy = false;
        }
    }
    #[actor]
    static SPEAKER: Actor<Speaker, Three, 8> = Speaker { said: Vec::new() };
    device(2, || {
        let first = SPEAKER.shout(1).ask().unwrap();
        SPEAKER.whisper(2).tell().unwrap();
        (0..100).for_each(|_| {
            flockwork::worker::step_once();
        });
        assert_eq!(flockwork::Report::of(&SPEAKER).letters, 2, "not granted, so still in the inbox");
        let third = SPEAKER.shout(3).ask().unwrap();
        use flockwork::Eventually as _;
        assert_eq!(first.join(third).get(), Ok((2, 6)), "each letter has its own reply");
        assert_eq!(SPEAKER.said().get().unwrap(), [3, 2, 1]);
    });
    let seen = lock(&SEEN).clone();
    let seen: Vec<_> = seen.iter().map(|(method, loud, word)| (&method[..], *loud, *word)).collect();
    assert_eq!(seen, [("shout", true, 1), ("whisper", false, 2), ("shout", true, 3)], "oldest first");
}

// ---- who calls the monitor, and when ----

/// An actor whose turns are logged with the calls of its monitor.
pub struct Logged;

#[actor]
impl Logged {
    pub fn work(&mut self) {
        Sequence::watch().log("run");
    }
    pub fn look(&self) {
        Sequence::watch().log("run");
    }
}

watch! { Sequence = Watch::logging(); }

/// PAM-13, PAM-14, PAM-G5: the worker that ran a letter calls `leave`, then `schedule` only if letters wait. Nobody notifies.
#[test]
fn leave_then_schedule_pam_13_14() {
    #[actor]
    static LOGGED: Actor<Logged, Watched<Mutex, Sequence>, 8> = Logged;
    device(1, || {
        LOGGED.work().tell().unwrap();
        LOGGED.look().tell().unwrap();
        LOGGED.work().get().unwrap();
        run_until(|| Sequence::watch().leaves.load(SeqCst) == 3);
    });
    let log: Vec<_> = Sequence::watch().take_log();
    assert!(log.iter().all(|(_, core)| *core == 0));
    let log: Vec<_> = log.iter().map(|(event, _)| *event).collect();
    let golden = ["schedule", "run", "leave", "schedule", "run", "leave", "schedule", "run", "leave"];
    assert_eq!(log, golden, "no schedule after the last leave: the inbox is empty");
}

/// PAM-13 (our part): a worker never waits for a busy monitor. It leaves its event with the holder and goes on.
#[test]
fn nobody_waits_for_a_busy_monitor_pam_13() {
    static DECIDING: AtomicBool = AtomicBool::new(false);
    static GO_ON: AtomicBool = AtomicBool::new(false);
    /// Takes its time with its first decision.
    struct Slow(bool);
    impl Monitor for Slow {
        type Discipline = Parallel;
        const NEW: Self = Self(true);
        fn schedule(&mut self, inbox: Inbox<'_>) {
            if self.0 {
                self.0 = false;
                DECIDING.store(true, SeqCst);
                spin_until(|| GO_ON.load(SeqCst));
            }
            inbox.execute_all(Readers);
        }
        fn leave(&mut self, _: Letter<'_>) {}
    }
    static RAN: AtomicUsize = AtomicUsize::new(0);
    pub struct Slowly;
    #[actor]
    impl Slowly {
        pub fn work(&self) {
            RAN.fetch_add(1, SeqCst);
        }
    }
    #[actor]
    static SLOWLY: Actor<Slowly, Slow, 8> = Slowly;
    #[actor]
    static NEIGHBOUR: Actor<Diary, Serial, 8> = Diary { seen: Vec::new() };
    device(2, || {
        let first = thread::spawn(|| SLOWLY.work().tell().unwrap());
        // Core 1 is the idle one, so the letter goes there.
        first.join().unwrap();
        spin_until(|| DECIDING.load(SeqCst));
        SLOWLY.work().tell().unwrap();
        NEIGHBOUR.note(1).tell().unwrap();
        // Core 0 visits the actor, finds its monitor busy, and serves the neighbour.
        assert_eq!(NEIGHBOUR.take().get().unwrap(), [1]);
        assert_eq!(RAN.load(SeqCst), 0);
        GO_ON.store(true, SeqCst);
        run_until(|| RAN.load(SeqCst) == 2);
    });
}

// ---- leave, whatever became of the letter ----

/// Letters that end in every way there is.
pub struct Fates;

/// The error of a failing method.
#[derive(Debug, PartialEq)]
pub struct Bad;

#[actor]
impl Fates {
    pub fn fine(&self) -> u32 {
        1
    }
    pub fn fails(&self) -> Result<u32, Bad> {
        Err(Bad)
    }
    pub fn panics(&self) -> u32 {
        panic!("a reader panics on purpose")
    }
    pub fn panics_writing(&mut self) -> u32 {
        panic!("a writer panics on purpose")
    }
    pub fn forwarded<'t>(&mut self, to: Ref<Fates>, reply: Token<'t, u32>) -> Answered<'t> {
        to.fine().forward(reply).unwrap_or_else(|(reply, why)| reply.fail(why))
    }
    pub fn told(&mut self) {}
}

/// PAM-G5: exactly one `leave` for each letter: told, fine, failed, panicked or forwarded; under both disciplines.
#[test]
fn one_leave_for_every_fate_pam_g5() {
    watch! { One = Watch::new(); Many = Watch::new(); }
    #[actor]
    static FATES: Actor<Fates, Watched<Mutex, One>, 8> = Fates;
    #[actor]
    static PARALLEL: Actor<Fates, Watched<ReadersWriter, Many>, 8> = Fates;
    let fates: [(Ref<Fates>, &Watch); 2] = [(&FATES, One::watch()), (&PARALLEL, Many::watch())];
    let mut letters = 0;
    for cores in CORES {
        device(cores, || {
            for (fates, watch) in fates {
                let mut here = letters;
                for _ in 0..5 {
                    fates.told().tell().unwrap();
                    assert_eq!(fates.fine().get(), Ok(1));
                    assert_eq!(fates.fails().get(), Err(flockwork::Failure::Method(Bad)));
                    assert_eq!(fates.panics().get(), Err(flockwork::Failure::Panicked));
                    assert_eq!(fates.panics_writing().get(), Err(flockwork::Failure::Panicked));
                    assert_eq!(fates.forwarded(fates).get(), Ok(1));
                    here += 7;
                }
                run_until(|| watch.leaves.load(SeqCst) >= here);
                watch.assert_done(here);
            }
        });
        letters += 35;
    }
}

/// PAM-10, SAFE-1: what a monitor grants too much is refused and counted, and runs later. Nothing aliases.
#[test]
fn a_monitor_that_grants_everything_pam_10_safe_1() {
    assert!(refused_grants_under!(Careless) > 0, "counted and reported");
    assert_eq!(<Dictionary as Methods>::METHODS.len(), 3);
}
