//! Promises: the answer to a letter, in a fixed pool of slots, apart from the letters.
//!
//! A promise is *empty* until its [`Reply`] is answered, then *fulfilled* or *failed*, once (OCA-1, OCA-2). A slot has two
//! halves, the [`Promise`] (held by who asked) and the [`Reply`] (travelling with the letter); either can be dropped at
//! any moment, and the slot is free when both are gone.
//!
//! # Two words
//!
//! No read-modify-write is needed, and no generation: a slot is not used again before both halves of its last use are gone, so
//! no half ever meets a later use.
//!
//! | word | written by | means |
//! |---|---|---|
//! | `answer` | `issue`, then the reply's half | `PENDING`; `GIVEN`: the value is there, or never will be; `FOLLOW`: a ticket is |
//! | `holder` | `issue`, then the promise's half | `OPEN`; `WAITS` and the core; `GONE`: the value was taken; `LEFT`: nobody wants it |
//!
//! ```text
//!                    issue                   resolve                 take
//!  GIVEN, GONE (free) ──▶  PENDING, OPEN  ──────────▶  GIVEN, OPEN  ──────▶  GIVEN, GONE (free again)
//!                                │ close                                    resolve
//!                                └───▶  PENDING, LEFT  ─────────────────────────▶  GIVEN, LEFT (free again)
//! ```
//!
//! Between `issue` and its own store to `answer`, the reply's half owns the value's place; between seeing the answer (acquire)
//! and its own store to `holder`, the promise's half owns it; when the pool sees both gone (acquire), it owns it and the two
//! words again. The halves come to know of the pool's stores with the halves themselves. **Invariant (two-party release):**
//! nobody touches the place outside its turn, so a late write is impossible and a slot cannot be reused under a slow half.
//!
//! Both words are zero in a slot whose answer was taken: that is the straight line of `issue`. A value may be left behind
//! only where the promise was closed before it saw an answer (`LEFT`), so that is looked at elsewhere.
//!
//! A reply may also be resolved with *another promise* ([`Reply::follow`]): the place then holds that promise's ticket, and
//! the holder goes on waiting there. Nothing has to run in between.
//!
//! A waiter says so by storing its core in `holder`, fences, and looks again; the resolver resolves, fences, and looks for
//! a waiter. One of the two sees the other (the store-buffering pattern), so no wake-up is lost. Who finds no free slot says so
//! in `wanted` of every slot of the pool, fences, and tries again; whoever gives up a half fences likewise and looks there. (A
//! promise closed by the pool's own core needs no fence: that core is the one that wants.)
#![expect(unsafe_code, reason = "moves values in and out of shared slots")]

use core::any::TypeId;
use core::cell::UnsafeCell;
use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;

use crate::call::Refused;
use crate::cores::{self, Unnoted};
use crate::port::{self, FOREIGN};
use crate::sync::{Byte, Guarded, Mutant, Tally, const_unless_loom, fence, removed};
use crate::trace;
use crate::worker;

/// Why a promise failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Failure<E = Infallible> {
    /// The method returned this error.
    Method(E),
    /// The reply was dropped without an answer.
    Unanswered,
    /// The method panicked (where panics unwind; on a board a panic is a reset).
    Panicked,
    /// The letter was never accepted.
    Refused(Refused),
    /// `get` was called where waiting is impossible.
    WouldDeadlock,
}

