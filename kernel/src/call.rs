//! Calls: what a method of an actor's front returns, and the ways to send it.
//!
//! A call does nothing until it is sent: [`tell`](Call::tell) (fire and forget), [`ask`](Call::ask) (a promise),
//! [`get`](Call::get) (wait for the answer), `.await` (in async code), [`send`](Call::send) (tell, waiting for room in async
//! code) or [`forward`](Call::forward) (let the receiver answer in my place).
#![expect(unsafe_code, reason = "gives a message away by pointer")]

use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

use crate::cores::Unnoted;
use crate::methods::Methods;
use crate::objects::Unrunnable;
use crate::promise::{Answered, Outcome, Promise, Reply, Ticket, Token, halves};
use crate::waiting::{Eventually, Sending, Waited};

/// Why a letter was not accepted. Nothing was sent, and nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Refused {
    /// No room in the sender's lane of the mailbox: try again later, or declare a larger one.
    Full,
    /// Every promise slot of this core for this actor is in use: take or drop an answer, or declare more.
    NoPromise,
    /// The letter could never run.
    Unrunnable(Unrunnable),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the mailbox has no room for this sender; try again later or declare a larger one"),
            Self::NoPromise => f.write_str(
                "every promise slot of this actor is in use; take or drop an answer, or declare more (the fourth parameter of `Actor`)",
            ),
            Self::Unrunnable(why) => why.fmt(f),
        }
    }
}

impl core::error::Error for Refused {}

