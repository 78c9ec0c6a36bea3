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

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::desk::Desk;
use crate::inbox::Lists;
use crate::lane::Lane;
use crate::letter::Head;
use crate::methods::Methods;
use crate::monitor::Monitor;
use crate::port::{self, FOREIGN_THREADS, MAX_CORES};
use crate::sync::{Mutant, array_of, const_unless_loom, removed};

/// The letters of an actor: everything that is zero when the program starts, and therefore takes no flash.
///
/// Its type names the monitor too, although no monitor is in it: how letters leave their lanes depends on it.
pub struct Mail<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> {
    pub(crate) desk: Desk,
    pub(crate) lanes: [Lane<A, N, P>; L],
    monitor: PhantomData<fn() -> M>,
}

/// Which lane a sender uses.
#[derive(Clone, Copy)]
pub(crate) struct LaneOf {
    pub(crate) index: usize,
    /// Whether other cores or threads send through it too, so that it must be locked.
    pub(crate) shared: bool,
}

impl<A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize> Mail<A, M, N, P, L> {
    const_unless_loom! {
        /// An empty mailbox.
        #[expect(clippy::new_without_default, reason = "`Default` is not const")]
        pub fn new() -> Self {
            const { assert!(L >= 1 && L <= MAX_CORES, "an actor has at least one lane and at most one per core") };
            const { assert!(N * L < 1 << 15, "the lanes of an actor hold fewer than 32768 letters together") };
            Self { desk: Desk::new(), lanes: array_of!(Lane::new()), monitor: PhantomData }
        }
    }

    /// Where foreign threads exist, lane 0 is theirs and that of cores beyond the lanes; each other lane has one core.
    #[inline(always)]
    pub(crate) fn lane_of(core: u8) -> LaneOf {
        let core = usize::from(core);
        if FOREIGN_THREADS {
            if core + 1 < L { LaneOf { index: core + 1, shared: false } } else { LaneOf { index: 0, shared: true } }
        } else if core < L && (L >= MAX_CORES || core + 1 < L) {
            LaneOf { index: core, shared: false }
        } else {
            LaneOf { index: L - 1, shared: true }
        }
    }

    /// How many lanes can have letters at all, with this many cores.
    #[inline(always)]
    fn lanes_in_use() -> usize {
        if FOREIGN_THREADS { L.min(usize::from(port::cores()) + 1) } else { L }
    }

    #[inline(always)]
    pub(crate) fn lanes(&self) -> &[Lane<A, N, P>] {
        &self.lanes[..Self::lanes_in_use()]
    }

    /// The lanes in use except one. (The limit is compared lane by lane, so that the loop unrolls into straight lines.)
    #[inline(always)]
    fn lanes_in_use_except(&self, own: usize) -> impl Iterator<Item = usize> {
        let last = usize::from(port::cores());
        (0..L).take_while(move |&lane| !FOREIGN_THREADS || lane <= last).filter(move |&lane| lane != own)
    }

    /// The stamp of a letter sent now.
    #[inline(always)]
    pub(crate) fn stamp(&self, own: usize, own_tail: u16) -> u16 {
        if removed(Mutant::StampOwnLaneOnly) {
            return own_tail;
        }
        if Self::has_one_core(own) {
            return own_tail.wrapping_add(self.lanes[0].tail());
        }
        self.lanes_in_use_except(own).fold(own_tail, |sum, lane| sum.wrapping_add(self.lanes[lane].tail()))
    }

    /// The oldest letters, for an actor that runs letters straight from its lanes.
    ///
    /// `own` is read first: if nothing is found elsewhere, everything else was read after it, and one pass is a consistent
    /// cut. All its letters are older then than what arrives later.
    #[inline(always)]
    pub(crate) fn oldest(&self, own: usize) -> Run {
        let until = self.lanes[own].published();
        if self.others_have_letters(own) {
            let lane = self.oldest_of_many();
            return Run { lane, until: self.lanes[lane].received().wrapping_add(1), all: false };
        }
        Run { lane: own, until, all: true }
    }

