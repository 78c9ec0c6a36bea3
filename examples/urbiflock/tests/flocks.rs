//! What one does with flocks: default ones, unions and intersections, listeners, notes to members present and to come.

mod support;

use std::sync::Mutex;

use flockwork::{Actor, Post, ReadersWriter, Serial, actor};
use flockwork_host_sim::run;
use flockwork_urbiflock::{
    Carrier, Definition, FlockError, FlockId, Flockr, Listener, MAX_FLOCKS, MAX_LISTENERS, MAX_NEARBY, MAX_STANDING,
    Note, OWNER, Predicate, Profile, SEED, Snapshot, Uid, WORLD, derive, gather,
};
use support::Hall;

fn flockr() -> Box<Flockr> {
    let mut flockr = Box::new(Flockr::new());
    flockr.begin(&WORLD).expect("a world");
    flockr
}

fn members(flockr: &Flockr, flock: FlockId) -> Vec<Uid> {
    let Snapshot { members, .. } = flockr.snapshot(flock).expect("a flock");
    assert_eq!(flockr.extension(flock).expect("a flock").members, members, "both engines");
    members.iter().collect()
}

fn sorted(people: &[Uid]) -> Vec<Uid> {
    let mut people = people.to_vec();
    people.sort();
    people
}

#[test]
fn friends_and_nearby_are_there_from_the_beginning() {
    let mut flockr = flockr();
    for &uid in &WORLD.arrivals()[..20] {
        flockr.join(uid).expect("room");
    }
    assert_eq!(members(&flockr, FlockId::FRIENDS), sorted(WORLD.friends()));
    assert_eq!(members(&flockr, FlockId::NEARBY), sorted(&WORLD.arrivals()[..20]));
    let summary = flockr.summary(FlockId::NEARBY).expect("a flock");
    assert_eq!((summary.name, summary.owner, summary.members, summary.listeners), ("Nearby", OWNER, 20, 0));
}

#[test]
fn unions_and_intersections_keep_themselves_up_to_date() {
    let mut flockr = flockr();
    let either = flockr.unite("either", FlockId::FRIENDS, FlockId::NEARBY).expect("room");
    let both = flockr.intersect("both", FlockId::FRIENDS, FlockId::NEARBY).expect("room");
    assert_eq!(flockr.summary(both).map(|summary| summary.name), Ok("both"));
    for (friends, near) in [(300, 0), (300, 100), (250, 100), (250, 60)] {
        while members(&flockr, FlockId::FRIENDS).len() > friends {
            flockr.remove_friend(members(&flockr, FlockId::FRIENDS)[0]);
        }
        for &uid in &WORLD.arrivals()[..near] {
            flockr.join(uid).expect("room");
        }
        for &uid in &WORLD.arrivals()[near..100] {
            flockr.left(uid).expect("a world");
        }
        let (friends, near) = (members(&flockr, FlockId::FRIENDS), members(&flockr, FlockId::NEARBY));
        let shared: Vec<Uid> = friends.iter().copied().filter(|uid| near.contains(uid)).collect();
        let mut all = [friends, near].concat();
        all.sort();
        all.dedup();
        assert_eq!(members(&flockr, both), shared);
        assert_eq!(members(&flockr, either), all);
    }
}

static LATELY: Definition = Definition::new("lately", Predicate::literal("wasNearby(1000)"));

/// A flock that reaches beyond who is near: everyone who is known is looked up, in the first list that has them.
#[test]
fn comparisons_of_a_flock_of_everyone_known() {
    let hall = Hall::new(SEED.get());
    let mut flockr = flockr();
    let lately = flockr.define(&LATELY).expect("room");
    for &uid in &WORLD.arrivals()[..40] {
        flockr.join(uid).expect("room");
    }
    for &uid in &WORLD.arrivals()[..15] {
        flockr.left(uid).expect("a world");
    }

    let (gone, near) = (&hall.arrivals[..15], &hall.arrivals[15..40]);
    // How many are compared to find somebody in a list: up to and with the one found, or all.
    let searched = |list: &[usize], who: usize| list.iter().position(|uid| *uid == who).map_or(list.len(), |at| at + 1);
    let partner =
        |who: usize| hall.people[who].partner.as_ref().map_or(0, |name| searched(near, support::number(name)));
    let mut expected = 0;
    for &who in near {
        expected += searched(&hall.friends, who) + partner(who);
    }
    for &who in &hall.friends {
        expected += searched(near, who);
        if !near.contains(&who) {
            expected += searched(gone, who) + partner(who);
        }
    }
    for &who in gone {
        expected += searched(&hall.friends, who);
        if !hall.friends.contains(&who) {
            expected += partner(who);
        }
    }
    let derived = flockr.extension(lately).expect("a flock");
    assert_eq!(derived.members.iter().collect::<Vec<_>>(), sorted(&WORLD.arrivals()[..40]));
    assert_eq!(derived.comparisons, expected as u32);
    assert!(gone.iter().any(|who| hall.friends.contains(who)) && near.iter().any(|who| hall.friends.contains(who)));
}