/// The sending side of an actor, whatever its monitor and capacities. Implemented by [`Body`](crate::Body) alone.
pub trait Post<A: Methods>: Sync + 'static {
    /// Sends the message behind the pointer; it was moved out if and only if the result is `Ok`.
    ///
    /// # Safety
    /// The pointer leads to a message that is the caller's to give away.
    #[doc(hidden)]
    unsafe fn put(&'static self, message: *mut A::Message) -> Result<(), Refused>;
    /// The same for a sender that visits the next ready actor right away: the receiver, if that is the one.
    ///
    /// # Safety
    /// As [`put`](Self::put).
    #[doc(hidden)]
    unsafe fn put_and_visit(&'static self, message: *mut A::Message) -> Result<Option<Unnoted>, Refused>;
    #[doc(hidden)]
    fn issue(&'static self) -> Option<Ticket>;
    /// Says that core `here` waits for a free promise slot. The caller looks again after this.
    #[doc(hidden)]
    fn want_promise(&'static self, here: u8);
    /// Says that core `here` waits for room; whether there still is none.
    #[doc(hidden)]
    fn wait_for_room(&'static self, here: u8) -> bool;
    /// What happened to this actor's letters so far.
    #[doc(hidden)]
    fn report(&'static self) -> Report;
}

/// Sends a message, or gives it back.
#[inline(always)]
pub(crate) fn put<A: Methods, B: ?Sized + Post<A>>(
    body: &'static B,
    message: A::Message,
) -> Result<(), (A::Message, Refused)> {
    // SAFETY: the message is given away.
    give(message, |message| unsafe { body.put(message) })
}

/// Gives a message to a send, or back. The message stays where it is until it is written into its slot: copying it through results took
/// as many instructions as sending it.
#[inline(always)]
fn give<M, R>(message: M, send: impl FnOnce(*mut M) -> Result<R, Refused>) -> Result<R, (M, Refused)> {
    let mut message = ManuallyDrop::new(message);
    // It is not touched again if it was moved out.
    send(&raw mut *message).map_err(|why| (ManuallyDrop::into_inner(message), why))
}

/// What happened to an actor's letters so far. Counts wrap around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report {
    /// Grants that would have aliased and were refused (SAFE-1).
    pub refused_grants: u32,
    /// Letters dropped by the declared overflow policy.
    pub dropped: u32,
    /// Letters in the mailbox now, running ones included.
    pub letters: usize,
    /// The most letters that one core had in the mailbox at once, running ones included.
    pub high_water: usize,
    /// Letters that one core can have in the mailbox at once.
    pub capacity: usize,
}

impl Report {
    /// The report of an actor: `Report::of(&DICTIONARY)`.
    pub fn of(actor: &'static (impl Reports + ?Sized)) -> Self {
        actor.report()
    }
}

/// A front whose actor can be asked for a [`Report`]. Written by `#[actor]`.
pub trait Reports {
    /// What happened to the actor's letters so far; see [`Report::of`].
    fn report(&'static self) -> Report;
}

/// A call of an actor's method, not sent yet.
#[must_use = "a call does nothing until it is sent: use `.tell()`, `.ask()`, `.get()`, `.await` or `.forward(token)`"]
pub struct Call<A: Methods, B: ?Sized + 'static, F, T, E = Infallible> {
    body: &'static B,
    build: F,
    answer: PhantomData<fn() -> (A, T, E)>,
}

impl<A, B, F, T, E> Call<A, B, F, T, E>
where
    A: Methods,
    B: ?Sized + Post<A>,
    F: FnOnce(Reply<T, E>) -> A::Message,
{
    /// A call to the actor behind `body`; `build` makes the message around the reply.
    #[inline(always)]
    pub fn new(body: &'static B, build: F) -> Self {
        Self { body, build, answer: PhantomData }
    }

    /// Sends the letter; nobody waits for an answer. Never waits; a letter without room comes back.
    #[inline(always)]
    pub fn tell(self) -> Result<(), Rejected<A, B>> {
        let body = self.body;
        put(body, (self.build)(Reply::nobody())).map_err(|(message, why)| Rejected { body, message, why })
    }

    /// Sends the letter and returns the promise of its answer (OCA-3). Never waits; a letter without room comes back.
    #[inline(always)]
    pub fn ask(self) -> Result<Promise<T, E>, Unasked<A, B, F, T, E>> {
        // SAFETY: the message is given away.
        self.ask_by(|body, message| unsafe { body.put(message) }).map(|(promise, ())| promise)
    }

    /// Asks, with the given way to send.
    #[inline(always)]
    fn ask_by<R>(
        self,
        send: impl FnOnce(&'static B, *mut A::Message) -> Result<R, Refused>,
    ) -> Result<(Promise<T, E>, R), Unasked<A, B, F, T, E>> {
        const {
            assert!(
                size_of::<Outcome<T, E>>() <= size_of::<A::Replies>()
                    && align_of::<Outcome<T, E>>() <= align_of::<A::Replies>(),
                "`Methods::Replies` must have room for every answer: it is a union of the `Outcome`s of all methods"
            )
        };
        let Some(ticket) = self.body.issue() else {
            return Err(Unasked::NoPromise(self));
        };
        let (promise, reply) = halves(ticket);
        let body = self.body;
        match give((self.build)(reply), |message| send(body, message)) {
            Ok(sent) => Ok((promise, sent)),
            Err((message, why)) => Err(Unasked::Rejected(promise, Rejected { body, message, why })),
        }
    }

    /// Sends the letter and waits for the answer. The actor that waits is left out, its core is not: the worker runs other
    /// actors' letters meanwhile (OCA-4), also while it waits for room.
    pub fn get(self) -> Outcome<T, E> {
        // SAFETY: the message is given away.
        match self.ask_by(|body, message| unsafe { body.put_and_visit(message) }) {
            Ok((promise, receiver)) => promise.wait(receiver),
            Err(unasked) => unasked.get(),
        }
    }

    /// Sends the letter; its receiver answers in place of the method that runs (OCA-15). A token that could not be
    /// forwarded comes back.
    ///
    /// # Panics
    /// If a hand-written [`Methods::detach`] does not give back the reply its message was built around.
    pub fn forward<'t>(self, token: Token<'t, T, E>) -> Result<Answered<'t>, (Token<'t, T, E>, Refused)>
    where
        T: 'static,
        E: 'static,
    {
        let memory = token.reply.remember();
        match put(self.body, (self.build)(token.reply)) {
            Ok(()) => Ok(Token::<T, E>::answered()),
            Err((mut message, why)) => Err((Token::new(memory.restore(A::detach(&mut message))), why)),
        }
    }

    /// Tells, waiting for room.
    ///
    /// **Cancel safety:** dropping the future before it is ready sends nothing.
    pub fn send(self) -> Sending<A, B> {
        Sending::new(self.body, (self.build)(Reply::nobody()))
    }
}

impl<A, B, F, T, E> IntoFuture for Call<A, B, F, T, E>
where
    A: Methods,
    B: ?Sized + Post<A>,
    F: FnOnce(Reply<T, E>) -> A::Message,
{
    type Output = Outcome<T, E>;
    type IntoFuture = Waited<Asking<A, B, F, T, E>>;

    /// Asks, waiting for room and for the answer.
    ///
    /// **Cancel safety:** dropping the future before the letter is sent sends nothing; after that, the letter runs and
    /// its answer is dropped.
    fn into_future(self) -> Self::IntoFuture {
        Waited::new(Asking { asked: Some(Err(Unasked::NoPromise(self))) })
    }
}

impl<A: Methods, B: ?Sized, F, T, E> fmt::Debug for Call<A, B, F, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call to {}", core::any::type_name::<A>())
    }
}

#[cfg(feature = "defmt")]
impl<A: Methods, B: ?Sized, F, T, E> defmt::Format for Call<A, B, F, T, E> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Call");
    }
}

