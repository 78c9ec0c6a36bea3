//! The smallest image with the kernel in it: `cargo xtask targets --only targets/no-alloc` links it for a board without an
//! allocator. With a `fault-…` feature it has the fault that this check must find.

#![no_std]
#![cfg_attr(feature = "fault-brings-allocator", expect(unsafe_code, reason = "an allocator is an unsafe trait"))]

use flockwork as _;

#[cfg(feature = "fault-links-alloc")]
extern crate alloc;

/// Somebody who allocates.
#[cfg(feature = "fault-links-alloc")]
pub fn allocate() -> alloc::boxed::Box<u32> {
    alloc::boxed::Box::new(7)
}

#[cfg(feature = "fault-brings-allocator")]
mod allocator {
    use core::{
        alloc::{GlobalAlloc, Layout},
        ptr,
    };

    /// An allocator that is always out of memory.
    struct Empty;

    #[global_allocator]
    static EMPTY: Empty = Empty;

    // SAFETY: it hands out no memory at all, so none can be misused.
    unsafe impl GlobalAlloc for Empty {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            ptr::null_mut()
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }
}

#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
