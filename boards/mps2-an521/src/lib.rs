//! Flockwork on QEMU's dual Cortex-M33 board.
#![no_std]
