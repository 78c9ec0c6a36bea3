//! Waiting: for an answer or for room, in async code and in `get`; and what can be made of answers still to come.
//!
//! A task that waits is an entry in its core's [`WaitList`]; it lies inside the pinned future and needs no memory of its
//! own. Wakers never leave their core: whoever resolves a promise raises the core's notice, and the core wakes its tasks.
#![expect(unsafe_code, reason = "an intrusive list of pinned entries")]

use core::cell::Cell;
use core::fmt;
use core::future::Future;
use core::marker::{PhantomData, PhantomPinned};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use crate::call::{Post, Refused, put};
use crate::cores;
use crate::methods::Methods;
use crate::port::{self, FOREIGN};
use crate::promise::{Failure, Holder, Outcome, Promise};
use crate::sync::{Guarded, const_unless_loom};
use crate::worker;

/// An answer that will be there: a [`Promise`], or what was made of some.
///
/// The combinators need no promise slot of their own; what they do runs when the answer is taken, at once if it is there.
pub trait Eventually: Sized {
    /// What it becomes.
    type Value;
    /// How its method can fail.
    type Error;

    /// Whether it is resolved: then [`take_now`](Self::take_now) gives the outcome.
    fn is_ready(&mut self) -> bool;

    /// The outcome, if it is resolved. Called again after it gave one, it gives none.
    fn take_now(&mut self) -> Option<Outcome<Self::Value, Self::Error>>;

    /// Says that this core waits; false if there is nothing to wait for any more.
    #[doc(hidden)]
    fn wait_on(&mut self, core: u8) -> bool;

    /// Waits for the outcome. The worker runs other actors' letters meanwhile (OCA-4).
    fn get(mut self) -> Outcome<Self::Value, Self::Error> {
        loop {
            if let Some(outcome) = self.take_now() {
                return outcome;
            }
            if !worker::run_until_ready(&mut self) {
                return Err(Failure::WouldDeadlock);
            }
        }
    }

    /// The value, converted. A failure stays one (OCA-23, OCA-24).
    fn map<F, V>(self, convert: F) -> Map<Self, F>
    where
        F: FnOnce(Self::Value) -> V,
    {
        Map { first: self, convert: Some(convert) }
    }

    /// What the next question, asked with the value, becomes.
    fn and_then<F, N>(self, next: F) -> AndThen<Self, F, N>
    where
        F: FnOnce(Self::Value) -> N,
        N: Eventually<Error = Self::Error>,
    {
        AndThen::First(self, Some(next))
    }

    /// Both values, once both are there; the first failure, once both are resolved.
    fn join<O>(self, other: O) -> Join2<Self, O>
    where
        O: Eventually<Error = Self::Error>,
    {
        Join2 { first: self, second: other, outcome: None }
    }
}

impl<T, E> Eventually for Promise<T, E> {
    type Value = T;
    type Error = E;

    #[inline(always)]
    fn is_ready(&mut self) -> bool {
        Promise::is_ready(self)
    }

    #[inline(always)]
    fn take_now(&mut self) -> Option<Outcome<T, E>> {
        self.take_if_ready()
    }

    fn wait_on(&mut self, core: u8) -> bool {
        self.half.wait_on(core)
    }

    #[inline(always)]
    fn get(mut self) -> Outcome<T, E> {
        match self.take_if_ready() {
            Some(outcome) => {
                // It is spent: there is nothing left to drop.
                core::mem::forget(self);
                outcome
            }
            None => self.wait(None),
        }
    }
}

/// What a wait is for, without its type: a promise's half, or whatever was made of promises.
pub(crate) trait Outstanding {
    /// Whether the wait is over.
    fn is_ready(&mut self) -> bool;
    /// Says that this core waits; false if there is nothing to wait for any more.
    fn wait_on(&mut self, core: u8) -> bool;
}

impl Outstanding for Holder {
    fn is_ready(&mut self) -> bool {
        Self::is_ready(self)
    }

    fn wait_on(&mut self, core: u8) -> bool {
        Self::wait_on(self, core)
    }
}

impl<P: Eventually> Outstanding for P {
    fn is_ready(&mut self) -> bool {
        Eventually::is_ready(self)
    }

    fn wait_on(&mut self, core: u8) -> bool {
        Eventually::wait_on(self, core)
    }
}

/// See [`Eventually::map`].
#[derive(Debug)]
#[must_use = "nothing happens until it is awaited or `get` is called"]
pub struct Map<P, F> {
    first: P,
    convert: Option<F>,
}

impl<P: Eventually, F: FnOnce(P::Value) -> V, V> Eventually for Map<P, F> {
    type Value = V;
    type Error = P::Error;

    fn is_ready(&mut self) -> bool {
        self.first.is_ready()
    }

    fn take_now(&mut self) -> Option<Outcome<V, P::Error>> {
        let outcome = self.first.take_now()?;
        let convert = self.convert.take()?;
        Some(outcome.map(convert))
    }

