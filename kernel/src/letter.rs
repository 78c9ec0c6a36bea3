//! A letter: a message on its way to an actor, and what a monitor may see of it.
//!
//! A letter lives in a slot of the lane it was sent through and stays there until its method has ended and the monitor
//! has seen it leave. Monitors see only [`Letter`], a view that borrows the slot during `schedule` or `leave`.
#![expect(unsafe_code, reason = "reads the message behind a checked type")]

use core::any::TypeId;
use core::fmt;
use core::ptr::NonNull;

use crate::gate::Sharing;
use crate::methods::Methods;
use crate::objects::Claims;
use crate::slots::Layout;
use crate::sync::{Ending, Guarded, const_unless_loom};

/// What a method's receiver allows: the class of a letter, decided by the signature alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Access {
    /// `&self`: any number at once.
    Reader,
    /// `&mut self`: alone.
    Writer,
    /// `&self` and the objects it names: at once with letters that name others.
    Objects,
}

/// One method of an actor, as the kernel and monitors know it.
#[derive(Debug)]
pub struct Method {
    name: &'static str,
    access: Access,
    category: Option<&'static Category>,
}

impl Method {
    /// A method without a category.
    pub const fn new(name: &'static str, access: Access) -> Self {
        Self { name, access, category: None }
    }

    /// The same, tagged with a category.
    pub const fn tagged(self, category: &'static Category) -> Self {
        Self { category: Some(category), ..self }
    }

    /// Its name in the source.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What its receiver allows.
    pub const fn access(&self) -> Access {
        self.access
    }
}

/// A unique tag for methods, and the filter that passes their letters.
///
/// A category is a `static`; its address is its identity, so two categories are never equal by accident, whatever their
/// names. Categories only label: what may run in parallel is decided by [`Access`] and the monitor.
///
/// ```
/// use flockwork::Category;
/// static LOOKUP: Category = Category::new("lookup");
/// ```
pub struct Category {
    name: &'static str,
}

impl Category {
    /// A new category; the name is for people.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// The name it was made with.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl PartialEq for Category {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self, other)
    }
}

impl Eq for Category {}

impl fmt::Debug for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Category({})", self.name)
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Category {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Category({=str})", self.name);
    }
}

/// What the kernel knows of an actor's type without being generic over it. One per type, in flash.
pub struct Descriptor {
    pub(crate) methods: &'static [Method],
    pub(crate) actor_type: fn() -> TypeId,
    /// Where the message lies in a slot, from the slot's head.
    pub(crate) message_offset: usize,
    /// Where the claims lie, if letters of this actor have any.
    pub(crate) claims_offset: Option<usize>,
    /// How letters may share the actor's state.
    pub(crate) sharing: Sharing,
    /// Whether its monitor has a standing grant, and letters can be run by it.
    pub(crate) standing_grant: bool,
    /// Whether one core alone may visit the actor.
    pub(crate) pinned: bool,
    /// Where the letters lie.
    pub(crate) layout: Layout,
}

/// Where a letter is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// In its lane, or its slot is free.
    Lane,
    /// In the inbox: the monitor sees it.
    Waiting,
    /// Granted: a worker may run it.
    Granted,
    /// Its method runs (or has ended and not left yet).
    Running,
}

/// A slot's lane and its number there.
#[derive(Clone, Copy)]
pub(crate) struct Label(LabelBits);

/// On a chip a lane has at most 4096 slots, and there are two lanes.
#[cfg(target_os = "none")]
type LabelBits = u16;
#[cfg(not(target_os = "none"))]
type LabelBits = u32;

impl Label {
    const LANE: u32 = if LabelBits::BITS == 16 { 12 } else { 16 };

    pub(crate) const fn new(lane: usize, slot: u16) -> Self {
        Self((lane as LabelBits) << Self::LANE | slot as LabelBits)
    }

