//! Frames that wait for the line: a ring of bytes that takes a frame as a whole or not at all.

/// A ring of `N` bytes.
pub(crate) struct Frames<const N: usize> {
    bytes: [u8; N],
    /// Where the oldest byte is.
    head: usize,
    /// Bytes of whole frames.
    whole: usize,
    /// Bytes of the frame that is being written, behind the whole ones.
    begun: usize,
    /// Whether the frame that is being written did not fit.
    too_long: bool,
    lost: u32,
}

impl<const N: usize> Frames<N> {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; N], head: 0, whole: 0, begun: 0, too_long: false, lost: 0 }
    }

    /// Appends bytes to the frame that is being written.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if self.too_long || bytes.len() > N - self.whole - self.begun {
            self.too_long = true;
            return;
        }
        for &byte in bytes {
            self.bytes[(self.head + self.whole + self.begun) % N] = byte;
            self.begun += 1;
        }
    }

    /// The frame is complete: it can be read from now on, or it is lost.
    pub(crate) fn end(&mut self) {
        if self.too_long {
            self.lost = self.lost.saturating_add(1);
        } else {
            self.whole += self.begun;
        }
        self.begun = 0;
        self.too_long = false;
    }

    /// Takes bytes of whole frames out; the number of them.
    pub(crate) fn take(&mut self, into: &mut [u8]) -> usize {
        let count = self.whole.min(into.len());
        for byte in &mut into[..count] {
            *byte = self.bytes[self.head];
            self.head = (self.head + 1) % N;
        }
        self.whole -= count;
        count
    }

    /// Frames that found no room.
    pub(crate) fn lost(&self) -> u32 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    fn send(frames: &mut Frames<8>, frame: &[u8]) {
        // In pieces, as the encoder does it.
        frame.chunks(2).for_each(|piece| frames.write(piece));
        frames.end();
    }

    fn received(frames: &mut Frames<8>) -> Vec<u8> {
        let (mut all, mut some) = (Vec::new(), [0; 3]);
        loop {
            match frames.take(&mut some) {
                0 => return all,
                count => all.extend(&some[..count]),
            }
        }
    }

    #[test]
    fn frames_come_out_in_order_also_around_the_end() {
        let mut frames = Frames::new();
        for round in 0..20_u8 {
            send(&mut frames, &[round, 1, 0]);
            send(&mut frames, &[round, 2, 3, 0]);
            assert_eq!(received(&mut frames), [round, 1, 0, round, 2, 3, 0]);
        }
        assert_eq!(frames.lost(), 0);
    }

    #[test]
    fn a_frame_without_room_is_left_out_whole_and_counted() {
        let mut frames = Frames::new();
        send(&mut frames, &[1, 1, 1, 1, 0]);
        send(&mut frames, &[2, 2, 2, 0]);
        send(&mut frames, &[3, 3, 0]);
        assert_eq!(received(&mut frames), [1, 1, 1, 1, 0, 3, 3, 0]);
        assert_eq!(frames.lost(), 1);
        send(&mut frames, &[4; 9]);
        send(&mut frames, &[5, 0]);
        assert_eq!(received(&mut frames), [5, 0]);
        assert_eq!(frames.lost(), 2);
    }

    #[test]
    fn a_frame_that_is_not_complete_is_not_read() {
        let mut frames = Frames::<8>::new();
        frames.write(&[1, 2]);
        assert_eq!(received(&mut frames), []);
        frames.end();
        assert_eq!(received(&mut frames), [1, 2]);
    }
}
