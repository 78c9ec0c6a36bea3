//! Two engines, and a third way to know: after every event, full derivation, the incremental network and a model that
//! keeps sets and evaluates trees have the same members; and listeners heard of exactly the difference.

mod support;

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex};

// No device is run, but with trace events a match tells a port what it cost, and this brings one.
use flockwork_host_sim as _;
use flockwork_urbiflock::{Definition, FlockId, Flockr, Listener, MAX_DEPARTED, Predicate, SEED, Uid, WORLD};
use proptest::prelude::*;
use support::{Hall, Person};

/// A predicate as a tree.
#[derive(Clone, Debug)]
enum Formula {
    True,
    Friend,
    Near,
    WasNear(u32),
    PartnerNear,
    Hobby(usize),
    YoungerThan(u32),
    Sex(u32),
    HasPartner,
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
}

const HOBBIES: [&str; 8] = ["badminton", "chess", "cycling", "film", "football", "music", "reading", "swimming"];

impl Formula {
    fn text(&self) -> String {
        match self {
            Self::True => "true".into(),
            Self::Friend => "isFriend".into(),
            Self::Near => "isNearby".into(),
            Self::WasNear(ms) => format!("wasNearby({ms})"),
            Self::PartnerNear => "partnerNearby".into(),
            Self::Hobby(hobby) => format!("hobby({})", HOBBIES[*hobby]),
            Self::YoungerThan(age) => format!("age < {age}"),
            Self::Sex(sex) => format!("sex == {}", ["male", "female"][*sex as usize]),
            Self::HasPartner => "partner < 1024".into(),
            Self::Not(one) => format!("not ({})", one.text()),
            Self::And(one, other) => format!("({}) and ({})", one.text(), other.text()),
            Self::Or(one, other) => format!("({}) or ({})", one.text(), other.text()),
        }
    }

    fn holds(&self, uid: usize, model: &Model) -> bool {
        let person = &model.people[uid];
        match self {
            Self::True => true,
            Self::Friend => model.friends.contains(&uid),
            Self::Near => model.near.contains(&uid),
            Self::WasNear(ms) => {
                let left = model.left.iter().find(|(who, _)| *who == uid);
                model.near.contains(&uid) || left.is_some_and(|(_, at)| model.now - at <= u64::from(*ms))
            }
            Self::PartnerNear => person.partner.as_ref().is_some_and(|partner| {
                let partner = support::number(partner);
                model.near.contains(&partner) && model.people[partner].partner.as_ref() == Some(&person.name)
            }),
            Self::Hobby(hobby) => person.hobbies.contains(hobby),
            Self::YoungerThan(age) => person.age < *age && !model.ageless.contains(&uid),
            Self::Sex(sex) => person.sex == *sex,
            Self::HasPartner => person.partner.is_some(),
            Self::Not(one) => !one.holds(uid, model),
            Self::And(one, other) => one.holds(uid, model) && other.holds(uid, model),
            Self::Or(one, other) => one.holds(uid, model) || other.holds(uid, model),
        }
    }
}

fn formula() -> impl Strategy<Value = Formula> {
    let condition = prop_oneof![
        1 => Just(Formula::True),
        3 => Just(Formula::Friend),
        3 => Just(Formula::Near),
        3 => prop::sample::select(vec![0, 10, 30]).prop_map(Formula::WasNear),
        4 => Just(Formula::PartnerNear),
        2 => (0..HOBBIES.len()).prop_map(Formula::Hobby),
        2 => (18_u32..66).prop_map(Formula::YoungerThan),
        1 => (0_u32..2).prop_map(Formula::Sex),
        1 => Just(Formula::HasPartner),
    ];
    let tree = condition.prop_recursive(4, 16, 2, |part| {
        prop_oneof![
            part.clone().prop_map(|one| Formula::Not(one.into())),
            (part.clone(), part.clone()).prop_map(|(one, other)| Formula::And(one.into(), other.into())),
            (part.clone(), part).prop_map(|(one, other)| Formula::Or(one.into(), other.into())),
        ]
    });
    tree.prop_filter("at most 16 operations", |formula| Predicate::parse(&formula.text()).is_ok())
}

/// People are named by their place among the arrivals, so that couples are near each other in a small group.
#[derive(Clone, Debug)]
enum Event {
    Join(usize),
    Left(usize),
    AddFriend(usize),
    RemoveFriend(usize),
    Pass(u32),
    Age(usize, Option<u8>),
    Sex(usize, u32),
    Hobbies(usize, u8),
    /// Both leave their partners and name each other, or only the first names the second.
    Couple(usize, usize, bool),
    Single(usize),
}