    #[inline(always)]
    pub(crate) fn lane(self) -> usize {
        (self.0 >> Self::LANE) as usize
    }

    #[inline(always)]
    pub(crate) fn slot(self) -> u16 {
        (self.0 & ((1 << Self::LANE) - 1)) as u16
    }
}

/// A link of the kernel's letter lists.
pub(crate) type Link = Option<NonNull<Head>>;

/// The part of a slot that does not depend on the actor's type, of an actor with a monitor.
///
/// | field | written by | read by |
/// |---|---|---|
/// | `label` | whoever gives the actor its number | the monitor's holder |
/// | `stamp`, `method`, `access` | the sender, before it publishes | the monitor's holder |
/// | `next`, `granted_next`, `stage` | the monitor's holder | the monitor's holder |
/// | `ending` | the worker that had it | the monitor's holder |
#[doc(hidden)]
#[repr(C)]
pub struct Head {
    // First: whoever knows only that this is a letter finds it here.
    top: Top,
    /// The next younger letter in the inbox.
    pub(crate) next: Guarded<Link>,
    /// The next one in the list of granted, then of running letters.
    pub(crate) granted_next: Guarded<Link>,
    #[cfg(not(feature = "trace"))]
    pub(crate) method: Guarded<u8>,
    pub(crate) access: Guarded<Access>,
    pub(crate) stage: Guarded<Stage>,
    pub(crate) ending: Ending,
}

/// What every letter has, and all that one of an actor without a monitor has.
#[doc(hidden)]
#[repr(C)]
pub struct Top {
    /// The sum of the mailbox's tails when it was sent.
    pub(crate) stamp: Guarded<u16>,
    /// Which slot of which lane this is.
    pub(crate) label: Guarded<Label>,
    /// For its name in traces.
    #[cfg(feature = "trace")]
    pub(crate) method: Guarded<u8>,
    /// Touched with every access to the message behind the head, so that loom sees them.
    pub(crate) content: Guarded<()>,
}

impl Top {
    const_unless_loom! {
        fn new() -> Self {
            Self {
                stamp: Guarded::new(0),
                label: Guarded::new(Label::new(0, 0)),
                #[cfg(feature = "trace")]
                method: Guarded::new(0),
                content: Guarded::new(()),
            }
        }
    }

    /// What every letter has, of one that may have more.
    ///
    /// # Safety
    /// There is a letter, for as long as `'a`.
    #[inline(always)]
    pub(crate) unsafe fn of<'a>(letter: NonNull<Head>) -> &'a Self {
        // SAFETY: the caller's promise; whatever else a head has comes behind this.
        unsafe { letter.cast().as_ref() }
    }
}

impl core::ops::Deref for Head {
    type Target = Top;

    #[inline(always)]
    fn deref(&self) -> &Top {
        &self.top
    }
}

impl Head {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                top: Top::new(),
                next: Guarded::new(None),
                granted_next: Guarded::new(None),
                #[cfg(not(feature = "trace"))]
                method: Guarded::new(0),
                access: Guarded::new(Access::Reader),
                stage: Guarded::new(Stage::Lane),
                ending: Ending::new(),
            }
        }
    }
}

/// The head of a slot: a [`Head`] where letters are listed for a monitor, only its [`Top`] where they are not. A pointer to the first is
/// also what is known of the second: no more than its top is touched then.
#[doc(hidden)]
pub trait HeadOf: core::ops::Deref<Target = Top> {
    #[cfg(not(loom))]
    const NEW: Self;
    #[cfg(loom)]
    fn new() -> Self;
    /// Writes which method the letter calls, and how.
    fn address(&self, method: u8, access: Access);
}

/// The head of a letter that is never listed.
#[doc(hidden)]
#[repr(transparent)]
pub struct TopAlone(Top);

impl core::ops::Deref for TopAlone {
    type Target = Top;

    #[inline(always)]
    fn deref(&self) -> &Top {
        &self.0
    }
}