impl<E> Failure<E> {
    /// The same failure with another error type.
    pub fn map<F>(self, convert: impl FnOnce(E) -> F) -> Failure<F> {
        match self {
            Self::Method(error) => Failure::Method(convert(error)),
            Self::Unanswered => Failure::Unanswered,
            Self::Panicked => Failure::Panicked,
            Self::Refused(why) => Failure::Refused(why),
            Self::WouldDeadlock => Failure::WouldDeadlock,
        }
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(error) => write!(f, "the method failed: {error}"),
            Self::Unanswered => f.write_str("the reply was dropped without an answer"),
            Self::Panicked => f.write_str("the method panicked"),
            Self::Refused(why) => write!(f, "the letter was refused: {why}"),
            Self::WouldDeadlock => f.write_str(
                "this wait could never end (too many nested `get`s, or a `get` inside `schedule`, `leave` or an interrupt)",
            ),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for Failure<E> {}

impl<E> From<Refused> for Failure<E> {
    fn from(why: Refused) -> Self {
        Self::Refused(why)
    }
}

/// What a promise resolves to.
pub type Outcome<T, E = Infallible> = Result<T, Failure<E>>;

/// The state of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PromiseState {
    /// Not answered yet.
    Empty,
    /// Answered.
    Fulfilled,
    /// Failed.
    Failed,
}

static UNREAD: Tally = Tally::new();

/// How many answers came after their promise was dropped, in the whole program.
pub fn unread_replies() -> u32 {
    UNREAD.get()
}

/// The value is there, or never will be.
const GIVEN: u8 = 0;
/// The reply's half is out.
const PENDING: u8 = 1;
/// The ticket of another promise is there.
const FOLLOW: u8 = 2;

/// The promise has taken what there was.
const GONE: u8 = 0;
/// The promise's half is out.
const OPEN: u8 = 1;
/// The same, and the core of this number plus `WAITS` waits.
const WAITS: u8 = 2;
/// The promise was closed before it saw an answer.
const LEFT: u8 = u8::MAX;

/// In `wanted`: any core.
const ANYBODY: u8 = u8::MAX;

/// Whether a slot knows whose it is. A fence is cheaper to have than to decide against on a chip, and dearer elsewhere.
const KEEPS_HOME: bool = !cfg!(target_os = "none");

/// The part of a slot that does not depend on the value's type. The value follows it in memory.
#[repr(C, align(8))]
pub(crate) struct ReplyHead {
    /// The answer's and the holder's, side by side.
    words: [Byte; 2],
    /// Who waits for a free slot of this pool: a core's number plus one, or `ANYBODY`. Taken back (0) by whoever tells.
    wanted: Byte,
    /// The core whose pool this is, or `FOREIGN` if several share it.
    home: Byte,
    /// Drops the value that nobody took, when the slot is used again.
    leftover: Guarded<Option<unsafe fn(NonNull<ReplyHead>)>>,
    /// Touched with every access to the value, so that loom sees them.
    place: Guarded<()>,
}

/// One slot of an actor's pool, with room for any of its replies.
#[repr(C)]
pub(crate) struct ReplySlot<R> {
    head: ReplyHead,
    value: UnsafeCell<MaybeUninit<Place<R>>>,
}

#[repr(C)]
union Place<R> {
    _reply: ManuallyDrop<MaybeUninit<R>>,
    _follow: Option<Ticket>,
}

impl<R> ReplySlot<R> {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                head: ReplyHead {
                    words: [Byte::new(), Byte::new()],
                    wanted: Byte::new(),
                    home: Byte::new(),
                    leftover: Guarded::new(None),
                    place: Guarded::new(()),
                },
                value: UnsafeCell::new(MaybeUninit::uninit()),
            }
        }
    }

    /// Takes the slot into use, if the answer of its last use was taken. Called by the pool's own core, or under its lane's
    /// lock, with interrupts masked.
    #[inline(always)]
    pub(crate) fn issue(&'static self, home: u8) -> Option<Ticket> {
        const {
            assert!(align_of::<R>() <= align_of::<ReplyHead>(), "a reply may be aligned to at most 8 bytes");
        }
        let (answer, holder) = self.head.words();
        (answer | holder == 0).then(|| self.begin(home))
    }

    /// The same, if both halves of its last use are gone in whatever way. `Fresh::into_ticket` then runs without the mask.
    pub(crate) fn issue_again(&'static self, home: u8) -> Option<Fresh> {
        let (answer, holder) = self.head.words();
        if answer == PENDING || !matches!(holder, GONE | LEFT) {
            return None;
        }
        let leftover = self.head.leftover.get();
        self.head.leftover.set(None);
        Some(Fresh { ticket: self.begin(home), leftover })
    }

    /// A new use. Both halves come from here, so they see these stores.
    #[inline(always)]
    fn begin(&'static self, home: u8) -> Ticket {
        self.head.answer().hint(PENDING);
        self.head.holder().hint(OPEN);
        if KEEPS_HOME {
            self.head.home.hint(home);
        }
        Ticket { head: NonNull::from(self).cast() }
    }

    /// Says that core `here` (some core, if there is none) waits for a free slot. The caller fences, and tries again.
    pub(crate) fn want(&self, here: Option<u8>) {
        self.head.wanted.publish(here.map_or(ANYBODY, |here| here + 1));
    }
}

