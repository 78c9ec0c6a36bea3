//! The kernel's workers, and nobody to run.
#![no_std]
#![no_main]

flockwork_size_probe::kernel_image! {}
