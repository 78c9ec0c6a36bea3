//! The cores: who is idle, and how one core gets another's attention.
//!
//! Which actors are ready on each core, and what a core offers to others, is in [`ready`](crate::ready).
//!
//! # Notices
//!
//! What is meant for one particular core (a letter to an actor pinned there, a resolved promise a task of it waits for, room in
//! a mailbox) is published where it belongs, and the core's notice is raised: a plain store by anyone. The owner lowers it
//! *before* it looks, with a fence between; whoever raises it fences before. If the owner's lowering overwrites a raise, the
//! raiser's fence came first, so what it published is seen by the look that follows.
//!
//! Beside the notice lies another flag of the same kind: something in another core's set was offered again. A worker whose core nobody
//! called sees that by one look at both. Invitations, which are most of what a notice is about, are told by comparing two words. What is
//! about tasks has flags of its own, raised and lowered in the same way: there is a fence before such a flag is raised, for what it is
//! about, and another one before the notice, for the flag.
//!
//! # Who is visited without being noted
//!
//! An actor that would be the next of a core whose set is empty need not go through it: one that is invited alone, and the receiver of a
//! question whose asker waits on that core right away ([`Unnoted`]). It is visited before anything else of the core begins (a task, or
//! another turn, might wait for what it does), or it is noted after all. An interrupt may note others in between; they come after it, as
//! they would have.
#![expect(unsafe_code, reason = "per-core state that only its core touches, in one static table")]