impl ReplyHead {
    #[inline(always)]
    fn answer(&self) -> &Byte {
        &self.words[0]
    }

    #[inline(always)]
    fn holder(&self) -> &Byte {
        &self.words[1]
    }

    /// Both words, as the pool sees them.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    fn words(&self) -> (u8, u8) {
        // SAFETY: the first field of what is aligned to eight bytes.
        let [answer, holder] = unsafe { Byte::read_both(&self.words) };
        (answer, holder)
    }

    /// Both words, as the pool sees them.
    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    fn words(&self) -> (u8, u8) {
        let answer = self.answer().read_unless(Mutant::ReuseResolvedReadRelaxed);
        let holder = self.holder().read_unless(Mutant::ReuseClosedReadRelaxed);
        (
            if removed(Mutant::ReuseWithoutResolver) { GIVEN } else { answer },
            if removed(Mutant::ReuseWithoutHolder) { GONE } else { holder },
        )
    }
}

/// A slot just taken into use, perhaps with a value of its last use that nobody took.
pub(crate) struct Fresh {
    ticket: Ticket,
    leftover: Option<unsafe fn(NonNull<ReplyHead>)>,
}

impl From<Ticket> for Fresh {
    #[inline(always)]
    fn from(ticket: Ticket) -> Self {
        Self { ticket, leftover: None }
    }
}

impl Fresh {
    /// Drops what the last use left behind: user code, so not under a mask or lock.
    #[inline(always)]
    pub(crate) fn into_ticket(self) -> Ticket {
        if let Some(drop_value) = self.leftover {
            // SAFETY: both halves of the last use are gone and the new ones do not exist yet, so it is the pool's turn;
            // the function was stored by whoever wrote the value.
            unsafe { drop_value(self.ticket.head) }
        }
        self.ticket
    }
}

/// Names a slot, for both halves of one use. (There is no later use while one of them is there.)
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq)]
pub struct Ticket {
    /// Has the provenance of the whole slot.
    head: NonNull<ReplyHead>,
}