fn event(group: usize) -> impl Strategy<Value = Event> {
    let who = 0..group;
    prop_oneof![
        6 => who.clone().prop_map(Event::Join),
        5 => who.clone().prop_map(Event::Left),
        2 => who.clone().prop_map(Event::AddFriend),
        2 => who.clone().prop_map(Event::RemoveFriend),
        2 => (0_u32..25).prop_map(Event::Pass),
        1 => (who.clone(), prop::option::weighted(0.8, 18_u8..66)).prop_map(|(who, age)| Event::Age(who, age)),
        1 => (who.clone(), 0_u32..2).prop_map(|(who, sex)| Event::Sex(who, sex)),
        1 => (who.clone(), any::<u8>()).prop_map(|(who, hobbies)| Event::Hobbies(who, hobbies)),
        2 => (who.clone(), who.clone(), any::<bool>()).prop_map(|(one, other, both)| Event::Couple(one, other, both)),
        1 => who.prop_map(Event::Single),
    ]
}

static HALL: LazyLock<Hall> = LazyLock::new(|| Hall::new(SEED.get()));

/// Sets, and everyone's profile as the device knows it.
struct Model {
    people: Vec<Person>,
    /// Who does not tell its age.
    ageless: BTreeSet<usize>,
    changed: Vec<usize>,
    friends: BTreeSet<usize>,
    near: BTreeSet<usize>,
    left: Vec<(usize, u64)>,
    now: u64,
}

impl Model {
    fn new() -> Self {
        let friends = HALL.friends.iter().copied().collect();
        Self {
            people: HALL.people.clone(),
            ageless: BTreeSet::new(),
            changed: vec![],
            friends,
            near: BTreeSet::new(),
            left: vec![],
            now: 0,
        }
    }

    fn knows(&self, uid: usize) -> bool {
        self.near.contains(&uid) || self.friends.contains(&uid) || self.left.iter().any(|(who, _)| *who == uid)
    }

    /// Who is not known any more presents itself as in the beginning when it is met again.
    fn forget_strangers(&mut self) {
        for uid in std::mem::take(&mut self.changed) {
            if self.knows(uid) {
                self.changed.push(uid);
            } else {
                self.people[uid] = HALL.people[uid].clone();
                self.ageless.remove(&uid);
            }
        }
    }

    fn members(&self, formula: &Formula) -> Vec<Uid> {
        (1..1024).filter(|&uid| self.knows(uid) && formula.holds(uid, self)).map(|uid| uid as Uid).collect()
    }

    /// Changes a person, here and in what a line of a file tells the flockr. Of who is not known it takes no notice.
    fn change(&mut self, uid: usize, flockr: &mut Flockr, what: &str, change: impl FnOnce(&mut Person)) {
        let line = format!("changed {uid} {what}");
        let told = flockwork_urbiflock::Event::parse(&line, |uid| flockr.profile(uid));
        let version = |flockr: &Flockr| flockr.summary(FlockId::NEARBY).expect("a default flock").version;
        let before = version(flockr);
        let after = told.expect("an event").expect("no comment").happen_to(flockr).expect("nothing can fail");
        assert_eq!((after != before, after), (self.knows(uid), version(flockr)), "{line}");
        self.changed.push(uid);
        change(&mut self.people[uid]);
    }
}

/// Lets an event happen to both.
fn happen(event: &Event, model: &mut Model, flockr: &mut Flockr) {
    let uid = |place: &usize| usize::from(WORLD.arrivals()[*place]);
    match event {
        Event::Join(who) => {
            let who = uid(who);
            flockr.join(who as Uid).expect("room");
            model.near.insert(who);
            model.left.retain(|(left, _)| *left != who);
        }
        Event::Left(who) => {
            let who = uid(who);
            flockr.left(who as Uid).expect("a world");
            if model.near.remove(&who) {
                model.left.push((who, model.now));
                if model.left.len() > MAX_DEPARTED {
                    model.left.remove(0);
                }
            }
        }
        Event::AddFriend(who) => {
            let who = uid(who);
            // The list may be full: then neither has the friend.
            if flockr.add_friend(who as Uid).is_ok() {
                model.friends.insert(who);
            }
        }
        Event::RemoveFriend(who) => {
            let who = uid(who);
            flockr.remove_friend(who as Uid);
            model.friends.remove(&who);
        }
        Event::Pass(ms) => {
            flockr.pass(*ms);
            model.now += u64::from(*ms);
        }
        Event::Age(who, Some(age)) => {
            let who = uid(who);
            model.change(who, flockr, &format!("age {age}"), |person| person.age = u32::from(*age));
            model.ageless.remove(&who);
        }
        Event::Age(who, None) => {
            let who = uid(who);
            model.change(who, flockr, "age none", |_| {});
            model.ageless.insert(who);
        }
        Event::Sex(who, sex) => {
            let name = ["male", "female"][*sex as usize];
            model.change(uid(who), flockr, &format!("sex {name}"), |person| person.sex = *sex);
        }
        Event::Hobbies(who, hobbies) => {
            let hobbies: Vec<usize> = (0..8).filter(|bit| hobbies & 1 << bit != 0).collect();
            let names: Vec<&str> = hobbies.iter().map(|&hobby| HOBBIES[hobby]).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(" ") };
            model.change(uid(who), flockr, &format!("hobbies {names}"), |person| person.hobbies = hobbies);
        }
        Event::Couple(one, other, both) if one != other => {
            let mut name = |one: usize, other: usize| {
                let partner = Some(HALL.people[other].name.clone());
                model.change(one, flockr, &format!("partner {other}"), |person| person.partner = partner);
            };
            name(uid(one), uid(other));
            if *both {
                name(uid(other), uid(one));
            }
        }
        Event::Couple(who, ..) | Event::Single(who) => {
            model.change(uid(who), flockr, "partner none", |person| person.partner = None);
        }
    }
    model.forget_strangers();
}