    fn wait_on(&mut self, core: u8) -> bool {
        self.first.wait_on(core)
    }
}

/// See [`Eventually::and_then`].
#[derive(Debug)]
#[must_use = "nothing happens until it is awaited or `get` is called"]
pub enum AndThen<P, F, N> {
    #[doc(hidden)]
    First(P, Option<F>),
    #[doc(hidden)]
    Second(N),
}

impl<P, F, N> Eventually for AndThen<P, F, N>
where
    P: Eventually,
    F: FnOnce(P::Value) -> N,
    N: Eventually<Error = P::Error>,
{
    type Value = N::Value;
    type Error = P::Error;

    fn is_ready(&mut self) -> bool {
        match self {
            Self::First(first, _) => first.is_ready(),
            Self::Second(second) => second.is_ready(),
        }
    }

    fn take_now(&mut self) -> Option<Outcome<N::Value, P::Error>> {
        loop {
            match self {
                Self::Second(second) => return second.take_now(),
                Self::First(first, next) => match first.take_now()? {
                    Err(failure) => return Some(Err(failure)),
                    Ok(value) => *self = Self::Second(next.take()?(value)),
                },
            }
        }
    }

    fn wait_on(&mut self, core: u8) -> bool {
        match self {
            Self::First(first, _) => first.wait_on(core),
            Self::Second(second) => second.wait_on(core),
        }
    }
}

/// See [`Eventually::join`].
#[must_use = "nothing happens until it is awaited or `get` is called"]
pub struct Join2<P: Eventually, O> {
    first: P,
    second: O,
    /// The first outcome, while the second is awaited.
    outcome: Option<Outcome<P::Value, P::Error>>,
}

impl<P, O> Eventually for Join2<P, O>
where
    P: Eventually,
    O: Eventually<Error = P::Error>,
{
    type Value = (P::Value, O::Value);
    type Error = P::Error;

    fn is_ready(&mut self) -> bool {
        (self.outcome.is_some() || self.first.is_ready()) && self.second.is_ready()
    }

    fn take_now(&mut self) -> Option<Outcome<Self::Value, P::Error>> {
        if self.outcome.is_none() {
            self.outcome = Some(self.first.take_now()?);
        }
        let second = self.second.take_now()?;
        let first = self.outcome.take()?;
        Some(first.and_then(|first| second.map(|second| (first, second))))
    }

    fn wait_on(&mut self, core: u8) -> bool {
        let first = self.outcome.is_none() && self.first.wait_on(core);
        let second = self.second.wait_on(core);
        first || second
    }
}

impl<P: Eventually, O> fmt::Debug for Join2<P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Join2")
    }
}

macro_rules! into_future {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> IntoFuture for $type
        where
            Self: Eventually,
        {
            type Output = Outcome<<Self as Eventually>::Value, <Self as Eventually>::Error>;
            type IntoFuture = Waited<Self>;

            /// **Cancel safety:** dropping the future drops the promise; the method still runs.
            fn into_future(self) -> Waited<Self> {
                Waited::new(self)
            }
        }
    )*};
}

into_future! {
    [T, E] Promise<T, E>;
    [P, F] Map<P, F>;
    [P, F, N] AndThen<P, F, N>;
    [P: Eventually, O] Join2<P, O>;
}

/// An entry of a core's wait list, inside a pinned future.
struct Entry {
    next: Cell<*const Entry>,
    previous: Cell<*const Entry>,
    /// The core whose list it is in.
    core: Cell<Option<u8>>,
    waker: Cell<Option<Waker>>,
    _pinned: PhantomPinned,
}

/// The tasks of one core that wait, in an intrusive list. Only its core touches it, with interrupts masked.
pub(crate) struct WaitList {
    first: Guarded<*const Entry>,
}

impl WaitList {
    const_unless_loom! {
        pub(crate) fn new() -> Self { Self { first: Guarded::new(core::ptr::null()) } }
    }

    /// Wakes every task that waits. Wakers are someone else's code, so they run with interrupts on, one at a time; a
    /// woken entry has no waker until its task polls again.
    pub(crate) fn wake(&self) {
        while let Some((waker, is_last)) = self.next_waker() {
            waker.wake();
            // Whoever was enlisted meanwhile looks for its answer after that.
            if is_last {
                break;
            }
        }
    }

    /// The next task to wake, and whether no entry comes after its own.
    fn next_waker(&self) -> Option<(Waker, bool)> {
        let _masked = port::mask();
        let mut cursor = self.first.get();
        while !cursor.is_null() {
            // SAFETY: entries unlink themselves before they are gone, on this core, with interrupts masked as now.
            let entry = unsafe { &*cursor };
            cursor = entry.next.get();
            if let Some(waker) = entry.waker.take() {
                return Some((waker, cursor.is_null()));
            }
        }
        None
    }
}

