//! More actors than the kernel's table holds. The first letter of the one too many says so.
#![no_std]
#![no_main]

use flockwork_check_fates::boot;
use flockwork_rp2040::{Core1Stack, entry, run};

/// One of many.
pub struct Member;

#[flockwork::actor]
impl Member {
    /// A letter.
    pub fn count(&mut self) {}
}

/// Modules of ten actors each.
macro_rules! crowd {
    ($($module:ident)*) => {
        $( mod $module { ten! { A B C D E F G H I J } } )*

        fn send_to_all() {
            $( $module::send_to_all(); )*
        }
    };
}

macro_rules! ten {
    ($($name:ident)*) => {
        use super::Member;
        use flockwork::{Actor, Serial, actor};

        $( #[actor] static $name: Actor<Member, Serial, 1, 1> = Member; )*

        pub(super) fn send_to_all() {
            $( $name.count().tell().expect("its mailbox is empty"); )*
        }
    };
}

crowd! { first second third fourth fifth sixth seventh }

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    const { assert!(flockwork::MAX_ACTORS < 70, "a larger crowd is needed") };
    let (core1, _line) = boot();
    send_to_all();
    run(core1, &CORE1_STACK, |_core0| {}, |_core1| {})
}
