//! Several passive objects in one actor, and letters that name the ones they need.
//!
//! A method that takes `&mut Account` gets exactly the account its letter names; letters that name different accounts
//! run at once, letters that share one never overlap (SAFE-2). The kernel owns the objects and hands them out letter by
//! letter, so no object can be shared by two actors.
#![expect(unsafe_code, reason = "hands out references to distinct objects of one array")]

use core::cell::{Cell, UnsafeCell};
use core::fmt;
use core::marker::PhantomData;

/// The most objects one actor can hold: a letter's claims are one bit each.
pub const MAX_OBJECTS: usize = 32;

/// The name of one object of an actor, by its place.
pub struct Id<T> {
    index: u8,
    object: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// The object at `index`, from 0. A letter that names one the actor does not have is refused when it is sent.
    pub const fn new(index: u8) -> Self {
        Self { index, object: PhantomData }
    }

    /// Its place.
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<T> Eq for Id<T> {}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index)
    }
}

#[cfg(feature = "defmt")]
impl<T> defmt::Format for Id<T> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "#{=u8}", self.index);
    }
}

/// Why a letter could never run, and is therefore refused when it is sent (KER-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Unrunnable {
    /// It names an object the actor does not have.
    NoSuchObject {
        /// The place it named.
        index: u8,
        /// How many the actor has.
        objects: u8,
    },
    /// It names one object twice, once of these exclusively.
    SameObjectTwice {
        /// The place it named.
        index: u8,
    },
    /// It calls a method that is not in the actor's `METHODS` (only a hand-written `Methods` can do that).
    NoSuchMethod {
        /// The place it named.
        method: u8,
        /// How many the actor has.
        methods: u8,
    },
}

impl fmt::Display for Unrunnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchObject { index, objects } => {
                write!(f, "the letter names object {index}, but the actor has {objects}, numbered from 0")
            }
            Self::SameObjectTwice { index } => {
                write!(f, "the letter names object {index} twice and could never have it twice at once")
            }
            Self::NoSuchMethod { method, methods } => {
                write!(f, "the letter calls method {method}, but the actor's METHODS has {methods}, numbered from 0")
            }
        }
    }
}

impl core::error::Error for Unrunnable {}

/// The objects a letter names: which it shares, which it needs for itself. No object is in both sets, so a letter never
/// gets `&` and `&mut` to the same one.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Claims {
    shared: u32,
    exclusive: u32,
    /// The place of the first object named, plus one.
    first: u8,
}

impl Claims {
    /// No object at all.
    pub const NONE: Self = Self { shared: 0, exclusive: 0, first: 0 };

    /// Also the object `id`, for itself.
    pub fn exclusive<O: Objects>(mut self, id: Id<O::Object>) -> Result<Self, Unrunnable> {
        let bit = self.bit::<O>(id)?;
        if (self.shared | self.exclusive) & bit != 0 {
            return Err(Unrunnable::SameObjectTwice { index: id.index });
        }
        self.exclusive |= bit;
        Ok(self)
    }

    /// Also the object `id`, together with other letters that share it.
    pub fn shared<O: Objects>(mut self, id: Id<O::Object>) -> Result<Self, Unrunnable> {
        let bit = self.bit::<O>(id)?;
        if self.exclusive & bit != 0 {
            return Err(Unrunnable::SameObjectTwice { index: id.index });
        }
        self.shared |= bit;
        Ok(self)
    }

    fn bit<O: Objects>(&mut self, id: Id<O::Object>) -> Result<u32, Unrunnable> {
        if id.index() >= O::COUNT {
            return Err(Unrunnable::NoSuchObject { index: id.index, objects: O::COUNT as u8 });
        }
        if self.first == 0 {
            self.first = id.index + 1;
        }
        Ok(1 << id.index)
    }

    /// The first object named.
    pub fn first(self) -> Option<usize> {
        (self.first != 0).then(|| usize::from(self.first) - 1)
    }

