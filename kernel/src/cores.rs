//! The cores: which actors are ready on each, who is idle, and how one core gets another's attention.
//!
//! # Ready
//!
//! A send notes the receiver in the ready set of the core it runs on; that core's worker visits it after the turn, once,
//! however many letters were sent. The set is a ring of actor numbers, each marked while it is in (in the lane of that core, or
//! in `member` where lanes are shared), so it is first in, first out, holds each actor once, and is never too small. Two sets, so that actors pinned to the core and actors that others could
//! run as well do not starve each other.
//!
//! # Surplus
//!
//! Work is pulled, not handed over: other cores can *read* the ring of unpinned actors. A core with more than it can run
//! at once kicks an idle one, which reads the ring and visits the actors itself; the actor's lock gives exactly-once, and
//! a visit to an actor without work is harmless. Single-token work leaves nothing in the ring while it runs, so it wakes
//! nobody.
//!
//! ```text
//!  owner:  ring[tail] = actor; tail += 1;  fence;  is somebody idle?  ── kick
//!  idler:  idle = 1;  fence;  is there a tail I have not looked at?   ── visit, else sleep
//! ```
//! One of the two sees the other (store buffering with two fences).
//!
//! An actor stays in the ring while its core runs something else, and may get more to do meanwhile. So each offer also counts
//! up `offered`, and an idler looks at the whole ring again if that has changed.
//!
//! # Notices
//!
//! What is meant for one particular core (a letter to an actor pinned there, a resolved promise a task of it waits for, room in
//! a mailbox) is published where it belongs, and the core's notice is raised: a plain store by anyone. The owner lowers it
//! *before* it looks, with a fence between; whoever raises it fences before. If the owner's lowering overwrites a raise, the
//! raiser's fence came first, so what it published is seen by the look that follows.
#![expect(unsafe_code, reason = "per-core state that only its core touches, in one static table")]

use core::num::NonZeroU16;

use crate::desk::Tenant;
use crate::mailbox::Office;
use crate::port::{self, FOREIGN, FOREIGN_THREADS, LockWord, MAX_CORES};
use crate::sync::{
    Byte, Count16, Flag, Guarded, Half, Mutant, array_of, const_unless_loom, fence, kernel_static, removed,
};
use crate::trace;
use crate::visit;
use crate::waiting::WaitList;

/// How many actors a program can have.
pub const MAX_ACTORS: usize = if cfg!(miri) {
    // Miri fills the tables byte by byte.
    128
} else if FOREIGN_THREADS {
    1 << 15
} else if cfg!(loom) {
    4
} else {
    32
};

/// An actor's number in the kernel's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActorId(NonZeroU16);

impl ActorId {
    #[inline(always)]
    pub(crate) fn from_plus_one(plus_one: u16) -> Option<Self> {
        NonZeroU16::new(plus_one).map(Self)
    }

    #[inline(always)]
    pub(crate) fn plus_one(self) -> u16 {
        self.0.get()
    }

    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self.0.get()) - 1
    }
}

/// Whether each core keeps which turn it is in: for epitaphs on a chip, for the names in traces.
const KEEPS_TURNS: bool = cfg!(target_os = "none") || trace::IS_ON;

/// Stands for no method: the monitor decides, or the kernel itself is at work.
pub(crate) const NO_METHOD: u8 = u8::MAX;