impl Ticket {
    #[inline(always)]
    fn head(&self) -> &'static ReplyHead {
        // SAFETY: tickets are made from slots of static pools only.
        unsafe { self.head.as_ref() }
    }

    /// The value's place. Whose turn it is, is the caller's argument (two-party release).
    fn place<T>(&self) -> NonNull<T> {
        self.head().place.with_mut(|_| ());
        // SAFETY: the value follows the head at its size, because it is aligned no stricter (checked in `issue` for all of a pool,
        // and in `Call::ask` that `T` is no stricter than those), and `head` has the provenance of the slot.
        unsafe { self.head.add(1).cast() }
    }

    #[inline(always)]
    fn is_resolved(&self) -> bool {
        self.head().answer().read_unless(Mutant::ResolveReadRelaxed) != PENDING
    }

    /// Whether the answer is here.
    #[inline(always)]
    pub(crate) fn is_given(&self) -> bool {
        self.head().answer().read_unless(Mutant::ResolveReadRelaxed) == GIVEN
    }

    /// Whether it is worth looking for the answer. A hint: by now the ticket may name another use of the slot.
    #[inline(always)]
    pub(crate) fn seems_resolved(self) -> bool {
        self.head().answer().glance() == GIVEN
    }

    /// Whether nobody will look at the answer.
    #[inline(always)]
    fn is_unwanted(&self) -> bool {
        self.head().holder().glance() == LEFT
    }

    /// Stores that the reply's half is done, and wakes the waiter.
    #[inline(always)]
    fn publish(self, answer: u8) {
        self.head().answer().publish_unless(answer, Mutant::ResolveRelaxed);
        fence(Mutant::ResolveFence);
        let holder = self.head().holder().glance();
        if holder != OPEN {
            self.published_to(holder);
        }
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn published_to(self, holder: u8) {
        match holder {
            // The promise went first: then it was this half that freed the slot.
            GONE | LEFT => self.tell(),
            waits => cores::tell_of_answer(waits - WAITS),
        }
    }

    /// The reply's half: stores the value (or drops it, if nobody waits) and gives the half up.
    #[inline(always)]
    fn resolve<T>(self, value: T) {
        if self.is_unwanted() {
            UNREAD.add(1);
            drop(value);
        } else {
            // SAFETY: not resolved yet, so it is the reply's turn; `T` fits (checked in `Call::ask`, where the reply
            // was made).
            unsafe { self.place::<T>().write(value) };
            if core::mem::needs_drop::<T>() {
                self.head().leftover.set(Some(drop_in_slot::<T>));
            }
        }
        self.publish(GIVEN);
    }

    /// The promise's half: gives it up.
    #[inline(always)]
    fn close(self, how: u8) {
        let head = self.head();
        // Before the half is gone: after that the slot may be another's.
        let home = if KEEPS_HOME { head.home.glance() } else { FOREIGN };
        head.holder().publish_unless(how, Mutant::CloseRelaxed);
        if home == FOREIGN || home != port::core() {
            fence(Mutant::PromiseFreedFence);
        }
        self.tell();
    }

    /// Tells whoever waits for a free slot that there may be one.
    #[inline(always)]
    fn tell(self) {
        if self.head().wanted.glance() != 0 {
            self.tell_of_free_slot();
        }
    }

    /// The want is taken back before the notice: whoever still finds no slot wants again.
    #[cold]
    #[inline(never)]
    fn tell_of_free_slot(self) {
        let who = self.head().wanted.read();
        if who == 0 {
            // Somebody else told of it; by now there may be another want.
            return;
        }
        self.head().wanted.hint(0);
        match who {
            ANYBODY => cores::notify_all(),
            core => cores::notify(core - 1),
        }
    }
}

/// # Safety
/// The slot of `head` holds a `T`, and it is the caller's turn.
unsafe fn drop_in_slot<T>(head: NonNull<ReplyHead>) {
    let ticket = Ticket { head };
    // SAFETY: the caller's promise.
    unsafe { ticket.place::<T>().drop_in_place() }
}

/// # Safety
/// The slot of `head` holds the ticket of another promise for a `T`, and it is the caller's turn.
unsafe fn drop_followed<T, E>(head: NonNull<ReplyHead>) {
    let ticket = Ticket { head };
    // SAFETY: the caller's promise.
    let followed = unsafe { ticket.place::<Option<Ticket>>().read() };
    drop(Promise::<T, E>::new(followed));
}

/// The half of a promise that travels with the letter: the right and the duty to answer.
///
/// Dropping it unanswered fails the promise. A `Reply` for nobody (the letter was told, not asked) swallows its answer.
#[must_use = "a reply that is dropped fails the promise"]
pub struct Reply<T, E = Infallible> {
    ticket: Option<Ticket>,
    answer: PhantomData<fn(T, E)>,
}

// SAFETY: the half may resolve the slot from any core (the protocol above); the value moves with it, so it must be `Send`.
unsafe impl<T: Send, E: Send> Send for Reply<T, E> {}
// SAFETY: through `&Reply` only words are read that other cores write as well; the value cannot be reached. So an actor that
// keeps replies may have a parallel monitor.
unsafe impl<T: Send, E: Send> Sync for Reply<T, E> {}

impl<T, E> Reply<T, E> {
    /// The reply of a letter that nobody waits for.
    #[inline(always)]
    pub const fn nobody() -> Self {
        Self { ticket: None, answer: PhantomData }
    }

