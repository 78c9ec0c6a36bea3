//! Text of bounded length: what does not fit is cut off, at one end or the other.

use core::fmt;

/// At most `N` bytes of UTF-8 (`N` is at most 255).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<const N: usize> {
    length: u8,
    bytes: [u8; N],
}

impl<const N: usize> Text<N> {
    /// No text yet; more is appended through [`fmt::Write`], which never fails: it drops what does not fit.
    pub const fn new() -> Self {
        const { assert!(N <= u8::MAX as usize, "the length of a text is a byte") };
        Self { length: 0, bytes: [0; N] }
    }

    /// The beginning of `text`, as much as fits. For names, whose beginning tells most.
    pub fn beginning_of(text: &str) -> Self {
        let mut end = text.len().min(N);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self::whole(&text[..end])
    }

    /// The end of `text`, as much as fits. For paths, whose end tells most.
    pub fn end_of(text: &str) -> Self {
        let mut start = text.len().saturating_sub(N);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        Self::whole(&text[start..])
    }

    fn whole(text: &str) -> Self {
        let mut copy = Self::new();
        copy.append(text);
        copy
    }

    /// Appends what fits; `text` is cut at a character.
    fn append(&mut self, text: &str) {
        let start = usize::from(self.length);
        let mut count = text.len().min(N - start);
        while !text.is_char_boundary(count) {
            count -= 1;
        }
        self.bytes[start..start + count].copy_from_slice(&text.as_bytes()[..count]);
        self.length += count as u8;
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        // Only whole characters are appended, so this is UTF-8; a last word is no place for a panic of its own.
        str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.append(text);
        Ok(())
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Write;

    #[test]
    fn names_keep_their_beginning_and_paths_their_end() {
        assert_eq!(Text::<4>::beginning_of("dictionary").as_str(), "dict");
        assert_eq!(Text::<7>::end_of("examples/src/main.rs").as_str(), "main.rs");
        assert_eq!(Text::<16>::end_of("main.rs").as_str(), "main.rs");
    }

    #[test]
    fn characters_are_not_cut_in_two() {
        assert_eq!(Text::<3>::beginning_of("aéé").as_str(), "aé");
        assert_eq!(Text::<4>::beginning_of("aéé").as_str(), "aé");
        assert_eq!(Text::<3>::end_of("éé").as_str(), "é");
    }

    #[test]
    fn what_is_formatted_is_cut_where_the_room_ends() {
        let mut text = Text::<8>::new();
        write!(text, "index {} of {}", 12, 8).unwrap();
        assert_eq!(text.as_str(), "index 12");
    }
}