/// Numbers for actors, given out once each.
struct Table {
    lock: LockWord,
    /// How many there are; under `lock`.
    used: Guarded<u16>,
    actors: [Guarded<Option<&'static Office>>; MAX_ACTORS],
}

// SAFETY: an entry is written once, under `lock`, before its number is published; from then on it is only read.
unsafe impl Sync for Table {}

impl Table {
    const_unless_loom! {
        fn new() -> Self {
            Self { lock: LockWord::new(), used: Guarded::new(0), actors: array_of!(Guarded::new(None)) }
        }
    }
}

kernel_static! { static TABLE: Table = Table::new(); }

/// Gives an actor its number, unless another core was faster.
///
/// # Panics
/// If the program has more than [`MAX_ACTORS`] actors.
#[cold]
#[inline(never)]
pub(crate) fn register(office: &'static Office, tenant: &Tenant) -> ActorId {
    let _masked = port::mask();
    while !port::test_and_set(&TABLE.lock) {
        port::pause();
    }
    let id = office.desk.id().unwrap_or_else(|| {
        let used = TABLE.used.get();
        if usize::from(used) == MAX_ACTORS {
            TABLE.lock.clear();
            panic!("this program has more than {MAX_ACTORS} actors, the most the kernel's table holds");
        }
        TABLE.actors[usize::from(used)].set(Some(office));
        TABLE.used.set(used + 1);
        let id = ActorId::from_plus_one(used + 1).expect("one more than a u16 below the limit");
        office.desk.move_in(tenant, id);
        id
    });
    TABLE.lock.clear();
    id
}

#[inline(always)]
fn actor(id: ActorId) -> &'static Office {
    let entry = TABLE.actors[id.index() % MAX_ACTORS].get();
    // SAFETY: an entry is written before its number is given out, and never changes.
    unsafe { entry.unwrap_unchecked() }
}

/// A ring of actor numbers that its core fills and empties, and others may read.
struct Ring {
    head: Count16,
    tail: Count16,
    entries: [Half; MAX_ACTORS],
}

impl Ring {
    const_unless_loom! {
        fn new() -> Self {
            Self { head: Count16::new(), tail: Count16::new(), entries: array_of!(Half::new()) }
        }
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.head.own() == self.tail.own()
    }

    #[inline(always)]
    fn push(&self, id: ActorId) {
        let tail = self.tail.own();
        self.entries[usize::from(tail) % MAX_ACTORS].publish(id.plus_one(), None);
        self.tail.publish(tail.wrapping_add(1), Mutant::RingTailRelaxed);
    }

    #[inline(always)]
    fn pop(&self) -> Option<ActorId> {
        let head = self.head.own();
        if head == self.tail.own() {
            return None;
        }
        let id = ActorId::from_plus_one(self.entries[usize::from(head) % MAX_ACTORS].read(None));
        self.head.hint(head.wrapping_add(1));
        id
    }
}

const INVITATIONS: usize = if cfg!(loom) { 2 } else { 8 };

/// Actors that one core asks another to visit: those pinned there. One writer, one reader.
struct Invitations {
    sent: Count16,
    taken: Count16,
    entries: [Half; INVITATIONS],
}

impl Invitations {
    const_unless_loom! {
        fn new() -> Self {
            Self { sent: Count16::new(), taken: Count16::new(), entries: array_of!(Half::new()) }
        }
    }

    fn push(&self, id: ActorId) -> bool {
        let sent = self.sent.own();
        if usize::from(sent.wrapping_sub(self.taken.read(Mutant::InviteTakenReadRelaxed))) == INVITATIONS {
            return false;
        }
        self.entries[usize::from(sent) % INVITATIONS].publish(id.plus_one(), None);
        self.sent.publish(sent.wrapping_add(1), Mutant::InviteRelaxed);
        true
    }

    fn pop(&self) -> Option<ActorId> {
        let taken = self.taken.own();
        if taken == self.sent.read(Mutant::InviteReadRelaxed) {
            return None;
        }
        let id = ActorId::from_plus_one(self.entries[usize::from(taken) % INVITATIONS].read(None));
        self.taken.publish(taken.wrapping_add(1), Mutant::InviteTakenRelaxed);
        id
    }
}

