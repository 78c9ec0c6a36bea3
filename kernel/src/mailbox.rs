//! A mailbox: one lane per core, and the order of its letters by age.
//!
//! # Age
//!
//! Three rules: letters of one sender keep their order, also if the sender moved to another core; if one letter caused
//! another, it is older, whatever path the cause took; what is in the inbox never becomes younger than what arrives later.
//!
//! No clock is needed. A letter's stamp is the sum of all its mailbox's tails at the send. A cause's send happened before, so
//! its tail is visible to the effect's sender, whose own tail has grown as well or is about to: the effect's sum is larger.
//! (If the cause went through the same lane, the lane's own tail grew between the two. If it went through another, that
//! tail was counted: coherence alone makes it visible, so the read needs no ordering.) Sums wrap around; what is compared
//! lies within one mailbox's capacity, far less than half the range.
//!
//! # A consistent cut
//!
//! The receiver must not see an effect and miss its cause. It reads the tails one after the other, and a cause may arrive in
//! a lane already read before its effect arrives in one still to be read. So lanes are read again after a letter was found:
//! acquiring the effect's tail makes the cause's visible. It ends, because lanes are bounded.
//!
//! # Office and slots
//!
//! The [`Office`] is all of a mailbox that does not depend on the actor's type: its desk and the heads of its lanes. Workers
//! know actors by their offices; what they ask of the actor itself is [`Resident`].

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::cores;
use crate::desk::{Desk, Resident};
#[cfg(all(target_os = "none", target_arch = "arm"))]
use crate::lane;
use crate::lane::{Counts, Lane, LaneHead, Place, Shared};
use crate::letter::{Head, Label, Link, Top};
use crate::lists::{Chain, Lists, ListsOf};
use crate::methods::Methods;
use crate::monitor::{Discipline, Monitor};
use crate::port::{self, FOREIGN_THREADS, MAX_CORES};
use crate::ready::Ready;
use crate::share::Share;
use crate::slots::{Slots, is_older};
#[cfg(all(target_os = "none", target_arch = "arm"))]
use crate::sync::Raised;
use crate::sync::{Guarded, Mutant, array_of, const_unless_loom, removed};
use crate::trace;
use crate::visit;

/// Lists without a letter, natively in a constant.
macro_rules! no_letters {
    () => {{
        #[cfg(not(loom))]
        let lists = ListsOf::EMPTY;
        #[cfg(loom)]
        let lists = ListsOf::empty();
        lists
    }};
}

/// The letters of an actor: everything that is zero when the program starts, and therefore takes no flash.
///
/// Its type names the monitor too, although no monitor is in it: how letters leave their lanes depends on it.
#[repr(C)]
pub struct Mail<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> {
    office: Office<[LaneHead; L]>,
    pub(crate) lists: <M::Discipline as Discipline>::Lists,
    lanes: [Slots<A, <M::Discipline as Discipline>::Lists, N, P>; L],
    monitor: PhantomData<fn() -> M>,
}

// SAFETY: the office and the slots are `Sync` by themselves, for the reasons given there. The lists are used under the lock of the
// desk only (but for what is atomic in them). No monitor is in it.
#[expect(unsafe_code, reason = "shares the lists between cores, under the lock")]
unsafe impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Sync for Mail<A, M, N, P, L> {}

impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Mail<A, M, N, P, L> {
    const_unless_loom! {
        /// An empty mailbox.
        #[expect(clippy::new_without_default, reason = "`Default` is not const")]
        pub fn new() -> Self {
            const { assert!(L >= 1 && L <= MAX_CORES, "an actor has at least one lane and at most one per core") };
            const { assert!(N * L < 1 << 15, "the lanes of an actor hold fewer than 32768 letters together") };
            Self {
                office: Office { desk: Desk::new(), counts: Counts::new(), lanes: array_of!(LaneHead::new()) },
                lists: no_letters!(),
                lanes: array_of!(Slots::new()),
                monitor: PhantomData,
            }
        }
    }

    /// The part that does not depend on the actor's type.
    #[inline(always)]
    pub(crate) fn office(&self) -> &Office {
        &self.office
    }

    /// The same, if there is a lane for each core.
    #[cfg(target_os = "none")]
    #[expect(unsafe_code, reason = "says how many lanes there are")]
    pub(crate) fn straight_office(&'static self) -> Option<&'static Office<[LaneHead; MAX_CORES]>> {
        // SAFETY: this very type, if there are as many lanes.
        (L == MAX_CORES).then(|| unsafe { &*(&raw const self.office).cast() })
    }

    /// The slots of all lanes, for [`Lists::move_in`].
    pub(crate) fn all_slots(&self) -> NonNull<()> {
        NonNull::from(&self.lanes).cast()
    }

    /// The slots of a lane; the index is that of a lane, as in [`Office::lane`].
    #[expect(unsafe_code, reason = "spares the check of an index")]
    #[inline(always)]
    pub(crate) fn slots(&self, lane: usize) -> &Slots<A, <M::Discipline as Discipline>::Lists, N, P> {
        debug_assert!(lane < L);
        // SAFETY: the argument of `Office::lane`; there are as many slots as heads.
        unsafe { self.lanes.get_unchecked(lane) }
    }
}

/// The desk of an actor and the heads of its lanes.
#[repr(C)]
pub(crate) struct Office<Lanes: ?Sized = [LaneHead]> {
    // First, because it is looked at most.
    counts: Counts,
    pub(crate) desk: Desk,
    lanes: Lanes,
}

/// Which lane a sender uses.
#[derive(Clone, Copy)]
pub(crate) struct LaneOf {
    pub(crate) index: usize,
    /// Whether other cores or threads send through it too, so that it must be locked.
    pub(crate) shared: bool,
}

impl Office {
    /// Where foreign threads exist, lane 0 is theirs and that of cores beyond the lanes; each other lane has one core.
    #[expect(unsafe_code, reason = "says that a core's number is below the limit")]
    #[inline(always)]
    pub(crate) fn lane_of(&self, core: u8) -> LaneOf {
        let (core, lanes) = (usize::from(core), self.lanes.len());
        if FOREIGN_THREADS {
            return if core + 1 < lanes {
                LaneOf { index: core + 1, shared: false }
            } else {
                LaneOf { index: 0, shared: true }
            };
        }
        // SAFETY: the number of a core, which the port's rules keep below the limit.
        unsafe { core::hint::assert_unchecked(core < MAX_CORES) };
        if core < lanes && (lanes >= MAX_CORES || core + 1 < lanes) {
            LaneOf { index: core, shared: false }
        } else {
            LaneOf { index: lanes - 1, shared: true }
        }
    }

    /// Whether a chip's cores share lanes of this mailbox. (Asked first, so that the compiler knows how many there are.)
    #[inline(always)]
    pub(crate) fn has_few_lanes(&self) -> bool {
        !FOREIGN_THREADS && self.lanes.len() != MAX_CORES
    }

    /// A lane.
    ///
    /// The index comes from [`lane_of`](Self::lane_of), or was counted from the lanes: it is below their number, which is at
    /// least one (checked by [`Mail::new`]). A check here would bring a panic with its text into every image.
    #[expect(unsafe_code, reason = "spares the check of an index")]
    #[inline(always)]
    pub(crate) fn lane(&self, index: usize) -> Lane<'_> {
        debug_assert!(index < self.lanes.len());
        // SAFETY: the argument above; there are at most as many lanes as cores.
        unsafe { Lane::new(&self.counts, self.lanes.get_unchecked(index), index) }
    }

    /// The lanes that can have letters at all, with this many cores.
    #[inline(always)]
    pub(crate) fn lanes_in_use(&self) -> impl Iterator<Item = (usize, Lane<'_>)> {
        let lanes = self.lanes.len();
        let in_use = if FOREIGN_THREADS { lanes.min(usize::from(port::cores()) + 1) } else { lanes };
        (0..in_use).map(|lane| (lane, self.lane(lane)))
    }

    /// The lanes in use except one. (The limit is compared lane by lane, so that the loop unrolls into straight lines.)
    #[inline(always)]
    fn others(&self, own: usize) -> impl Iterator<Item = Lane<'_>> {
        let last = usize::from(port::cores());
        let in_use = move |&lane: &usize| !FOREIGN_THREADS || lane <= last;
        (0..self.lanes.len()).take_while(in_use).filter(move |&lane| lane != own).map(|lane| self.lane(lane))
    }

    /// The only other lane in use, where there is just one: the other core's on a chip, the foreign threads' on a host with
    /// one core.
    #[inline(always)]
    fn only_other(&self, own: usize) -> Option<Lane<'_>> {
        if FOREIGN_THREADS {
            (own != 0 && port::cores() == 1).then(|| self.lane(0))
        } else if self.lanes.len() == 2 {
            Some(self.lane((own & 1) ^ 1))
        } else {
            None
        }
    }

    /// Runs `work` as the sender of its lane: interrupts are masked, and the lane is locked where several senders share it.
    #[inline(always)]
    pub(crate) fn as_sender<R>(&self, here: u8, work: impl FnOnce(LaneOf, Lane<'_>) -> R) -> R {
        let own = self.lane_of(here);
        let lane = self.lane(own.index);
        if own.shared {
            let _held = self.share(lane);
            work(own, lane)
        } else {
            work(own, lane)
        }
    }

    /// Holds a lane for one of several senders while this lives. Interrupts are masked by the caller.
    #[cfg(target_os = "none")]
    fn share<'a>(&'a self, _: Lane<'a>) -> Shared<'a> {
        // Only one lane of a mailbox is shared, if any.
        Shared::take(self.desk.lane_word())
    }

    #[cfg(not(target_os = "none"))]
    fn share<'a>(&'a self, lane: Lane<'a>) -> Shared<'a> {
        Shared::take(lane.word_of_senders())
    }

    /// Lets letters in: the actor got its number. The first lane last: whoever finds it open may use any.
    pub(crate) fn open(&self, capacity: u16) {
        (0..self.lanes.len()).rev().for_each(|lane| self.lane(lane).open(capacity));
    }

    /// Whether somebody rang or wants room, asked after the release.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[expect(unsafe_code, reason = "reads flags by their place")]
    #[inline(always)]
    pub(crate) fn has_calls(&self) -> bool {
        const BEHIND: usize = core::mem::offset_of!(Office<[LaneHead; 1]>, desk) + Desk::CALLS;
        // SAFETY: there the flags are, however many lanes there are: those come last.
        unsafe { Raised::behind::<BEHIND>((&raw const *self).cast()) }.any()
    }

    /// The same.
    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    pub(crate) fn has_calls(&self) -> bool {
        self.desk.calls()
    }

    /// Sends a letter by any lane, to an actor that has its number; false if there is no room. `write` writes it into its place of
    /// its lane and publishes it.
    #[inline(never)]
    pub(crate) fn send(&'static self, write: &mut dyn FnMut(usize, u16)) -> bool {
        let _masked = port::mask();
        let here = port::core();
        let sent = self.as_sender(here, |own, lane| {
            let room = lane.room();
            match room {
                Some(place) => write(own.index, place),
                None => lane.was_full(),
            }
            room.is_some()
        });
        if sent {
            visit::note(self, here);
        }
        sent
    }

    /// The stamp of a letter sent now.
    #[inline(always)]
    pub(crate) fn stamp(&self, own: usize, own_tail: u16) -> u16 {
        if removed(Mutant::StampOwnLaneOnly) {
            return own_tail;
        }
        // Both, wherever the own one is: their places are known without it.
        #[cfg(all(target_os = "none", target_arch = "arm"))]
        if self.lanes.len() == MAX_CORES {
            return self.counts.sum_of_tails();
        }
        if !FOREIGN_THREADS && self.lanes.len() == 2 {
            return self.lane(0).tail().wrapping_add(self.lane(1).tail());
        }
        if let Some(other) = self.only_other(own) {
            return own_tail.wrapping_add(other.tail());
        }
        self.others(own).fold(own_tail, |sum, lane| sum.wrapping_add(lane.tail()))
    }

    /// Marks the actor as noted on a core; true if it was not. Interrupts are masked.
    #[inline(always)]
    pub(crate) fn mark(&self, here: u8) -> bool {
        if !Ready::KEEPS_MARKS {
            return true;
        }
        let own = self.lane_of(here);
        if own.shared { self.mark_member(here) } else { self.lane(own.index).mark() }
    }

    /// It was taken out of a core's ready set.
    #[inline(always)]
    pub(crate) fn unmark(&self, here: u8, own: LaneOf) {
        if own.shared {
            self.unmark_member(here);
        } else {
            self.lane(own.index).unmark();
        }
    }

    /// Where the lane is shared, marks are in the core's set. The actor has its number.
    #[cold]
    #[inline(never)]
    fn mark_member(&self, here: u8) -> bool {
        self.desk.id().is_some_and(|id| cores::core(here).ready.join(id))
    }

    #[cold]
    #[inline(never)]
    fn unmark_member(&self, here: u8) {
        let _masked = port::mask();
        if let Some(id) = self.desk.id() {
            cores::core(here).ready.part(id);
        }
    }

    /// The oldest letters, for an actor that runs letters straight from its lanes.
    ///
    /// `own` is read first: if nothing is found elsewhere, everything else was read after it, and one pass is a consistent
    /// cut. All its letters are older then than what arrives later.
    #[inline(always)]
    pub(crate) fn oldest(&self, own: usize, resident: &(impl Resident + ?Sized)) -> Run {
        let until = self.lane(own).published();
        if self.others_have_letters(own) {
            let lane = self.oldest_of_many(resident);
            return Run { lane, until: self.lane(lane).received().wrapping_add(1), all: false };
        }
        Run { lane: own, until, all: true }
    }

    /// What was sent and received through both lanes, in the halves of words.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn counts(&self) -> (u32, u32) {
        self.counts.counts()
    }

    /// What was received, in the halves of a word.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn received(&self) -> u32 {
        self.counts.received()
    }

    /// The oldest letter, if only one lane has letters.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn in_one_lane(&self) -> Option<Place> {
        let (sent, received) = self.counts();
        lane::in_one_lane(sent, received)
    }

    /// Whether one load shows all lanes.
    pub(crate) const SHOWS_ALL_LANES: bool = cfg!(all(target_os = "none", target_arch = "arm"));

    /// The only letter there is, for the straight line of a visit.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn only_letter_at_hand(&self, _here: u8) -> Option<Place> {
        if self.has_few_lanes() { None } else { self.counts.only_letter() }
    }

    /// The same where one load does not show all lanes: if it is in the lane of this core's own. That is read first, all others after
    /// it.
    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    pub(crate) fn only_letter_at_hand(&self, here: u8) -> Option<Place> {
        let LaneOf { index: own, shared } = self.lane_of(here);
        let until = self.lane(own).published();
        let place = self.lane(own).received();
        let is_only =
            !self.has_few_lanes() && !shared && until == place.wrapping_add(1) && !self.others_have_letters(own);
        is_only.then(|| Place::new(own, place))
    }

    /// The only letter there is in any lane; where a chip's cores have a lane each.
    ///
    /// The lanes are read twice: a letter found by the first pass is still there, because only the holder of the lock receives, and
    /// whatever caused it is visible to the second. So if that finds one letter, no older one is missing.
    #[inline(always)]
    pub(crate) fn only_letter(&self, own: usize) -> OnlyLetter {
        if !self.lane(own).has_letter() && !self.others_have_letters(own) {
            return OnlyLetter::None;
        }
        let lanes = self.lanes.len();
        let mut lane = own;
        let mut letters = self.lane(own).waiting();
        for other in (1..lanes).map(|step| (own + step) % lanes) {
            let more = self.lane(other).waiting();
            if more != 0 {
                lane = other;
                letters += more;
            }
        }
        match letters {
            0 => OnlyLetter::None,
            1 => OnlyLetter::One(Place::new(lane, self.lane(lane).received())),
            _ => OnlyLetter::Several,
        }
    }

    /// Whether a lane but the own has a letter.
    #[inline(always)]
    pub(crate) fn others_have_letters(&self, own: usize) -> bool {
        match self.only_other(own) {
            Some(other) => other.has_letter(),
            None => self.others(own).any(Lane::has_letter),
        }
    }

    /// Some lane has a letter. Passes are repeated until one finds nothing older than the one before.
    #[inline(never)]
    fn oldest_of_many(&self, resident: &(impl Resident + ?Sized)) -> usize {
        let mut oldest = None;
        loop {
            let before = oldest;
            for (lane, head) in self.lanes_in_use() {
                if head.has_letter() {
                    let stamp = stamp_of(resident.letter(lane, head.received()));
                    if oldest.is_none_or(|(_, older)| is_older(stamp, older)) {
                        oldest = Some((lane, stamp));
                    }
                }
            }
            if let Some((lane, _)) = oldest
                && (oldest == before || removed(Mutant::OldestNotRepeated))
            {
                return lane;
            }
        }
    }

    /// Appends all letters of a consistent cut to the inbox, by age.
    ///
    /// The own lane is read first, all others after it: if only it has letters, the cut is consistent already.
    // By itself on a chip: its caller has no registers left for it.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(crate) fn drain(&self, inbox: &Lists, own: usize) {
        let lane = self.lane(own);
        let until = lane.published();
        if self.others_have_letters(own) {
            return self.drain_many(inbox, own);
        }
        let place = lane.received();
        if place == until {
            return;
        }
        if until.wrapping_sub(place) != 1 {
            return self.drain_several(inbox, own, until);
        }
        trace::listed(1);
        inbox.append(Chain::of_one(inbox.lane(own).peek(place)));
        lane.receive_until(until);
    }

    /// Appends all letters of a lane up to a place. By itself, because a loop costs registers.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn drain_several(&self, inbox: &Lists, own: usize, until: u16) {
        let lane = self.lane(own);
        trace::listed(until.wrapping_sub(lane.received()));
        inbox.append(Chain::of_lane(inbox.lane(own), lane.received(), until));
        lane.receive_until(until);
    }

    /// What has come while letters were run, before the monitor hears that they have ended: if letters wait, it is listed with them; otherwise
    /// it stays in the lanes.
    #[inline(always)]
    pub(crate) fn list_if_others_wait(&self, inbox: &Lists, own: usize) {
        if !inbox.is_empty() && self.has_letters(own) {
            self.drain(inbox, own);
        }
    }

    /// Keeps the high-water marks of both lanes of a chip, at a moment when so many letters were ever sent, in the halves of a word.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(never)]
    pub(crate) fn note_depths(&self, sent: u32) {
        self.lanes_in_use().for_each(|(index, lane)| lane.note_depth((sent >> (16 * index)) as u16));
    }

    /// Whether a letter that is the next of its lane is the only one there is. The lock is held. A hint: it may be although this says no; and if it is
    /// the 65536th of the first lane, there may be one in the other although this says yes.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn is_only(&self, at: Place) -> bool {
        at.is_last(self.counts.sent())
    }

    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    pub(crate) fn is_only(&self, at: Place) -> bool {
        self.lane(at.lane()).published() == at.place().wrapping_add(1) && !self.others_have_letters(at.lane())
    }

    /// Whether there is a letter in any lane.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn has_letters(&self, _own: usize) -> bool {
        self.counts.has_letters()
    }

    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    pub(crate) fn has_letters(&self, own: usize) -> bool {
        self.lane(own).has_letter() || self.others_have_letters(own)
    }

    /// A consistent cut: how many letters were sent through each lane.
    #[inline(always)]
    fn cut(&self, own: usize) -> [u16; MAX_CORES] {
        let mut cut = self.tails(own);
        loop {
            let again = self.tails(own);
            if again == cut || removed(Mutant::CutNotRepeated) {
                return cut;
            }
            cut = again;
        }
    }

    /// Puts a reader back into its lane, of those that were received last, and are neither granted nor listed: when all are back, each is where
    /// it was. The lock is held.
    #[cold]
    pub(crate) fn put_back(&self, letter: NonNull<Head>) {
        self.lane(label_of(letter).lane()).put_back();
    }

    /// Frees the slots of letters that have left: those of a share from one up to another, one at least. The lock is held.
    #[inline(always)]
    pub(crate) fn free_share(&self, lists: &Lists, share: &Share, from: u8, until: u8) {
        let capacity = lists.descriptor().layout.capacity();
        let in_order = share.row(from).is_some_and(|(lane, place)| {
            lists.lane(lane).names(place, label_of(share.letter(from)).slot())
                && self.lane(lane).free_if_next(place, u16::from(until - from), capacity)
        });
        if !in_order {
            self.free_each(lists, share.kept(from, until));
        }
    }

    /// The same for letters that others have overtaken, or that came from several lanes. By itself, because a loop costs registers.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn free_each(&self, lists: &Lists, letters: &[Guarded<Link>]) {
        for letter in letters.iter().filter_map(Guarded::get) {
            let label = label_of(letter);
            lists.lane(label.lane()).free(self.lane(label.lane()), label.slot());
        }
    }

    /// The next letters of one lane, for whoever takes readers as they come: this core's own, if that has any and no other lane has one that is much
    /// older. None also if another lane may have a writer, which must not be passed.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn next_row(&self, lists: &Lists, own: usize) -> Option<Row> {
        let (sent, received) = self.counts.counts();
        if let Some(at) = lane::in_one_lane(sent, received) {
            let letters = at.waiting(sent);
            return Some(Row { lane: at.lane(), place: at.place(), letters, all: letters });
        }
        if sent == received {
            return None;
        }
        let half = |word: u32, lane: usize| (word >> (16 * lane)) as u16;
        let received = |lane| half(received, lane);
        let letters = |lane| half(sent, lane).wrapping_sub(received(lane));
        let lane = if is_much_older(lists, (own ^ 1, received(own ^ 1)), (own, received(own))) { own ^ 1 } else { own };
        let other = lane ^ 1;
        (!lists.has_writer(other, received(other))).then(|| Row {
            lane,
            place: received(lane),
            letters: letters(lane),
            all: letters(lane) + letters(other),
        })
    }

    #[cfg(not(all(target_os = "none", target_arch = "arm")))]
    #[inline(always)]
    pub(crate) fn next_row(&self, lists: &Lists, own: usize) -> Option<Row> {
        let until = self.cut(own);
        let received = |lane: usize| self.lane(lane).received();
        let letters = |lane: usize| until[lane].wrapping_sub(received(lane));
        // Only those in use were looked at.
        let in_use = || self.lanes_in_use().map(|(lane, _)| lane);
        let others = || in_use().filter(|&lane| lane != own && letters(lane) != 0);
        let is_next =
            |lane, than| letters(than) == 0 || is_much_older(lists, (lane, received(lane)), (than, received(than)));
        let lane = others().fold(own, |chosen, lane| if is_next(lane, chosen) { lane } else { chosen });
        let may_be_passed = |other| !lists.has_writer(other, received(other)) || removed(Mutant::WriterPassed);
        let with_letters = || others().chain((letters(own) != 0).then_some(own));
        if letters(lane) == 0 || !with_letters().filter(|&other| other != lane).all(may_be_passed) {
            return None;
        }
        Some(Row { lane, place: received(lane), letters: letters(lane), all: with_letters().map(letters).sum() })
    }

    #[inline(never)]
    fn drain_many(&self, inbox: &Lists, own: usize) {
        let cut = self.cut(own);
        let mut letters: Option<Chain> = None;
        for ((index, lane), &until) in self.lanes_in_use().zip(&cut) {
            let place = lane.received();
            if place != until {
                trace::listed(until.wrapping_sub(place));
                let chain = Chain::of_lane(inbox.lane(index), place, until);
                lane.receive_until(until);
                letters = Some(match letters {
                    None => chain,
                    Some(others) => others.merge(chain, |one, other| is_older(stamp_of(one), stamp_of(other))),
                });
            }
        }
        if let Some(letters) = letters {
            inbox.append(letters);
        }
    }

    /// The published tails, the own lane's first.
    #[inline(always)]
    fn tails(&self, own: usize) -> [u16; MAX_CORES] {
        let mut tails = [0; MAX_CORES];
        tails[own] = self.lane(own).published();
        for (lane, head) in self.lanes_in_use().filter(|&(lane, _)| lane != own) {
            tails[lane] = head.published();
        }
        tails
    }

    /// The most letters that one lane had at once.
    pub(crate) fn high_water(&self, capacity: usize) -> usize {
        if self.desk.id().is_none() {
            return 0;
        }
        self.lanes_in_use().map(|(_, lane)| lane.high_water(capacity)).max().unwrap_or(0)
    }

    /// Letters in all lanes that have not left yet.
    pub(crate) fn occupied(&self, capacity: usize) -> usize {
        if self.desk.id().is_none() {
            return 0;
        }
        self.lanes_in_use().map(|(_, lane)| lane.occupied(capacity)).sum()
    }
}

