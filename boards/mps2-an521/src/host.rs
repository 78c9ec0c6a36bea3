//! Talking to the host by semihosting: lines of a log, the words of the command line, the outcome.
//!
//! A breakpoint with a number of its own stops the core, QEMU (or a debugger) does what register 0 asks for, and the core
//! goes on. Without either, it faults.
#![expect(unsafe_code, reason = "a breakpoint behind which the host reads and writes memory")]

use core::arch::asm;
use core::fmt::{self, Write};

use flockwork_board_support::Text;

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it should.
    Passed,
    /// It did not; the log says what.
    Failed,
}

/// Ends the run: QEMU exits, with a code that says whether it passed.
pub fn finish(outcome: Outcome) -> ! {
    const APPLICATION_EXIT: usize = 0x20026;
    let mut reason = [APPLICATION_EXIT, usize::from(outcome == Outcome::Failed)];
    loop {
        // SAFETY: this request reads two words.
        unsafe { request(Request::Exit, reason.as_mut_ptr()) };
    }
}

/// The longest line of a log; what is longer is cut off.
const LINE: usize = 240;

/// Writes a line on the host's screen, whole, whatever the other core writes.
pub fn log(line: fmt::Arguments<'_>) {
    let mut text = Text::<LINE>::new();
    // A text takes what fits and never fails.
    let _ = text.write_fmt(line);
    let mut bytes = [0; LINE + 2];
    let length = text.as_str().len();
    bytes[..length].copy_from_slice(text.as_str().as_bytes());
    bytes[length] = b'\n';
    // SAFETY: this request reads bytes up to the first zero, and the last byte is one.
    unsafe { request(Request::WriteText, bytes.as_mut_ptr().cast()) };
}

/// What stands behind the image on the command line, at most 127 bytes: `-semihosting-config …,arg=WORD,arg=WORD`.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    bytes: [u8; 128],
}

impl Arguments {
    /// The words, in order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let end = self.bytes.iter().position(|byte| *byte == 0).unwrap_or(0);
        str::from_utf8(&self.bytes[..end]).unwrap_or_default().split_ascii_whitespace()
    }
}

/// Asks the host for the words of the command line. None if they are too long, or there are none.
pub fn arguments() -> Arguments {
    let mut arguments = Arguments { bytes: [0; 128] };
    let mut buffer = [arguments.bytes.as_mut_ptr().expose_provenance(), arguments.bytes.len()];
    // SAFETY: this request reads an address and a length, and writes at most so many bytes there, which are ours.
    if unsafe { request(Request::CommandLine, buffer.as_mut_ptr()) } != 0 {
        arguments.bytes = [0; 128];
    }
    arguments
}

/// What the host is asked for.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Request {
    WriteText = 0x04,
    CommandLine = 0x15,
    Exit = 0x20,
}

/// # Safety
/// `argument` leads to what the request reads and writes.
unsafe fn request(request: Request, argument: *mut usize) -> u32 {
    let mut answer = request as u32;
    // SAFETY: the host does what is asked for and nothing else, and changes no register but the first.
    unsafe { asm!("bkpt 0xab", inout("r0") answer, in("r1") argument, options(nostack, preserves_flags)) };
    answer
}
