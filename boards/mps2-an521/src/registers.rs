//! The registers of the board that this crate uses, by their secure addresses.
#![expect(unsafe_code, reason = "reads and writes device registers")]

/// A register of the subsystem or of the board.
#[derive(Clone, Copy)]
pub(crate) struct Register(usize);

/// A timer of the subsystem: what it does, what it counts down from, and that its interrupt was seen.
pub(crate) const TIMER_0_CONTROL: Register = Register(0x5000_0000);
pub(crate) const TIMER_0_RELOAD: Register = Register(0x5000_0008);
pub(crate) const TIMER_0_INTERRUPT_CLEAR: Register = Register(0x5000_000C);
pub(crate) const TIMER_0_INTERRUPT: i16 = 3;
/// The number of the core that reads it.
pub(crate) const CPU_IDENTITY: Register = Register(0x5001_F000);
/// Where core 1 finds its vector table when it starts.
pub(crate) const INITIAL_VECTORS_1: Register = Register(0x5002_1114);
/// A bit per core that waits before its first instruction.
pub(crate) const CPU_WAIT: Register = Register(0x5002_1118);
/// Counts up a hundred times a second.
pub(crate) const CLOCK_100_HZ: Register = Register(0x5030_2014);
/// Counts up with the board's clock, divided.
pub(crate) const COUNTER: Register = Register(0x5030_2018);
/// The divisor of [`COUNTER`], less one.
pub(crate) const PRESCALER: Register = Register(0x5030_201C);
/// Where the core that reads or writes it finds its vector table.
pub(crate) const VECTOR_TABLE: Register = Register(0xE000_ED08);
/// A bit per interrupt, of the first 32, that is let through to the core that writes it.
pub(crate) const INTERRUPT_ENABLE: Register = Register(0xE000_E100);
/// Why the core that reads it faulted, and at which address.
pub(crate) const FAULT_STATUS: Register = Register(0xE000_ED28);
pub(crate) const FAULT_ADDRESS: Register = Register(0xE000_ED38);
/// The timer that each core has for itself: control, what it starts from, where it is.
pub(crate) const TICK_CONTROL: Register = Register(0xE000_E010);
pub(crate) const TICK_RELOAD: Register = Register(0xE000_E014);
pub(crate) const TICK_VALUE: Register = Register(0xE000_E018);

/// The board's clock, which the cores and their timers run with.
pub(crate) const CLOCK_HZ: u32 = 20_000_000;

impl Register {
    pub(crate) const fn address(self) -> usize {
        self.0
    }

    #[inline(always)]
    pub(crate) fn read(self) -> u32 {
        // SAFETY: the addresses above are registers of this board, which reading does not change.
        unsafe { core::ptr::with_exposed_provenance::<u32>(self.0).read_volatile() }
    }

    /// # Safety
    /// The caller answers for what the register does with this value.
    #[inline(always)]
    pub(crate) unsafe fn write(self, value: u32) {
        // SAFETY: the addresses above are registers of this board; the rest is the caller's promise.
        unsafe { core::ptr::with_exposed_provenance_mut::<u32>(self.0).write_volatile(value) }
    }
}
