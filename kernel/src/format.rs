//! How opaque types print: by name. A log line or an assertion can hold any public type of the kernel, through `Debug` and,
//! with the `defmt` feature, `defmt::Format`. Types with something to show say so beside their definition.

use core::fmt;

use crate::{Body, Descriptor, Grant, Letters, Mail, Methods, Monitor, Objects, Picked, Rehearsal, Several};

/// `Debug` and `Format`.
macro_rules! opaque {
    ($([$($generics:tt)*] $type:ty = $name:literal;)*) => {$(
        impl<$($generics)*> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($name)
            }
        }
        by_name! { [$($generics)*] $type = $name; }
    )*};
}

/// `Format` alone.
macro_rules! by_name {
    ($([$($generics:tt)*] $type:ty = $name:literal;)*) => {$(
        #[cfg(feature = "defmt")]
        impl<$($generics)*> defmt::Format for $type {
            fn format(&self, f: defmt::Formatter<'_>) {
                defmt::write!(f, $name);
            }
        }
    )*};
}

opaque! {
    [A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize] Body<A, M, N, P, L> = "Body";
    [A: Methods, M: Monitor, const N: usize, const P: usize, const L: usize] Mail<A, M, N, P, L> = "Mail";
    [A: Methods] Grant<'_, A> = "Grant";
    [O: Objects] Picked<'_, O> = "Picked";
    [T, const N: usize] Several<T, N> = "Several";
    [] Letters<'_> = "Letters";
    [] Descriptor = "Descriptor";
    [] crate::monitor::SharingOf = "SharingOf";
    [] crate::promise::Ticket = "Ticket";
    [] crate::port::LockWord = "LockWord";
    [] crate::port::LockRegister = "LockRegister";
    [] crate::letter::Head = "Head";
    [] crate::letter::Top = "Top";
    [] crate::letter::TopAlone = "TopAlone";
    [const N: usize] crate::slots::Order<N> = "Order";
    [M, const N: usize] Rehearsal<'_, M, N> = "Rehearsal";
    [S] crate::RuleBook<'_, S> = "RuleBook";
    [S, W] crate::When<'_, S, W> = "When";
}

by_name! {
    [A: Methods, B: ?Sized, F, T, E] crate::Asking<A, B, F, T, E> = "Asking";
    [A: Methods, B: ?Sized] crate::Sending<A, B> = "Sending";
    [P] crate::Waited<P> = "Waited";
    [P, F] crate::Map<P, F> = "Map";
    [P, F, N] crate::AndThen<P, F, N> = "AndThen";
    [P: crate::Eventually, O] crate::Join2<P, O> = "Join2";
    [] crate::Method = "Method";
    [] crate::OneAtATime = "OneAtATime";
    [] crate::Parallel = "Parallel";
    [] crate::OnOneCore = "OnOneCore";
    [] crate::Serial = "Serial";
    [const CORE: u8] crate::Pinned<CORE> = "Pinned";
}
