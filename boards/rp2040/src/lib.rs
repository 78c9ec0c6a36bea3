//! Flockwork on the RP2040: both Cortex-M0+ cores.
#![no_std]
