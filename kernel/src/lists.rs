//! The lists of an actor's letters: those that wait, those that are granted, and those that run.
#![expect(unsafe_code, reason = "walks lists of slots of a static mailbox, under the actor's lock")]

use core::fmt;
use core::ptr::NonNull;

use crate::gate::{Gate, Sharing};
use crate::letter::{Access, Descriptor, Head, HeadOf, Letter, Link, Stage, TopAlone};
use crate::objects::Claims;
use crate::port::MAX_CORES;
use crate::slots::{Order, OrderOf, Places};
use crate::sync::{Count16, Count32, Ended, Guarded, Mutant, array_of, const_unless_loom};
#[cfg(all(target_os = "none", target_arch = "arm"))]
use crate::sync::{acquire, word_behind};
use crate::trace::Owner;

/// The lists of an actor's letters: [`Lists`] where a monitor decides, nothing where none does.
#[doc(hidden)]
pub trait ListsOf: Sized + 'static {
    /// Without a letter.
    #[cfg(not(loom))]
    const EMPTY: Self;
    /// Without a letter: loom's atomics cannot be made in a constant.
    #[cfg(loom)]
    fn empty() -> Self;
    /// Where a monitor decides.
    fn lists(&self) -> Option<&Lists>;
    /// What is kept of a letter besides its message.
    type Head: HeadOf;
    /// Which slots the places of a lane name: nothing, if letters leave in order.
    type Order<const N: usize>: OrderOf;
}

impl ListsOf for () {
    #[cfg(not(loom))]
    const EMPTY: Self = ();
    #[cfg(loom)]
    fn empty() -> Self {}
    #[inline(always)]
    fn lists(&self) -> Option<&Lists> {
        None
    }
    type Head = TopAlone;
    type Order<const N: usize> = ();
}

impl ListsOf for Lists {
    #[cfg(not(loom))]
    const EMPTY: Self = Self::new();
    #[cfg(loom)]
    fn empty() -> Self {
        Self::new()
    }
    #[inline(always)]
    fn lists(&self) -> Option<&Lists> {
        Some(self)
    }
    type Head = Head;
    type Order<const N: usize> = Order<N>;
}

/// The lists of letters of one actor, and its gate. Everything here is under the actor's lock, but for what is atomic.
///
/// A letter is in the list of waiting letters, then in that of granted ones, then, if it is run without the lock, in that of
/// running ones, or in a core's share ([`share`](crate::share)). A letter that is granted while it is the oldest leaves the first
/// list at once; `next` of it stays as it is, so whoever is just walking along the list goes on from it. One from the middle leaves the
/// list when `schedule` has returned. `youngest` and `last_granted` mean something only while their lists are not empty.
#[doc(hidden)]
pub struct Lists {
    /// Whose they are, for the trace.
    pub(crate) owner: Owner,
    /// What the letters are, and the slots of their lanes; written with the actor's number.
    descriptor: Guarded<Option<&'static Descriptor>>,
    lanes: Guarded<Option<NonNull<()>>>,
    pub(crate) gate: Gate,
    /// Whether there are letters that the monitor was not asked about yet.
    unseen: Guarded<bool>,
    /// Letters that wait no more and are still in the list.
    unlisted: Guarded<u16>,
    oldest: Guarded<Link>,
    youngest: Guarded<Link>,
    first_granted: Guarded<Link>,
    last_granted: Guarded<Link>,
    running: Guarded<Link>,
    /// How many cores have taken shares of the letters; those are in none of the lists.
    shares: Guarded<u8>,
    /// How many letters are in shares.
    in_shares: Guarded<u16>,
    /// Grants that would have aliased.
    refused: Count32,
    /// For each of the first lanes the place after that of its last letter that was no reader. Written by the lane's sender, who does not have the
    /// lock. (A mailbox of a host may have more lanes than that: those may always have a writer.)
    after_writer: [Count16; if MAX_CORES < 8 { MAX_CORES } else { 8 }],
}

