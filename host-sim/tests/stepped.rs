//! Virtual cores in virtual time: what overlaps, what it takes, and what is found out.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use flockwork::trace::Hop;
use flockwork::{Actor, Eventually, Mutex, Pinned, ReadersWriter, Ref, Report, Serial, actor, worker};
use flockwork_examples::dictionary::{Dictionary, WORDS, word};
use flockwork_host_sim::{Costs, Device, Event, Faults, OnceIn, Run, Snapshot, charge, run_until};

/// Costs without chance, so that figures can be foretold.
fn steady() -> Costs {
    Costs { jitter: 0, ..Costs::rp2040() }
}

/// Looks at something for as long as it is told.
pub struct Library {
    books: u32,
}

#[actor]
impl Library {
    pub fn read(&self, cycles: u32) -> u32 {
        charge(cycles);
        self.books
    }

    pub fn add(&mut self, cycles: u32) {
        self.books += 1;
        charge(cycles);
    }
}

/// When each letter's turn began and ended.
fn turns(run: &Run<impl Sized>) -> Vec<(Event, Event)> {
    let begun = run.events.iter().filter(|event| event.hop == Hop::Started);
    begun
        .map(|start| {
            let end = run.events.iter().find(|event| event.hop == Hop::Ended && event.letter == start.letter);
            (*start, *end.expect("a turn that began has ended"))
        })
        .collect()
}

fn overlap((start, end): (Event, Event), (other_start, other_end): (Event, Event)) -> bool {
    start.time < other_end.time && other_start.time < end.time
}

/// Asks a library, and waits for the answer.
pub struct Reader {
    library: Ref<Library>,
}

#[actor]
impl Reader {
    pub fn ask(&mut self, cycles: u32) -> bool {
        charge(500);
        self.library.read(cycles).get().is_ok()
    }
}

/// Whoever waits does nothing: turns that are nested in one, and sleep, are not counted as its own. With and without a journal.
#[test]
fn the_longest_turn_is_what_a_turn_does_itself() {
    #[actor]
    static HERE: Actor<Library, Serial, 8> = Library { books: 1 };
    #[actor]
    static THERE: Actor<Library, Pinned<1>, 8> = Library { books: 1 };
    #[actor]
    static NESTED: Actor<Reader, Serial, 8> = Reader { library: &HERE };
    #[actor]
    static ASLEEP: Actor<Reader, Pinned<0>, 8> = Reader { library: &THERE };
    for keep_events in [true, false] {
        for (cores, reader) in [(1, &NESTED as Ref<Reader>), (2, &ASLEEP)] {
            let device = Device::stepped(cores).keep_events(keep_events);
            let run = device.run(|| reader.ask(100_000).get());
            assert_eq!(run.returned, Ok(true));
            let longest = |name: &str| {
                let of_type = run.actors.iter().filter(|actor| actor.name.is_some_and(|other| other.ends_with(name)));
                of_type.map(|actor| actor.longest_turn).max().expect("it had letters")
            };
            let (own, other) = (longest("Reader"), longest("Library"));
            assert!((500..5_000).contains(&own), "a reader that waits on {cores} cores took {own}");
            assert!((100_000..101_000).contains(&other), "the library took {other}");
        }
    }
}

