//! Monitors as plain decisions: every operation on the inbox, every ready-made monitor, and bad monitors, without threads.
//!
//! Each test names the requirement it proves. What happens is asserted step by step as `letters → granted`; the same
//! rules under real parallelism are the business of other suites.
#![cfg(not(loom))]

use flockwork::{
    Access, Any, Category, Claims, CollectiveBound, Filter, Id, Inbox, Join, JoinLeft, JoinRight, Letter, Method,
    Methods, Monitor, Mutex, OneAtATime, Parallel, Philosophers, Readers, ReadersFirst, ReadersWriter, Rehearsal,
    Release, Request, Resources, RuleBook, Rules, Serial, Several, Synchronizer, Writers, WritersFirst, actor,
    dispatch,
};

static RED: Category = Category::new("colour");
static BLUE: Category = Category::new("colour");

static METHODS: [Method; 10] = [
    Method::new("get", Access::Reader),
    Method::new("put", Access::Writer),
    Method::new("red", Access::Reader).tagged(&RED),
    Method::new("blue", Access::Reader).tagged(&BLUE),
    Method::new("touch", Access::Objects),
    Method::new("request", Access::Reader).tagged(Request::CATEGORY),
    Method::new("release", Access::Reader).tagged(Release::CATEGORY),
    Method::new("left", Access::Reader).tagged(JoinLeft::CATEGORY),
    Method::new("right", Access::Reader).tagged(JoinRight::CATEGORY),
    Method::new("right alone", Access::Writer).tagged(JoinRight::CATEGORY),
];

/// An actor like any other.
pub struct Dictionary {
    meaning: u8,
}

#[actor]
impl Dictionary {
    /// A reader.
    pub fn get(&self) -> u8 {
        self.meaning
    }
    /// A writer.
    pub fn put(&mut self, meaning: u8) {
        self.meaning = meaning;
    }
}

/// Five objects, as many as a test needs.
type Five = Several<(), 5>;

fn exclusive(places: &[u8]) -> Claims {
    places.iter().fold(Claims::NONE, |claims, place| claims.exclusive::<Five>(Id::new(*place)).unwrap())
}

fn shared(places: &[u8]) -> Claims {
    places.iter().fold(Claims::NONE, |claims, place| claims.shared::<Five>(Id::new(*place)).unwrap())
}

