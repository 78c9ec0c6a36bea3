//! The census: how many actors a program declares, counted by the linker, so that too many are refused at boot.
//!
//! Actors get their numbers with their first letters, and a program may run for days before the one too many gets its own. So on a
//! chip every `#[actor] static` puts a byte into a section that is not loaded, and the linker says how large that section became.
//! It costs no instruction, no flash and no RAM. What counts is what is linked, also if nobody sends to it.
#![cfg_attr(target_os = "none", expect(unsafe_code, reason = "symbols of the linker, and a section with a name"))]

/// One more actor. What `#[actor] static` writes.
// The assembly is here, not in the expansion: a crate that forbids unsafe code may use a macro of another crate that has it.
#[doc(hidden)]
#[macro_export]
macro_rules! count_actor {
    () => {
        #[cfg(target_os = "none")]
        ::core::arch::global_asm!(".pushsection flockwork_actors,\"\",%progbits", ".byte 1", ".popsection");
    };
}

/// How many actors this program declares; `None` on a host, where nobody counts them.
pub fn declared() -> Option<usize> {
    #[cfg(target_os = "none")]
    return Some(linked());
    #[cfg(not(target_os = "none"))]
    None
}

/// For the boot of a board: refuses a program that declares more actors than the kernel's table holds.
///
/// # Panics
/// With both numbers, if it does.
pub fn require_room() {
    require_room_for(declared().unwrap_or(0));
}

fn require_room_for(declared: usize) {
    const MOST: usize = crate::MAX_ACTORS;
    assert!(declared <= MOST, "this program has {declared} actors, more than the {MOST} that the kernel's table holds");
}

/// The size of the section: a byte for each actor.
#[cfg(target_os = "none")]
#[inline(never)]
fn linked() -> usize {
    unsafe extern "C" {
        // The linker defines these for every section whose name could be one in C.
        static __start_flockwork_actors: u8;
        static __stop_flockwork_actors: u8;
    }
    // SAFETY: no instruction. It makes sure that there is the section, also in a program without an actor.
    unsafe {
        core::arch::asm!(
            ".pushsection flockwork_actors,\"\",%progbits",
            ".popsection",
            options(nomem, nostack, preserves_flags)
        );
    }
    (&raw const __stop_flockwork_actors).addr().wrapping_sub((&raw const __start_flockwork_actors).addr())
}

#[cfg(all(test, not(loom)))]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn as_many_as_the_table_holds_and_not_one_more() {
        require_room();
        require_room_for(crate::MAX_ACTORS);
        let refused = std::panic::catch_unwind(|| require_room_for(crate::MAX_ACTORS + 1)).expect_err("one too many");
        let why = refused.downcast_ref::<std::string::String>().expect("a message");
        assert!(why.starts_with("this program has ") && why.contains("more than the "), "{why}");
    }
}