/// The next letters of one lane.
pub(crate) struct Row {
    pub(crate) lane: usize,
    /// The place of the first.
    pub(crate) place: u16,
    /// How many there are.
    pub(crate) letters: u16,
    /// How many there are in all lanes.
    pub(crate) all: u16,
}

/// Whether a letter, at a place of a lane, is so much older than another one that it comes first, whichever lane that is.
#[inline(always)]
fn is_much_older(lists: &Lists, (lane, place): (usize, u16), (than, at): (usize, u16)) -> bool {
    /// So many letters may pass a reader.
    const PATIENCE: u16 = 64;
    let stamp = |lane, place| stamp_of(lists.lane(lane).peek(place));
    is_older(stamp(lane, place).wrapping_add(PATIENCE), stamp(than, at))
}

/// Letters that are next: those of one lane, up to a place.
pub(crate) struct Run {
    pub(crate) lane: usize,
    pub(crate) until: u16,
    /// Whether these are all there are.
    pub(crate) all: bool,
}

/// Whether there is exactly one letter.
pub(crate) enum OnlyLetter {
    None,
    One(Place),
    Several,
}

#[expect(unsafe_code, reason = "reads the head of a slot")]
#[inline(always)]
pub(crate) fn stamp_of(letter: NonNull<Head>) -> u16 {
    // SAFETY: `letter` is a slot of a static mailbox, published and not freed.
    unsafe { Top::of(letter) }.stamp.get()
}

#[expect(unsafe_code, reason = "reads the head of a slot")]
#[inline(always)]
fn label_of(letter: NonNull<Head>) -> Label {
    // SAFETY: as in `stamp_of`.
    unsafe { letter.as_ref() }.label.get()
}
