//! Where letters are: places in lanes, and how to find them from the counts of two lanes at once.
#![cfg_attr(
    any(all(target_os = "none", target_arch = "arm"), test),
    expect(unsafe_code, reason = "says that a lane is one of two")
)]

use core::ptr::NonNull;

use crate::letter::Head;

/// The only letter, from what was sent and received through two lanes, each in half a word. None also for a letter
/// that is the 65536th of the first lane.
#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
#[inline(always)]
pub(super) fn only_letter(sent: u32, received: u32) -> Option<PlaceInHalves> {
    let waiting = sent.wrapping_sub(received);
    if waiting != 1 {
        // Sooner than from the other core a letter comes from this one, most often the first.
        core::hint::cold_path();
        if waiting != 1 << 16 {
            return None;
        }
    } else if sent as u16 == 0 {
        core::hint::cold_path();
        // The lower half went over, and has borrowed from the upper one, which may have a letter then.
        return None;
    }
    Some(PlaceInHalves { lane: waiting, received })
}

/// The oldest letter, if one of the two lanes has letters and the other one has none.
#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
#[inline(always)]
pub(crate) fn in_one_lane(sent: u32, received: u32) -> Option<PlaceInHalves> {
    let differ = sent ^ received;
    let mut lane = 1;
    if differ >> 16 != 0 {
        core::hint::cold_path();
        if differ as u16 != 0 {
            return None;
        }
        lane = 1 << 16;
    } else if differ == 0 {
        core::hint::cold_path();
        return None;
    }
    Some(PlaceInHalves { lane, received })
}

/// Whether the letters between two counts of two lanes, each in half a word, include one whose place is a multiple of a power of two.
#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
#[inline(always)]
pub(crate) fn has_gone_over(sent: u32, received: u32, power: u16) -> bool {
    let parts = !(u32::from(power - 1) * 0x1_0001);
    (sent ^ received) & parts != 0
}

/// Where a letter is: in which lane, and at which place of it.
#[cfg(not(all(target_os = "none", target_arch = "arm")))]
#[derive(Clone, Copy)]
pub(crate) struct Place {
    lane: usize,
    place: u16,
}

#[cfg(not(all(target_os = "none", target_arch = "arm")))]
impl Place {
    #[inline(always)]
    pub(crate) fn new(lane: usize, place: u16) -> Self {
        Self { lane, place }
    }

    /// The place after it.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self { place: self.place.wrapping_add(1), ..self }
    }

    /// Only a chip has a place for a letter that was granted.
    #[inline(always)]
    pub(crate) fn granted(self) -> Option<NonNull<Head>> {
        None
    }

    #[inline(always)]
    pub(crate) fn lane(self) -> usize {
        self.lane
    }

    #[inline(always)]
    pub(crate) fn place(self) -> u16 {
        self.place
    }
}

#[cfg(all(target_os = "none", target_arch = "arm"))]
pub(crate) type Place = PlaceInHalves;

/// The same on a chip, as it is found without a branch: what it means is worked out where it is used.
#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlaceInHalves {
    /// 1 in one of the halves: that of the lane.
    lane: u32,
    /// In the half of the lane, the place; anything in the other one.
    received: u32,
}

#[cfg(any(all(target_os = "none", target_arch = "arm"), test))]
impl PlaceInHalves {
    #[inline(always)]
    pub(crate) fn new(lane: usize, place: u16) -> Self {
        let shift = Self::shift(lane);
        Self { lane: 1 << shift, received: u32::from(place) << shift }
    }