/// Keeps what it hears.
struct Mirror(Mutex<BTreeSet<Uid>>);

impl Listener for Mirror {
    fn added(&'static self, _: FlockId, who: Uid) {
        assert!(self.0.lock().expect("one thread").insert(who), "{who} was added twice");
    }

    fn removed(&'static self, _: FlockId, who: Uid) {
        assert!(self.0.lock().expect("one thread").remove(&who), "{who} was removed twice");
    }
}

/// A flock defined in the middle of a story, and what is heard of it.
struct Watched {
    id: FlockId,
    formula: Formula,
    mirror: &'static Mirror,
}

impl Watched {
    fn new(formula: &Formula, flockr: &mut Flockr) -> Self {
        let predicate = Predicate::parse(&formula.text()).expect("it was filtered");
        let definition: &'static Definition = Box::leak(Box::new(Definition::new("watched", predicate)));
        let id = flockr.define(definition).expect("room");
        let members = flockr.snapshot(id).expect("a flock").members;
        let mirror: &'static Mirror = Box::leak(Box::new(Mirror(Mutex::new(members.iter().collect()))));
        flockr.listen(id, mirror).expect("room");
        Self { id, formula: formula.clone(), mirror }
    }

    fn check(&self, model: &Model, flockr: &Flockr) {
        let expected = model.members(&self.formula);
        let list = |members: flockwork_urbiflock::People| members.iter().collect::<Vec<_>>();
        let text = self.formula.text();
        assert_eq!(list(flockr.extension(self.id).expect("a flock").members), expected, "full derivation of {text}");
        assert_eq!(list(flockr.snapshot(self.id).expect("a flock").members), expected, "network of {text}");
        assert!(self.mirror.0.lock().expect("one thread").iter().eq(&expected), "listener of {text}");
    }
}

/// Two flocks, the second defined in the middle.
fn story(first: &Formula, second: &Formula, before: &[Event], after: &[Event]) {
    let mut flockr = Box::new(Flockr::new());
    flockr.begin(&WORLD).expect("a world");
    let mut model = Model::new();
    let mut watched = vec![Watched::new(first, &mut flockr)];
    watched[0].check(&model, &flockr);
    for (place, event) in before.iter().chain(after).enumerate() {
        if place == before.len() {
            watched.push(Watched::new(second, &mut flockr));
        }
        happen(event, &mut model, &mut flockr);
        watched.iter().for_each(|watched| watched.check(&model, &flockr));
    }
}

fn events(group: usize, most: usize) -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(group), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A few people, so that couples, friends and strangers meet often.
    #[test]
    fn engines_agree_in_a_small_group(
        first in formula(),
        second in formula(),
        before in events(10, 30),
        after in events(10, 30),
    ) {
        story(&first, &second, &before, &after);
    }

    /// So many people that those who left are forgotten.
    #[test]
    fn engines_agree_in_a_crowd(formula in formula(), events in events(150, 60)) {
        let crowd: Vec<Event> = (0..150).map(Event::Join).collect();
        let exodus = (0..100).map(Event::Left).chain(events).collect::<Vec<_>>();
        story_of_a_crowd(&formula, &crowd, &exodus);
    }
}

/// As [`story`], but the crowd comes unchecked: only what happens then is looked at.
fn story_of_a_crowd(formula: &Formula, crowd: &[Event], events: &[Event]) {
    let mut flockr = Box::new(Flockr::new());
    flockr.begin(&WORLD).expect("a world");
    let mut model = Model::new();
    let watched = Watched::new(formula, &mut flockr);
    crowd.iter().for_each(|event| happen(event, &mut model, &mut flockr));
    for (place, event) in events.iter().enumerate() {
        happen(event, &mut model, &mut flockr);
        // Of the exodus, the part where the first are forgotten is telling.
        if place > MAX_DEPARTED {
            watched.check(&model, &flockr);
        }
    }
}

/// The whole hall comes and goes again; the network looks at a few nodes for each event, whatever the size.
#[test]
fn an_event_costs_the_network_little() {
    let mut flockr = Box::new(Flockr::new());
    flockr.begin(&WORLD).expect("a world");
    for (place, &uid) in WORLD.arrivals()[..500].iter().enumerate() {
        let before = flockr.activations();
        flockr.join(uid).expect("room");
        // Of the newcomer: isFriend, isNearby, partnerNearby, the conjunction. Of the partner: the last two.
        assert!(flockr.activations() - before <= 6, "the {place}th arrival");
    }
    assert_eq!(
        flockr.snapshot(FlockId::COUPLES).expect("a flock").members,
        flockr.extension(FlockId::COUPLES).expect("a flock").members
    );
}