impl Lists {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                owner: Owner::new(),
                descriptor: Guarded::new(None),
                lanes: Guarded::new(None),
                gate: Gate::new(),
                unseen: Guarded::new(false),
                unlisted: Guarded::new(0),
                oldest: Guarded::new(None),
                youngest: Guarded::new(None),
                first_granted: Guarded::new(None),
                last_granted: Guarded::new(None),
                running: Guarded::new(None),
                shares: Guarded::new(0),
                in_shares: Guarded::new(0),
                refused: Count32::new(),
                after_writer: array_of!(Count16::new()),
            }
        }
    }

    /// The actor gets its number.
    ///
    /// # Safety
    /// `lanes` points to the slots of all lanes of the actor's static mailbox, with the provenance of all of them, and the
    /// descriptor has their layout.
    pub(crate) unsafe fn move_in(&self, descriptor: &'static Descriptor, lanes: NonNull<()>) {
        self.descriptor.set(Some(descriptor));
        self.lanes.set(Some(lanes));
    }

    /// What the letters are. The actor has its number.
    #[inline(always)]
    pub(crate) fn descriptor(&self) -> &'static Descriptor {
        let descriptor = self.descriptor.get();
        debug_assert!(descriptor.is_some());
        // SAFETY: written before the number was published, and the caller came here by the number.
        unsafe { descriptor.unwrap_unchecked() }
    }

    /// The slots of a lane, by its index among the lanes of the mailbox. The actor has its number.
    #[inline(always)]
    pub(crate) fn lane(&self, lane: usize) -> Places {
        let lanes = self.lanes.get();
        debug_assert!(lanes.is_some());
        // SAFETY: written before the number was published, and the caller came here by the number; what was promised then.
        unsafe { self.descriptor().layout.lane(lanes.unwrap_unchecked(), lane) }
    }

    /// The letter that is about to be published at a place of a lane is no reader. Called by the lane's sender.
    #[inline(always)]
    pub(crate) fn note_writer(&self, lane: usize, place: u16) {
        if let Some(after_writer) = self.after_writer.get(lane) {
            after_writer.hint(place.wrapping_add(1));
        }
    }

    /// Whether a lane may have a letter that is no reader, of those from the place `received` on that are published.
    #[inline(always)]
    pub(crate) fn has_writer(&self, lane: usize, received: u16) -> bool {
        self.after_writer
            .get(lane)
            .is_none_or(|after| is_writer_ahead(after.glance(), received, self.descriptor().layout.mask()))
    }

    /// The oldest letter that waits.
    #[inline(always)]
    pub(crate) fn oldest(&self) -> Link {
        self.oldest.get()
    }

    /// Whether no letter waits; not asked during `schedule`.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.oldest.get().is_none()
    }

    #[inline(always)]
    pub(crate) fn has_granted(&self) -> bool {
        self.first_granted.get().is_some()
    }

    /// The letter that was granted first and is not started.
    #[inline(always)]
    pub(crate) fn first_granted(&self) -> Link {
        self.first_granted.get()
    }

    /// Whether a letter was started without the lock that has not left yet.
    #[inline(always)]
    pub(crate) fn has_running(&self) -> bool {
        self.has_listed_running() || self.has_shares()
    }

    /// The same without those in shares.
    #[inline(always)]
    pub(crate) fn has_listed_running(&self) -> bool {
        self.running.get().is_some()
    }

    /// Whether cores have taken shares of the letters.
    #[inline(always)]
    pub(crate) fn has_shares(&self) -> bool {
        self.shares() != 0
    }

    /// How many cores have.
    #[inline(always)]
    pub(crate) fn shares(&self) -> u8 {
        self.shares.get()
    }

    /// A core takes a share of so many letters.
    #[inline(always)]
    pub(crate) fn begin_share(&self, letters: u8) {
        self.shares.set(self.shares.get() + 1);
        self.in_shares.set(self.in_shares.get() + u16::from(letters));
    }

    /// So many letters of a share come back, or have left.
    #[inline(always)]
    pub(crate) fn lessen_share(&self, letters: u8) {
        self.in_shares.set(self.in_shares.get() - u16::from(letters));
    }

    /// A share of so many letters is given up.
    #[inline(always)]
    pub(crate) fn end_share(&self, letters: u8) {
        self.shares.set(self.shares.get() - 1);
        self.lessen_share(letters);
    }

    /// Whether letters have claims.
    #[inline(always)]
    pub(crate) fn have_claims(&self) -> bool {
        self.descriptor().claims_offset.is_some()
    }

    /// How many letters that share the state are inside the gate and in nobody's share.
    #[inline(always)]
    pub(crate) fn unshared(&self) -> u16 {
        // Letters of a share leave the gate one by one, and are counted until it is given up.
        self.gate.readers().saturating_sub(self.in_shares.get())
    }

    /// Whether a letter waits that the monitor was not asked about yet.
    #[inline(always)]
    pub(crate) fn has_unseen(&self) -> bool {
        self.unseen.get() && !self.is_empty()
    }

    /// The monitor is asked now.
    #[inline(always)]
    pub(crate) fn seen(&self) {
        self.unseen.set(false);
    }

    /// The monitor did not finish its decision, so it is to be asked again.
    pub(crate) fn ask_again(&self) {
        self.unseen.set(true);
    }

    pub(crate) fn refused(&self) -> u32 {
        self.refused.read(None)
    }

    /// Appends letters behind the youngest.
    #[inline(always)]
    pub(crate) fn append(&self, Chain { first, last }: Chain) {
        self.unseen.set(true);
        if self.oldest.get().is_none() {
            self.oldest.set(Some(first));
        } else if let Some(youngest) = self.youngest.get() {
            deref(youngest).next.set(Some(first));
        }
        self.youngest.set(Some(last));
    }

    /// Grants a letter, unless it is no longer waiting or the grant would alias. `sharing` is that of its actor, where the caller is made
    /// for it.
    #[inline(always)]
    pub(crate) fn grant(&self, letter: Letter<'_>, sharing: Sharing) -> bool {
        self.grant_if(letter.head, || match sharing {
            Sharing::OneAtATime => self.gate.admit_alone(),
            Sharing::Parallel if letter.descriptor.claims_offset.is_some() => self.gate.admit(letter),
            Sharing::Parallel if letter.access() == Access::Writer => self.gate.admit_alone(),
            Sharing::Parallel => self.gate.admit_reader(),
        })
    }

    /// Grants a letter, unless it is no longer waiting or the grant would alias.
    #[inline(always)]
    fn grant_if(&self, letter: NonNull<Head>, admit: impl FnOnce() -> bool) -> bool {
        let head = deref(letter);
        if head.stage.get() != Stage::Waiting {
            return false;
        }
        if !admit() {
            self.refuse_unless_guests(letter);
            return false;
        }
        head.stage.set(Stage::Granted);
        head.granted_next.set(None);
        if self.oldest.get() == Some(letter) {
            self.oldest.set(head.next.get());
        } else {
            self.unlisted.set(self.unlisted.get() + 1);
        }
        if self.first_granted.get().is_none() {
            self.first_granted.set(Some(letter));
        } else if let Some(last) = self.last_granted.get() {
            deref(last).granted_next.set(Some(letter));
        }
        self.last_granted.set(Some(letter));
        crate::trace::granted(|| self.owner.get(), crate::trace::name(letter));
        true
    }

    /// Grants the oldest letters, from the first on, as long as they pass and share the state without claims; how many. They go from list
    /// to list as they are, which is less than a grant of each. Meanwhile the lists are not what they should be, so `passes` must do nothing
    /// but look at the letter.
    #[inline(always)]
    pub(crate) fn grant_front(&self, descriptor: &Descriptor, passes: impl Fn(&Letter<'_>) -> bool) -> usize {
        if descriptor.claims_offset.is_some() || !self.gate.admits_readers() {
            return 0;
        }
        let mut cursor = self.oldest.get();
        let mut last = if self.has_granted() { self.last_granted.get() } else { None };
        let mut granted = 0;
        while let Some(letter) = cursor {
            let head = deref(letter);
            let view = Letter { head: letter, descriptor };
            if head.stage.get() != Stage::Waiting || view.access() == Access::Writer || !passes(&view) {
                break;
            }
            head.stage.set(Stage::Granted);
            crate::trace::granted(|| self.owner.get(), crate::trace::name(letter));
            match last {
                None => self.first_granted.set(cursor),
                Some(last) => deref(last).granted_next.set(cursor),
            }
            last = cursor;
            cursor = head.next.get();
            granted += 1;
        }
        if granted != 0
            && let Some(letter) = last
        {
            deref(letter).granted_next.set(None);
            self.last_granted.set(last);
            self.oldest.set(cursor);
            self.gate.admit_readers(granted);
        }
        usize::from(granted)
    }

    /// Grants the only letter there is, while the gate is free; false if that was done already. It is in no list, and in the gate only
    /// when it is started.
    #[inline(always)]
    pub(crate) fn grant_only(&self, letter: NonNull<Head>) -> bool {
        let head = deref(letter);
        let waits = head.stage.get() == Stage::Waiting;
        if waits {
            head.stage.set(Stage::Granted);
            crate::trace::granted(|| self.owner.get(), crate::trace::name(letter));
        }
        waits
    }

    /// Whether no letter waits, and none is granted or running.
    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_empty() && self.gate.is_free()
    }

    /// Whether no letter waits, and none is granted or running.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn is_quiet(&self) -> bool {
        // One question instead of two.
        const INSIDE: usize = core::mem::offset_of!(Lists, gate) + Gate::INSIDE;
        const OLDEST: usize = core::mem::offset_of!(Lists, oldest);
        let lists = (&raw const *self).cast();
        // SAFETY: there these words are. (A letter that is none is zero.)
        let words = unsafe { word_behind::<OLDEST>(lists) | word_behind::<INSIDE>(lists) };
        acquire();
        words == 0
    }

    /// The same, but for guests.
    #[inline(always)]
    pub(crate) fn is_quiet_but_for_guests(&self) -> bool {
        self.is_empty() && self.gate.has_no_letter()
    }

    /// The only letter there is was not granted: it waits.
    pub(crate) fn keep_waiting(&self, letter: NonNull<Head>) {
        crate::trace::listed(1);
        self.append(Chain::of_one(letter));
        self.seen();
    }

    /// The only letter there is shares the state: it is started, to be run without the lock. Nothing else was granted.
    #[inline(always)]
    pub(crate) fn start_only(&self, letter: Letter<'_>) {
        let head = letter.head();
        head.stage.set(Stage::Running);
        head.granted_next.set(None);
        self.gate.admit_only(letter);
        self.running.set(Some(letter.head));
    }

    /// The monitor panicked while it decided about the only letter there is: it waits, or is granted as others are.
    #[cold]
    pub(crate) fn take_in(&self, letter: NonNull<Head>) {
        if deref(letter).stage.get() == Stage::Granted
            && self.gate.admit(Letter { head: letter, descriptor: self.descriptor() })
        {
            self.grant_again(letter);
        } else {
            self.append(Chain::of_one(letter));
        }
    }

    /// The only letter there is was run under the lock, and did not end well: it leaves with the next round.
    #[cold]
    pub(crate) fn end_only_later(&self, letter: NonNull<Head>) {
        self.gate.admit_alone();
        self.end_later(letter);
    }

    /// Counts and reports a grant that would have aliased; but a monitor does not know of guests, and is asked again when they have gone.
    #[inline(always)]
    pub(crate) fn refuse_unless_guests(&self, letter: NonNull<Head>) {
        if !self.gate.awaits_guests() {
            self.refuse(letter);
        }
    }

    /// Counts and reports a grant that would have aliased.
    #[inline(always)]
    fn refuse(&self, letter: NonNull<Head>) {
        self.refused.publish(self.refused.own().wrapping_add(1), None);
        crate::trace::refused(|| self.owner.get(), crate::trace::name(letter));
    }

    /// The oldest waiting letter that passes, without granting it.
    pub(crate) fn find_waiting(&self, mut passes: impl FnMut(NonNull<Head>) -> bool) -> Link {
        let mut cursor = self.oldest.get();
        while let Some(letter) = cursor {
            if deref(letter).stage.get() == Stage::Waiting && passes(letter) {
                return Some(letter);
            }
            cursor = deref(letter).next.get();
        }
        None
    }

    /// Takes a waiting letter out of the inbox: it will not be run.
    pub(crate) fn discard(&self, letter: NonNull<Head>) {
        deref(letter).stage.set(Stage::Lane);
        self.unlisted.set(self.unlisted.get() + 1);
        self.publish();
    }

    /// Takes the letters that were granted out of order out of the inbox: called after each `schedule`.
    #[inline(always)]
    pub(crate) fn publish(&self) {
        if self.unlisted.get() != 0 {
            self.unlist();
        }
    }

    /// It ends with the last of them, which is near the front for most monitors.
    #[inline(never)]
    fn unlist(&self) {
        let mut before: Link = None;
        let mut cursor = self.oldest.get();
        let mut left = self.unlisted.get();
        self.unlisted.set(0);
        while left > 0
            && let Some(letter) = cursor
        {
            let head = deref(letter);
            cursor = head.next.get();
            if head.stage.get() == Stage::Waiting {
                before = Some(letter);
                continue;
            }
            left -= 1;
            match before {
                None => self.oldest.set(cursor),
                Some(before) => deref(before).next.set(cursor),
            }
            if cursor.is_none() {
                self.youngest.set(before);
            }
        }
    }

    /// Takes the first granted letter, which the caller found there: it is run under the lock.
    #[inline(always)]
    pub(crate) fn start_locked(&self, letter: NonNull<Head>) {
        self.set_first_granted(self.start_granted(letter));
    }

    /// Starts a granted letter that the caller takes out of the list; the one behind it.
    #[inline(always)]
    pub(crate) fn start_granted(&self, letter: NonNull<Head>) -> Link {
        let head = deref(letter);
        head.stage.set(Stage::Running);
        head.granted_next.get()
    }

    /// The letters before this one were taken out of the list.
    #[inline(always)]
    pub(crate) fn set_first_granted(&self, letter: Link) {
        self.first_granted.set(letter);
    }

    /// A letter that was run under the lock goes out of the gate. What it claimed is free when it is in none of the lists.
    #[inline(always)]
    pub(crate) fn end_locked(&self, letter: Letter<'_>, alone: bool) {
        if alone {
            self.gate.release_writer();
        } else {
            self.release(letter.head, letter.descriptor);
        }
    }

    /// A letter that was run under the lock did not end well: it leaves with the next round.
    #[cold]
    pub(crate) fn end_later(&self, letter: NonNull<Head>) {
        self.list_running(letter);
        deref(letter).ending.say(Ended::Run, Mutant::DoneRelaxed);
    }

    /// Takes the first granted letter, of which there is one, and lists it as running: it is run without the lock.
    #[inline(always)]
    pub(crate) fn start(&self) -> NonNull<Head> {
        let letter = self.first_granted.get();
        debug_assert!(letter.is_some());
        // SAFETY: the caller has looked.
        let letter = unsafe { letter.unwrap_unchecked() };
        self.start_locked(letter);
        self.list_running(letter);
        letter
    }

    /// Whether readers can be taken straight from the lanes: no letter waits or is granted, and none is alone inside the gate.
    #[inline(always)]
    pub(crate) fn admits_readers_from_lanes(&self) -> bool {
        self.is_empty() && !self.has_granted() && !self.gate.has_writer()
    }

    /// A reader that was granted from a worker's hand is run without the lock: it is listed as running.
    #[inline(always)]
    pub(crate) fn list_running(&self, letter: NonNull<Head>) {
        deref(letter).granted_next.set(self.running.get());
        self.running.set(Some(letter));
    }

    /// Takes one running letter whose method has ended out of the list, and out of the gate. Those that were given back are
    /// granted still, and are started again.
    #[inline(always)]
    pub(crate) fn ended(&self, descriptor: &Descriptor) -> Link {
        let letter = self.running.get()?;
        let head = deref(letter);
        if head.ending.hear(Mutant::DoneReadRelaxed) != Ended::Run {
            return self.ended_behind(descriptor);
        }
        self.running.set(head.granted_next.get());
        head.ending.forget();
        self.release(letter, descriptor);
        Some(letter)
    }

    /// The same, wherever in the list it is.
    #[inline(never)]
    fn ended_behind(&self, descriptor: &Descriptor) -> Link {
        let mut before: Link = None;
        let mut cursor = self.running.get();
        while let Some(letter) = cursor {
            let head = deref(letter);
            let next = head.granted_next.get();
            let ended = head.ending.hear(Mutant::DoneReadRelaxed);
            cursor = next;
            if ended == Ended::NotYet {
                before = Some(letter);
                continue;
            }
            match before {
                None => self.running.set(next),
                Some(before) => deref(before).granted_next.set(next),
            }
            head.ending.forget();
            if ended == Ended::GivenBack {
                self.grant_again(letter);
                continue;
            }
            self.release(letter, descriptor);
            return Some(letter);
        }
        None
    }

    /// Takes a letter that is listed as running out of the list, and out of the gate.
    #[inline(always)]
    pub(crate) fn end_listed(&self, letter: Letter<'_>) {
        let link = if self.running.get() == Some(letter.head) { &self.running } else { self.link_behind(letter.head) };
        link.set(letter.head().granted_next.get());
        self.release(letter.head, letter.descriptor);
    }

    /// What leads to a letter that is listed as running behind another one.
    #[inline(never)]
    fn link_behind(&self, letter: NonNull<Head>) -> &Guarded<Link> {
        let mut link = &self.running;
        while let Some(other) = link.get()
            && other != letter
        {
            link = &deref(other).granted_next;
        }
        link
    }

    /// A letter that is in no list any more goes out of the gate.
    #[inline(always)]
    fn release(&self, letter: NonNull<Head>, descriptor: &Descriptor) {
        self.gate.release();
        if descriptor.claims_offset.is_some() {
            self.release_claims(Letter { head: letter, descriptor });
        }
    }

    #[inline(never)]
    fn release_claims(&self, letter: Letter<'_>) {
        self.gate.release_claims(letter.claims(), || self.claims_held(letter.descriptor));
    }

    /// A letter that is inside the gate, granted before, comes first among the granted ones.
    #[cold]
    pub(crate) fn grant_again(&self, letter: NonNull<Head>) {
        let head = deref(letter);
        head.stage.set(Stage::Granted);
        head.granted_next.set(self.first_granted.get());
        if self.first_granted.get().is_none() {
            self.last_granted.set(Some(letter));
        }
        self.first_granted.set(Some(letter));
    }

    /// What all granted and running letters claim.
    fn claims_held(&self, descriptor: &Descriptor) -> Claims {
        let mut claims = Claims::NONE;
        for list in [self.first_granted.get(), self.running.get()] {
            let mut cursor = list;
            while let Some(letter) = cursor {
                claims = claims.with(Letter { head: letter, descriptor }.claims());
                cursor = deref(letter).granted_next.get();
            }
        }
        claims
    }
}

