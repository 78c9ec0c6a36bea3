//! A monitor tried out without threads, cores or an actor: letters are posted, scheduled and finished by hand.
//!
//! The inbox, the lists and the borrow gate are the kernel's own, so what a rehearsal shows is what the kernel does with
//! the same decisions. Only time is missing: a granted letter runs until the rehearsal says that it has finished.

use core::any::TypeId;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

use crate::inbox::Inbox;
use crate::letter::{Descriptor, Head, Letter, Method, Stage};
use crate::lists::{Chain, Lists};
use crate::monitor::{Discipline, Monitor, SharingOf};
use crate::objects::Claims;
use crate::slots::Layout;
use crate::sync::{Ended, Mutant, array_of, const_unless_loom};

/// A monitor `M` and an imagined actor with room for `N` letters, waiting and running together.
///
/// ```
/// use flockwork::{Access, Any, Inbox, Letter, Method, Monitor, OneAtATime, Rehearsal};
///
/// struct Youngest { busy: bool }
///
/// impl Monitor for Youngest {
///     type Discipline = OneAtATime;
///     const NEW: Self = Self { busy: false };
///
///     fn schedule(&mut self, inbox: Inbox<'_>) {
///         if !self.busy {
///             self.busy = inbox.execute_youngest(Any);
///         }
///     }
///     fn leave(&mut self, _: Letter<'_>) {
///         self.busy = false;
///     }
/// }
///
/// // An actor's own `Methods::METHODS` will do as well.
/// static METHODS: [Method; 1] = [Method::new("put", Access::Writer)];
///
/// let actor = Rehearsal::<Youngest, 4>::new(&METHODS);
/// let [older, younger] = actor.post_each(["put", "put"]);
/// assert_eq!(actor.schedule(), [younger]);
/// assert_eq!(actor.finish(younger), [older]);
/// assert_eq!(actor.finish(older), []);
/// assert_eq!(actor.schedule_calls(), 2); // the last letter left an empty inbox behind
/// ```
///
/// A rehearsal can be moved only before it is used, since its letters are linked to each other where they are:
///
/// ```compile_fail,E0505
/// # use flockwork::{Access, Method, Mutex, Rehearsal};
/// # static METHODS: [Method; 1] = [Method::new("put", Access::Writer)];
/// let actor = Rehearsal::<Mutex, 4>::new(&METHODS);
/// actor.post("put");
/// let elsewhere = actor;
/// elsewhere.schedule();
/// ```
// Every use borrows it for all of `'r`, its own lifetime (invariant, so that no shorter one will do). From then on it can
// neither be moved nor borrowed mutably, so the links in `lists` stay good. It has no `Drop`, and the drop of `M`, which is
// `'static`, cannot reach them.
pub struct Rehearsal<'r, M, const N: usize> {
    descriptor: Descriptor,
    monitor: RefCell<M>,
    lists: Lists,
    slots: [Slot; N],
    posted: Cell<u32>,
    schedule_calls: Cell<u32>,
    schedule_calls_on_empty: Cell<u32>,
    leave_calls: Cell<u32>,
    borrowed: PhantomData<Cell<&'r ()>>,
}

/// As in a lane, a slot's head comes first. There is no message.
#[repr(C)]
struct Slot {
    head: Head,
    claims: Cell<Claims>,
    id: Cell<Option<LetterId>>,
}

impl Slot {
    const_unless_loom! {
        fn new() -> Self {
            Self { head: Head::new(), claims: Cell::new(Claims::NONE), id: Cell::new(None) }
        }
    }

    fn is_running(&self, letter: LetterId) -> bool {
        self.id.get() == Some(letter) && self.head.stage.get() == Stage::Running
    }
}

/// The actor type of a rehearsal: nobody else can name it, so no letter here seems to have a message.
struct Nobody;

/// A posted letter, by its number: the first is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LetterId(u32);

impl LetterId {
    /// How many were posted before it.
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for LetterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The letters that one step granted, in the order they were granted.
#[derive(Clone, Copy)]
pub struct Granted<const N: usize> {
    letters: [LetterId; N],
    len: usize,
}

impl<const N: usize> Granted<N> {
    const NONE: Self = Self { letters: [LetterId(0); N], len: 0 };
}

impl<const N: usize> Deref for Granted<N> {
    type Target = [LetterId];

    fn deref(&self) -> &[LetterId] {
        &self.letters[..self.len]
    }
}

impl<const N: usize, const K: usize> PartialEq<[LetterId; K]> for Granted<N> {
    fn eq(&self, other: &[LetterId; K]) -> bool {
        **self == other[..]
    }
}

impl<const N: usize> fmt::Debug for Granted<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(feature = "defmt")]
impl<const N: usize> defmt::Format for Granted<N> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{}", &**self);
    }
}

impl<'r, M: Monitor, const N: usize> Rehearsal<'r, M, N> {
    const_unless_loom! {
        /// A new monitor, bound to an imagined actor with these methods.
        pub fn new(methods: &'static [Method]) -> Self {
            Self {
                descriptor: Descriptor {
                    methods,
                    actor_type: TypeId::of::<Nobody>,
                    message_offset: 0,
                    claims_offset: Some(core::mem::offset_of!(Slot, claims)),
                    sharing: Self::SHARING.0,
                    standing_grant: false,
                    pinned: false,
                    layout: Layout::NONE,
                },
                monitor: RefCell::new(M::NEW),
                lists: Lists::new(),
                slots: array_of!(Slot::new()),
                posted: Cell::new(0),
                schedule_calls: Cell::new(0),
                schedule_calls_on_empty: Cell::new(0),
                leave_calls: Cell::new(0),
                borrowed: PhantomData,
            }
        }
    }