    #[inline(always)]
    fn into_ticket(self) -> Option<Ticket> {
        ManuallyDrop::new(self).ticket
    }

    /// Whether nobody will look at the answer: it was told, or its promise is gone.
    pub fn is_unwanted(&self) -> bool {
        self.ticket.is_none_or(|ticket| ticket.is_unwanted())
    }

    /// Fulfils the promise.
    #[inline(always)]
    pub fn answer(self, value: T) {
        self.finish(Ok(value));
    }

    /// Fails the promise: with a [`Failure`], or a [`Refused`].
    pub fn fail(self, why: impl Into<Failure<E>>) {
        self.finish(Err(why.into()));
    }

    /// Resolves the promise as a method's result says.
    #[inline(always)]
    pub fn result(self, result: Result<T, E>) {
        self.finish(result.map_err(Failure::Method));
    }

    /// Resolves the promise.
    #[inline(always)]
    pub fn finish(self, outcome: Outcome<T, E>) {
        if let Some(ticket) = self.into_ticket() {
            ticket.resolve(if trace::denies(trace::Denial::Answer) { Err(Failure::Unanswered) } else { outcome });
        }
    }

    /// Lets the promise become what another one becomes (OCA-16): whoever holds it waits there from now on.
    pub fn follow(self, other: Promise<T, E>) {
        let Some(ticket) = self.into_ticket() else { return };
        if ticket.is_unwanted() {
            drop(other);
            ticket.publish(GIVEN);
        } else {
            // SAFETY: not resolved yet, so it is the reply's turn; the place has room for a ticket.
            unsafe { ticket.place::<Option<Ticket>>().write(other.into_ticket()) };
            ticket.head().leftover.set(Some(drop_followed::<T, E>));
            ticket.publish(FOLLOW);
        }
    }

    /// Takes the duty to answer out of a message that could not be sent, for [`Methods::detach`](crate::Methods::detach).
    pub fn detach(&mut self) -> Detached
    where
        T: 'static,
        E: 'static,
    {
        Detached { ticket: self.ticket.take(), answers: TypeId::of::<(T, E)>() }
    }

    /// A note of which reply this is, to get it back from a message that could not be sent.
    pub(crate) fn remember(&self) -> Memory<T, E> {
        Memory { ticket: self.ticket, answer: PhantomData }
    }

    /// Runs a method that takes a [`Token`] and must give it back as [`Answered`].
    #[inline(always)]
    pub fn through(self, method: impl for<'t> FnOnce(Token<'t, T, E>) -> Answered<'t>) {
        let _answered = method(Token { reply: self, brand: PhantomData });
    }
}

/// A reply taken out of a message, without its type.
#[must_use = "the reply it was taken from is not answered any more"]
pub struct Detached {
    ticket: Option<Ticket>,
    /// What it answers: by now the ticket may name another use of its slot.
    answers: TypeId,
}

impl fmt::Debug for Detached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Detached")
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Detached {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Detached");
    }
}

/// Which reply a message was built around.
pub(crate) struct Memory<T, E> {
    ticket: Option<Ticket>,
    answer: PhantomData<fn(T, E)>,
}

impl<T, E> Memory<T, E> {
    /// The reply again, with its type. It must be the same one: then no other `Reply` for it is left. (Or one of the same type for a
    /// later use of the slot, if the first was answered meanwhile: then it is that use's only one.)
    pub(crate) fn restore(self, detached: Detached) -> Reply<T, E>
    where
        T: 'static,
        E: 'static,
    {
        let same = self.ticket == detached.ticket && detached.answers == TypeId::of::<(T, E)>();
        assert!(same, "`Methods::detach` must give back the reply of the message");
        Reply { ticket: self.ticket, answer: PhantomData }
    }
}

impl<T, E> Drop for Reply<T, E> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let why = if port::unwinding() { Failure::Panicked } else { Failure::Unanswered };
            ticket.resolve::<Outcome<T, E>>(Err(why));
        }
    }
}

impl<T, E> fmt::Debug for Reply<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ticket.is_some() { "Reply" } else { "Reply(nobody)" })
    }
}