/// What belongs to one core.
///
/// | field | written by | read by |
/// |---|---|---|
/// | `visiting`, `method` | its core | its core, and whoever asks what it does |
/// | `member`, `noted`, `looked`, `heard`, `waiters`, `depth`, `turn` | its core, masked where interrupts send | its core |
/// | `ready`, `offered`, `pinned` | its core, masked | its core; `ready` and `offered` also by idle cores |
/// | `invitations[i]` | core `i` (`sent`), its core (`taken`) | both |
/// | `idle` | its core | everybody |
/// | `notice`, `answered`, `pended` | raised by anybody, lowered by its core | its core |
/// | `wants_room` | raised by its core, lowered by whoever tells it | everybody |
// In this order: what every visit touches is within reach of a Cortex-M0+'s short offsets.
#[cfg_attr(not(target_os = "none"), repr(C, align(128)))]
#[cfg_attr(target_os = "none", repr(C))]
pub(crate) struct Core {
    /// How many actors are in the two sets.
    noted: Count16,
    /// The number of the actor whose turn it is, plus one.
    visiting: Count16,
    method: Byte,
    notice: Flag,
    /// Whether the notice is about something a task may wait for.
    answered: Flag,
    /// How many `get`s wait, one inside the other.
    pub(crate) depth: Guarded<u8>,
    ready: Ring,
    pinned: Ring,
    member: [Guarded<u32>; MAX_ACTORS.div_ceil(32)],
    /// How often this core offered what is in its ready set.
    offered: Count16,
    looked: [Guarded<u16>; MAX_CORES],
    /// The others' `offered` when this core last looked.
    heard: [Guarded<u16>; MAX_CORES],
    invitations: [Invitations; MAX_CORES],
    idle: Byte,
    pended: Flag,
    /// Whether somebody on this core waits, or has waited, for room in a mailbox.
    wants_room: Flag,
    pub(crate) waiters: WaitList,
    /// Whether pinned actors are next.
    turn: Guarded<bool>,
}

// SAFETY: the table above: each field has one writer at a time, and what others read is atomic.
unsafe impl Sync for Core {}

/// The word and bit of an actor in a set.
#[inline(always)]
fn membership(members: &[Guarded<u32>; MAX_ACTORS.div_ceil(32)], id: ActorId) -> (&Guarded<u32>, u32) {
    // An index is below the limit; the remainder says so to the compiler.
    (&members[id.index() % MAX_ACTORS / 32], (id.index() % 32) as u32)
}

impl Core {
    const_unless_loom! {
        fn new() -> Self {
            Self {
                noted: Count16::new(),
                visiting: Count16::new(),
                method: Byte::new(),
                notice: Flag::new(),
                answered: Flag::new(),
                ready: Ring::new(),
                pinned: Ring::new(),
                member: array_of!(Guarded::new(0)),
                offered: Count16::new(),
                looked: array_of!(Guarded::new(0)),
                heard: array_of!(Guarded::new(0)),
                invitations: array_of!(Invitations::new()),
                idle: Byte::new(),
                pended: Flag::new(),
                wants_room: Flag::new(),
                waiters: WaitList::new(),
                depth: Guarded::new(0),
                turn: Guarded::new(false),
            }
        }
    }

    /// Whether the actor was not in the set and is now: for actors without a lane of this core's own.
    pub(crate) fn join(&self, id: ActorId) -> bool {
        let (word, bit) = membership(&self.member, id);
        let members = word.get();
        if members >> bit & 1 != 0 {
            return false;
        }
        word.set(members | 1 << bit);
        true
    }

    pub(crate) fn part(&self, id: ActorId) {
        let (word, bit) = membership(&self.member, id);
        word.set(word.get() & !(1 << bit));
    }
}

/// What foreign threads ask the cores to visit. They have no ready set of their own, so they share this one, under a lock;
/// like a core's, it holds each actor once and is never too small, so that a send from outside does not wait for a core.
struct Foreign {
    lock: LockWord,
    member: [Guarded<u32>; MAX_ACTORS.div_ceil(32)],
    ring: Ring,
}