use crate::desk::{Entry, Resident, Tenant};
use crate::foreign;
use crate::mailbox::Office;
use crate::port::{self, FOREIGN, FOREIGN_THREADS, LockWord, MAX_CORES};
use crate::promise::Ticket;
use crate::ready::{self, ActorId, Invitations, Mark, Next, Ready, Unseen};
use crate::share;
use crate::sync::{
    Byte, Count32, Flag, Flags, Guarded, Mutant, Raised, array_of, const_unless_loom, fence, kernel_static, removed,
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

/// Whether each core keeps which turn it is in: for epitaphs on a chip, for the names in traces.
const KEEPS_TURNS: bool = cfg!(target_os = "none") || trace::IS_ON;

/// In place of a method: a monitor decides.
const DECIDING: u8 = u8::MAX;
/// In place of a method: neither that, nor a method. What is kept of a method is its number plus one. (Most actors have one method, and send
/// zeros: a Cortex-M0+ would keep the zero of the one for the other, at the expense of all else.)
const NO_METHOD: u8 = 0;
/// So many methods can an actor have.
pub(crate) const MAX_METHODS: usize = DECIDING as usize - 1;

/// Numbers for actors, given out once each.
#[repr(C)]
struct Table {
    actors: [Entry; MAX_ACTORS],
    lock: LockWord,
    /// How many there are; under `lock`.
    used: Guarded<u16>,
    /// The actors that have a monitor, by their numbers' bits. Written under `lock`.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    monitored: Count32,
}

// SAFETY: an entry is written once, under `lock`, before its number is published; from then on it is only read.
unsafe impl Sync for Table {}

impl Table {
    const_unless_loom! {
        fn new() -> Self {
            Self {
                lock: LockWord::new(),
                used: Guarded::new(0),
                actors: array_of!(Entry::new()),
                #[cfg(all(target_os = "none", target_arch = "arm"))]
                monitored: Count32::new(),
            }
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
pub(crate) fn register(tenant: &Tenant) -> ActorId {
    let _masked = port::mask();
    while !port::test_and_set(&TABLE.lock) {
        port::pause();
    }
    let desk = &tenant.resident.office().desk;
    let id = desk.id().unwrap_or_else(|| {
        let used = TABLE.used.get();
        if usize::from(used) == MAX_ACTORS {
            TABLE.lock.clear();
            panic!("this program has more than {MAX_ACTORS} actors, the most the kernel's table holds");
        }
        let id = ActorId::nth(used);
        TABLE.actors[id.place()].set(tenant.resident);
        TABLE.used.set(used + 1);
        if tenant.pinned_to.is_some() {
            ready::pin(id);
        }
        desk.move_in(tenant, id);
        // One that is pinned to a core which is not there is visited by the core that finds out.
        #[cfg(target_os = "none")]
        if let Some(how) = tenant.straight
            && desk.has_chosen_lock()
            && tenant.pinned_to.is_none_or(|core| core < port::cores())
        {
            TABLE.actors[id.place()].set_straight(how);
        }
        #[cfg(all(target_os = "none", target_arch = "arm"))]
        if tenant.letters.is_some() {
            TABLE.monitored.hint(TABLE.monitored.own() | id.raw());
        }
        tenant.resident.office().open(tenant.capacity);
        id
    });
    TABLE.lock.clear();
    id
}

#[inline(always)]
fn entry(id: ActorId) -> &'static Entry {
    &TABLE.actors[id.place()]
}

/// The actor with this number.
#[inline(always)]
pub(crate) fn resident(id: ActorId) -> &'static dyn Resident {
    actor(id)
}

#[inline(always)]
fn actor(id: ActorId) -> &'static dyn Resident {
    // SAFETY: an entry is written before its number is given out, and never changes.
    unsafe { entry(id).resident().unwrap_unchecked() }
}

/// The core an actor is pinned to.
#[cfg(target_os = "none")]
pub(crate) fn pinned_to(id: ActorId) -> Option<u8> {
    actor(id).pinned_to()
}

/// What belongs to one core.
///
/// | field | written by | read by |
/// |---|---|---|
/// | `visiting`, `method` | its core | its core, and whoever asks what it does |
/// | `waiters`, `depth`, `awaited` | its core | its core |
/// | `ready` | its core, masked where interrupts send | its core; what is atomic in it also by others |
/// | `invitations[i]` | core `i` and its core, each its part | both |
/// | `idle` | its core | everybody |
/// | `calls`, `tasks` | raised by anybody, lowered by its core | its core |
/// | `wants_room` | raised by its core, lowered by whoever tells it | everybody |
// In this order: what every visit touches is within reach of a Cortex-M0+'s short offsets; and of this size, so that a core's place
// is found by a shift.
#[cfg_attr(not(target_os = "none"), repr(C, align(128)))]
#[cfg_attr(target_os = "none", repr(C, align(64)))]
pub(crate) struct Core {
    /// The number of the actor whose turn it is; 0 if it is nobody's.
    visiting: Count32,
    /// Its notice, and whether something in another core's set was offered again.
    calls: Flags,
    /// Whether the notice is about something a task may wait for, and whether the executor has something to poll.
    tasks: Flags,
    method: Byte,
    /// How many `get`s wait, one inside the other.
    pub(crate) depth: Guarded<u8>,
    idle: Byte,
    /// Whether somebody on this core waits, or has waited, for room in a mailbox.
    wants_room: Flag,
    /// What the innermost `get` of this core waits for.
    pub(crate) awaited: Guarded<Option<Ticket>>,
    pub(crate) ready: Ready,
    pub(crate) waiters: WaitList,
    invitations: [Invitations; OTHERS],
}

// SAFETY: the table above: each field has one writer at a time, and what others read is atomic.
unsafe impl Sync for Core {}

impl Core {
    const_unless_loom! {
        fn new() -> Self {
            Self {
                ready: Ready::new(),
                visiting: Count32::new(),
                method: Byte::new(),
                calls: Flags::new(),
                tasks: Flags::new(),
                idle: Byte::new(),
                wants_room: Flag::new(),
                awaited: Guarded::new(None),
                depth: Guarded::new(0),
                waiters: WaitList::new(),
                invitations: array_of!(Invitations::new()),
            }
        }
    }

    /// What others have called it for.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    fn calls(&self) -> Raised {
        // SAFETY: there they are.
        unsafe { Raised::behind::<{ core::mem::offset_of!(Self, calls) }>((&raw const *self).cast()) }
    }

    /// The same.
    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    fn calls(&self) -> Raised {
        self.calls.raised()
    }

    /// Whether its tasks may have something to do.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    fn tasks(&self) -> bool {
        // SAFETY: there they are.
        unsafe { Raised::behind::<{ core::mem::offset_of!(Self, tasks) }>((&raw const *self).cast()) }.any()
    }

    /// The same.
    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    fn tasks(&self) -> bool {
        self.tasks.raised().any()
    }

    #[inline(always)]
    fn notice(&self) -> &Flag {
        self.calls.first()
    }

    #[inline(always)]
    fn offered(&self) -> &Flag {
        self.calls.second()
    }

    #[inline(always)]
    fn answered(&self) -> &Flag {
        self.tasks.first()
    }

    #[inline(always)]
    fn pended(&self) -> &Flag {
        self.tasks.second()
    }
}