#[cfg(feature = "defmt")]
impl<T, E> defmt::Format for Reply<T, E> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Reply(asked: {=bool})", self.ticket.is_some());
    }
}

/// The reply of the letter whose method runs, as a parameter of that method: it must be used, once, and last.
///
/// A method that takes a `Token<'t, T>` returns [`Answered<'t>`], and only the token's own operations make one.
#[must_use = "a token must be answered or forwarded"]
pub struct Token<'t, T, E = Infallible> {
    pub(crate) reply: Reply<T, E>,
    /// Invariant in `'t`, so that no other letter's token can stand in for this one.
    brand: PhantomData<fn(&'t ()) -> &'t ()>,
}

/// The proof that a method's [`Token`] was used.
#[must_use = "return it from the method"]
pub struct Answered<'t>(PhantomData<fn(&'t ()) -> &'t ()>);

impl<'t, T, E> Token<'t, T, E> {
    pub(crate) fn answered() -> Answered<'t> {
        Answered(PhantomData)
    }

    pub(crate) fn new(reply: Reply<T, E>) -> Self {
        Self { reply, brand: PhantomData }
    }

    /// Fulfils the promise.
    pub fn done(self, value: T) -> Answered<'t> {
        self.reply.answer(value);
        Self::answered()
    }

    /// Fails the promise: with a [`Failure`], or a [`Refused`].
    pub fn fail(self, why: impl Into<Failure<E>>) -> Answered<'t> {
        self.reply.fail(why);
        Self::answered()
    }

    /// Lets the promise become what another one becomes (OCA-16).
    pub fn follow(self, other: Promise<T, E>) -> Answered<'t> {
        self.reply.follow(other);
        Self::answered()
    }

    /// Keeps the reply for a later turn.
    pub fn later(self, keep: impl FnOnce(Reply<T, E>)) -> Answered<'t> {
        keep(self.reply);
        Self::answered()
    }
}

impl<T, E> fmt::Debug for Token<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl fmt::Debug for Answered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answered")
    }
}

#[cfg(feature = "defmt")]
impl<T, E> defmt::Format for Token<'_, T, E> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Token");
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Answered<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Answered");
    }
}

/// The answer to come. Dropping it says that nobody wants the answer any more; that is always safe.
#[must_use = "the answer is lost if the promise is dropped; use `tell` if you do not want it"]
pub struct Promise<T, E = Infallible> {
    pub(crate) half: Holder,
    answer: PhantomData<fn() -> Outcome<T, E>>,
}

/// A promise without its type: all of it but taking and dropping the answer.
pub(crate) struct Holder {
    /// `None` once the answer was taken.
    ticket: Option<Ticket>,
}

// SAFETY: the half may take the value and close the slot from any core (the protocol above); the value moves with it.
unsafe impl<T: Send, E: Send> Send for Promise<T, E> {}
// SAFETY: through `&Promise` it can only be seen whether it is resolved; the value cannot be reached.
unsafe impl<T: Send, E: Send> Sync for Promise<T, E> {}

/// Both halves of a slot just issued.
pub(crate) fn halves<T, E>(ticket: Ticket) -> (Promise<T, E>, Reply<T, E>) {
    (Promise::new(Some(ticket)), Reply { ticket: Some(ticket), answer: PhantomData })
}

impl From<Ticket> for Holder {
    fn from(ticket: Ticket) -> Self {
        Self { ticket: Some(ticket) }
    }
}

