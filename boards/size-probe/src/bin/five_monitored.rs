//! Five types of actors under a monitor. Each does something else, or the linker would merge them.
#![no_std]
#![no_main]

flockwork_size_probe::kernel_image! {
    A: Adder under flockwork::ReadersWriter, wrapping_add;
    B: Subtractor under flockwork::ReadersWriter, wrapping_sub;
    C: Multiplier under flockwork::ReadersWriter, wrapping_mul;
    D: Limiter under flockwork::ReadersWriter, min;
    E: Maximum under flockwork::ReadersWriter, max;
}