impl HeadOf for Head {
    #[cfg(not(loom))]
    const NEW: Self = Self::new();
    #[cfg(loom)]
    fn new() -> Self {
        Self::new()
    }
    #[inline(always)]
    fn address(&self, method: u8, access: Access) {
        self.method.set(method);
        self.access.set(access);
    }
}

impl HeadOf for TopAlone {
    #[cfg(not(loom))]
    const NEW: Self = Self(Top::new());
    #[cfg(loom)]
    fn new() -> Self {
        Self(Top::new())
    }
    #[inline(always)]
    fn address(&self, _method: u8, _: Access) {
        #[cfg(feature = "trace")]
        self.method.set(_method);
    }
}

/// What a monitor sees of a letter: never its life beyond one call of `schedule` or `leave`.
#[derive(Clone, Copy)]
pub struct Letter<'i> {
    /// Points to the head of a whole slot (with the provenance of the slot, so that the message can be reached).
    pub(crate) head: NonNull<Head>,
    pub(crate) descriptor: &'i Descriptor,
}

impl<'i> Letter<'i> {
    #[inline(always)]
    pub(crate) fn head(&self) -> &'i Head {
        // SAFETY: a view is made from a slot of a static mailbox, or of a rehearsal, which is borrowed during `'i`; the
        // fields are cells.
        unsafe { self.head.as_ref() }
    }

    #[inline(always)]
    fn method_entry(&self) -> &'i Method {
        let method = usize::from(self.head().method.get());
        debug_assert!(method < self.descriptor.methods.len());
        // SAFETY: a letter whose method is not in the table is refused when it is sent, and cannot be posted in a rehearsal;
        // the descriptor is that of the letter's actor.
        unsafe { self.descriptor.methods.get_unchecked(method) }
    }

    /// The method it calls.
    pub fn method(&self) -> &'static str {
        self.method_entry().name
    }

    /// What its method's receiver allows.
    #[inline(always)]
    pub fn access(&self) -> Access {
        self.head().access.get()
    }

    /// The category its method is tagged with.
    pub fn category(&self) -> Option<&'static Category> {
        self.method_entry().category
    }

    /// The objects it names.
    #[inline(always)]
    pub fn claims(&self) -> Claims {
        match self.descriptor.claims_offset {
            None => Claims::NONE,
            // SAFETY: the offset was computed for this actor's slot type, and `head` has the provenance of the slot.
            // The claims were written by the sender before it published, and are not written while the letter lives.
            Some(offset) => unsafe { self.head.byte_add(offset).cast::<core::cell::Cell<Claims>>().as_ref().get() },
        }
    }

    /// The passive object this letter is for: the first one it names (PAM-12).
    pub fn receiver(&self) -> Option<usize> {
        self.claims().first()
    }

    /// The message, if the actor is an `A` and the method has not taken it yet (in `leave` it has).
    pub fn message<A: Methods>(&self) -> Option<&'i A::Message> {
        let waiting = matches!(self.head().stage.get(), Stage::Waiting | Stage::Granted);
        if !waiting || (self.descriptor.actor_type)() != TypeId::of::<A>() {
            return None;
        }
        self.head().content.with(|_| ());
        // SAFETY: the actor's type is checked, so the offset leads to an `A::Message`. The letter is waiting (or granted
        // within this very `schedule`, and grants are published when `schedule` returns), so the message is initialised
        // and nobody moves it out during `'i`. Only the holder of the monitor has views, so `Send` is enough.
        Some(unsafe { self.head.byte_add(self.descriptor.message_offset).cast::<A::Message>().as_ref() })
    }
}

impl PartialEq for Letter<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.head == other.head
    }
}

impl Eq for Letter<'_> {}

impl fmt::Debug for Letter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Letter({}, {:?})", self.method(), self.access())
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Letter<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Letter({=str}, {})", self.method(), self.access());
    }
}