#[test]
fn a_letter_takes_what_its_steps_cost() {
    #[actor]
    static LIBRARY: Actor<Library, Serial, 8> = Library { books: 1 };
    #[actor]
    static MONITORED: Actor<Library, ReadersWriter, 8> = Library { books: 1 };
    let Costs { send, visit, start, end, leave, wait, .. } = steady();
    let run = Device::stepped(1).costs(steady()).run(|| LIBRARY.read(1000).get());
    assert_eq!(run.returned, Ok(1));
    let times = run.events.iter().map(|event| (event.hop, event.time)).collect::<Vec<_>>();
    let sent = u64::from(send);
    let started = sent + u64::from(wait + visit + start);
    let ended = started + 1000 + u64::from(end);
    let left = ended + u64::from(leave);
    assert_eq!(times, [(Hop::Sent, sent), (Hop::Started, started), (Hop::Ended, ended), (Hop::Left, left)]);
    assert_eq!((run.cycles, run.cores[0].awake, run.cores[0].asleep), (left, left, 0));

    let Costs { visit_monitored, grant, start_granted, end_granted, leave_granted, .. } = steady();
    let run = Device::stepped(1).costs(steady()).run(|| MONITORED.read(1000).get());
    let whole = send + wait + visit_monitored + grant + start_granted + 1000 + end_granted + leave_granted;
    assert_eq!(run.events.last().map(|event| (event.hop, event.time)), Some((Hop::Left, u64::from(whole))));
}

#[test]
fn letters_of_one_visit_share_its_cost() {
    #[actor]
    static LIBRARY: Actor<Library, Serial, 8> = Library { books: 1 };
    let Costs { send, visit, start, end, leave, .. } = steady();
    let run = Device::stepped(1).costs(steady()).run(|| {
        (0..4).for_each(|_| LIBRARY.add(0).tell().unwrap());
        while flockwork::worker::step_once() {}
    });
    assert_eq!(run.cycles, u64::from(visit + 4 * (send + start + end + leave)));
}