/// Letters on their way into the inbox, oldest first: they wait, and are linked as they will be there.
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    first: NonNull<Head>,
    last: NonNull<Head>,
}

impl Chain {
    #[inline(always)]
    pub(crate) fn of_one(letter: NonNull<Head>) -> Self {
        let head = deref(letter);
        head.stage.set(Stage::Waiting);
        head.next.set(None);
        Self { first: letter, last: letter }
    }

    /// The letters of a lane from one place up to another, one at least.
    #[inline(always)]
    pub(crate) fn of_lane(lane: Places, mut place: u16, until: u16) -> Self {
        let first = lane.peek(place);
        let mut last = first;
        deref(first).stage.set(Stage::Waiting);
        place = place.wrapping_add(1);
        while place != until {
            let letter = lane.peek(place);
            deref(letter).stage.set(Stage::Waiting);
            deref(last).next.set(Some(letter));
            last = letter;
            place = place.wrapping_add(1);
        }
        deref(last).next.set(None);
        Self { first, last }
    }

    /// Both, by age; of letters that are equally old, those of this one first. By itself, because a loop costs registers.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn merge(self, other: Self, is_older: impl Fn(NonNull<Head>, NonNull<Head>) -> bool) -> Self {
        let first = if is_older(other.first, self.first) { other.first } else { self.first };
        let (mut one, mut another) = (self.first, other.first);
        let mut last = first;
        loop {
            // The older of the two comes behind the last, which for the first is itself.
            let takes_another = is_older(another, one);
            let next = if takes_another { another } else { one };
            if last != next {
                deref(last).next.set(Some(next));
            }
            last = next;
            match deref(next).next.get() {
                Some(behind) if takes_another => another = behind,
                Some(behind) => one = behind,
                None => {
                    let (rest, end) = if takes_another { (one, self.last) } else { (another, other.last) };
                    deref(last).next.set(Some(rest));
                    return Self { first, last: end };
                }
            }
        }
    }
}