impl Entry {
    const fn new() -> Self {
        Self {
            next: Cell::new(core::ptr::null()),
            previous: Cell::new(core::ptr::null()),
            core: Cell::new(None),
            waker: Cell::new(None),
            _pinned: PhantomPinned,
        }
    }

    /// Puts the entry into this core's list, with the waker to call.
    fn enlist(self: Pin<&Self>, here: u8, waker: &Waker) {
        let waker = waker.clone();
        let _masked = port::mask();
        self.waker.set(Some(waker));
        if self.core.get().is_none() {
            let list = &cores::core(here).waiters.first;
            let this: *const Self = &*self;
            self.next.set(list.get());
            if !list.get().is_null() {
                // SAFETY: as in `next_waker`.
                unsafe { &*list.get() }.previous.set(this);
            }
            list.set(this);
            self.core.set(Some(here));
        }
    }

    fn unlist(&self) {
        let Some(core) = self.core.get() else { return };
        debug_assert!(core == port::core(), "a future that waits does not move between cores");
        let _masked = port::mask();
        let (next, previous) = (self.next.get(), self.previous.get());
        if previous.is_null() {
            cores::core(core).waiters.first.set(next);
        } else {
            // SAFETY: neighbours in the list are alive, as in `next_waker`.
            unsafe { &*previous }.next.set(next);
        }
        if !next.is_null() {
            // SAFETY: the same.
            unsafe { &*next }.previous.set(previous);
        }
        self.next.set(core::ptr::null());
        self.previous.set(core::ptr::null());
        self.core.set(None);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.unlist();
    }
}

/// The future of an answer. It stays on the core that polls it.
///
/// **Cancel safety:** dropping it drops the promise; the letter still runs and its answer is dropped.
#[must_use = "futures do nothing until they are awaited"]
pub struct Waited<P> {
    entry: Entry,
    what: P,
    _stays_on_its_core: PhantomData<*const ()>,
}

impl<P> Waited<P> {
    pub(crate) fn new(what: P) -> Self {
        Self { entry: Entry::new(), what, _stays_on_its_core: PhantomData }
    }
}

impl<P: Eventually> Future for Waited<P> {
    type Output = Outcome<P::Value, P::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `what` is never pinned, `entry` is never moved.
        let (entry, what) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&this.entry), &mut this.what)
        };
        poll_waiting(entry, context, |core| match core {
            None => what.take_now().map_or(Poll::Pending, Poll::Ready),
            Some(core) if what.wait_on(core) => Poll::Pending,
            Some(_) => match what.take_now() {
                Some(outcome) => Poll::Ready(outcome),
                None => {
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            },
        })
    }
}

/// Polls `attempt` on this core: by itself first, then, if that was in vain, once more as a task of this core that waits. It is
/// enlisted before that, so that no notice between is lost.
#[inline(always)]
fn poll_waiting<R>(
    entry: Pin<&Entry>,
    context: &Context<'_>,
    mut attempt: impl FnMut(Option<u8>) -> Poll<R>,
) -> Poll<R> {
    let here = port::core();
    assert!(here != FOREIGN, "futures of actors are awaited in tasks of a core; on another thread use `get`");
    let mut polled = attempt(None);
    if polled.is_pending() {
        entry.enlist(here, context.waker());
        polled = attempt(Some(here));
    }
    if polled.is_ready() {
        entry.unlist();
    }
    polled
}

impl<P> fmt::Debug for Waited<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waited")
    }
}

/// The future of a letter that waits for room.
///
/// **Cancel safety:** dropping it before it is ready sends nothing.
#[must_use = "futures do nothing until they are awaited"]
pub struct Sending<A: Methods, B: ?Sized + 'static> {
    entry: Entry,
    body: &'static B,
    message: Option<A::Message>,
    _stays_on_its_core: PhantomData<*const ()>,
}

impl<A: Methods, B: ?Sized + Post<A>> Sending<A, B> {
    pub(crate) fn new(body: &'static B, message: A::Message) -> Self {
        Self { entry: Entry::new(), body, message: Some(message), _stays_on_its_core: PhantomData }
    }
}

impl<A: Methods, B: ?Sized + Post<A>> Future for Sending<A, B> {
    /// An error only if the letter could never run.
    type Output = Result<(), Refused>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `message` is never pinned, `entry` is never moved.
        let (entry, body, message) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&this.entry), this.body, &mut this.message)
        };
        poll_waiting(entry, context, |core| {
            loop {
                if core.is_some_and(|core| body.wait_for_room(core)) {
                    return Poll::Pending;
                }
                let Some(letter) = message.take() else { return Poll::Ready(Ok(())) };
                match put(body, letter) {
                    Ok(()) => return Poll::Ready(Ok(())),
                    Err((letter, Refused::Full)) => *message = Some(letter),
                    Err((_, why)) => return Poll::Ready(Err(why)),
                }
                if core.is_none() {
                    return Poll::Pending;
                }
            }
        })
    }
}

impl<A: Methods, B: ?Sized> fmt::Debug for Sending<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sending")
    }
}