/// A letter that was not accepted, with its message.
#[must_use = "the letter was not sent: retry it, or take its message"]
pub struct Rejected<A: Methods, B: ?Sized + 'static> {
    body: &'static B,
    message: A::Message,
    why: Refused,
}

impl<A: Methods, B: ?Sized + Post<A>> Rejected<A, B> {
    /// Why it was not accepted.
    pub fn why(&self) -> Refused {
        self.why
    }

    /// Tries again.
    pub fn retry(self) -> Result<(), Self> {
        let body = self.body;
        put(body, self.message).map_err(|(message, why)| Self { body, message, why })
    }

    /// The message.
    pub fn into_message(self) -> A::Message {
        self.message
    }
}

impl<A: Methods, B: ?Sized> From<Rejected<A, B>> for Refused {
    fn from(rejected: Rejected<A, B>) -> Self {
        rejected.why
    }
}

impl<A: Methods, B: ?Sized> fmt::Debug for Rejected<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rejected({:?})", self.why)
    }
}

impl<A: Methods, B: ?Sized> fmt::Display for Rejected<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl<A: Methods, B: ?Sized> core::error::Error for Rejected<A, B> {}

#[cfg(feature = "defmt")]
impl<A: Methods, B: ?Sized> defmt::Format for Rejected<A, B> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Rejected({})", self.why);
    }
}

/// A question that was not accepted.
#[must_use = "the letter was not sent: retry it, or drop it"]
pub enum Unasked<A: Methods, B: ?Sized + 'static, F, T, E> {
    /// There was no promise slot; the call is as it was.
    NoPromise(Call<A, B, F, T, E>),
    /// There was no room for the letter; the promise is reserved.
    Rejected(Promise<T, E>, Rejected<A, B>),
}

impl<A, B, F, T, E> Unasked<A, B, F, T, E>
where
    A: Methods,
    B: ?Sized + Post<A>,
    F: FnOnce(Reply<T, E>) -> A::Message,
{
    /// Waits until it is accepted, and for the answer.
    #[cold]
    #[inline(never)]
    fn get(self) -> Outcome<T, E> {
        Asking { asked: Some(Err(self)) }.get()
    }

    /// Why it was not accepted.
    pub fn why(&self) -> Refused {
        match self {
            Self::NoPromise(_) => Refused::NoPromise,
            Self::Rejected(_, rejected) => rejected.why,
        }
    }

    /// Tries again.
    pub fn retry(self) -> Result<Promise<T, E>, Self> {
        match self {
            Self::NoPromise(call) => call.ask(),
            Self::Rejected(promise, rejected) => match rejected.retry() {
                Ok(()) => Ok(promise),
                Err(rejected) => Err(Self::Rejected(promise, rejected)),
            },
        }
    }
}

impl<A, B, F, T, E> Unasked<A, B, F, T, E>
where
    A: Methods,
    B: ?Sized + Post<A>,
{
    /// Says that core `here` waits for what was missing, and will be told of it; false if it is there now. The caller tries again after
    /// this.
    fn announce(&self, here: u8) -> bool {
        match self {
            Self::NoPromise(call) => {
                call.body.want_promise(here);
                true
            }
            Self::Rejected(_, rejected) => rejected.body.wait_for_room(here),
        }
    }
}

