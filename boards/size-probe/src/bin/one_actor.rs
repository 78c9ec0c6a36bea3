//! One actor, one letter at a time.
#![no_std]
#![no_main]

flockwork_size_probe::kernel_image! {
    A: Adder under flockwork::Serial, wrapping_add;
}