#[test]
fn readers_overlap_and_writers_do_not() {
    #[actor]
    static LIBRARY: Actor<Library, ReadersWriter, 16, 16> = Library { books: 1 };
    let run = Device::stepped(2).run(|| {
        let readers = [1, 2, 3, 4].map(|_| LIBRARY.read(10_000).ask().unwrap());
        let writers = [1, 2].map(|_| LIBRARY.add(10_000).ask().unwrap());
        let readers_after = [1, 2].map(|_| LIBRARY.read(10_000).ask().unwrap());
        readers.into_iter().for_each(|answer| assert_eq!(answer.get(), Ok(1)));
        writers.into_iter().for_each(|answer| assert_eq!(answer.get(), Ok(())));
        readers_after.into_iter().for_each(|answer| assert_eq!(answer.get(), Ok(3)));
    });
    let turns = turns(&run);
    let is_reader = |turn: &(Event, Event)| turn.0.method_name() == Some("read");
    let pairs = (0..turns.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let together = pairs.filter(|&(one, other)| overlap(turns[one], turns[other])).collect::<Vec<_>>();
    assert!(together.iter().all(|&(one, other)| is_reader(&turns[one]) && is_reader(&turns[other])), "{turns:?}");
    assert!(together.len() >= 3, "six readers, two at a time: {turns:?}");
    assert!(run.events.is_sorted_by_key(|event| event.time), "events are in the order of time");
}

/// Cycles that so many cores need for 64 long readers.
fn readers_take(library: Ref<Library>, cores: usize) -> u64 {
    let run = Device::stepped(cores).keep_events(false).run(|| {
        let asked = (0..64).map(|_| library.read(200_000).ask().unwrap()).collect::<Vec<_>>();
        asked.into_iter().for_each(|answer| assert_eq!(answer.get(), Ok(1)));
    });
    assert_eq!(run.letters(), 64);
    run.cycles
}

#[test]
fn cores_share_readers() {
    #[actor]
    static LIBRARY: Actor<Library, ReadersWriter, 64, 64> = Library { books: 1 };
    let alone = readers_take(&LIBRARY, 1) as f64;
    for (cores, at_least) in [(2, 1.95), (8, 7.6), (64, 30.0)] {
        let speed_up = alone / readers_take(&LIBRARY, cores) as f64;
        assert!(speed_up >= at_least && speed_up <= cores as f64, "{speed_up} times as fast on {cores} cores");
    }
}

#[test]
fn one_at_a_time_is_not_faster_on_more_cores() {
    #[actor]
    static LIBRARY: Actor<Library, Mutex, 64, 64> = Library { books: 1 };
    let (alone, together) = (readers_take(&LIBRARY, 1) as f64, readers_take(&LIBRARY, 4) as f64);
    assert!((0.98..1.02).contains(&(alone / together)), "{alone} and {together} cycles");
}

#[test]
fn a_dictionary_is_the_same_on_any_number_of_cores() {
    #[actor]
    static DICTIONARY: Actor<Dictionary, ReadersWriter, 64, 64> = Dictionary::new();
    for cores in [1, 2, 8, 64] {
        let run = Device::stepped(cores).seed(cores as u64).run(|| {
            let asked = (0..48).map(|number| DICTIONARY.get(word(number)).ask().unwrap()).collect::<Vec<_>>();
            for (number, answer) in (0..).zip(asked) {
                assert_eq!(answer.get(), Ok(Some(number)));
            }
            assert_eq!(DICTIONARY.put(word(WORDS as u32), 1).get(), Ok(false), "there is no such word");
            assert_eq!(DICTIONARY.resembling(word(1), 12).get(), Ok(1));
        });
        assert_eq!(run.letters(), 50);
        assert_eq!((run.cores.len(), run.actors.iter().map(|actor| actor.waiting()).sum::<u64>()), (cores, 0));
    }
}

/// Waits for another actor inside a turn.
pub struct Asker {
    other: Ref<Library>,
}

#[actor]
impl Asker {
    pub fn ask(&mut self, cycles: u32) -> u32 {
        self.other.read(cycles).get().unwrap_or(0)
    }
}

#[test]
fn a_turn_waits_inside_another() {
    #[actor]
    static LIBRARY: Actor<Library, Serial, 8> = Library { books: 7 };
    #[actor]
    static ASKER: Actor<Asker, Serial, 8> = Asker { other: &LIBRARY };
    for cores in [1, 3] {
        let run = Device::stepped(cores).run(|| ASKER.ask(500).get());
        assert_eq!(run.returned, Ok(7));
        let turns = turns(&run);
        assert_eq!(turns.len(), 2);
        assert!(turns[0].0.time < turns[1].0.time && turns[1].1.time < turns[0].1.time, "one inside the other");
    }
}

#[test]
fn main_waits_for_what_is_no_promise() {
    static READ: AtomicU32 = AtomicU32::new(0);
    pub struct Clerk;
    #[actor]
    impl Clerk {
        pub fn work(&mut self) {
            charge(5_000);
            READ.fetch_add(1, SeqCst);
        }
    }
    #[actor]
    static CLERK: Actor<Clerk, flockwork::Pinned<1>, 8> = Clerk;
    let run = Device::stepped(2).run(|| {
        (0..3).for_each(|_| CLERK.work().tell().unwrap());
        run_until(|| READ.load(SeqCst) == 3);
    });
    assert_eq!((run.cores[0].letters, run.cores[1].letters), (0, 3));
    assert!((15_000..16_500).contains(&run.cycles), "{} cycles", run.cycles);
    assert!(run.cores[0].asleep > run.cores[0].awake, "core 0 had nothing to do");
}

#[test]
fn a_panic_ends_its_turn_only() {
    pub struct Careful(u32);
    #[actor]
    impl Careful {
        pub fn divide(&mut self, by: u32) -> u32 {
            charge(100);
            self.0.checked_div(by).unwrap_or_else(|| std::panic::resume_unwind(Box::new("a method fails on purpose")))
        }
    }
    #[actor]
    static CAREFUL: Actor<Careful, Mutex, 8> = Careful(84);
    #[actor]
    static PINNED: Actor<Careful, flockwork::Pinned<1>, 8> = Careful(84);
    for careful in [&CAREFUL as Ref<Careful>, &PINNED] {
        Device::stepped(2).run(|| {
            let asked = [2, 0, 4].map(|by| careful.divide(by).ask().unwrap());
            let answers = asked.map(|answer| answer.get().ok());
            assert_eq!(answers, [Some(42), None, Some(21)]);
        });
    }
}

#[test]
fn a_panic_of_main_is_the_callers() {
    let panic = std::panic::catch_unwind(|| {
        Device::stepped(2).run(|| std::panic::resume_unwind(Box::new("main fails on purpose")));
    });
    assert_eq!(panic.expect_err("main failed").downcast_ref::<&str>(), Some(&"main fails on purpose"));
    // The next device finds everything in order.
    assert_eq!(Device::stepped(2).run(|| 5).returned, 5);
}

/// Two actors that ask each other, each inside its turn.
pub struct Polite {
    other: fn() -> Ref<Polite>,
}

#[actor]
impl Polite {
    pub fn after_you(&mut self, rounds: u32) {
        charge(1000);
        if rounds > 0 {
            let _ = (self.other)().after_you(rounds - 1).get();
        }
    }
}

#[actor]
static ANN: Actor<Polite, Serial, 4> = Polite { other: || &BOB };
#[actor]
static BOB: Actor<Polite, Serial, 4> = Polite { other: || &ANN };

#[test]
fn a_deadlock_is_reported_with_who_waits() {
    let deadlock =
        Device::stepped(2).try_run(|| ANN.after_you(2).get()).expect_err("Ann waits for Bob, who waits for Ann");
    let text = deadlock.to_string();
    let waits = deadlock.waits.iter().filter_map(|wait| wait.turn).collect::<Vec<_>>();
    assert!(waits.iter().any(|(actor, method, _)| actor.ends_with("Polite") && *method == "after_you"), "{text}");
    assert!(text.starts_with("deadlock at cycle "), "{text}");
    assert!(text.contains(" waits in "), "{text}");
    assert_eq!(deadlock.unfinished.iter().map(|(_, letters)| letters).sum::<u64>(), 3, "{text}");
}

#[test]
fn a_wait_for_nothing_is_a_deadlock() {
    let deadlock = Device::stepped(3).try_run(|| run_until(|| false)).expect_err("nobody does anything");
    assert_eq!(deadlock.waits.len(), 1);
    assert!(deadlock.to_string().ends_with("; core 0 waits in main"), "{deadlock}");
}

#[test]
fn threads_record_the_same_life_of_a_letter() {
    #[actor]
    static LIBRARY: Actor<Library, ReadersWriter, 8> = Library { books: 1 };
    let of = |device: Device| {
        let run = device.run(|| LIBRARY.read(1).get().unwrap());
        run.events.iter().map(|event| (event.hop, event.letter, event.method)).collect::<Vec<_>>()
    };
    assert_eq!(of(Device::stepped(1)), of(Device::threads(1)));
}

#[test]
fn a_watcher_sees_time_pass_and_changes_nothing() {
    #[actor]
    static LIBRARY: Actor<Library, ReadersWriter, 64, 64> = Library { books: 1 };
    let ask = || {
        let asked = (0..20).map(|_| LIBRARY.read(10_000).ask().unwrap()).collect::<Vec<_>>();
        asked.into_iter().for_each(|answer| assert_eq!(answer.get(), Ok(1)));
    };
    // Once before, because the tests before this one left the kernel's cores in another state.
    Device::stepped(2).run(ask);
    let unwatched = Device::stepped(2).run(ask);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let look = {
        let seen = seen.clone();
        move |snapshot: &Snapshot| seen.borrow_mut().push(snapshot.clone())
    };
    let watched = Device::stepped(2).try_run_watched(5_000, look, ask).unwrap();
    assert_eq!(watched.events, unwatched.events);
    let seen = seen.take();
    assert!(seen.windows(2).all(|two| two[1].cycles >= two[0].cycles + 5_000), "not too often");
    assert!(seen.len() as u64 >= watched.cycles / 10_000, "and not too seldom: {} times", seen.len());
    let busy = |snapshot: &&Snapshot| snapshot.cores.iter().all(|core| core.turn.is_some_and(|turn| turn.1 == "read"));
    // Between two turns a core is in none, and the watcher sees that oftener than it is so.
    assert!(seen.iter().filter(busy).count() > seen.len() / 3, "both cores read at once");
    assert!(watched.cycles < 12 * 10_000, "most of the time: {} cycles for 20 turns", watched.cycles);
    assert!(seen.is_sorted_by_key(|snapshot| snapshot.cores.iter().map(|core| core.figures.letters).sum::<u64>()));
}

#[test]
fn faults_make_a_run_longer_and_change_no_answer() {
    #[actor]
    static LIBRARY: Actor<Library, ReadersWriter, 64, 64> = Library { books: 1 };
    let ask = || {
        let asked = (0..40).map(|_| LIBRARY.read(1_000).ask().unwrap()).collect::<Vec<_>>();
        asked.into_iter().for_each(|answer| assert_eq!(answer.get(), Ok(1)));
    };
    let healthy = Device::stepped(2).run(ask);
    let stalling = Faults { stalls: OnceIn(20), stall_cycles: 5_000, ..Faults::none() };
    let stalled = Device::stepped(2).faults(stalling).run(ask);
    assert_eq!(healthy.cores.iter().map(|core| core.stalled).sum::<u64>(), 0);
    assert!(stalled.cores.iter().map(|core| core.stalled).sum::<u64>() > 5_000);
    assert!(stalled.cycles > healthy.cycles);
    let slow = Faults { slow_cores: OnceIn(1), slower_by: 300, ..Faults::none() };
    let slow = Device::stepped(2).faults(slow).run(ask);
    assert!(slow.cycles > healthy.cycles, "every core is slow");
    assert_eq!(slow.letters(), 40);
}

#[test]
fn refused_sends_come_back_and_are_tried_again() {
    #[actor]
    static LIBRARY: Actor<Library, Mutex, 8> = Library { books: 0 };
    let faults = Faults { refused_sends: OnceIn(3), ..Faults::none() };
    let run = Device::stepped(2).seed(5).faults(faults).run(|| {
        let mut refused = 0;
        for _ in 0..60 {
            let mut sent = LIBRARY.add(100).tell();
            while let Err(rejected) = sent {
                refused += 1;
                flockwork::worker::step_once();
                sent = rejected.retry();
            }
        }
        // A question tries again by itself.
        (refused, LIBRARY.read(1).get())
    });
    let (refused, books) = run.returned;
    assert_eq!(books, Ok(60), "nothing is lost, and nothing comes twice");
    assert!(refused > 10, "every third is refused, though the mailbox has room: {refused}");
}

#[test]
fn lost_answers_fail_their_promises_and_nothing_else() {
    #[actor]
    static LIBRARY: Actor<Library, ReadersWriter, 8, 8> = Library { books: 7 };
    let faults = Faults { lost_answers: OnceIn(4), ..Faults::none() };
    let run = Device::stepped(2).seed(5).faults(faults).run(|| {
        // More questions than there are promise slots: those of lost answers are free again.
        (0..80).map(|_| LIBRARY.read(50).get()).collect::<Vec<_>>()
    });
    let lost = run.returned.iter().filter(|answer| **answer == Err(flockwork::Failure::Unanswered)).count();
    let right = run.returned.iter().filter(|answer| **answer == Ok(7)).count();
    assert_eq!(lost + right, 80);
    assert!((5..40).contains(&lost), "about every fourth: {lost}");
}

/// Sends, and keeps its core busy.
pub struct Busy;

#[actor]
impl Busy {
    pub fn work(&mut self, cycles: u32) {
        charge(cycles);
    }
}

/// OCA-26: between ready actors it is one letter each, also where a worker could run several readers of one in a row.
#[test]
fn several_readers_are_run_in_a_row_only_if_nobody_else_waits_oca_26() {
    #[actor]
    static LIBRARY: Actor<Library, ReadersWriter, 32, 32> = Library { books: 1 };
    #[actor]
    static HERE: Actor<Busy, Serial, 2> = Busy;
    #[actor]
    static THERE: Actor<Busy, Pinned<1>, 2> = Busy;
    let run = Device::stepped(2).costs(steady()).run(|| {
        // The first letter of an actor takes a longer way.
        assert_eq!(THERE.work(1).get(), Ok(()));
        let busy = THERE.work(3_000_000).ask().unwrap();
        // The other core has begun by then, and takes no part in what follows.
        charge(50_000);
        let asked = (0..24).map(|_| LIBRARY.read(1_000).ask().unwrap()).collect::<Vec<_>>();
        HERE.work(1).tell().unwrap();
        asked.into_iter().for_each(|answer| assert_eq!(answer.get(), Ok(1)));
        assert_eq!(busy.get(), Ok(()));
    });
    let started = run.events.iter().filter(|event| event.hop == Hop::Started && event.core == 0);
    let methods = started.map(|event| event.method_name().expect("it has a name")).collect::<Vec<_>>();
    let place = methods.iter().position(|method| *method == "work").expect("it ran");
    assert!(place <= 1, "at most one reader comes first: {methods:?}");
}

struct Entrance {
    came: u32,
}

#[actor]
impl Entrance {
    pub fn pass(&mut self, cycles: u32) -> u32 {
        charge(cycles);
        self.came += 1;
        self.came
    }

    pub fn came(&self) -> u32 {
        self.came
    }
}

#[actor]
static ENTRANCE: Actor<Entrance, Serial, 128> = Entrance { came: 0 };

struct Latecomer;

#[actor]
impl Latecomer {
    pub fn come_after(&mut self, cycles: u32) {
        charge(cycles);
        ENTRANCE.pass(1).tell().unwrap();
    }
}

/// A visit runs as many letters as it may at most, and meanwhile another core has rung for one more: that is left for the next visit.
#[test]
fn a_visit_that_has_run_all_it_may_comes_back_for_who_rang() {
    #[actor]
    static LATECOMER: Actor<Latecomer, Pinned<1>, 2> = Latecomer;
    Device::stepped(2).costs(steady()).run(|| {
        // First letters take a longer way.
        assert_eq!(ENTRANCE.pass(1).get(), Ok(1));
        assert_eq!(LATECOMER.come_after(1).get(), Ok(()));
        while ENTRANCE.came().get() != Ok(2) {}
        LATECOMER.come_after(200_000).tell().unwrap();
        (0..127).for_each(|_| ENTRANCE.pass(5_000).tell().unwrap());
        assert_eq!(ENTRANCE.pass(5_000).get(), Ok(130));
        while ENTRANCE.came().get() != Ok(131) {}
        assert_eq!(Report::of(&ENTRANCE).letters, 0);
    });
}

/// A task's first letter to an actor may be denied room before the actor is known: it is sent later all the same.
#[test]
fn a_first_letter_that_is_denied_is_sent_later() {
    pub struct Newcomer;

    #[actor]
    impl Newcomer {
        pub fn greet(&mut self) {
            GREETED.fetch_add(1, SeqCst);
        }
    }

    static GREETED: AtomicU32 = AtomicU32::new(0);
    macro_rules! newcomers {
        ($($name:ident: $seed:literal,)*) => {$({
            #[actor]
            static $name: Actor<Newcomer, Serial, 4> = Newcomer;
            #[embassy_executor::task]
            async fn sender() {
                $name.greet().send().await.unwrap();
            }
            let before = GREETED.load(SeqCst);
            let faults = Faults { refused_sends: OnceIn(2), ..Faults::none() };
            Device::stepped(1).seed($seed).faults(faults).run(|| {
                worker::spawner().spawn(sender().expect("it is spawned once"));
                run_until(|| GREETED.load(SeqCst) == before + 1);
            });
        })*};
    }
    newcomers! { FIRST: 1, SECOND: 2, THIRD: 3, FOURTH: 4, FIFTH: 5, SIXTH: 6, SEVENTH: 7, EIGHTH: 8, }
}