// SAFETY: `member` is used under the lock only; what is read without it is atomic.
unsafe impl Sync for Foreign {}

impl Foreign {
    const_unless_loom! {
        fn new() -> Self {
            Self { lock: LockWord::new(), member: array_of!(Guarded::new(0)), ring: Ring::new() }
        }
    }

    fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        while !port::test_and_set(&self.lock) {
            port::pause();
        }
        let result = work();
        self.lock.clear();
        result
    }

    /// The sender's letter was published before: whoever takes the actor out after this sees it.
    fn push(&self, id: ActorId) {
        let (word, bit) = membership(&self.member, id);
        self.locked(|| {
            if word.get() >> bit & 1 == 0 {
                word.set(word.get() | 1 << bit);
                self.ring.push(id);
            }
        });
    }

    fn pop(&self) -> Option<ActorId> {
        self.locked(|| {
            let id = self.ring.pop()?;
            let (word, bit) = membership(&self.member, id);
            word.set(word.get() & !(1 << bit));
            Some(id)
        })
    }

    /// As any core sees it, without the lock.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.ring.head.glance() == self.ring.tail.glance()
    }
}

struct Cores {
    cores: [Core; MAX_CORES],
    /// Where foreign threads exist.
    foreign: [Foreign; FOREIGN_THREADS as usize],
}

impl Cores {
    const_unless_loom! {
        fn new() -> Self {
            Self { cores: array_of!(Core::new()), foreign: array_of!(Foreign::new()) }
        }
    }
}

kernel_static! { static CORES: Cores = Cores::new(); }

/// Makes the tables, so that no thread of a model is the one that makes them.
#[cfg(loom)]
pub(crate) fn begin() {
    let _ = (&*TABLE, &*CORES);
}

#[inline(always)]
pub(crate) fn core(core: u8) -> &'static Core {
    &CORES.cores[usize::from(core) % MAX_CORES]
}

/// Notes on core `here` that an actor has something to do. Called by that core.
fn note(here: u8, id: ActorId) {
    visit::note_here(actor(id), here);
}

/// Puts an actor that was just marked into a set of core `here`. Called by that core, with interrupts masked.
#[inline(always)]
pub(crate) fn enqueue(here: u8, id: ActorId, pinned: bool) {
    let core = core(here);
    core.noted.set(core.noted.own() + 1);
    if pinned { core.pinned.push(id) } else { core.ready.push(id) }
}

/// Any core may take it from there: the one an actor is pinned to is told, otherwise an idle one is woken.
#[cold]
pub(crate) fn note_foreign(id: ActorId, pinned_to: Option<u8>) {
    CORES.foreign.iter().for_each(|foreign| foreign.push(id));
    match pinned_to {
        Some(there) => notify(there),
        None => offer(FOREIGN),
    }
}

/// Raises a core's notice and wakes it: a task of it may go on. What it is about was published before.
#[inline(never)]
pub(crate) fn notify(to: u8) {
    fence(Mutant::NoticeFence);
    core(to).answered.raise(None);
    raise_notice(to);
}

#[inline(always)]
fn raise_notice(to: u8) {
    core(to).notice.raise(None);
    if to != port::core() && !removed(Mutant::NoticeWithoutKick) {
        port::kick(to);
    }
}

/// Asks another core to visit an actor that is pinned there; false if it has too many invitations. Called by core `here`, with
/// interrupts masked.
#[inline(never)]
pub(crate) fn invite(here: u8, there: u8, id: ActorId) -> bool {
    let invited = there < port::cores() && core(there).invitations[usize::from(here) % MAX_CORES].push(id);
    if invited {
        fence(Mutant::NoticeFence);
        raise_notice(there);
    }
    invited
}

/// Raises all cores' notices.
pub(crate) fn notify_all() {
    for to in 0..port::cores() {
        notify(to);
    }
}

