//! Five types of actors, one letter at a time. Each does something else, or the linker would merge them.
#![no_std]
#![no_main]

flockwork_size_probe::kernel_image! {
    A: Adder under flockwork::Serial, wrapping_add;
    B: Subtractor under flockwork::Serial, wrapping_sub;
    C: Multiplier under flockwork::Serial, wrapping_mul;
    D: Limiter under flockwork::Serial, min;
    E: Maximum under flockwork::Serial, max;
}