    /// In place of one: a letter that was granted.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn of_granted(letter: NonNull<Head>) -> Self {
        Self { lane: Self::GRANTED, received: letter.as_ptr().expose_provenance() as u32 }
    }

    /// The letter that was granted, if this is in place of a place.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn granted(self) -> Option<NonNull<Head>> {
        let letter = || {
            // SAFETY: it was no null pointer before, and there its provenance was exposed.
            unsafe { NonNull::new_unchecked(core::ptr::with_exposed_provenance_mut(self.received as usize)) }
        };
        (self.lane & Self::GRANTED != 0).then(letter)
    }

    /// The bit that no lane has.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    const GRANTED: u32 = 1 << 1;

    /// The place after it.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self { received: self.received.wrapping_add(self.lane), ..self }
    }

    #[inline(always)]
    pub(crate) fn lane(self) -> usize {
        let lane = self.lane >> 16;
        // SAFETY: the 1 is in one of the halves.
        unsafe { core::hint::assert_unchecked(lane < 2) };
        lane as usize
    }

    #[inline(always)]
    pub(crate) fn place(self) -> u16 {
        (self.received >> Self::shift(self.lane())) as u16
    }

    /// The oldest letter of the same lane, when so many were received.
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn after(self, received: u32) -> Self {
        Self { received, ..self }
    }

    /// Whether nothing was sent after it, when so many were sent. (Not if the other half is anything, or has changed.)
    #[cfg(all(target_os = "none", target_arch = "arm"))]
    #[inline(always)]
    pub(crate) fn is_last(self, sent: u32) -> bool {
        sent.wrapping_sub(self.received) == self.lane
    }

    /// How many letters of its lane were sent from it on.
    #[inline(always)]
    pub(crate) fn waiting(self, sent: u32) -> u16 {
        (sent.wrapping_sub(self.received) >> Self::shift(self.lane())) as u16
    }

    #[inline(always)]
    fn shift(lane: usize) -> u32 {
        (lane as u32 & 1) * 16
    }
}

#[cfg(test)]
mod tests {
    use super::{PlaceInHalves, has_gone_over, in_one_lane, only_letter};

    /// Whatever was counted before, also where counts go over: one letter is found, and nothing else is taken for one.
    #[test]
    fn one_letter_is_found_in_two_lanes() {
        let counts = [0, 1, 2, 5, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF_u16];
        let word = |lanes: [u16; 2]| u32::from(lanes[0]) | u32::from(lanes[1]) << 16;
        for (first, second) in counts.into_iter().flat_map(|first| counts.map(|second| (first, second))) {
            for (in_first, in_second) in counts.into_iter().flat_map(|first| counts.map(|second| (first, second))) {
                let sent = word([first.wrapping_add(in_first), second.wrapping_add(in_second)]);
                let found = only_letter(sent, word([first, second])).map(|found| (found.lane(), found.place()));
                let expected = match (in_first, in_second) {
                    (1, 0) if first != u16::MAX => Some((0, first)),
                    (0, 1) => Some((1, second)),
                    _ => None,
                };
                assert_eq!(found, expected, "{in_first} and {in_second} letters after {first} and {second}");
                let found = in_one_lane(sent, word([first, second]));
                let found = found.map(|found| (found.lane(), found.place(), found.waiting(sent)));
                let expected = match (in_first, in_second) {
                    (1.., 0) => Some((0, first, in_first)),
                    (0, 1..) => Some((1, second, in_second)),
                    _ => None,
                };
                assert_eq!(found, expected, "{in_first} and {in_second} letters after {first} and {second}");
            }
        }
    }

    /// Each lane by itself, whatever the other one has.
    #[test]
    fn a_lane_goes_over_at_multiples_of_a_power() {
        let counts = [0, 1, 126, 127, 128, 129, 255, 256, 0x7FFF, 0x8000, 0xFF7F, 0xFF80, 0xFFFF_u16];
        for (before, after) in counts.into_iter().flat_map(|before| counts.map(|after| (before, after))) {
            let differs = before / 128 != after / 128;
            for other in counts {
                let word = |first: u16, second: u16| u32::from(first) | u32::from(second) << 16;
                assert_eq!(has_gone_over(word(after, other), word(before, other), 128), differs, "{before} to {after}");
                assert_eq!(has_gone_over(word(other, after), word(other, before), 128), differs, "{before} to {after}");
            }
        }
    }

    /// What is put into halves comes out of them.
    #[test]
    fn a_place_is_kept_in_halves() {
        for (lane, place) in (0..2).flat_map(|lane| (0..=u16::MAX).map(move |place| (lane, place))) {
            let kept = PlaceInHalves::new(lane, place);
            assert_eq!((kept.lane(), kept.place()), (lane, place));
            assert_eq!((kept.next().lane(), kept.next().place()), (lane, place.wrapping_add(1)));
        }
    }
}