/// A monitor that makes one decision, written in the test, whenever it is asked.
macro_rules! decide {
    ($discipline:ty, |$inbox:ident| $decision:expr) => {{
        struct Decision;
        impl Monitor for Decision {
            type Discipline = $discipline;
            const NEW: Self = Self;
            fn schedule(&mut self, $inbox: Inbox<'_>) {
                $decision;
            }
            fn leave(&mut self, _: Letter<'_>) {}
        }
        Rehearsal::<Decision, 16>::new(&METHODS)
    }};
}

mod model {
    use super::*;

    /// PAM-1, PAM-2: a monitor is a value with `schedule` and `leave`, and is used in no other way.
    #[test]
    fn pam_2_schedule_and_leave_are_all_a_monitor_hears() {
        struct Diary(Vec<String>);
        impl Monitor for Diary {
            type Discipline = Parallel;
            const NEW: Self = Self(Vec::new());
            fn schedule(&mut self, inbox: Inbox<'_>) {
                self.0.push(format!("schedule {}", inbox.len()));
                inbox.execute_oldest(Any);
            }
            fn leave(&mut self, letter: Letter<'_>) {
                self.0.push(format!("leave {}", letter.method()));
            }
        }
        let actor = Rehearsal::<Diary, 4>::new(&METHODS);
        let get = actor.post("get");
        let put = actor.post("put");
        actor.monitor(|diary| assert!(diary.0.is_empty(), "posting a letter is not the monitor's business"));
        assert_eq!(actor.schedule(), [get]);
        assert_eq!(actor.finish(get), [put]);
        assert_eq!(actor.finish(put), []);
        actor.monitor(|diary| assert_eq!(diary.0, ["schedule 2", "leave get", "schedule 1", "leave put"]));
    }

    /// PAM-4: each actor has an instance of its own; what one does is not seen by the other.
    #[test]
    fn pam_4_each_actor_has_its_own_instance() {
        let one = Rehearsal::<Mutex, 4>::new(&METHODS);
        let other = Rehearsal::<Mutex, 4>::new(&METHODS);
        let held = one.post("put");
        assert_eq!(one.schedule(), [held]);
        let free = other.post("put");
        assert_eq!(other.schedule(), [free]);
    }

    /// PAM-5: without a monitor one letter runs at a time, oldest first.
    #[test]
    fn pam_5_without_a_monitor_letters_run_one_by_one() {
        let actor = Rehearsal::<Serial, 4>::new(&METHODS);
        let [a, b, c] = actor.post_each(["get", "get", "put"]);
        assert_eq!(actor.schedule(), [a]);
        assert_eq!(actor.finish(a), [b]);
        assert_eq!(actor.finish(b), [c]);
    }

    /// PAM-8: the ready-made monitors see inbox, letters, categories and grants; no threads, locks, atomics or `unsafe`.
    #[test]
    fn pam_8_monitors_are_plain_decisions() {
        let sources = [
            include_str!("../kernel/src/monitors.rs"),
            include_str!("../kernel/src/monitors/join.rs"),
            include_str!("../kernel/src/monitors/mutex.rs"),
            include_str!("../kernel/src/monitors/readers_writer.rs"),
            include_str!("../kernel/src/monitors/resources.rs"),
            include_str!("../kernel/src/monitors/synchronizer.rs"),
        ];
        for line in sources.iter().flat_map(|source| source.lines()) {
            let code = line.split("//").next().unwrap();
            for word in ["unsafe", "atomic::", "Atomic", "crate::sync", "core::sync", "thread", "spin", "lock("] {
                assert!(!code.contains(word), "`{word}` in a monitor: {line}");
            }
        }
    }

    /// PAM-9: a letter shows its method, access, category, objects and place in the queue, and waits until it is granted.
    #[test]
    fn pam_9_a_letter_waits_in_the_inbox_until_it_is_granted() {
        let actor = decide!(Parallel, |inbox| {
            let mut letters = inbox.letters();
            let red = letters.next().unwrap();
            assert_eq!((red.method(), red.access(), red.category()), ("red", Access::Reader, Some(&RED)));
            assert_eq!((red.claims(), red.receiver()), (Claims::NONE, None));
            let touch = letters.next().unwrap();
            assert_eq!((touch.method(), touch.access(), touch.category()), ("touch", Access::Objects, None));
            assert_eq!((touch.claims(), touch.receiver()), (exclusive(&[3, 1]), Some(3)));
            assert!(letters.next().is_none());
        });
        actor.post("red");
        actor.post_naming("touch", exclusive(&[3, 1]));
        for _ in 0..3 {
            assert_eq!(actor.schedule(), []);
            assert_eq!(actor.waiting(), 2);
        }
    }

    /// PAM-10, PAM-11: one `schedule` grants many letters, and further ones are granted before the first have ended.
    #[test]
    fn pam_10_pam_11_grants_overlap() {
        let actor = decide!(Parallel, |inbox| inbox.execute_all(Any));
        let [a, b] = actor.post_each(["get", "get"]);
        assert_eq!(actor.schedule(), [a, b]);
        let c = actor.post("get");
        assert_eq!(actor.schedule(), [c]);
        assert!([a, b, c].iter().all(|letter| actor.is_running(*letter)));
    }

    /// PAM-12: `receiver` tells which object a letter is for: the first it names.
    #[test]
    fn pam_12_one_monitor_coordinates_several_objects() {
        let actor = decide!(Parallel, |inbox| {
            inbox.execute_all(|letter: &Letter<'_>| letter.receiver() == Some(2));
        });
        let [_, for_two, _, _] = [
            actor.post_naming("touch", exclusive(&[1])),
            actor.post_naming("touch", exclusive(&[2, 0])),
            actor.post_naming("touch", exclusive(&[0, 2])),
            actor.post("get"),
        ];
        assert_eq!(actor.schedule(), [for_two]);
    }

    /// PAM-7: the methods of a real actor under three monitors; one type changes. PAM-9: a rehearsed letter has no message.
    #[test]
    fn pam_7_one_type_changes_the_monitor() {
        let mutex = Rehearsal::<Mutex, 4>::new(Dictionary::METHODS);
        let [get, _] = mutex.post_each(["get", "get"]);
        assert_eq!(mutex.schedule(), [get]);

        let readers_writer = Rehearsal::<ReadersWriter, 4>::new(Dictionary::METHODS);
        let [one, other, _] = readers_writer.post_each(["get", "get", "put"]);
        assert_eq!(readers_writer.schedule(), [one, other]);

        struct Own;
        impl Monitor for Own {
            type Discipline = Parallel;
            const NEW: Self = Self;
            fn schedule(&mut self, inbox: Inbox<'_>) {
                assert!(inbox.letters().all(|letter| letter.message::<Dictionary>().is_none()));
                inbox.execute_youngest(Any);
            }
            fn leave(&mut self, _: Letter<'_>) {}
        }
        let own = Rehearsal::<Own, 4>::new(Dictionary::METHODS);
        let [_, put] = own.post_each(["get", "put"]);
        assert_eq!(own.schedule(), [put]);
    }

    /// PAM-G3, PAM-G5: `leave` once for each letter, then `schedule`, unless the inbox is empty.
    #[test]
    fn pam_g3_pam_g5_schedule_follows_leave_unless_the_inbox_is_empty() {
        let actor = Rehearsal::<Serial, 4>::new(&METHODS);
        assert_eq!(actor.schedule(), []);
        assert_eq!(actor.schedule_calls(), 0);
        let [a, b] = actor.post_each(["put", "put"]);
        actor.schedule();
        actor.finish(a);
        assert_eq!((actor.leave_calls(), actor.schedule_calls()), (1, 2));
        actor.finish(b);
        assert_eq!((actor.leave_calls(), actor.schedule_calls()), (2, 2));
        assert_eq!(actor.schedule_calls_on_empty(), 0);
    }
}

mod inbox {
    use super::*;

    /// PAM-A3: oldest first, and the iteration goes on while letters are granted, also those still to come.
    #[test]
    fn pam_a3_granting_while_iterating_is_safe() {
        let actor = decide!(Parallel, |inbox| {
            let methods: Vec<_> = inbox.letters().map(|letter| letter.method()).collect();
            assert_eq!(methods, ["red", "get", "blue", "get"]);
            let mut seen = Vec::new();
            for letter in inbox.letters() {
                seen.push(letter.method());
                inbox.execute(letter);
                inbox.execute_youngest(Any);
            }
            assert_eq!(seen, ["red", "get"]);
            assert!(inbox.is_empty() && inbox.letters().next().is_none());
        });
        let [a, b, c, d] = actor.post_each(["red", "get", "blue", "get"]);
        assert_eq!(actor.schedule(), [a, d, b, c]);
    }

    /// PAM-A4: false for a letter that is no longer in the inbox (not a refusal), and for one that would alias (SAFE-1).
    #[test]
    fn pam_a4_execute_says_whether_the_letter_was_granted() {
        let actor = decide!(Parallel, |inbox| {
            let [get, put] = [0, 1].map(|place| inbox.letters().nth(place).unwrap());
            assert!(inbox.execute(get));
            assert!(!inbox.execute(get), "it has been granted");
            assert!(!inbox.execute(put), "it would alias");
        });
        let [get, _] = actor.post_each(["get", "put"]);
        assert_eq!(actor.schedule(), [get]);
        assert_eq!(actor.refused(), 1);
    }

    /// PAM-A5
    #[test]
    fn pam_a5_execute_all_that_pass() {
        let actor = decide!(Parallel, |inbox| assert_eq!(inbox.execute_all(&RED), 2));
        let [a, _, c] = actor.post_each(["red", "blue", "red"]);
        assert_eq!(actor.schedule(), [a, c]);
    }

    /// PAM-A6
    #[test]
    fn pam_a6_execute_the_oldest_that_passes() {
        let actor = decide!(Parallel, |inbox| {
            assert!(inbox.execute_oldest(&RED));
            assert!(!inbox.execute_oldest(Writers));
        });
        let [_, b, _] = actor.post_each(["blue", "red", "red"]);
        assert_eq!(actor.schedule(), [b]);
    }

    /// PAM-A7
    #[test]
    fn pam_a7_execute_the_youngest_that_passes() {
        let actor = decide!(Parallel, |inbox| {
            assert!(inbox.execute_youngest(&RED));
            assert!(!inbox.execute_youngest(Writers));
        });
        let [_, b, _] = actor.post_each(["red", "red", "blue"]);
        assert_eq!(actor.schedule(), [b]);
    }

    /// PAM-A8: all that pass the first filter and are older than the oldest that passes the second.
    #[test]
    fn pam_a8_execute_older_than_the_oldest() {
        let actor = decide!(Parallel, |inbox| assert_eq!(inbox.execute_older_than(&RED, &BLUE), 2));
        let letters = actor.post_each(["red", "get", "red", "blue", "red", "blue"]);
        assert_eq!(actor.schedule(), [letters[0], letters[2]]);
    }

    /// PAM-A8: if none passes the second filter, all that pass the first.
    #[test]
    fn pam_a8_execute_older_than_nothing_is_execute_all() {
        let actor = decide!(Parallel, |inbox| assert_eq!(inbox.execute_older_than(&RED, &BLUE), 2));
        let [a, _, c] = actor.post_each(["red", "get", "red"]);
        assert_eq!(actor.schedule(), [a, c]);
    }

    /// PAM-A9
    #[test]
    fn pam_a9_execute_all_older_than_the_oldest() {
        let actor = decide!(Parallel, |inbox| assert_eq!(inbox.execute_all_older_than(&BLUE), 2));
        let [a, b, _, _] = actor.post_each(["red", "get", "blue", "red"]);
        assert_eq!(actor.schedule(), [a, b]);
    }

    /// PAM-A10: against the youngest that passes the second filter.
    #[test]
    fn pam_a10_execute_younger_than_the_youngest() {
        let actor = decide!(Parallel, |inbox| assert_eq!(inbox.execute_younger_than(&RED, &BLUE), 2));
        let letters = actor.post_each(["red", "blue", "red", "blue", "red", "get", "red"]);
        assert_eq!(actor.schedule(), [letters[4], letters[6]]);
    }

    /// PAM-A10: a letter is not younger than itself, and without a limit all pass.
    #[test]
    fn pam_a10_execute_all_younger_than_the_youngest() {
        let actor = decide!(Parallel, |inbox| {
            assert_eq!(inbox.execute_all_younger_than(&BLUE), 1);
            assert_eq!(inbox.execute_younger_than(&BLUE, &BLUE), 0);
            assert_eq!(inbox.execute_all_younger_than(Writers), 3);
        });
        let [a, b, c, d] = actor.post_each(["red", "blue", "blue", "get"]);
        assert_eq!(actor.schedule(), [d, a, b, c]);
    }

    /// PAM-A11, PAM-A12: a category is unique whatever its name, and is itself a filter.
    #[test]
    fn pam_a11_pam_a12_a_category_is_unique_and_a_filter() {
        assert_eq!(RED.name(), BLUE.name());
        assert_ne!(RED, BLUE);
        let actor = decide!(Parallel, |inbox| assert_eq!(inbox.execute_all(&BLUE), 1));
        let [_, blue, _] = actor.post_each(["red", "blue", "get"]);
        assert_eq!(actor.schedule(), [blue]);
    }

    /// PAM-A13
    #[test]
    fn pam_a13_contains() {
        let actor = decide!(Parallel, |inbox| {
            assert!(inbox.contains(&RED) && inbox.contains(Readers));
            assert!(!inbox.contains(Writers));
            inbox.execute_oldest(&RED);
            assert!(!inbox.contains(&RED), "a granted letter is no longer in the inbox");
        });
        actor.post_each(["red", "get"]);
        actor.schedule();
    }

    /// PAM-A13: each filter has to find a letter of its own.
    #[test]
    fn pam_a13_contains_all() {
        let actor = decide!(Parallel, |inbox| {
            assert!(inbox.contains_all(&[]));
            assert!(inbox.contains_all(&[&BLUE, &RED, &Any]));
            assert!(!inbox.contains_all(&[&BLUE, &BLUE]), "there is one of them");
            assert!(!inbox.contains_all(&[&RED, &Writers]));
            let group = inbox.oldest_of_each(&[&Any, &RED]).unwrap();
            assert_eq!(group.iter().map(Letter::method).collect::<Vec<_>>(), ["get", "red"]);
        });
        actor.post_each(["get", "red", "blue"]);
        actor.schedule();
    }

    /// PAM-A14: closures, categories and own types are filters.
    #[test]
    fn pam_a14_a_filter_is_anything_with_pass() {
        struct ShortName(usize);
        impl Filter for ShortName {
            fn pass(&self, letter: &Letter<'_>) -> bool {
                letter.method().len() <= self.0
            }
        }
        let actor = decide!(Parallel, |inbox| {
            assert_eq!(inbox.execute_all(ShortName(3)), 1);
            assert_eq!(inbox.execute_all(|letter: &Letter<'_>| letter.method() == "blue"), 1);
        });
        let [blue, red, _] = actor.post_each(["blue", "red", "request"]);
        assert_eq!(actor.schedule(), [red, blue]);
    }

    /// PAM-A15: the first filter that passes decides; none need pass.
    #[test]
    fn pam_a15_dispatch_takes_the_first_filter_that_passes() {
        let actor = decide!(Parallel, |inbox| {
            let mut taken = Vec::new();
            for letter in inbox.letters() {
                dispatch!(letter;
                    &RED => taken.push("red"),
                    Readers => taken.push("reader"),
                    &BLUE => taken.push("blue, after readers"),
                );
            }
            assert_eq!(taken, ["reader", "red", "reader"]);
        });
        actor.post_each(["blue", "red", "get", "put"]);
        actor.schedule();
    }

    /// All of a group or none of it; a group that would alias is refused and counted once (SAFE-1).
    #[test]
    fn execute_together_is_all_or_nothing() {
        let actor = decide!(Parallel, |inbox| {
            let [a, b, put] = [0, 1, 2].map(|place| inbox.letters().nth(place).unwrap());
            assert!(!inbox.admits(&[a, put]) && !inbox.execute_together(&[a, put]));
            assert!(!inbox.admits(&[a, a]));
            assert!(inbox.admits(&[a, b]) && inbox.execute_together(&[b, a]));
            assert!(!inbox.admits(&[a]), "it was granted");
            assert!(!inbox.admits(&[put]), "it would alias");
        });
        let [a, b, _] = actor.post_each(["get", "get", "put"]);
        assert_eq!(actor.schedule(), [b, a]);
        assert_eq!(actor.refused(), 1);
    }

    /// SAFE-1: one at a time, nothing admits two letters together.
    #[test]
    fn admits_knows_the_discipline() {
        let actor = decide!(OneAtATime, |inbox| {
            let [a, b] = [0, 1].map(|place| inbox.letters().nth(place).unwrap());
            assert!(inbox.admits(&[a]) && inbox.admits(&[b]) && !inbox.admits(&[a, b]));
        });
        actor.post_each(["get", "get"]);
        actor.schedule();
    }
}

mod ready_made {
    use super::*;

    /// PAM-L1
    #[test]
    fn pam_l1_mutex() {
        let actor = Rehearsal::<Mutex, 4>::new(&METHODS);
        let [a, b] = actor.post_each(["get", "get"]);
        assert_eq!(actor.schedule(), [a]);
        let c = actor.post("put");
        assert_eq!(actor.schedule(), []);
        assert_eq!(actor.finish(a), [b]);
        assert_eq!(actor.finish(b), [c]);
        assert_eq!(actor.refused(), 0);
    }

    /// PAM-L3: the golden trace.
    #[test]
    fn pam_l3_readers_writer_golden() {
        let actor = Rehearsal::<ReadersWriter, 8>::new(&METHODS);
        let [r0, r1, w2, r3, w4, r5, r6] = actor.post_each(["get", "get", "put", "get", "put", "get", "get"]);
        assert_eq!(actor.schedule(), [r0, r1]);
        assert_eq!(actor.finish(r0), []);
        assert_eq!(actor.finish(r1), [w2]);
        assert_eq!(actor.finish(w2), [r3]);
        assert_eq!(actor.finish(r3), [w4]);
        assert_eq!(actor.finish(w4), [r5, r6]);
        let calls = actor.schedule_calls();
        assert_eq!(actor.finish(r5), []);
        assert_eq!(actor.finish(r6), []);
        assert_eq!(actor.schedule_calls(), calls, "nothing waits, so nothing is scheduled");
        assert_eq!(actor.refused(), 0);
    }

    /// PAM-L3: a reader joins the readers that run, unless a writer came before it.
    #[test]
    fn pam_l3_a_late_reader_joins_unless_a_writer_waits() {
        let actor = Rehearsal::<ReadersWriter, 8>::new(&METHODS);
        let r0 = actor.post("get");
        assert_eq!(actor.schedule(), [r0]);
        let r1 = actor.post("get");
        assert_eq!(actor.schedule(), [r1]);
        let [w2, r3] = actor.post_each(["put", "get"]);
        assert_eq!(actor.schedule(), []);
        assert_eq!(actor.finish(r0), []);
        assert_eq!(actor.finish(r1), [w2]);
        assert_eq!(actor.finish(w2), [r3]);
    }

    /// PAM-L3's other fairness: readers pass writers, which therefore can starve.
    #[test]
    fn readers_first_lets_readers_pass() {
        let actor = Rehearsal::<ReadersFirst, 8>::new(&METHODS);
        let [mut reader, writer] = actor.post_each(["get", "put"]);
        assert_eq!(actor.schedule(), [reader]);
        for _ in 0..100 {
            let next = actor.post("get");
            assert_eq!(actor.schedule(), [next]);
            assert_eq!(actor.finish(reader), []);
            reader = next;
        }
        assert_eq!(actor.finish(reader), [writer]);
    }

    /// PAM-L3's other fairness: writers pass readers, which therefore can starve.
    #[test]
    fn writers_first_lets_writers_pass() {
        let actor = Rehearsal::<WritersFirst, 8>::new(&METHODS);
        let [reader, mut writer] = actor.post_each(["get", "put"]);
        assert_eq!(actor.schedule(), [writer]);
        for _ in 0..100 {
            let next = actor.post("put");
            assert_eq!(actor.finish(writer), [next]);
            writer = next;
        }
        let other = actor.post("get");
        assert_eq!(actor.finish(writer), [reader, other]);
    }

    /// PAM-L4: the monitors know no actor; the same ones serve two with different methods.
    #[test]
    fn pam_l4_monitors_are_reusable() {
        static OTHER: [Method; 2] = [
            Method::new("drain", Access::Reader).tagged(Release::CATEGORY),
            Method::new("fill", Access::Reader).tagged(Request::CATEGORY),
        ];
        let one = Rehearsal::<CollectiveBound<1>, 4>::new(&METHODS);
        let other = Rehearsal::<CollectiveBound<1>, 4>::new(&OTHER);
        let [first, _] = one.post_each(["request", "request"]);
        assert_eq!(one.schedule(), [first]);
        let [first, _] = other.post_each(["fill", "fill"]);
        assert_eq!(other.schedule(), [first]);
    }

    /// Runs the three goldens of PAM-L5 with letters that name what `claims` says for each philosopher.
    macro_rules! pam_l5_goldens {
        ($monitor:ty, $claims:expr) => {{
            let claims: fn(u8) -> Claims = $claims;

            let table = Rehearsal::<$monitor, 8>::new(&METHODS);
            let requests = [1, 2, 3, 4, 5].map(|id| table.post_naming("touch", claims(id - 1)));
            assert_eq!(table.schedule(), [requests[0]], "strictly one by one");
            assert_eq!(table.finish(requests[0]), [requests[1]]);
            assert_eq!(table.finish(requests[1]), [requests[2]]);
            assert_eq!(table.finish(requests[2]), [requests[3]]);
            assert_eq!(table.finish(requests[3]), [requests[4]]);
            assert_eq!(table.finish(requests[4]), []);

            let table = Rehearsal::<$monitor, 8>::new(&METHODS);
            let [p1, p3, p2, p4, p5] = [1, 3, 2, 4, 5].map(|id| table.post_naming("touch", claims(id - 1)));
            assert_eq!(table.schedule(), [p1, p3]);
            assert_eq!(table.finish(p1), []);
            assert_eq!(table.finish(p3), [p2, p4]);
            assert_eq!(table.finish(p2), []);
            assert_eq!(table.finish(p4), [p5]);
            assert_eq!(table.finish(p5), []);
            assert_eq!(table.refused(), 0);

            let table = Rehearsal::<$monitor, 8>::new(&METHODS);
            let [p1, p1_again, p3] = [1, 1, 3].map(|id| table.post_naming("touch", claims(id - 1)));
            assert_eq!(table.schedule(), [p1, p3]);
            assert_eq!(table.finish(p1), [p1_again]);
        }};
    }

    /// PAM-L5: the forks follow from the philosopher's seat.
    #[test]
    fn pam_l5_philosophers_goldens() {
        pam_l5_goldens!(Philosophers<5>, |philosopher| exclusive(&[philosopher]));
    }

    /// PAM-L5: the same with letters that name their forks.
    #[test]
    fn pam_l5_resources_goldens() {
        pam_l5_goldens!(Resources, |philosopher| exclusive(&[philosopher, (philosopher + 1) % 5]));
    }

    /// PAM-L5: objects can be shared, each is given back when its last sharer leaves, and a waiting letter reserves.
    #[test]
    fn pam_l5_resources_can_be_shared() {
        let bank = Rehearsal::<Resources, 8>::new(&METHODS);
        let check = bank.post_naming("touch", shared(&[0, 1]));
        let check_again = bank.post_naming("touch", shared(&[1]));
        let withdraw = bank.post_naming("touch", exclusive(&[1]));
        let late_check = bank.post_naming("touch", shared(&[1]));
        let elsewhere = bank.post_naming("touch", exclusive(&[2]));
        let nothing_named = bank.post("get");
        assert_eq!(bank.schedule(), [check, check_again, elsewhere, nothing_named]);
        assert_eq!(bank.finish(check), []);
        assert_eq!(bank.finish(check_again), [withdraw]);
        assert_eq!(bank.finish(withdraw), [late_check]);
        assert_eq!(bank.refused(), 0);
    }

    /// PAM-L5: a `&mut self` letter needs everything; it is neither passed nor does it pass.
    #[test]
    fn pam_l5_the_whole_actor_is_a_resource() {
        let bank = Rehearsal::<Resources, 8>::new(&METHODS);
        let deposit = bank.post_naming("touch", exclusive(&[0]));
        let total = bank.post("put");
        let elsewhere = bank.post_naming("touch", exclusive(&[1]));
        assert_eq!(bank.schedule(), [deposit]);
        assert_eq!(bank.finish(deposit), [total]);
        let get = bank.post("get");
        assert_eq!(bank.schedule(), []);
        assert_eq!(bank.finish(total), [elsewhere, get]);
        assert_eq!(bank.refused(), 0);
    }

    /// PAM-L6: at most `MAX` requests within one `schedule`, and then as many as were released.
    #[test]
    fn pam_l6_collective_bound() {
        let actor = Rehearsal::<CollectiveBound<2>, 8>::new(&METHODS);
        let [q0, q1, q2, q3] = actor.post_each(["request"; 4]);
        assert_eq!(actor.schedule(), [q0, q1]);
        assert_eq!(actor.finish(q0), []);
        assert_eq!(actor.finish(q1), [], "a request counts until it is released, not until it ends");
        let release = actor.post("release");
        assert_eq!(actor.schedule(), [release]);
        assert_eq!(actor.finish(release), [q2]);
        let [release, get] = actor.post_each(["release", "get"]);
        assert_eq!(actor.schedule(), [release, get], "the older request is judged before the release");
        assert_eq!(actor.finish(q2), [q3]);
    }

    /// PAM-L6: own labels in place of the ready-made ones.
    #[test]
    fn pam_l6_collective_bound_with_own_patterns() {
        #[derive(Default)]
        struct Reds;
        impl Filter for Reds {
            fn pass(&self, letter: &Letter<'_>) -> bool {
                RED.pass(letter)
            }
        }
        let actor = Rehearsal::<CollectiveBound<1, Reds, Writers>, 8>::new(&METHODS);
        let [a, b, c, d] = actor.post_each(["red", "red", "request", "put"]);
        assert_eq!(actor.schedule(), [a, c]);
        assert_eq!(actor.finish(a), []);
        assert_eq!(actor.finish(c), [d], "nothing passes the writer that waits, and it makes room");
        assert_eq!(actor.finish(d), [b]);
    }

    /// Red and blue together; requests alone; a count of what was granted.
    struct Colours {
        reds: usize,
        updates: usize,
    }

    impl Rules for Colours {
        const NEW: Self = Self { reds: 0, updates: 0 };

        fn rules(rules: &mut RuleBook<'_, Self>) {
            rules.when(&RED).update(|colours| colours.reds += 1);
            rules.when(Any).update(|colours| colours.updates += 1);
            rules.when(|colours: &Self| colours.reds >= 2).disable(&RED);
            rules.when(|_: &Self| false).disable(Any);
            rules.atomic(&[&RED, &BLUE]);
        }
    }

    type ColourMonitor = Synchronizer<Colours>;

    /// PAM-L7: a group takes one oldest letter for each pattern, in the order of the patterns.
    #[test]
    fn pam_l7_a_group_takes_the_oldest_of_each_pattern() {
        let actor = Rehearsal::<ColourMonitor, 8>::new(&METHODS);
        let [b0, b1] = actor.post_each(["blue", "blue"]);
        assert_eq!(actor.schedule(), [], "they wait for a red one");
        let [r2, r3] = actor.post_each(["red", "red"]);
        assert_eq!(actor.schedule(), [r2, b0]);
        assert_eq!(actor.finish(b0), []);
        assert_eq!(actor.finish(r2), [r3, b1]);
    }

    /// PAM-L7: updates run for atomic letters too, and a letter is disabled if any rule says so, also in a group.
    #[test]
    fn pam_l7_updates_and_disables_apply_to_groups() {
        let actor = Rehearsal::<ColourMonitor, 8>::new(&METHODS);
        for _ in 0..2 {
            let [red, blue] = actor.post_each(["red", "blue"]);
            assert_eq!(actor.schedule(), [red, blue]);
            actor.finish(red);
            actor.finish(blue);
        }
        actor.post_each(["red", "blue"]);
        assert_eq!(actor.schedule(), [], "two reds were granted");
        let get = actor.post("get");
        assert_eq!(actor.schedule(), [get]);
    }

    /// PAM-L8: no single letter runs while a group runs, nor the reverse.
    #[test]
    fn pam_l8_groups_and_single_letters_exclude_each_other() {
        let actor = Rehearsal::<ColourMonitor, 8>::new(&METHODS);
        let g0 = actor.post("get");
        assert_eq!(actor.schedule(), [g0]);
        let [red, blue] = actor.post_each(["red", "blue"]);
        assert_eq!(actor.schedule(), [], "a single letter runs");
        assert_eq!(actor.finish(g0), [red, blue]);
        let g3 = actor.post("get");
        assert_eq!(actor.schedule(), [], "a group runs");
        assert_eq!(actor.finish(red), []);
        assert_eq!(actor.finish(blue), [g3]);
        assert_eq!(actor.refused(), 0);
    }

    /// PAM-L8: `&mut self` letters are single letters that run alone, in turn.
    #[test]
    fn pam_l8_writers_get_their_turn() {
        let actor = Rehearsal::<ColourMonitor, 8>::new(&METHODS);
        let [g0, w1, g2] = actor.post_each(["get", "put", "get"]);
        assert_eq!(actor.schedule(), [g0]);
        assert_eq!(actor.finish(g0), [w1]);
        assert_eq!(actor.finish(w1), [g2]);
        assert_eq!(actor.refused(), 0);
    }

    /// PAM-F2: a waits for b, then both run; a is granted first, so the worker that schedules runs it.
    #[test]
    fn pam_f2_join_a_waits_for_b() {
        let actor = Rehearsal::<Join, 8>::new(&METHODS);
        let a = actor.post("left");
        assert_eq!(actor.schedule(), []);
        let b = actor.post("right");
        assert_eq!(actor.schedule(), [a, b]);
        assert_eq!(actor.finish(a), []);
        assert_eq!(actor.finish(b), []);
        assert_eq!(actor.schedule_calls(), 2, "after both left, nothing waits");
    }

    /// PAM-F2: b may come first; a is granted first all the same. Pairs are made of the oldest.
    #[test]
    fn pam_f2_join_in_any_order_of_arrival() {
        let actor = Rehearsal::<Join, 8>::new(&METHODS);
        let [b0, b1, a2, a3, a4] = actor.post_each(["right", "right", "left", "left", "left"]);
        assert_eq!(actor.schedule(), [a2, b0, a3, b1]);
        for letter in [b0, a2, b1, a3] {
            assert_eq!(actor.finish(letter), []);
        }
        let b5 = actor.post("right");
        assert_eq!(actor.schedule(), [a4, b5]);
    }

    /// PAM-F2: letters with neither label run in their turn, and a `&mut self` one is not starved by pairs.
    #[test]
    fn pam_f2_join_leaves_other_letters_alone() {
        let actor = Rehearsal::<Join, 8>::new(&METHODS);
        let [get, put, a, b] = actor.post_each(["get", "put", "left", "right"]);
        assert_eq!(actor.schedule(), [get]);
        assert_eq!(actor.finish(get), [put]);
        assert_eq!(actor.finish(put), [a, b]);
        assert_eq!(actor.refused(), 0);
    }

    /// PAM-F2, SAFE-1: a pair that could never run in parallel does not start, and is counted.
    #[test]
    fn pam_f2_a_pair_with_a_writer_is_refused() {
        let actor = Rehearsal::<Join, 8>::new(&METHODS);
        actor.post_each(["left", "right alone"]);
        assert_eq!(actor.schedule(), []);
        assert_eq!((actor.refused(), actor.waiting()), (1, 2));
    }
}

mod safety {
    use super::*;

    /// SAFE-1: whatever a monitor decides, a writer is alone; each refusal is counted.
    #[test]
    fn safe_1_a_grant_that_would_alias_is_refused_and_counted() {
        let actor = decide!(Parallel, |inbox| inbox.execute_all(Any));
        let [r0, r1, w2, r3, w4] = actor.post_each(["get", "get", "put", "get", "put"]);
        assert_eq!(actor.schedule(), [r0, r1, r3]);
        assert_eq!(actor.refused(), 2);
        assert_eq!(actor.finish(r0), []);
        assert_eq!(actor.finish(r3), []);
        assert_eq!(actor.finish(r1), [w2]);
        assert_eq!(actor.refused(), 7);
        assert_eq!(actor.finish(w2), [w4]);
    }

    /// SAFE-1: under a one-at-a-time monitor, readers and letters that name objects are alone too.
    #[test]
    fn safe_1_one_at_a_time_means_all_letters() {
        let actor = decide!(OneAtATime, |inbox| inbox.execute_all(Any));
        let a = actor.post("get");
        let b = actor.post_naming("touch", exclusive(&[0]));
        let c = actor.post_naming("touch", exclusive(&[1]));
        assert_eq!(actor.schedule(), [a]);
        assert_eq!(actor.finish(a), [b]);
        assert_eq!(actor.finish(b), [c]);
        assert_eq!(actor.refused(), 3);
    }

    /// SAFE-2: letters that name a common object never overlap, unless they share it.
    #[test]
    fn safe_2_letters_with_a_common_object_do_not_overlap() {
        let actor = decide!(Parallel, |inbox| inbox.execute_all(Any));
        let [x01, x1, s2, s2_too, x2, x3] =
            [exclusive(&[0, 1]), exclusive(&[1]), shared(&[2]), shared(&[2]), exclusive(&[2]), exclusive(&[3])]
                .map(|claims| actor.post_naming("touch", claims));
        assert_eq!(actor.schedule(), [x01, s2, s2_too, x3]);
        assert_eq!(actor.refused(), 2);
        assert_eq!(actor.finish(s2), []);
        assert_eq!(actor.finish(x01), [x1]);
        assert_eq!(actor.finish(s2_too), [x2]);
        let all = actor.post("put");
        assert_eq!(actor.finish(x1), []);
        assert_eq!(actor.finish(x2), []);
        assert_eq!(actor.finish(x3), [all]);
    }

    /// SAFE-2: the claims count, also if a hand-written table calls the method a plain reader.
    #[test]
    fn safe_2_claims_count_whatever_the_access_says() {
        let actor = decide!(Parallel, |inbox| inbox.execute_all(Any));
        let [one, other] = [exclusive(&[0]); 2].map(|claims| actor.post_naming("get", claims));
        assert_eq!(actor.schedule(), [one]);
        assert_eq!(actor.finish(one), [other]);
    }

    /// SAFE-2: one letter cannot claim an object both for itself and shared, however the claims are put together.
    #[test]
    fn safe_2_no_object_is_claimed_both_ways() {
        assert!(exclusive(&[0]).shared::<Five>(Id::new(0)).is_err());
        assert!(shared(&[0]).exclusive::<Five>(Id::new(0)).is_err());
        for both in [exclusive(&[0]).with(shared(&[0])), shared(&[0]).with(exclusive(&[0]))] {
            assert_eq!(both.without_exclusive(exclusive(&[0])), Claims::NONE.with(both).without_exclusive(both));
            assert!(both.without_exclusive(exclusive(&[0])).is_empty());
        }
    }
}