#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Recorder {
    fn leaked() -> &'static Self {
        Box::leak(Box::default())
    }

    fn note(&self, what: String) {
        self.0.lock().expect("nobody panicked").push(what);
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("nobody panicked"))
    }
}

impl Listener for Recorder {
    fn added(&'static self, _: FlockId, who: Uid) {
        self.note(format!("+{who}"));
    }

    fn removed(&'static self, _: FlockId, who: Uid) {
        self.note(format!("-{who}"));
    }
}

impl Carrier for Recorder {
    fn carry(&'static self, to: Uid, note: Note) {
        self.note(format!("{to}: {note}"));
    }
}

#[test]
fn listeners_hear_of_edges_only() {
    let heard = Recorder::leaked();
    let mut flockr = flockr();
    flockr.listen(FlockId::COUPLES, heard).expect("room");
    let partner = |uid: Uid| WORLD.person(uid).and_then(Profile::partner);
    let (one, other) =
        WORLD.arrivals().iter().find_map(|&uid| partner(uid).map(|partner| (uid, partner))).expect("a couple");

    flockr.join(one).expect("room");
    assert_eq!(heard.taken(), [""; 0], "a partner alone is no couple");
    flockr.join(other).expect("room");
    assert_eq!(heard.taken(), [format!("+{other}"), format!("+{one}")]);
    flockr.join(other).expect("room");
    flockr.add_friend(other).expect("room");
    assert_eq!(heard.taken(), [""; 0], "nothing changed for the flock");
    flockr.left(one).expect("a world");
    assert_eq!(heard.taken(), [format!("-{one}"), format!("-{other}")]);
    flockr.join(one).expect("room");
    heard.taken();

    // They part: it is enough that one of them says so.
    let single = Profile { partner: flockwork_urbiflock::NOBODY, ..*WORLD.person(other).expect("a person") };
    flockr.changed(single);
    assert_eq!(heard.taken(), [format!("-{other}"), format!("-{one}")]);
}

#[test]
fn notes_to_all_reach_future_members_and_notes_to_current_do_not() {
    let radio = Recorder::leaked();
    let mut flockr = flockr();
    let note = |text| Note::new(text).expect("short");
    assert_eq!(flockr.send_to_all(FlockId::NEARBY, note("hello")), Err(FlockError::NoCarrier));
    flockr.connect(radio);

    flockr.join(365).expect("room");
    assert_eq!(flockr.send_to_current(FlockId::NEARBY, note("now")), Ok(1));
    let standing = flockr.send_to_all(FlockId::NEARBY, note("always")).expect("room");
    assert_eq!(radio.taken(), ["365: now", "365: always"]);

    flockr.join(104).expect("room");
    assert_eq!(radio.taken(), ["104: always"]);
    flockr.left(104).expect("a world");
    flockr.join(104).expect("room");
    flockr.left(365).expect("a world");
    flockr.join(365).expect("room");
    assert_eq!(radio.taken(), [""; 0], "nobody gets it twice");

    flockr.withdraw(standing);
    flockr.join(336).expect("room");
    assert_eq!(radio.taken(), [""; 0]);
}