struct Cores([Core; MAX_CORES]);

impl Cores {
    const_unless_loom! {
        fn new() -> Self {
            Self(array_of!(Core::new()))
        }
    }
}

kernel_static! { static CORES: Cores = Cores::new(); }

/// Makes the tables, so that no thread of a model is the one that makes them.
#[cfg(loom)]
pub(crate) fn begin() {
    let _ = (&*TABLE, &*CORES);
    ready::begin();
    share::begin();
}

#[inline(always)]
pub(crate) fn core(core: u8) -> &'static Core {
    debug_assert!(usize::from(core) < MAX_CORES);
    // SAFETY: the number of a core: the port's own, which its rules keep below the limit, or one that was compared with it. (A check
    // would bring a panic into every image.)
    unsafe { CORES.0.get_unchecked(usize::from(core)) }
}

/// Notes on core `here` that an actor has something to do. Called by that core.
fn note(here: u8, id: ActorId) {
    visit::note_here(actor(id).office(), here);
}

/// A turn of this core waits: what it has taken of its actor's letters besides, and not begun, is to be taken back, by whichever core
/// comes first.
pub(crate) fn let_go(here: u8) {
    if let Some(id) = share::of_core(here).let_go() {
        note(here, id);
    }
}

/// Puts an actor, marked where marks are kept, into the ready set of core `here`; true if it was not in. Called by that core, with
/// interrupts masked.
#[inline(always)]
pub(crate) fn enqueue(here: u8, id: ActorId, pinned: bool) -> bool {
    core(here).ready.note(id, pinned)
}

/// Whether an actor that is put into the ready set of core `here` now would be the next. Never where each is marked while it is in.
#[inline(always)]
pub(crate) fn would_be_next(here: u8) -> bool {
    !Ready::KEEPS_MARKS && core(here).ready.is_empty()
}

/// An actor that has a letter, and that nobody noted, because it is visited right away.
#[doc(hidden)]
#[must_use = "it is visited, or noted"]
#[derive(Clone, Copy, Debug)]
pub struct Unnoted(ActorId);

impl Unnoted {
    #[inline(always)]
    pub(crate) fn new(id: ActorId) -> Self {
        Self(id)
    }

    /// Visits it, as the next of core `here`.
    #[inline(always)]
    pub(crate) fn visit(self, here: u8) {
        let me = core(here);
        set_visiting(me, self.0.raw());
        if visit(me, here, self.0, Mark::NONE) {
            let _ = visit_again(here, self.0);
        }
    }

    /// It is not visited right away after all.
    #[cold]
    #[inline(never)]
    pub(crate) fn note(self, here: u8) {
        note(here, self.0);
    }
}

/// Any core may take it from there: the one an actor is pinned to is told, otherwise an idle one is woken.
#[cold]
pub(crate) fn note_foreign(id: ActorId, pinned_to: Option<u8>) {
    foreign::ask(id);
    match pinned_to {
        // Whoever takes it from there says that there is no such core.
        Some(there) if there < port::cores() => notify(there),
        _ => offer(FOREIGN),
    }
}

/// Raises a core's notice and wakes it: a task of it may go on. What it is about was published before.
#[inline(never)]
pub(crate) fn notify(to: u8) {
    tell_of_answer(to);
}

/// The same, inlined.
#[inline(always)]
pub(crate) fn tell_of_answer(to: u8) {
    fence(Mutant::NoticeFence);
    core(to).answered().raise_fenced();
    fence(Mutant::AnsweredFence);
    raise_notice(to, port::core());
}