impl Holder {
    /// The ticket where the answer is, if it is there: what this promise was told to follow is followed first.
    #[inline(always)]
    pub(crate) fn resolved(&mut self) -> Option<Ticket> {
        loop {
            let here = self.ticket?;
            match here.head().answer().read_unless(Mutant::ResolveReadRelaxed) {
                GIVEN => return Some(here),
                FOLLOW => self.follow(here),
                _ => return None,
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn follow(&mut self, here: Ticket) {
        // SAFETY: resolved with a ticket, so it is the promise's turn and the place holds one.
        self.ticket = unsafe { here.place::<Option<Ticket>>().read() };
        here.head().leftover.set(None);
        here.close(GONE);
    }

    #[inline(always)]
    pub(crate) fn is_ready(&mut self) -> bool {
        self.resolved().is_some()
    }

    /// Says that this core waits, and whether there is still something to wait for.
    pub(crate) fn wait_on(&mut self, core: u8) -> bool {
        loop {
            if self.is_ready() {
                return false;
            }
            let Some(here) = self.ticket else { return false };
            here.head().holder().publish(WAITS + core);
            fence(Mutant::WaitFence);
            if removed(Mutant::WaitNotRechecked) || !here.is_resolved() {
                return true;
            }
        }
    }
}

impl<T, E> Promise<T, E> {
    const fn new(ticket: Option<Ticket>) -> Self {
        Self { half: Holder { ticket }, answer: PhantomData }
    }

    fn into_ticket(self) -> Option<Ticket> {
        ManuallyDrop::new(self).half.ticket
    }

    /// Whether it is resolved (OCA-7).
    #[inline(always)]
    pub fn is_ready(&mut self) -> bool {
        self.half.is_ready()
    }

    /// Empty, fulfilled or failed (OCA-1).
    pub fn state(&mut self) -> PromiseState {
        let Some(ticket) = self.half.resolved() else { return PromiseState::Empty };
        // SAFETY: resolved with a value, so it is the promise's turn until it closes.
        match unsafe { ticket.place::<Outcome<T, E>>().as_ref() } {
            Ok(_) => PromiseState::Fulfilled,
            Err(_) => PromiseState::Failed,
        }
    }

    /// Takes the answer if it is there; the promise is spent then.
    #[inline(always)]
    pub(crate) fn take_if_ready(&mut self) -> Option<Outcome<T, E>> {
        let ticket = self.half.resolved()?;
        self.half.ticket = None;
        // SAFETY: resolved, and this promise has no ticket any more.
        Some(unsafe { Self::take(ticket) })
    }

    /// Waits for the answer. Whoever is to give it may be visited right away.
    #[inline(always)]
    pub(crate) fn wait(self, receiver: Option<Unnoted>) -> Outcome<T, E> {
        // A promise whose answer was taken would wait for good.
        let Some(asked) = self.into_ticket() else { return Err(Failure::WouldDeadlock) };
        match worker::run_until(asked, receiver) {
            // SAFETY: resolved, and the promise is no more.
            Some(ticket) => unsafe { Self::take(ticket) },
            None => {
                drop(Self::new(Some(asked)));
                Err(Failure::WouldDeadlock)
            }
        }
    }

    /// Takes the answer out of its slot.
    ///
    /// # Safety
    /// The ticket is that of a promise that is resolved with a value, and the promise does not use it any more.
    #[inline(always)]
    unsafe fn take(ticket: Ticket) -> Outcome<T, E> {
        // SAFETY: it is the promise's turn, and the value is taken once (the caller's promise).
        let outcome = unsafe { ticket.place::<Outcome<T, E>>().read() };
        if core::mem::needs_drop::<Outcome<T, E>>() {
            ticket.head().leftover.set(None);
        }
        ticket.close(GONE);
        outcome
    }

    /// The answer if it is there, otherwise the promise again.
    pub fn try_take(mut self) -> Result<Outcome<T, E>, Self> {
        self.take_if_ready().ok_or(self)
    }
}

impl<T, E> Drop for Promise<T, E> {
    fn drop(&mut self) {
        if self.take_if_ready().is_none()
            && let Some(ticket) = self.half.ticket
        {
            ticket.close(LEFT);
        }
    }
}

impl<T, E> fmt::Debug for Promise<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Promise(resolved: {})", self.half.ticket.is_none_or(|ticket| ticket.is_resolved()))
    }
}

#[cfg(feature = "defmt")]
impl<T, E> defmt::Format for Promise<T, E> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Promise(resolved: {=bool})", self.half.ticket.is_none_or(|ticket| ticket.is_resolved()));
    }
}
