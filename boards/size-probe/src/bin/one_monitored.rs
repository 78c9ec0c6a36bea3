//! One actor under a monitor.
#![no_std]
#![no_main]

flockwork_size_probe::kernel_image! {
    A: Adder under flockwork::ReadersWriter, wrapping_add;
}