    /// Puts a letter for this method, by its name, into the inbox. It does not schedule, so that several can arrive at
    /// once.
    ///
    /// # Panics
    /// If there is no such method, or no room.
    #[track_caller]
    pub fn post(&'r self, method: &str) -> LetterId {
        self.post_naming(method, Claims::NONE)
    }

    /// One letter for each of these methods, the first is the oldest.
    ///
    /// # Panics
    /// If there is no such method, or no room.
    #[track_caller]
    pub fn post_each<const K: usize>(&'r self, methods: [&str; K]) -> [LetterId; K] {
        let mut letters = [LetterId(0); K];
        for (letter, method) in letters.iter_mut().zip(methods) {
            *letter = self.post(method);
        }
        letters
    }

    /// A letter that names objects.
    ///
    /// # Panics
    /// If there is no such method, or no room.
    #[track_caller]
    pub fn post_naming(&'r self, method: &str, claims: Claims) -> LetterId {
        let Some(place) = self.descriptor.methods.iter().position(|entry| entry.name() == method) else {
            panic!("the rehearsed actor has no method `{method}`");
        };
        let Some(slot) = self.slots.iter().find(|slot| slot.id.get().is_none()) else {
            panic!("no room for another letter: all {N} are waiting or running");
        };
        let id = LetterId(self.posted.get());
        self.posted.set(id.0 + 1);
        slot.id.set(Some(id));
        slot.claims.set(claims);
        slot.head.method.set(u8::try_from(place).expect("an actor has at most 256 methods"));
        slot.head.access.set(self.descriptor.methods[place].access());
        // The pointer is made from the whole slot, so that the claims can be reached from it.
        self.lists.append(Chain::of_one(NonNull::from(slot).cast::<Head>()));
        id
    }

    /// Lets the monitor schedule, as the kernel does after letters have arrived: not at all if the inbox is empty.
    pub fn schedule(&'r self) -> Granted<N> {
        let mut granted = Granted::NONE;
        if self.lists.is_empty() {
            return granted;
        }
        count(&self.schedule_calls);
        if self.inbox().is_empty() {
            count(&self.schedule_calls_on_empty);
        }
        self.monitor.borrow_mut().schedule(self.inbox());
        if self.lists.has_granted() {
            self.lists.publish();
        }
        while self.lists.has_granted() {
            let letter = self.lists.start();
            granted.letters[granted.len] = self.slot(letter).1;
            granted.len += 1;
        }
        granted
    }

    /// The method of this letter has ended: the monitor lets it leave, and schedules if letters wait.
    ///
    /// # Panics
    /// If the letter is not running.
    #[track_caller]
    pub fn finish(&'r self, letter: LetterId) -> Granted<N> {
        let Some(slot) = self.slots.iter().find(|slot| slot.is_running(letter)) else {
            panic!("letter {letter:?} is not running");
        };
        slot.head.ending.say(Ended::Run, Mutant::DoneRelaxed);
        while let Some(head) = self.lists.ended(&self.descriptor) {
            count(&self.leave_calls);
            self.monitor.borrow_mut().leave(Letter { head, descriptor: &self.descriptor });
            let (slot, _) = self.slot(head);
            slot.head.stage.set(Stage::Lane);
            slot.id.set(None);
        }
        self.schedule()
    }

    /// Whether this letter was granted and has not finished.
    pub fn is_running(&'r self, letter: LetterId) -> bool {
        self.slots.iter().any(|slot| slot.is_running(letter))
    }

    /// How many letters wait in the inbox.
    pub fn waiting(&'r self) -> usize {
        self.inbox().len()
    }

    /// How often the monitor scheduled.
    pub fn schedule_calls(&'r self) -> u32 {
        self.schedule_calls.get()
    }

    /// How often it did so with an empty inbox: never (PAM-G3).
    pub fn schedule_calls_on_empty(&'r self) -> u32 {
        self.schedule_calls_on_empty.get()
    }

    /// How many letters left.
    pub fn leave_calls(&'r self) -> u32 {
        self.leave_calls.get()
    }

    /// How many grants were refused because they would have aliased (SAFE-1). A good monitor has none.
    pub fn refused(&'r self) -> u32 {
        self.lists.refused()
    }

    /// Looks at the monitor.
    pub fn monitor<T>(&'r self, look: impl FnOnce(&M) -> T) -> T {
        look(&self.monitor.borrow())
    }

    const SHARING: SharingOf = <M::Discipline as Discipline>::SHARING;

    fn inbox(&self) -> Inbox<'_> {
        Inbox { lists: &self.lists, descriptor: &self.descriptor, only: None, hand: None, sharing: Self::SHARING.0 }
    }

    /// The slot with this head, and the letter in it.
    fn slot(&self, head: NonNull<Head>) -> (&Slot, LetterId) {
        let slot = self.slots.iter().find(|slot| NonNull::from(&slot.head) == head);
        slot.and_then(|slot| Some((slot, slot.id.get()?))).expect("a linked letter has a slot")
    }
}

fn count(calls: &Cell<u32>) {
    calls.set(calls.get() + 1);
}