impl fmt::Debug for Lists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lists")
    }
}

/// A slot's head from a link of a list.
#[inline(always)]
pub(crate) fn deref<'a>(letter: NonNull<Head>) -> &'a Head {
    // SAFETY: links are made from slots of static mailboxes, or from those of a rehearsal, which cannot move once it has
    // linked one and whose lists nobody walks after it; the fields are cells.
    unsafe { letter.as_ref() }
}

/// Whether a lane may have a writer that was not received, from the place after the last one that was sent, and the next place that is
/// received.
///
/// The sender writes down the place of a writer before it publishes it. So whoever has seen a writer published finds its place here, or that
/// of a later one; and what was not received is no further ahead than the lane has slots. Places come again after 65536 letters, and then a
/// writer of old may seem to be ahead: it is looked for in vain.
#[inline(always)]
fn is_writer_ahead(after_writer: u16, received: u16, mask: u16) -> bool {
    after_writer.wrapping_sub(received).wrapping_sub(1) <= mask
}

#[cfg(test)]
mod tests {
    use super::is_writer_ahead;

    /// Wherever the counts are: a writer that was not received is never overlooked, and seldom is there one for no reason.
    #[test]
    fn writers_that_were_not_received_are_ahead() {
        const SLOTS: u16 = 8;
        for received in [0, 1, 5, 0x7FFF, 0x8000, 0xFFF9, 0xFFFF_u16] {
            for place in 0..SLOTS {
                let after = received.wrapping_add(place).wrapping_add(1);
                assert!(is_writer_ahead(after, received, SLOTS - 1), "the letter {place} places after {received}");
            }
            for place in 0..u16::MAX - SLOTS {
                let after = received.wrapping_sub(place);
                assert!(!is_writer_ahead(after, received, SLOTS - 1), "received {place} letters before {received}");
            }
        }
        assert!(!is_writer_ahead(0, 0, SLOTS - 1), "there was no letter at all");
    }
}
