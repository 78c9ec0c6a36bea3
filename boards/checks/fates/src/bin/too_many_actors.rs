//! More actors than the kernel's table holds. Nobody ever sends them a letter; the boot refuses them all the same.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use flockwork::{Ref, actor};
use flockwork_check_fates::boot;
use flockwork_rp2040::{Core1Stack, entry, run};

/// One of many.
pub struct Member;

#[actor]
impl Member {
    /// A letter.
    pub fn count(&mut self) {}
}

/// Modules of ten actors each.
macro_rules! crowd {
    ($($module:ident)*) => {
        $( mod $module { ten! { A B C D E F G H I J } } )*

        /// All of them, so that none is left out of the image.
        static CROWD: &[[Ref<Member>; 10]] = &[$( $module::MEMBERS ),*];
    };
}

macro_rules! ten {
    ($($name:ident)*) => {
        use super::Member;
        use flockwork::{Actor, Ref, Serial, actor};

        $( #[actor] static $name: Actor<Member, Serial, 1, 1> = Member; )*

        pub(super) const MEMBERS: [Ref<Member>; 10] = [$( &$name ),*];
    };
}

crowd! { first second third fourth }

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    const { assert!(flockwork::MAX_ACTORS < 40, "a larger crowd is needed") };
    let (core1, _line) = boot();
    core::hint::black_box(CROWD);
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
