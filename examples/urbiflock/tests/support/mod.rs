//! An independent model of the workload: plain vectors and strings, written from its description and nothing else.
#![allow(dead_code, reason = "each suite uses a part")]

/// One person.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) partner: Option<String>,
    pub(crate) age: u32,
    pub(crate) sex: u32,
    pub(crate) hobbies: Vec<usize>,
}

/// Everyone, the friends and the arrivals.
pub(crate) struct Hall {
    pub(crate) people: Vec<Person>,
    pub(crate) friends: Vec<usize>,
    pub(crate) arrivals: Vec<usize>,
}

/// What one derivation of the couples gives.
#[derive(Debug, PartialEq)]
pub(crate) struct Couples {
    pub(crate) uids: Vec<u16>,
    pub(crate) comparisons: u32,
}

pub(crate) fn xorshift(state: &mut u32) -> u32 {
    let mut x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    x
}

fn below(state: &mut u32, n: usize) -> usize {
    (u64::from(xorshift(state)) * n as u64 / (1 << 32)) as usize
}

fn shuffled(state: &mut u32) -> Vec<usize> {
    let mut people: Vec<usize> = (1..1024).collect();
    for i in (1..people.len()).rev() {
        let j = below(state, i + 1);
        people.swap(i, j);
    }
    people
}

impl Hall {
    pub(crate) fn new(seed: u32) -> Self {
        let mut state = seed;
        let mut people: Vec<Person> = (0..1024)
            .map(|uid| Person {
                name: format!("flockr-{uid:05}"),
                partner: None,
                age: 18 + below(&mut state, 48) as u32,
                sex: below(&mut state, 2) as u32,
                hobbies: (0..8).filter(|_| below(&mut state, 4) == 0).collect(),
            })
            .collect();
        for couple in shuffled(&mut state)[..614].chunks(2) {
            people[couple[0]].partner = Some(format!("flockr-{:05}", couple[1]));
            people[couple[1]].partner = Some(format!("flockr-{:05}", couple[0]));
        }
        let friends = shuffled(&mut state)[..300].to_vec();
        let mut arrivals = Vec::new();
        for uid in shuffled(&mut state) {
            if arrivals.contains(&uid) {
                continue;
            }
            arrivals.push(uid);
            let partner = people[uid].partner.as_ref().map(|name| number(name));
            if let Some(partner) = partner.filter(|partner| !arrivals.contains(partner))
                && below(&mut state, 4) < 3
            {
                arrivals.push(partner);
            }
        }
        Self { people, friends, arrivals }
    }

    /// The couples among these people, who came in this order.
    pub(crate) fn couples(&self, nearby: &[usize]) -> Couples {
        let friends: Vec<&str> = self.friends.iter().map(|&uid| self.people[uid].name.as_str()).collect();
        let near: Vec<&str> = nearby.iter().map(|&uid| self.people[uid].name.as_str()).collect();
        let mut comparisons = 0;
        let mut is_in = |list: &[&str], wanted: &str| {
            list.iter().any(|name| {
                comparisons += 1;
                *name == wanted
            })
        };
        let mut uids = Vec::new();
        for &uid in nearby {
            let person = &self.people[uid];
            is_in(&friends, &person.name);
            if let Some(partner) = &person.partner
                && is_in(&near, partner)
            {
                uids.push(uid as u16);
            }
        }
        uids.sort();
        Couples { uids, comparisons }
    }
}

/// The uid at the end of a username.
pub(crate) fn number(name: &str) -> usize {
    name.trim_start_matches("flockr-").parse().expect("a username ends in its uid")
}

/// FNV-1a with 32 bits over uids as two bytes each, the lower first.
pub(crate) fn fnv(uids: &[u16]) -> u32 {
    let mut hash = 2_166_136_261_u64;
    for byte in uids.iter().flat_map(|uid| [uid & 0xff, uid >> 8]) {
        hash = (hash ^ u64::from(byte)) * 16_777_619 % (1 << 32);
    }
    hash as u32
}
