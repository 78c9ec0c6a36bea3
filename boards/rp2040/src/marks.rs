//! Marks for the emulator: places between which it measures.
//!
//! A mark is a label with an entry in a section that is not loaded, so it adds no instruction and no byte to the image. The runner
//! (`tests/emulator`) notes the clock of the core that arrives there. The compiler does not move memory accesses across a mark.
//!
//! A mark is the address of the next instruction. Where another path joins right behind it, that path passes the mark, too: let
//! something follow that only this path does.

/// A span of this name begins here. (A name may be given in parts.)
#[macro_export]
macro_rules! begin {
    ($($name:literal)+) => {
        $crate::mark!("B", $($name)+)
    };
}

/// The span of this name ends here, on whatever core.
#[macro_export]
macro_rules! end {
    ($($name:literal)+) => {
        $crate::mark!("E", $($name)+)
    };
}

/// A lap of this name ends here, and the next one begins.
#[macro_export]
macro_rules! lap {
    ($($name:literal)+) => {
        $crate::mark!("L", $($name)+)
    };
}

/// A label, and an entry with its address, a letter and a name.
#[doc(hidden)]
#[macro_export]
macro_rules! mark {
    ($kind:literal, $($name:literal)+) => {{
        #[allow(unsafe_code, reason = "assembly is unsafe to write, whatever it does")]
        // SAFETY: no instruction, only an entry in a section that is not loaded.
        unsafe {
            core::arch::asm!(
                "2:",
                ".pushsection .flockwork_marks,\"\",%progbits",
                ".4byte 2b",
                concat!(".ascii \"", $kind, "\""),
                concat!(".asciz \"", $($name,)+ "\""),
                ".popsection",
                options(nostack, preserves_flags)
            )
        }
    }};
}