/// Says that somebody on this core waits for room in some mailbox. The caller fences, and looks again.
pub(crate) fn want_room(here: u8) {
    core(here).wants_room.raise(None);
}

/// Tells all who wait for room in any mailbox: a turn that waits has freed the slot of its letter. The want is taken back before
/// the notice: whoever still finds no room wants again.
pub(crate) fn tell_of_room() {
    fence(Mutant::WaitRoomFence);
    for to in 0..port::cores() {
        if core(to).wants_room.is_raised() && !removed(Mutant::WaitRoomNotTold) {
            core(to).wants_room.lower();
            notify(to);
        }
    }
}

/// Takes the next ready actor, pinned and unpinned ones in turn.
#[inline(always)]
fn next_ready(core: &Core) -> Option<ActorId> {
    let _masked = port::mask();
    let noted = core.noted.own();
    if noted == 0 {
        return None;
    }
    core.noted.set(noted - 1);
    if core.pinned.is_empty() { core.ready.pop() } else { next_in_turn(core) }
}

#[cold]
fn next_in_turn(core: &Core) -> Option<ActorId> {
    let pinned_first = core.turn.get() || core.ready.is_empty();
    core.turn.set(!pinned_first);
    if pinned_first { core.pinned.pop() } else { core.ready.pop() }
}

/// Whether more than `these` actors wait for this core, or something was published for it: then one letter each.
#[inline(always)]
pub(crate) fn others_wait(here: u8, these: u16) -> bool {
    let core = core(here);
    core.noted.own() != these || core.notice.is_raised()
}

/// Visits one ready actor, if there is one.
#[inline(always)]
pub(crate) fn visit_next(here: u8) -> bool {
    let me = core(here);
    let Some(id) = next_ready(me) else { return false };
    if me.noted.own() != 0 && port::cores() > 1 {
        offer_surplus(here);
    }
    set_visiting(me, id.plus_one());
    if actor(id).desk.resident().visit(here, true) {
        visit_again(here, id);
    }
    true
}

#[inline(always)]
fn set_visiting(core: &Core, plus_one: u16) {
    if KEEPS_TURNS {
        core.visiting.hint(plus_one);
    }
}

/// What this core does next is no actor's turn.
#[inline(always)]
pub(crate) fn end_turns(here: u8) {
    set_visiting(core(here), 0);
}

/// The method that this core runs now, of the actor it visits.
#[inline(always)]
pub(crate) fn set_method(here: u8, method: impl FnOnce() -> u8) {
    if KEEPS_TURNS {
        core(here).method.hint(method());
    }
}

/// The turn a core is in, kept while another one (or a task) is nested in it.
pub(crate) struct Outer {
    here: u8,
    visiting: u16,
    method: u8,
}

impl Outer {
    /// What follows is no actor's turn, while this lives.
    #[cfg(all(feature = "embassy", not(loom)))]
    #[inline(always)]
    pub(crate) fn leave(here: u8) -> Self {
        let outer = Self::keep(here);
        end_turns(here);
        outer
    }

    /// What follows is another turn, while this lives.
    #[inline(always)]
    pub(crate) fn keep(here: u8) -> Self {
        if !KEEPS_TURNS {
            return Self { here, visiting: 0, method: NO_METHOD };
        }
        let core = core(here);
        Self { here, visiting: core.visiting.own(), method: core.method.glance() }
    }
}

impl Drop for Outer {
    #[inline(always)]
    fn drop(&mut self) {
        set_visiting(core(self.here), self.visiting);
        set_method(self.here, || self.method);
    }
}

/// The names of the actor and the method of the turn that a core is in.
pub(crate) fn turn_of(there: u8) -> Option<(&'static str, Option<&'static str>)> {
    let core = core(there);
    let id = ActorId::from_plus_one(core.visiting.glance())?;
    Some(actor(id).desk.resident().names(core.method.glance()))
}