    /// Whether a lane but the own has a letter.
    #[inline(always)]
    pub(crate) fn others_have_letters(&self, own: usize) -> bool {
        if Self::has_one_core(own) {
            return self.has_letter(0);
        }
        self.lanes_in_use_except(own).any(|lane| self.has_letter(lane))
    }

    /// Whether the only other lane in use is that of foreign threads.
    #[inline(always)]
    fn has_one_core(own: usize) -> bool {
        FOREIGN_THREADS && L > 1 && own != 0 && port::cores() == 1
    }

    #[inline(always)]
    fn has_letter(&self, lane: usize) -> bool {
        self.lanes[lane].published() != self.lanes[lane].received()
    }

    /// Some lane has a letter. Passes are repeated until one finds nothing older than the one before.
    #[inline(never)]
    fn oldest_of_many(&self) -> usize {
        let mut oldest = None;
        loop {
            let before = oldest;
            for lane in 0..Self::lanes_in_use() {
                if self.has_letter(lane) {
                    let stamp = self.stamp_of(self.lanes[lane].peek());
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

    #[expect(unsafe_code, reason = "reads the head of a slot")]
    #[inline(always)]
    fn stamp_of(&self, letter: NonNull<Head>) -> u16 {
        // SAFETY: `letter` is a slot of this static mailbox, published and not freed.
        unsafe { letter.as_ref() }.stamp.get()
    }

    /// Appends all letters of a consistent cut to the inbox, by age.
    ///
    /// The own lane is read first, all others after it: if only it has letters, the cut is consistent already.
    #[inline(always)]
    pub(crate) fn drain(&self, inbox: &Lists, own: usize) {
        let until = self.lanes[own].published();
        if self.others_have_letters(own) {
            return self.drain_many(inbox, own);
        }
        let lane = &self.lanes[own];
        lane.note_depth(until);
        while lane.received() != until {
            inbox.append(lane.peek());
            lane.receive();
        }
    }

    #[inline(never)]
    fn drain_many(&self, inbox: &Lists, own: usize) {
        let mut cut = self.tails(own);
        loop {
            let again = self.tails(own);
            if again == cut || removed(Mutant::CutNotRepeated) {
                break;
            }
            cut = again;
        }
        for lane in 0..Self::lanes_in_use() {
            self.lanes[lane].note_depth(cut[lane]);
        }
        while let Some(lane) = self.oldest_in(&cut) {
            inbox.append(self.lanes[lane].peek());
            self.lanes[lane].receive();
        }
    }

    /// The published tails, the own lane's first.
    #[inline(always)]
    fn tails(&self, own: usize) -> [u16; L] {
        let mut tails = [0; L];
        tails[own] = self.lanes[own].published();
        for lane in self.lanes_in_use_except(own) {
            tails[lane] = self.lanes[lane].published();
        }
        tails
    }

    #[inline(always)]
    fn oldest_in(&self, cut: &[u16; L]) -> Option<usize> {
        let mut oldest = None;
        for (lane, &tail) in cut.iter().enumerate().take(Self::lanes_in_use()) {
            if tail != self.lanes[lane].received() {
                let stamp = self.stamp_of(self.lanes[lane].peek());
                if oldest.is_none_or(|(_, older)| is_older(stamp, older)) {
                    oldest = Some((lane, stamp));
                }
            }
        }
        oldest.map(|(lane, _)| lane)
    }

    /// The most letters that one lane had at once.
    pub(crate) fn high_water(&self) -> usize {
        self.lanes.iter().map(Lane::high_water).max().unwrap_or(0)
    }

    /// Letters in all lanes that have not left yet.
    pub(crate) fn occupied(&self) -> usize {
        self.lanes.iter().map(Lane::occupied).sum()
    }
}

/// Letters that are next: those of one lane, up to a place.
pub(crate) struct Run {
    pub(crate) lane: usize,
    pub(crate) until: u16,
    /// Whether these are all there are.
    pub(crate) all: bool,
}

/// Wrap-safe comparison of stamps of one mailbox.
#[inline(always)]
fn is_older(stamp: u16, than: u16) -> bool {
    (stamp.wrapping_sub(than) as i16) < 0
}
