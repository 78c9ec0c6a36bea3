//! The logger: frames are written under a critical section, and sent by a task.
#![expect(unsafe_code, reason = "implements defmt's logger, whose critical section spans several calls")]

use core::cell::{RefCell, UnsafeCell};
use core::future::poll_fn;
use core::task::Poll;

use critical_section::{CriticalSection, Mutex, RestoreState};
use embassy_sync::waitqueue::AtomicWaker;
use embedded_io_async::Write;

use crate::frames::Frames;

/// Bytes of frames that wait for the line. A frame is some ten bytes.
const ROOM: usize = 1024;
/// Bytes that are copied out of the critical section at a time: few, so that it is short.
const PIECE: usize = 32;

static FRAMES: Mutex<RefCell<Frames<ROOM>>> = Mutex::new(RefCell::new(Frames::new()));
static READABLE: AtomicWaker = AtomicWaker::new();

/// Sends what is logged over `line`, for good. One task does this.
///
/// An error of the line loses the bytes it was given, and no more.
///
/// **Cancel safety:** dropping it loses at most the 32 bytes it was sending; the rest waits for the next `drain`.
pub async fn drain(mut line: impl Write) -> ! {
    let mut piece = [0; PIECE];
    loop {
        let count = poll_fn(|context| {
            READABLE.register(context.waker());
            match take_waiting(&mut piece) {
                0 => Poll::Pending,
                count => Poll::Ready(count),
            }
        })
        .await;
        // Nobody to tell: the log is what failed.
        let _ = line.write_all(&piece[..count]).await;
    }
}

/// Takes bytes that wait for the line; the number of them. For whoever sends them itself: a core that dies, say.
pub fn take_waiting(into: &mut [u8]) -> usize {
    critical_section::with(|section| FRAMES.borrow_ref_mut(section).take(into))
}

/// How many frames found no room.
pub fn lost() -> u32 {
    critical_section::with(|section| FRAMES.borrow_ref(section).lost())
}

#[defmt::global_logger]
struct Uart;

/// What the logger keeps between `acquire` and `release`.
struct Open {
    encoder: defmt::Encoder,
    /// What the critical section needs to be left; there while a frame is being written.
    restore: Option<RestoreState>,
}

struct Opened(UnsafeCell<Open>);

// SAFETY: used inside the critical section only, which one core holds at a time.
unsafe impl Sync for Opened {}

static OPEN: Opened = Opened(UnsafeCell::new(Open { encoder: defmt::Encoder::new(), restore: None }));

fn append(bytes: &[u8]) {
    // SAFETY: the encoder calls this between `acquire` and `release`, inside the critical section.
    let section = unsafe { CriticalSection::new() };
    FRAMES.borrow_ref_mut(section).write(bytes);
}

// SAFETY: `acquire` enters a critical section and `release` leaves it, so that frames do not mix, and the encoder is used by one
// context at a time.
unsafe impl defmt::Logger for Uart {
    fn acquire() {
        // SAFETY: left in `release`, which defmt calls once for each `acquire`, on the same core.
        let restore = unsafe { critical_section::acquire() };
        // SAFETY: inside the critical section.
        let open = unsafe { &mut *OPEN.0.get() };
        if open.restore.is_some() {
            // Critical sections nest, frames do not.
            panic!("defmt is used inside a `Format` implementation");
        }
        open.restore = Some(restore);
        open.encoder.start_frame(append);
    }

    unsafe fn flush() {
        // The line is somebody else's; waiting for it here, with interrupts off, would wait for good.
    }

    unsafe fn release() {
        // SAFETY: still inside the critical section that `acquire` entered.
        let open = unsafe { &mut *OPEN.0.get() };
        open.encoder.end_frame(append);
        // SAFETY: the same.
        FRAMES.borrow_ref_mut(unsafe { CriticalSection::new() }).end();
        READABLE.wake();
        if let Some(restore) = open.restore.take() {
            // SAFETY: what the matching `acquire` returned, and nothing inside the section is used any more.
            unsafe { critical_section::release(restore) };
        }
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: defmt calls this between `acquire` and `release`, inside the critical section.
        let open = unsafe { &mut *OPEN.0.get() };
        open.encoder.write(bytes, append);
    }
}