/// The names of an actor, by its number, and of one of its methods.
pub(crate) fn names(number: u16, method: u8) -> Option<(&'static str, Option<&'static str>)> {
    let id = ActorId::from_plus_one(number.checked_add(1)?)?;
    let used = TABLE.actors.get(id.index()).is_some_and(|entry| entry.get().is_some());
    used.then(|| actor(id).desk.resident().names(method))
}

/// The actor has more to do; or it is pinned to another core, which has to do it.
#[cold]
#[inline(never)]
fn visit_again(here: u8, id: ActorId) {
    match actor(id).desk.pinned_to() {
        Some(there) if there != here => hand_over(here, there, id),
        _ => note(here, id),
    }
}

/// Asks the core an actor is pinned to to visit it; keeps it if that core has too many invitations.
fn hand_over(here: u8, there: u8, id: ActorId) {
    if there >= port::cores() {
        no_such_core(there);
    }
    let invited = {
        let _masked = port::mask();
        invite(here, there, id)
    };
    if !invited {
        note(here, id);
        notify(there);
        port::pause();
    }
}

#[cold]
fn no_such_core(there: u8) -> ! {
    panic!("an actor is pinned to core {there}, but this program runs on {} cores, numbered from 0", port::cores());
}

/// Kicks an idle core if unpinned actors are waiting here that it could visit.
#[inline(always)]
pub(crate) fn offer_surplus(here: u8) {
    let me = core(here);
    if !me.ready.is_empty() && port::cores() > 1 {
        {
            let _masked = port::mask();
            me.offered.publish(me.offered.own().wrapping_add(1), Mutant::RingTailRelaxed);
        }
        offer(here);
    }
}

/// The same after a second letter to an actor that could run both at once, and only if a core seems to be idle: whoever sends
/// many before it comes to its worker need not do all of them alone.
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn offer_letter(here: u8) {
    if port::cores() > 1 && idle_core(here).is_some() {
        offer_surplus(here);
    }
}

fn offer(here: u8) {
    fence(Mutant::OfferFence);
    if let Some(idler) = idle_core(here)
        && !removed(Mutant::OfferWithoutKick)
    {
        port::kick(idler);
    }
}

/// Some core that says it is idle.
fn idle_core(here: u8) -> Option<u8> {
    (0..port::cores()).find(|&other| other != here && core(other).idle.read() == 1)
}

/// Notes what others asked this core to do. Called when its notice is raised.
fn take_notice(here: u8) {
    let me = core(here);
    if !removed(Mutant::NoticeClearedLate) {
        me.notice.lower();
        fence(Mutant::NoticeLookFence);
    }
    for invitations in &me.invitations[..usize::from(port::cores()).min(MAX_CORES)] {
        while let Some(id) = invitations.pop() {
            note(here, id);
        }
    }
    take_from_outside(here);
    // A task that is woken pends the executor, which is a notice too: it must not wake the tasks again.
    if me.answered.is_raised() {
        me.answered.lower();
        fence(Mutant::NoticeLookFence);
        me.waiters.wake();
    }
    if removed(Mutant::NoticeClearedLate) {
        me.notice.lower();
    }
}

/// Notes what foreign threads asked the cores to do. What is pinned elsewhere goes there at once: turns of this core may
/// be long.
fn take_from_outside(here: u8) {
    for foreign in &CORES.foreign {
        while let Some(id) = foreign.pop() {
            match actor(id).desk.pinned_to() {
                Some(there) if there != here => hand_over(here, there, id),
                _ => note(here, id),
            }
        }
    }
}

/// Whether a foreign thread asks for a visit.
#[inline(always)]
fn asked_from_outside() -> bool {
    CORES.foreign.iter().any(|foreign| !foreign.is_empty())
}

/// Whether something was published for this core: an invitation, an answer, room, or a task to poll.
#[inline(always)]
pub(crate) fn has_notice(here: u8) -> bool {
    core(here).notice.is_raised()
}