impl<A, B, F, T, E> From<Unasked<A, B, F, T, E>> for Refused
where
    A: Methods,
    B: ?Sized + Post<A>,
    F: FnOnce(Reply<T, E>) -> A::Message,
{
    fn from(unasked: Unasked<A, B, F, T, E>) -> Self {
        unasked.why()
    }
}

impl<A: Methods, B: ?Sized, F, T, E> fmt::Debug for Unasked<A, B, F, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPromise(_) => f.write_str("Unasked(NoPromise)"),
            Self::Rejected(_, rejected) => write!(f, "Unasked({:?})", rejected.why),
        }
    }
}

impl<A: Methods, B: ?Sized, F, T, E> fmt::Display for Unasked<A, B, F, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPromise(_) => Refused::NoPromise.fmt(f),
            Self::Rejected(_, rejected) => rejected.fmt(f),
        }
    }
}

impl<A: Methods, B: ?Sized, F, T, E> core::error::Error for Unasked<A, B, F, T, E> {}

#[cfg(feature = "defmt")]
impl<A: Methods, B: ?Sized, F, T, E> defmt::Format for Unasked<A, B, F, T, E> {
    fn format(&self, f: defmt::Formatter<'_>) {
        match self {
            Self::NoPromise(_) => defmt::write!(f, "Unasked(NoPromise)"),
            Self::Rejected(_, rejected) => defmt::write!(f, "Unasked({})", rejected.why),
        }
    }
}

/// A question on its way: waiting for room, then for the answer.
pub struct Asking<A: Methods, B: ?Sized + 'static, F, T, E> {
    asked: Option<Result<Promise<T, E>, Unasked<A, B, F, T, E>>>,
}

impl<A, B, F, T, E> Asking<A, B, F, T, E>
where
    A: Methods,
    B: ?Sized + Post<A>,
    F: FnOnce(Reply<T, E>) -> A::Message,
{
    /// Tries to send the letter if that is still to be done.
    #[inline(always)]
    fn advance(&mut self) {
        if let Some(Err(_)) = &self.asked {
            self.try_again();
        }
    }

    fn try_again(&mut self) {
        if let Some(Err(unasked)) = self.asked.take() {
            let tried = if matches!(unasked.why(), Refused::Unrunnable(_)) { Err(unasked) } else { unasked.retry() };
            // In place of `None`: there is nothing to drop.
            core::mem::forget(self.asked.replace(tried));
        }
    }
}

impl<A, B, F, T, E> Eventually for Asking<A, B, F, T, E>
where
    A: Methods,
    B: ?Sized + Post<A>,
    F: FnOnce(Reply<T, E>) -> A::Message,
{
    type Value = T;
    type Error = E;

    #[inline(always)]
    fn is_ready(&mut self) -> bool {
        self.advance();
        match &mut self.asked {
            Some(Ok(promise)) => promise.is_ready(),
            Some(Err(unasked)) => matches!(unasked.why(), Refused::Unrunnable(_)),
            None => false,
        }
    }

    #[inline(always)]
    fn take_now(&mut self) -> Option<Outcome<T, E>> {
        self.advance();
        match &mut self.asked {
            Some(Ok(promise)) => promise.take_if_ready(),
            Some(Err(unasked)) => match unasked.why() {
                why @ Refused::Unrunnable(_) => Some(Err(why.into())),
                Refused::Full | Refused::NoPromise => None,
            },
            None => None,
        }
    }

    fn wait_on(&mut self, core: u8) -> bool {
        // What is missing may change from a promise to room: each must have been announced before the last try.
        while let Some(Err(unasked)) = &self.asked {
            let missing = unasked.why();
            if matches!(missing, Refused::Unrunnable(_)) {
                return false;
            }
            let is_missing = unasked.announce(core);
            self.advance();
            // What was there, and was denied all the same (by a simulator that tries what happens then), nobody would tell of.
            if is_missing && matches!(&self.asked, Some(Err(unasked)) if unasked.why() == missing) {
                return true;
            }
        }
        match &mut self.asked {
            Some(Ok(promise)) => promise.wait_on(core),
            _ => false,
        }
    }
}

impl<A: Methods, B: ?Sized, F, T, E> fmt::Debug for Asking<A, B, F, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asking")
    }
}