/// Raises a core's notice, and wakes it unless it is the calling core. Called after a fence.
#[inline(always)]
fn raise_notice(to: u8, here: u8) {
    core(to).notice().raise_fenced();
    if to != here && !removed(Mutant::NoticeWithoutKick) {
        port::kick(to);
    }
}

/// Asks another core to visit an actor that is pinned there; false if it has too many invitations. Called by core `here`, with
/// interrupts masked.
#[inline(always)]
pub(crate) fn invite(here: u8, there: u8, id: ActorId) -> bool {
    let invited = there < port::cores() && core(there).invitations[place_of(here)].push(id);
    if invited {
        fence(Mutant::NoticeFence);
        raise_notice(there, here);
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

/// Takes the next ready actor.
#[inline(always)]
fn next_ready(core: &Core) -> Option<Next> {
    let _masked = port::mask();
    core.ready.next()
}

/// Whether an actor waits for this core, or something was published for it: then one letter each.
#[inline(always)]
pub(crate) fn others_wait(here: u8) -> bool {
    others_wait_for(core(here))
}

/// The same where the core is at hand.
#[inline(always)]
pub(crate) fn others_wait_for(core: &Core) -> bool {
    !core.ready.is_empty() || core.notice().is_raised()
}

/// The same, but for one actor; `marked` says whether that one is noted itself.
#[inline(always)]
pub(crate) fn others_wait_besides(core: &Core, this: impl FnOnce() -> ActorId, marked: impl FnOnce() -> bool) -> bool {
    core.ready.has_others(this, marked) || core.notice().is_raised()
}

/// Whether the answer seems to be there that the innermost `get` of this core waits for.
#[inline(always)]
pub(crate) fn is_answered(here: u8) -> bool {
    core(here).awaited.get().is_some_and(Ticket::seems_resolved)
}

/// Visits one ready actor, if there is one. False if there is none, or if a turn of this core that waits for an answer is to go on first.
#[inline(always)]
pub(crate) fn visit_next(here: u8) -> bool {
    let me = core(here);
    let Some(Next { id, is_last }) = next_ready(me) else { return false };
    if !is_last && port::cores() > 1 {
        offer_rest(here);
    }
    set_visiting(me, id.raw());
    !visit(me, here, id, Mark::SET) || visit_again(here, id)
}

/// What is left in this core's ready set is offered to others. By itself on a chip: a visit to the only one there is shorter without it.
#[cfg(not(target_os = "none"))]
#[inline(always)]
fn offer_rest(here: u8) {
    offer_surplus(here);
}

/// The same. The number of the core is asked for again, so that nobody has to keep it meanwhile.
#[cfg(target_os = "none")]
#[inline(always)]
fn offer_rest(_: u8) {
    #[inline(never)]
    fn by_itself() {
        offer_surplus(port::core());
    }
    by_itself();
}

/// Visits an actor whose turn it is; the mark is set if it was just taken out of this core's ready set.
#[inline(always)]
fn visit(me: &'static Core, here: u8, id: ActorId, mark: Mark) -> bool {
    // It is pinned to this core or to none: who is pinned elsewhere is invited there, and comes into no other set.
    #[cfg(target_os = "none")]
    if let Some(office) = entry(id).straight() {
        // SAFETY: there is a straight line; the lock is held, and the letter is published and the next of its lane.
        let run = |at| unsafe { entry(id).run(me, at) };
        // SAFETY: it is there.
        let again = || -> &'static Office { unsafe { entry(id).straight().unwrap_unchecked() } };
        return visit::visit_in_order(office, run, again, visit_several, visit_otherwise, here);
    }
    let _ = me;
    actor(id).visit(here, mark)
}

/// Goes on with a visit to the actor whose turn it is, by its straight line: there are several letters, most often in one lane.
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[inline(never)]
fn visit_several() -> bool {
    let me = core(port::core());
    let Some(id) = ActorId::from_raw(me.visiting.own()) else { return false };
    // Letters may be in its lists, also if there are none in the lanes.
    if TABLE.monitored.glance() & id.raw() != 0 {
        return actor(id).visit_several(port::core());
    }
    visit_in_one_lane()
}

/// The same for letters that do not share, while none is in a list.
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[inline(never)]
pub(crate) fn visit_in_one_lane() -> bool {
    let me = core(port::core());
    let Some(id) = ActorId::from_raw(me.visiting.own()) else { return false };
    // SAFETY: it is there.
    let office = || -> &'static Office { unsafe { entry(id).straight().unwrap_unchecked() } };
    // SAFETY: there is a straight line; the lock is held, and the letter is published and the next of its lane.
    let run = |at| unsafe { entry(id).run(me, at) };
    visit::visit_one_lane(office, run, visit_otherwise, me)
}

#[cfg(all(target_os = "none", not(target_arch = "arm")))]
fn visit_several() -> bool {
    visit_otherwise(visit::visit_otherwise)
}

/// Goes on with a visit to the actor whose turn it is, off the straight line. Who that is, and where, is asked for again.
#[cfg(target_os = "none")]
#[cold]
#[inline(never)]
fn visit_otherwise(go_on: fn(&'static Office, &'static (dyn Resident + 'static), u8) -> bool) -> bool {
    let here = port::core();
    ActorId::from_raw(core(here).visiting.own()).is_some_and(|id| go_on(actor(id).office(), actor(id), here))
}

#[inline(always)]
fn set_visiting(core: &Core, raw: u32) {
    if KEEPS_TURNS {
        core.visiting.hint(raw);
    }
}

/// What this core does next is no actor's turn.
#[inline(always)]
pub(crate) fn end_turns(here: u8) {
    set_visiting(core(here), 0);
}

/// The method that a core runs now, of the actor it visits.
#[inline(always)]
pub(crate) fn set_method_of(core: &Core, method: impl FnOnce() -> u8) {
    if KEEPS_TURNS {
        core.method.hint(method().wrapping_add(1));
    }
}

/// The number of the method that a core runs; of none, one that no method has.
#[inline(always)]
fn method_of(core: &Core) -> u8 {
    core.method.glance().wrapping_sub(1)
}

/// A monitor is called while this lives, and may not wait: its lock is held.
pub(crate) struct MonitorTurn {
    here: u8,
}

impl MonitorTurn {
    #[inline(always)]
    pub(crate) fn begin(here: u8) -> Self {
        core(here).method.hint(DECIDING);
        Self { here }
    }

    /// The next thing that runs on this core is a method, which says so itself.
    #[inline(always)]
    pub(crate) fn before_method(self) {
        if KEEPS_TURNS {
            core::mem::forget(self);
        }
    }
}

impl Drop for MonitorTurn {
    #[inline(always)]
    fn drop(&mut self) {
        core(self.here).method.hint(NO_METHOD);
    }
}

/// Whether a monitor decides on this core.
#[inline(always)]
pub(crate) fn is_deciding(here: u8) -> bool {
    core(here).method.glance() == DECIDING
}

/// The turn a core is in, kept while another one (or a task) is nested in it.
pub(crate) struct Outer {
    here: u8,
    visiting: u32,
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
        let core = core(here);
        Self { here, visiting: if KEEPS_TURNS { core.visiting.own() } else { 0 }, method: core.method.glance() }
    }

    /// Whether it is that of a monitor, which may not wait.
    #[inline(always)]
    pub(crate) fn is_deciding(&self) -> bool {
        self.method == DECIDING
    }
}

impl Drop for Outer {
    #[inline(always)]
    fn drop(&mut self) {
        let core = core(self.here);
        set_visiting(core, self.visiting);
        if KEEPS_TURNS {
            core.method.hint(self.method);
        }
    }
}

/// The names of the actor and the method of the turn that a core is in.
pub(crate) fn turn_of(there: u8) -> Option<(&'static str, Option<&'static str>)> {
    let core = (usize::from(there) < MAX_CORES).then(|| core(there))?;
    let id = ActorId::from_raw(core.visiting.glance())?;
    Some(actor(id).names(method_of(core)))
}

/// The names of an actor, by its number, and of one of its methods.
pub(crate) fn names(number: u16, method: u8) -> Option<(&'static str, Option<&'static str>)> {
    let id = (usize::from(number) < MAX_ACTORS).then(|| ActorId::nth(number))?;
    let used = entry(id).resident().is_some();
    used.then(|| actor(id).names(method))
}

/// The actor has more to do; or it is pinned to another core, which has to do it. False if a turn of this core that waits has got its answer, and
/// goes first.
#[inline(always)]
fn visit_again(here: u8, id: ActorId) -> bool {
    if KEEPS_TURNS { visit_this_again() } else { visit_once_more(here, id) }
}

/// The same with the actor whose turn it is, on the core that calls this.
#[cold]
#[inline(never)]
fn visit_this_again() -> bool {
    let here = port::core();
    ActorId::from_raw(core(here).visiting.own()).is_none_or(|id| visit_once_more(here, id))
}

#[cold]
#[inline(never)]
fn visit_once_more(here: u8, id: ActorId) -> bool {
    match actor(id).pinned_to() {
        Some(there) if there != here => hand_over(here, there, id),
        _ => note(here, id),
    }
    !is_answered(here)
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
    if core(here).ready.has_surplus() && port::cores() > 1 {
        offer_again(here);
    }
}

/// Other cores are to look again at what this core, which calls this, has noted. By itself on a chip: what it needs is not to be worked out
/// for a letter alone.
#[cfg_attr(not(target_os = "none"), inline(always))]
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn offer_again(here: u8) {
    offer_noted(here);
}

#[inline(always)]
fn offer_noted(here: u8) {
    core(here).ready.offer(others(here).map(|other| core(other).offered()));
    offer(here);
}

/// Other cores are to visit an actor beside this one, `here`, which calls this. It is pinned to no core, and may be noted already.
#[inline(always)]
pub(crate) fn offer_actor(here: u8, id: ActorId, office: &'static Office) {
    if !core(here).ready.has(id) {
        let _masked = port::mask();
        if office.mark(here) {
            enqueue(here, id, false);
        }
    }
    offer_noted(here);
}

/// The same after a second letter to an actor that could run both at once, and only if a core seems to be idle: whoever sends
/// many before it comes to its worker need not do all of them alone.
#[inline(always)]
pub(crate) fn offer_letter(here: u8) {
    if port::cores() > 1 && idle_core(here).is_some() {
        offer_surplus_by_the_way(here);
    }
}

/// By itself: a send is shorter without it.
#[cold]
#[inline(never)]
fn offer_surplus_by_the_way(here: u8) {
    offer_surplus(here);
}

/// Whether an actor is in the ready set of core `here`, which calls this. Such sets may not know it: then no.
#[inline(always)]
pub(crate) fn is_noted(here: u8, id: ActorId) -> bool {
    core(here).ready.has(id)
}

/// What was offered of an actor is gone: it goes out of the ready set of core `here`, which calls this. False if it is not there, or such
/// sets do not allow it. The caller looks for letters after this.
#[inline(always)]
pub(crate) fn take_back_offer(here: u8, id: ActorId) -> bool {
    let ready = &core(here).ready;
    ready.has(id) && {
        let _masked = port::mask();
        ready.take_out(id)
    }
}

#[inline(always)]
fn offer(here: u8) {
    fence(Mutant::OfferFence);
    if let Some(idler) = idle_core(here)
        && !removed(Mutant::OfferWithoutKick)
    {
        port::kick(idler);
    }
}

/// How many of so many letters a core should take for itself: all, unless another one has nothing to do. (Models are small, so there
/// it is all but one.)
#[inline(always)]
pub(crate) fn part_of(here: u8, letters: u16) -> u16 {
    if cfg!(loom) {
        letters.saturating_sub(1)
    } else if idle_core(here).is_some() {
        letters.div_ceil(if MAX_CORES == 2 { 2 } else { u16::from(port::cores()) })
    } else {
        letters
    }
}

/// Whether another core says that it is idle.
#[inline(always)]
pub(crate) fn is_any_idle(here: u8) -> bool {
    idle_core(here).is_some()
}

/// Some core that says it is idle.
#[inline(always)]
fn idle_core(here: u8) -> Option<u8> {
    others(here).find(|&other| core(other).idle.read() == 1)
}

/// Notes what foreign threads asked the cores to do. What is pinned elsewhere goes there at once: turns of this core may
/// be long.
fn take_from_outside(here: u8) {
    while let Some(id) = foreign::take() {
        match actor(id).pinned_to() {
            Some(there) if there != here => hand_over(here, there, id),
            _ => note(here, id),
        }
    }
}

/// Whether something was published for this core: an invitation, an answer, room, or a task to poll.
#[inline(always)]
pub(crate) fn has_notice(here: u8) -> bool {
    core(here).notice().is_raised()
}

/// What others have called a core for.
#[derive(Clone, Copy)]
pub(crate) struct Calls(Raised);

/// What others have called this core for, if they have.
#[inline(always)]
pub(crate) fn calls(here: u8) -> Option<Calls> {
    let calls = core(here).calls();
    (calls.any() || foreign::has_asked()).then_some(Calls(calls))
}

/// Does what others have called this core for, or notes it. `poll` lets its executor run, if a task may go on.
///
/// The straight line is an actor that was invited alone, while nobody else was ready: it would be the next, and is visited at once.
#[inline(always)]
pub(crate) fn answer(here: u8, Calls(calls): Calls, poll: impl FnOnce(u8)) {
    if calls.first() || FOREIGN_THREADS {
        answer_notice(here, poll);
    }
    if calls.second() {
        answer_offer(here);
    }
}

#[inline(always)]
fn answer_notice(here: u8, poll: impl FnOnce(u8)) {
    let me = core(here);
    if !removed(Mutant::NoticeClearedLate) {
        me.notice().lower();
        fence(Mutant::NoticeLookFence);
    }
    take_from_outside(here);
    if me.tasks() {
        answer_tasks(poll);
    } else {
        take_invitations(here, |id| Unnoted(id).visit(here));
    }
    if removed(Mutant::NoticeClearedLate) {
        me.notice().lower();
    }
}

/// Something in another core's set was offered again: it is looked for after this core's own visits. (Visited at once, two cores that share
/// an actor's readers got in each other's way: deriving the flocks of 50 people took 8 % more.)
#[inline(always)]
fn answer_offer(here: u8) {
    let me = core(here);
    me.offered().lower();
    fence(Mutant::OfferedLookFence);
    me.ready.look_again();
}

/// Wakes the tasks that may go on. One may wait for what the actors do, so nothing is begun before they are noted.
#[cold]
#[inline(never)]
fn answer_tasks(poll: impl FnOnce(u8)) {
    let here = port::core();
    let me = core(here);
    if me.answered().is_raised() {
        me.answered().lower();
        fence(Mutant::NoticeLookFence);
        me.waiters.wake();
        // A task that is woken pends the executor, which is a notice, too; but it is polled right away.
        me.notice().lower();
        fence(Mutant::NoticeLookFence);
        if me.answered().is_raised() {
            me.notice().raise(None);
        }
    }
    take_invitations(here, |id| note(here, id));
    poll(here);
}

/// Notes the actors that others have invited this core to visit, but for one that is the next.
#[inline(always)]
fn take_invitations(here: u8, mut next: impl FnMut(ActorId)) {
    let me = core(here);
    for inviter in others(here) {
        me.invitations[place_of(inviter)].take(&me.ready, |id| note(here, id), &mut next);
    }
}

/// As if no device had run before, but for the letters that are there. Nothing else runs.
#[cfg(all(feature = "trace", not(target_os = "none"), not(loom)))]
pub(crate) fn begin_anew(here: u8) {
    calls(here).into_iter().for_each(|calls| answer(here, calls, |_| ()));
    #[cfg(feature = "embassy")]
    if is_pended(here) {
        pend(here);
    }
    let me = core(here);
    me.idle.publish(0);
    for other in 0..MAX_CORES as u8 {
        me.ready.begin_anew(place_of(other), &core(other).ready);
    }
}

/// Places for what a core keeps of the others: of two, one is the other.
pub(crate) const OTHERS: usize = if MAX_CORES == 2 { 1 } else { MAX_CORES };

/// The place of another core there.
#[inline(always)]
fn place_of(other: u8) -> usize {
    usize::from(other) % OTHERS
}

/// All cores but this one: of two it is one, without a loop.
#[cfg(target_os = "none")]
#[inline(always)]
fn others(here: u8) -> impl Iterator<Item = u8> {
    const { assert!(MAX_CORES == 2) };
    let other = here ^ 1;
    (other < port::cores()).then_some(other).into_iter()
}

/// All cores but this one.
#[cfg(not(target_os = "none"))]
#[inline(always)]
fn others(here: u8) -> impl Iterator<Item = u8> {
    (0..port::cores()).filter(move |&other| other != here)
}

/// This core has seen something that others offer, and has no time for it: it looks again when it has.
#[inline(always)]
pub(crate) fn look_later(here: u8) {
    core(here).ready.look_later();
}

/// Visits the actors in other cores' sets that this core has not looked at. True if there were any.
#[inline(always)]
pub(crate) fn help_others(here: u8) -> bool {
    others_have_surplus(here) && visit_surplus()
}

#[cold]
#[inline(never)]
fn visit_surplus() -> bool {
    let here = port::core();
    let ready = &core(here).ready;
    others(here).fold(false, |found, other| visit_unseen(here, ready.look(place_of(other), &core(other).ready)) | found)
}

/// Visits the actors in another core's set that this core has not looked at. True if there were any.
#[inline(always)]
fn visit_unseen(here: u8, mut unseen: impl Unseen) -> bool {
    let me = core(here);
    let Some(mut id) = unseen.next() else { return false };
    loop {
        // Whoever is idle can have the next one while this one is visited. (Of two cores it is the other's own.)
        if port::cores() > 2 && unseen.has_more() {
            offer(here);
        }
        set_visiting(me, id.raw());
        if visit(me, here, id, Mark::NONE) {
            let _ = visit_again(here, id);
        }
        match unseen.next() {
            Some(next) => id = next,
            None => return true,
        }
    }
}

/// Whether another core noted an actor that this core has not looked at.
#[inline(always)]
fn others_have_surplus(here: u8) -> bool {
    let me = core(here);
    others(here).any(|other| me.ready.missed(place_of(other), &core(other).ready))
}

/// Sleeps, unless there is something to do; `done` is asked after all that others could have done. Returns after a kick, or at
/// once.
pub(crate) fn idle(here: u8, done: &mut dyn FnMut() -> bool) {
    let me = core(here);
    if !removed(Mutant::IdleAnnouncedLate) {
        me.idle.publish(1);
        fence(Mutant::IdleFence);
    }
    let work = me.calls().any()
        || me.pended().is_raised()
        || others_have_surplus(here)
        || foreign::has_asked()
        || done()
        // After `done`, which may have sent a letter that waited for room.
        || !me.ready.is_empty();
    if removed(Mutant::IdleAnnouncedLate) {
        me.idle.publish(1);
    }
    if !work || removed(Mutant::IdleNotRechecked) {
        port::idle();
    }
    me.idle.hint(0);
}

/// Says that this core's executor has something to poll, and wakes the core.
#[cfg(all(feature = "embassy", not(loom)))]
pub(crate) fn pend(to: u8) {
    fence(Mutant::NoticeFence);
    core(to).pended().raise_fenced();
    fence(Mutant::AnsweredFence);
    raise_notice(to, port::core());
}

/// Whether the executor has something to poll.
#[cfg(all(feature = "embassy", not(loom)))]
#[inline(always)]
pub(crate) fn is_pended(here: u8) -> bool {
    core(here).pended().is_raised()
}

/// Whether the executor has something to poll; asked once.
#[cfg(all(feature = "embassy", not(loom)))]
pub(crate) fn take_pended(here: u8) -> bool {
    let pended = core(here).pended().is_raised();
    if pended {
        core(here).pended().lower();
        fence(Mutant::NoticeLookFence);
    }
    pended
}