/// Looks for notices; true if there was one.
#[inline(always)]
pub(crate) fn look(here: u8) -> bool {
    let raised = core(here).notice.is_raised() || asked_from_outside();
    if raised {
        take_notice(here);
    }
    raised
}

/// Visits the actors in other cores' rings that were noted since this core last looked. True if there were any.
pub(crate) fn help_others(here: u8) -> bool {
    let me = core(here);
    let mut found = false;
    for other in (0..port::cores()).filter(|&other| other != here) {
        let ring = &core(other).ready;
        // The head first: then it is not past the tail.
        let head = ring.head.glance();
        let tail = ring.tail.read(Mutant::RingTailReadRelaxed);
        let (looked, heard) = (&me.looked[usize::from(other)], &me.heard[usize::from(other)]);
        let offered = core(other).offered.read(Mutant::RingTailReadRelaxed);
        // All that is in the ring if it was offered again, otherwise what is new there.
        let new = if offered == heard.get() { tail.wrapping_sub(looked.get()) } else { u16::MAX };
        let unseen = tail.wrapping_sub(head).min(new);
        let mut place = tail.wrapping_sub(unseen.min(MAX_ACTORS as u16));
        looked.set(tail);
        heard.set(offered);
        while place != tail {
            if let Some(id) = ActorId::from_plus_one(ring.entries[usize::from(place) % MAX_ACTORS].read(None)) {
                found = true;
                // Whoever is idle can have the next one while this one is visited.
                if place.wrapping_add(1) != tail {
                    offer(here);
                }
                let actor = actor(id);
                set_visiting(me, id.plus_one());
                if actor.desk.pinned_to().is_none() && actor.desk.resident().visit(here, false) {
                    note(here, id);
                }
            }
            place = place.wrapping_add(1);
        }
    }
    found
}

/// Whether another core noted an actor that this core has not looked at.
fn others_have_surplus(here: u8) -> bool {
    let me = core(here);
    (0..port::cores()).filter(|&other| other != here).any(|other| {
        let (core, other) = (core(other), usize::from(other));
        core.ready.tail.read(Mutant::RingTailReadRelaxed) != me.looked[other].get()
            || core.offered.read(Mutant::RingTailReadRelaxed) != me.heard[other].get()
    })
}

/// Sleeps, unless there is something to do; `done` is asked after all that others could have done. Returns after a kick, or at
/// once.
pub(crate) fn idle(here: u8, done: &mut dyn FnMut() -> bool) {
    let me = core(here);
    if !removed(Mutant::IdleAnnouncedLate) {
        me.idle.publish(1);
        fence(Mutant::IdleFence);
    }
    let work = me.notice.is_raised()
        || me.pended.is_raised()
        || others_have_surplus(here)
        || asked_from_outside()
        || done()
        // After `done`, which may have sent a letter that waited for room.
        || !me.ready.is_empty()
        || !me.pinned.is_empty();
    if removed(Mutant::IdleAnnouncedLate) {
        me.idle.publish(1);
    }
    if !work || removed(Mutant::IdleNotRechecked) {
        port::idle();
    }
    me.idle.publish(0);
}

/// Says that this core's executor has something to poll, and wakes the core.
#[cfg(all(feature = "embassy", not(loom), not(test)))]
pub(crate) fn pend(to: u8) {
    fence(Mutant::NoticeFence);
    core(to).pended.raise(None);
    core(to).notice.raise(None);
    if to != port::core() {
        port::kick(to);
    }
}

/// Whether the executor has something to poll; asked once.
#[cfg(all(feature = "embassy", not(loom)))]
pub(crate) fn take_pended(here: u8) -> bool {
    let pended = core(here).pended.is_raised();
    if pended {
        core(here).pended.lower();
        fence(Mutant::NoticeLookFence);
    }
    pended
}
