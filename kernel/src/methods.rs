//! What an actor is to the kernel: its messages, its methods, and how a message becomes a call.
//!
//! `#[actor] impl` writes all of this; it can be written by hand just as well (the example `by_hand` does).
#![expect(unsafe_code, reason = "turns a grant into references")]

use core::marker::PhantomData;

use crate::body::Body;
use crate::call::Post;
use crate::letter::Method;
use crate::objects::{Claims, Objects, Picked, Unrunnable};
use crate::port::LANES;
use crate::promise::Detached;

/// An actor's messages and methods. Written by `#[actor]` on an `impl` block, or by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an actor",
    label = "this type has no actor methods",
    note = "put `#[actor]` on the `impl` block with its methods, or implement `flockwork::Methods` by hand"
)]
pub trait Methods: Sized + 'static {
    /// All calls of its methods: an enum with a variant per method, which holds the arguments and the
    /// [`Reply`](crate::Reply).
    type Message: Send + 'static;
    /// A type as large and as aligned as any [`Outcome`](crate::Outcome) of a method; never constructed.
    type Replies: 'static;
    /// The passive objects it holds besides itself: `()`, or [`Several`](crate::Several).
    type Objects: Objects;
    /// What senders call methods on: a struct whose last field `body` is `B`.
    type Front<B: ?Sized + 'static>: ?Sized + 'static;
    /// Its methods; a message names one by its place.
    const METHODS: &'static [Method];

    /// The place in [`METHODS`](Self::METHODS) of the method this message calls.
    fn method(message: &Self::Message) -> u8;

    /// The objects this message names, or why it could never run.
    #[inline(always)]
    fn claims(message: &Self::Message) -> Result<Claims, Unrunnable> {
        let _ = message;
        Ok(Claims::NONE)
    }

    /// The key under which a waiting letter may be replaced by a newer one ([`Coalesce`](crate::Coalesce)): by default,
    /// letters for the same method and objects have the same. It is asked under the actor's lock: it looks at the message and
    /// does nothing else.
    #[inline(always)]
    fn key(message: &Self::Message) -> u32 {
        let objects = Self::claims(message).unwrap_or(Claims::NONE);
        u32::from(Self::method(message)) | objects.first().map_or(0, |object| (object as u32 + 1) << 8)
    }

    /// Takes the reply out of a message that could not be sent: [`Reply::detach`](crate::Reply::detach) of its variant.
    fn detach(message: &mut Self::Message) -> Detached;

    /// Calls the method.
    fn run(grant: Grant<'_, Self>, message: Self::Message);
}

/// A declared actor: its methods, its monitor, how many letters each core can have waiting in it (`N`, a power of two),
/// how many unanswered asks (`P`) and how many lanes (`L`; 1 if only one core sends to it).
///
/// ```
/// use flockwork::{Actor, ReadersWriter, actor};
///
/// pub struct Thermometer { tenths: i16 }
///
/// #[actor]
/// impl Thermometer {
///     pub fn read(&self) -> i16 { self.tenths }
///     pub fn measured(&mut self, tenths: i16) { self.tenths = tenths; }
/// }
///
/// #[actor]
/// static THERMOMETER: Actor<Thermometer, ReadersWriter, 8> = Thermometer { tenths: 0 };
/// ```
pub type Actor<A, M, const N: usize, const P: usize = 4, const L: usize = LANES> =
    <A as Methods>::Front<Body<A, M, N, P, L>>;

/// An actor as senders know it: neither its monitor nor its capacity is in the type (PAM-6, PAM-7).
///
/// `&DICTIONARY` coerces to `Ref<Dictionary>`.
pub type Ref<A> = &'static <A as Methods>::Front<dyn Post<A>>;

/// The right to run one letter: what its method may borrow.
pub struct Grant<'a, A: Methods> {
    state: *mut A,
    objects: *mut A::Objects,
    claims: Claims,
    writer: bool,
    borrow: PhantomData<&'a mut A>,
}

impl<'a, A: Methods> Grant<'a, A> {
    /// # Safety
    /// During `'a` the state may be borrowed shared, the objects of `claims` as they say, and if `writer`, all of it
    /// mutably.
    #[inline(always)]
    pub(crate) unsafe fn new(state: *mut A, objects: *mut A::Objects, claims: Claims, writer: bool) -> Self {
        Self { state, objects, claims, writer, borrow: PhantomData }
    }

    /// For a `&self` method.
    #[inline(always)]
    pub fn reader(self) -> &'a A {
        // SAFETY: every grant allows a shared borrow during 'a, and `self` is consumed.
        unsafe { &*self.state }
    }

    /// For a `&mut self` method.
    ///
    /// # Panics
    /// If the letter was granted as a reader: [`Methods::METHODS`] says `Reader` of a method that is a writer.
    #[inline(always)]
    pub fn writer(self) -> &'a mut A {
        if !self.writer {
            granted_as_reader();
        }
        // SAFETY: a writer's grant, and `self` is consumed.
        unsafe { &mut *self.state }
    }

    /// For a method that names objects.
    #[inline(always)]
    pub fn objects(self) -> (&'a A, Picked<'a, A::Objects>) {
        // SAFETY: every grant allows a shared borrow of the state and of its claims' objects; `self` is consumed.
        unsafe { (&*self.state, Picked::new(self.objects, self.claims)) }
    }

    /// For a `&mut self` method that takes all objects.
    ///
    /// # Panics
    /// As [`writer`](Self::writer).
    #[inline(always)]
    pub fn all(self) -> (&'a mut A, &'a mut A::Objects) {
        if !self.writer {
            granted_as_reader();
        }
        // SAFETY: a writer's grant covers state and objects, which are distinct places; `self` is consumed.
        unsafe { (&mut *self.state, &mut *self.objects) }
    }
}

#[cold]
#[inline(never)]
fn granted_as_reader() -> ! {
    panic!("a method needs `&mut self`, but its entry in METHODS says it is a reader");
}

/// What can be an argument of an actor's method: it travels in a letter, perhaps to another core.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel in a letter",
    label = "this argument cannot be sent to another core",
    note = "arguments of an actor's methods are owned values that are `Send` and `'static`"
)]
pub trait Travels: Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> Travels for T {}

/// What can be the reply of an actor's method: owned, since the actor's state goes on without it.
#[diagnostic::on_unimplemented(
    message = "a reply must be owned, and `{Self}` is not (or cannot be sent to another core)",
    label = "this cannot be a reply",
    note = "return an owned value that is `Send` and `'static`: clone or copy what the caller needs"
)]
pub trait Owned: Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> Owned for T {}