    /// Whether the two letters may not run at once.
    pub const fn conflicts_with(self, other: Self) -> bool {
        self.exclusive & (other.shared | other.exclusive) != 0 || other.exclusive & self.shared != 0
    }

    /// These and those, for remembering what is busy or reserved.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        let exclusive = self.exclusive | other.exclusive;
        let first = if self.first != 0 { self.first } else { other.first };
        Self { shared: (self.shared | other.shared) & !exclusive, exclusive, first }
    }

    /// The objects of this bit set, exclusively.
    pub(crate) const fn exclusively(places: u32) -> Self {
        Self { shared: 0, exclusive: places, first: 0 }
    }

    /// The bit set of the objects that are shared.
    pub(crate) const fn shared_places(self) -> u32 {
        self.shared
    }

    /// These without the shared ones of this bit set.
    #[must_use]
    pub(crate) const fn without_shared(self, places: u32) -> Self {
        Self { shared: self.shared & !places, ..self }
    }

    /// These without those that `other` holds exclusively.
    #[must_use]
    pub const fn without_exclusive(self, other: Self) -> Self {
        Self { exclusive: self.exclusive & !other.exclusive, ..self }
    }

    /// Whether nothing is claimed.
    pub const fn is_empty(self) -> bool {
        self.shared | self.exclusive == 0
    }

    /// Whether some object is shared.
    pub(crate) const fn shares(self) -> bool {
        self.shared != 0
    }

    /// Whether the object at this place is claimed, shared or not.
    pub const fn names(self, index: usize) -> bool {
        index < MAX_OBJECTS && (self.shared | self.exclusive) & (1 << index) != 0
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Claims(shared {:b}, exclusive {:b})", self.shared, self.exclusive)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl<T, const N: usize> Sealed for super::Several<T, N> {}
}

/// The objects of an actor: `()` for an actor that is one object, [`Several`] for more. Sealed.
pub trait Objects: sealed::Sealed + Sized + 'static {
    /// What one object is.
    type Object: 'static;
    /// The initial value of an actor `A` with these objects: `A` alone, or `(A, objects)`.
    type Whole<A>;
    /// What is kept per letter: nothing, or its claims.
    #[doc(hidden)]
    type PerLetter: PerLetter;
    /// How many there are.
    const COUNT: usize;
    #[doc(hidden)]
    fn split<A>(whole: *mut Self::Whole<A>) -> (*mut A, *mut Self);
    #[doc(hidden)]
    fn object(this: *mut Self, index: usize) -> *mut Self::Object;
}

/// The claims of one letter, where its actor has objects at all.
#[doc(hidden)]
pub trait PerLetter: 'static {
    const EMPTY: Self;
    const KEPT: bool;
    fn keep(&self, claims: Claims);
    fn kept(&self) -> Claims;
}

impl PerLetter for () {
    const EMPTY: Self = ();
    const KEPT: bool = false;
    #[inline(always)]
    fn keep(&self, _: Claims) {}
    #[inline(always)]
    fn kept(&self) -> Claims {
        Claims::NONE
    }
}

impl PerLetter for Cell<Claims> {
    const EMPTY: Self = Cell::new(Claims::NONE);
    const KEPT: bool = true;
    #[inline(always)]
    fn keep(&self, claims: Claims) {
        self.set(claims);
    }
    #[inline(always)]
    fn kept(&self) -> Claims {
        self.get()
    }
}

impl Objects for () {
    type Object = ();
    type Whole<A> = A;
    type PerLetter = ();
    const COUNT: usize = 0;
    #[inline(always)]
    fn split<A>(whole: *mut A) -> (*mut A, *mut Self) {
        (whole, core::ptr::NonNull::dangling().as_ptr())
    }
    fn object(this: *mut Self, _: usize) -> *mut () {
        this
    }
}

/// `N` passive objects of one actor.
///
/// ```
/// use flockwork::Several;
/// struct Account { balance: u64 }
/// const ACCOUNTS: Several<Account, 4> = Several::new([const { Account { balance: 100 } }; 4]);
/// ```
pub struct Several<T, const N: usize> {
    objects: [UnsafeCell<T>; N],
}

