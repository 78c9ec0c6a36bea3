//! The world a flock lives in: everyone there is, made by a generator that gives the same people everywhere.
//!
//! It is a constant, so on a board it lies in flash; the generator runs in the compiler.

use core::num::NonZeroU32;

use crate::people::People;
use crate::profile::{NOBODY, Profile, UNIVERSE, Uid, Username};

/// The seed of [`WORLD`].
pub const SEED: NonZeroU32 = NonZeroU32::new(0x2014_0080).unwrap();
/// The owner of the device: friends and arrivals are the others.
pub const OWNER: Uid = 0;
/// How many friends the owner has at first.
pub const FRIENDS: usize = 300;

const OTHERS: usize = UNIVERSE - 1;
/// How many people have a partner. The others have none.
const PAIRED: usize = 614;

/// The world that the check values are about.
pub static WORLD: World = World::generate(SEED);

/// Everyone there is, the owner's friends, and the order in which people come near.
#[derive(Debug)]
pub struct World {
    people: [Profile; UNIVERSE],
    friends: [Uid; FRIENDS],
    arrivals: [Uid; OTHERS],
}

impl World {
    /// The world of a seed.
    pub const fn generate(seed: NonZeroU32) -> Self {
        let mut generator = Generator::new(seed);
        let mut world = Self { people: [Profile::BLANK; UNIVERSE], friends: [0; FRIENDS], arrivals: [0; OTHERS] };
        world.populate(&mut generator);
        world.pair(&mut generator);
        world.befriend(&mut generator);
        world.line_up(&mut generator);
        world
    }

    /// This person, as it presents itself when it comes near.
    #[inline]
    pub fn person(&self, uid: Uid) -> Option<&Profile> {
        self.people.get(usize::from(uid))
    }

    /// The owner's friends at first, in the order they were made.
    pub fn friends(&self) -> &[Uid; FRIENDS] {
        &self.friends
    }

    /// Everyone but the owner, in the order they come near.
    pub fn arrivals(&self) -> &[Uid; OTHERS] {
        &self.arrivals
    }

    const fn populate(&mut self, generator: &mut Generator) {
        let mut uid = 0;
        while uid < UNIVERSE {
            let age = 18 + generator.below(48) as u8;
            let sex = generator.below(2) as u8;
            let mut hobbies = 0;
            let mut bit = 0;
            while bit < 8 {
                if generator.below(4) == 0 {
                    hobbies |= 1 << bit;
                }
                bit += 1;
            }
            let username = Username::of(uid as Uid);
            self.people[uid] = Profile { uid: uid as Uid, partner: NOBODY, age, sex, hobbies, flags: 0, username };
            uid += 1;
        }
    }

    const fn pair(&mut self, generator: &mut Generator) {
        let shuffled = generator.shuffled();
        let mut place = 0;
        while place < PAIRED {
            let (one, other) = (shuffled[place], shuffled[place + 1]);
            self.people[one as usize].partner = other;
            self.people[other as usize].partner = one;
            place += 2;
        }
    }

    const fn befriend(&mut self, generator: &mut Generator) {
        let shuffled = generator.shuffled();
        let mut place = 0;
        while place < FRIENDS {
            self.friends[place] = shuffled[place];
            place += 1;
        }
    }

    /// People come in a random order, but most bring their partner.
    const fn line_up(&mut self, generator: &mut Generator) {
        let shuffled = generator.shuffled();
        let mut seen = People::NONE;
        let (mut place, mut arrived) = (0, 0);
        while place < OTHERS {
            let uid = shuffled[place];
            place += 1;
            if !seen.insert(uid) {
                continue;
            }
            self.arrivals[arrived] = uid;
            arrived += 1;
            let partner = self.people[uid as usize].partner;
            if partner != NOBODY && !seen.contains(partner) && generator.below(4) < 3 {
                seen.insert(partner);
                self.arrivals[arrived] = partner;
                arrived += 1;
            }
        }
    }
}

/// The pseudo-random generator of the world: xorshift with 32 bits.
#[derive(Clone, Debug)]
pub struct Generator {
    state: u32,
}

impl Generator {
    /// A generator that starts with this seed. (From zero it would never leave zero.)
    pub const fn new(seed: NonZeroU32) -> Self {
        Self { state: seed.get() }
    }

    /// The next number.
    pub const fn draw(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state
    }

    /// A number below `n`, after one draw.
    pub const fn below(&mut self, n: u32) -> u32 {
        ((self.draw() as u64 * n as u64) >> 32) as u32
    }

    /// Everyone but the owner, shuffled by Fisher and Yates' method from the last place down.
    const fn shuffled(&mut self) -> [Uid; OTHERS] {
        let mut people = [0; OTHERS];
        let mut place = 0;
        while place < OTHERS {
            people[place] = place as Uid + 1;
            place += 1;
        }
        let mut last = OTHERS - 1;
        while last > 0 {
            people.swap(last, self.below(last as u32 + 1) as usize);
            last -= 1;
        }
        people
    }
}
