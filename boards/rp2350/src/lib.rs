//! Flockwork on the RP2350: both Cortex-M33 cores.
#![no_std]