#[test]
fn what_cannot_be_done_is_refused_and_changes_nothing() {
    let mut empty = Box::new(Flockr::new());
    assert_eq!(empty.join(1), Err(FlockError::NoWorld));
    assert_eq!(empty.snapshot(FlockId::NEARBY), Err(FlockError::NoSuchFlock));

    let mut flockr = flockr();
    for uid in [OWNER, 1024, 65535] {
        assert_eq!(flockr.join(uid), Err(FlockError::NoSuchPerson));
        assert_eq!(flockr.add_friend(uid), Err(FlockError::NoSuchPerson));
    }
    for &uid in &WORLD.arrivals()[..MAX_NEARBY] {
        flockr.join(uid).expect("room");
    }
    let before = flockr.snapshot(FlockId::COUPLES);
    assert_eq!(flockr.join(WORLD.arrivals()[MAX_NEARBY]), Err(FlockError::NearbyFull));
    assert_eq!(flockr.snapshot(FlockId::COUPLES), before);

    let heard = Recorder::leaked();
    for _ in 0..MAX_LISTENERS {
        flockr.listen(FlockId::COUPLES, heard).expect("room");
    }
    assert_eq!(flockr.listen(FlockId::COUPLES, heard), Err(FlockError::TooManyListeners));
    flockr.connect(heard);
    let note = Note::new("hello").expect("short");
    for _ in 0..MAX_STANDING {
        flockr.send_to_all(FlockId::COUPLES, note).expect("room");
    }
    assert_eq!(flockr.send_to_all(FlockId::COUPLES, note), Err(FlockError::TooManyNotes));

    for _ in 3..MAX_FLOCKS {
        flockr.unite("more", FlockId::FRIENDS, FlockId::COUPLES).expect("room");
    }
    assert_eq!(flockr.unite("one more", FlockId::FRIENDS, FlockId::NEARBY), Err(FlockError::TooManyFlocks));
}

/// Predicates with 13 different nodes each: the third one finds no room, and the others stay as they are.
#[test]
fn a_network_that_is_full_stays_as_it_was() {
    let mut flockr = flockr();
    for &uid in &WORLD.arrivals()[..60] {
        flockr.join(uid).expect("room");
    }
    let ages = |from: u32| -> &'static Definition {
        let text: Vec<String> = (from..from + 7).map(|age| format!("age == {age}")).collect();
        let predicate = Predicate::parse(&text.join(" or ")).expect("13 operations");
        Box::leak(Box::new(Definition::new("ages", predicate)))
    };
    let (young, older) = (flockr.define(ages(18)).expect("room"), flockr.define(ages(30)).expect("room"));
    let all = |flockr: &Flockr| [young, older, FlockId::COUPLES].map(|flock| members(flockr, flock));
    let before = all(&flockr);
    // Four nodes were there already: isFriend, isNearby, partnerNearby and a conjunction. Two are left.
    assert_eq!(flockr.define(ages(40)), Err(FlockError::NetworkFull));
    assert_eq!(all(&flockr), before);
    // Equal nodes are shared, so this one needs a single new node.
    let young_and_near = flockr.intersect("young and near", young, FlockId::NEARBY).expect("shared nodes");
    let [young, ..] = before;
    let near = |uid: &Uid| WORLD.arrivals()[..60].contains(uid);
    assert_eq!(members(&flockr, young_and_near), young.into_iter().filter(near).collect::<Vec<_>>());
}

/// A lamp that shines while a couple is near: an actor as a listener.
pub struct Lamp {
    shining: u32,
}

#[actor]
impl Lamp {
    /// One more, or one less.
    pub fn change(&mut self, by: i32) {
        self.shining = self.shining.wrapping_add_signed(by);
    }

    /// For how many it shines.
    pub fn shining(&self) -> u32 {
        self.shining
    }
}

impl<B: Post<Lamp>> Listener for LampFront<B> {
    fn added(&'static self, _: FlockId, _: Uid) {
        self.change(1).tell().expect("the lamp keeps up with one flockr");
    }

    fn removed(&'static self, _: FlockId, _: Uid) {
        self.change(-1).tell().expect("the lamp keeps up with one flockr");
    }
}

#[actor]
static LAMP: Actor<Lamp, Serial, 64> = Lamp { shining: 0 };
#[actor]
static FLOCKR: Actor<Flockr, ReadersWriter, 16, 16> = Flockr::new();

#[test]
fn an_actor_listens() {
    run(2, || {
        FLOCKR.begin(&WORLD).get().expect("a world");
        FLOCKR.listen(FlockId::COUPLES, &LAMP).get().expect("room");
        gather(&FLOCKR, &WORLD, 100).expect("room");
        assert_eq!(LAMP.shining().get(), Ok(66));
        for &uid in &WORLD.arrivals()[..50] {
            FLOCKR.left(uid).get().expect("a world");
        }
        assert_eq!(LAMP.shining().get(), Ok(36));
        assert_eq!(derive(&FLOCKR, FlockId::COUPLES).expect("a flock").couples(), 18);
    });
}