// SAFETY: `&Several` gives access to nothing; references to objects are made by `Picked`, under a claim, or from `&mut`.
// Objects then move between cores (`Send`) and are shared by letters that claim them so (`Sync`).
unsafe impl<T: Send + Sync, const N: usize> Sync for Several<T, N> {}

impl<T, const N: usize> Several<T, N> {
    /// The objects, in order; [`Id::new`]`(0)` names the first.
    pub const fn new(objects: [T; N]) -> Self {
        const { assert!(N <= MAX_OBJECTS, "an actor holds at most 32 objects") };
        // SAFETY: `UnsafeCell<T>` has the layout of `T`, so the arrays have the same size and layout; the original is
        // forgotten and not dropped.
        let cells = unsafe { core::ptr::from_ref(&objects).cast::<[UnsafeCell<T>; N]>().read() };
        core::mem::forget(objects);
        Self { objects: cells }
    }

    /// All of them, for a method that runs alone.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.objects.iter_mut().map(UnsafeCell::get_mut)
    }

    /// One of them, for a method that runs alone.
    pub fn get_mut(&mut self, id: Id<T>) -> Option<&mut T> {
        self.objects.get_mut(id.index()).map(UnsafeCell::get_mut)
    }
}

impl<T: 'static, const N: usize> Objects for Several<T, N> {
    type Object = T;
    type Whole<A> = (A, Self);
    type PerLetter = Cell<Claims>;
    const COUNT: usize = N;
    fn split<A>(whole: *mut (A, Self)) -> (*mut A, *mut Self) {
        let state = whole.wrapping_byte_add(core::mem::offset_of!((A, Self), 0)).cast();
        let objects = whole.wrapping_byte_add(core::mem::offset_of!((A, Self), 1)).cast();
        (state, objects)
    }
    fn object(this: *mut Self, index: usize) -> *mut T {
        assert!(index < N);
        // An `UnsafeCell<T>` has the layout of `T`.
        this.wrapping_byte_add(core::mem::offset_of!(Self, objects)).cast::<T>().wrapping_add(index)
    }
}

/// The objects a running letter may touch: those it named.
pub struct Picked<'a, O: Objects> {
    objects: *mut O,
    claims: Claims,
    grant: PhantomData<&'a mut O>,
}

impl<'a, O: Objects> Picked<'a, O> {
    /// # Safety
    /// During `'a` no other reference overlaps the objects of `claims` (shared ones: no mutable reference).
    pub(crate) unsafe fn new(objects: *mut O, claims: Claims) -> Self {
        Self { objects, claims, grant: PhantomData }
    }

    /// The object, for this letter alone.
    ///
    /// # Panics
    /// If the letter did not claim it exclusively, or it was taken already: a mistake in a hand-written
    /// [`Methods`](crate::Methods).
    pub fn exclusive(&mut self, id: Id<O::Object>) -> &'a mut O::Object {
        let bit = 1u32.checked_shl(u32::from(id.index)).unwrap_or(0);
        assert!(self.claims.exclusive & bit != 0, "object {id:?} is not this letter's own (or was taken already)");
        self.claims.exclusive &= !bit;
        // SAFETY: claimed exclusively, so no other letter has it during 'a, and the bit is cleared, so this letter has
        // it once.
        unsafe { &mut *O::object(self.objects, id.index()) }
    }

    /// The object, shared with other letters.
    ///
    /// # Panics
    /// If the letter did not claim it so.
    pub fn shared(&mut self, id: Id<O::Object>) -> &'a O::Object {
        let bit = 1u32.checked_shl(u32::from(id.index)).unwrap_or(0);
        assert!(self.claims.shared & bit != 0, "object {id:?} is not shared by this letter");
        // SAFETY: claimed as shared, so nobody has a mutable reference to it during 'a.
        unsafe { &*O::object(self.objects, id.index()) }
    }
}
