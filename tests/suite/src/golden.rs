//! Golden traces: what each ready-made monitor does with a script of letters, as one line of text.
//!
//! ```text
//!  +01   these letters were granted together, in one `schedule`
//!  !0    this letter's method ran
//!  -0    this letter left
//! ```
//! Letters are numbered in the order they were sent. A script has acts: the letters of an act are all in the inbox before
//! the monitor sees the first of them, and granted letters run one after the other, in the order of their grants. So the
//! trace is the same in a rehearsal and on an actor that is pinned to a core.

use core::fmt::{self, Write};

/// The letters of a script, and what becomes of them.
pub(crate) struct Script {
    pub(crate) acts: &'static [Act],
}

/// Letters that arrive together, and the trace until nothing more happens.
pub(crate) struct Act {
    pub(crate) letters: &'static [Cue],
    pub(crate) trace: &'static str,
}

/// A letter: the method it calls, and the objects it names.
pub(crate) struct Cue {
    pub(crate) method: &'static str,
    pub(crate) objects: &'static [u8],
}

/// Writes a script: acts of letters, each followed by its trace. Objects stand in brackets behind the method.
macro_rules! script {
    ($( $($method:ident $([$($object:literal)*])?)* => $trace:literal; )*) => {
        Script { acts: &[$(
            Act {
                letters: &[$( Cue { method: stringify!($method), objects: &[$($($object),*)?] } ),*],
                trace: $trace,
            }
        ),*] }
    };
}

/// PAM-5: without a monitor one letter at a time, oldest first. Nobody grants, nobody hears of a leave.
pub(crate) const UNMONITORED: Script = script! {
    get put get get => "!0 !1 !2 !3";
};

/// PAM-L1.
pub(crate) const MUTEX: Script = script! {
    get get put get => "+0 !0 -0 +1 !1 -1 +2 !2 -2 +3 !3 -3";
};

/// PAM-L3.
pub(crate) const READERS_WRITER: Script = script! {
    get get put get put get get => "+01 !0 -0 !1 -1 +2 !2 -2 +3 !3 -3 +4 !4 -4 +56 !5 -5 !6 -6";
};

/// PAM-L3, readers pass.
pub(crate) const READERS_FIRST: Script = script! {
    get put get put get => "+024 !0 -0 !2 -2 !4 -4 +1 !1 -1 +3 !3 -3";
};

/// PAM-L3, writers pass.
pub(crate) const WRITERS_FIRST: Script = script! {
    get put get put get => "+1 !1 -1 +3 !3 -3 +024 !0 -0 !2 -2 !4 -4";
};

/// PAM-L5: the philosophers 1, 3, 2, 4, 5, with the forks of their seats.
pub(crate) const PHILOSOPHERS: Script = script! {
    eat [0] eat [2] eat [1] eat [3] eat [4] => "+01 !0 -0 !1 -1 +23 !2 -2 !3 -3 +4 !4 -4";
    eat [0] eat [0] eat [2] => "+57 !5 -5 +6 !7 -7 !6 -6";
};

/// PAM-L5: the same with letters that name their forks.
pub(crate) const RESOURCES: Script = script! {
    take [0 1] take [2 3] take [1 2] take [3 4] take [4 0] => "+01 !0 -0 !1 -1 +23 !2 -2 !3 -3 +4 !4 -4";
    take [0 1] take [0 1] take [2 3] => "+57 !5 -5 +6 !7 -7 !6 -6";
};

/// PAM-L6: at most two requests that were not released.
pub(crate) const COLLECTIVE_BOUND: Script = script! {
    request request request release => "+013 !0 -0 +2 !1 -1 !3 -3 !2 -2";
    release release => "+45 !4 -4 !5 -5";
};

/// PAM-L7, PAM-L8: red and blue only together; two reds until a writer comes.
pub(crate) const SYNCHRONIZER: Script = script! {
    blue blue get red => "+03 !3 -3 !0 -0 +2 !2 -2";
    red red blue => "+14 !4 -4 !1 -1";
    put => "+7 !7 -7 +56 !5 -5 !6 -6";
    put => "+8 !8 -8";
};

/// PAM-F2: left and right wait for each other; left is granted first.
pub(crate) const JOIN: Script = script! {
    left => "";
    right => "+01 !0 -0 !1 -1";
    right right left left get => "+23456 !6 -6 !4 -4 !2 -2 !5 -5 !3 -3";
};

/// A line of text of at most `N` bytes; what is longer is cut off.
pub(crate) struct Line<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Line<N> {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    pub(crate) fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or("?")
    }

    /// Adds a word, with a blank before it unless it is the first.
    pub(crate) fn word(&mut self, word: fmt::Arguments<'_>) {
        let blank = if self.len == 0 { "" } else { " " };
        // Writing to a line cannot fail.
        let _ = write!(self, "{blank}{word}");
    }
}

impl<const N: usize> Write for Line<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if self.len < N {
                self.bytes[self.len] = byte;
                self.len += 1;
            }
        }
        Ok(())
    }
}

/// A set of letters; it displays as their numbers, lowest first.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Letters(u32);

impl Letters {
    pub(crate) fn insert(&mut self, number: u32) {
        self.0 |= 1 << (number % 32);
    }

    pub(crate) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..32).filter(|number| self.0 >> number & 1 != 0).try_for_each(|number| write!(f, "{number}"))
    }
}
