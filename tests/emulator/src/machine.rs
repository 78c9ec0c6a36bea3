//! The machine: both cores, stepped in the order of their clocks, with the gaps of the emulator filled.
//!
//! The emulator's own loop steps both cores and adds the slower of the two to the clock. Here each core has a clock of its own, and
//! the one that is behind is stepped while the other is parked: so a core that waits costs nothing, and cycles can be compared
//! between the cores. What the emulator leaves out is added after every step:
//!
//! - a pending interrupt ends WFE; entering and leaving a handler set the event register, so that the next WFE falls through;
//! - the FIFO between the cores raises interrupts 15 and 16.
//!
//! What remains different from silicon: no handler preempts another, there is no boot ROM and no memory protection unit, and while
//! both cores are awake the peripherals are ticked for each (a byte leaves the UART earlier; the timer is exact).

use crate::{image::Image, log::RTT};
use flockwork_board_support::epitaph::{self, Epitaph};
use rp2040_emu::{Config, Emulator, EmulatorBuilder};
use std::fmt;

/// Where the second-stage boot loader ends and the vector table begins.
const VECTORS: u32 = 0x100;
/// Where memory is: six banks, one after the other.
const MEMORY: std::ops::Range<u32> = 0x2000_0000..0x2004_2000;
/// FIFO_ST, in SIO.
const FIFO_STATUS: u32 = 0x050;
/// Valid, written when full, read when empty: each raises the interrupt. (Bit 1 says that there is room.)
const FIFO_RAISES: u32 = 0b1101;
/// The interrupt of each core's FIFO.
const FIFO_INTERRUPT: [u8; 2] = [15, 16];
/// The spinlock of critical sections.
const CRITICAL_SECTION: u32 = 1 << 31;
/// How far the clock goes at once while both cores sleep and a peripheral is at work.
const NAP: u32 = 64;

/// An emulated RP2040 with an image in its flash.
pub struct Machine {
    emulator: Emulator,
    /// The clock of each core. A core that sleeps is behind, and catches up when it is woken.
    clock: [u64; 2],
    awake: [u64; 2],
    critical_sections: u64,
    faults: [Option<u32>; 2],
    uart0: Vec<u8>,
    outcome: Option<u32>,
    /// Where epitaphs are, and the buffers of RTT, if the image has them.
    graves: Option<u32>,
    rtt: Option<u32>,
}

/// One instruction, or the entry into an interrupt handler.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The core that did it.
    pub core: usize,
    /// The instruction. If `entered`, the one that was put off.
    pub address: u32,
    /// The core's clock before it.
    pub at: u64,
    /// How long it took.
    pub cycles: u64,
    /// Whether an exception was taken instead.
    pub entered: bool,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The image said that it did what it should.
    Passed,
    /// The image said that it failed.
    Failed,
    /// Both cores sleep, and nothing is under way that could wake them.
    Asleep,
    /// The limit of cycles was reached.
    OutOfCycles(u64),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed => f.write_str("the image says that it failed"),
            Self::Asleep => f.write_str("both cores sleep, and nothing is under way that could wake them"),
            Self::OutOfCycles(limit) => write!(f, "not done after {limit} cycles"),
        }
    }
}

/// What the image stores in `FLOCKWORK_OUTCOME` when it is done; see `boards/rp/src/outcome.rs`.
const PASSED: u32 = 0x600D_600D;
const FAILED: u32 = 0xBAD0_BAD0;

impl Machine {
    /// A machine that was just reset, with the image in its flash.
    pub fn new(image: &Image) -> Self {
        let mut emulator = EmulatorBuilder::new(Config::default())
            .step_quantum(1)
            .build()
            .unwrap_or_else(|error| unreachable!("a machine on one thread can always be built: {error}"));
        emulator.reset();
        emulator.load_flash(image.flash());
        emulator.direct_boot_from_flash(VECTORS);
        Self {
            emulator,
            clock: [0; 2],
            awake: [0; 2],
            critical_sections: 0,
            faults: [None; 2],
            uart0: Vec::new(),
            outcome: image.symbol("FLOCKWORK_OUTCOME"),
            graves: image.symbol("FLOCKWORK_EPITAPHS"),
            rtt: image.symbol(RTT),
        }
    }

    /// Resets the chip, as its watchdog would: what is in memory stays, all else begins anew, and with it the run.
    pub fn reset(&mut self, image: &Image) {
        let before = std::mem::replace(self, Self::new(image));
        for address in MEMORY.step_by(4) {
            self.emulator.bus.poke32(address, before.word(address));
        }
        if let Some(outcome) = self.outcome {
            self.emulator.bus.poke32(outcome, 0);
        }
    }

    /// Runs until the image says that it is done, or it cannot go on, or `limit` cycles have passed. `watch` sees every step.
    pub fn run(&mut self, limit: u64, mut watch: impl FnMut(&Self, Step)) -> Ended {
        loop {
            let Some(step) = self.step() else { return Ended::Asleep };
            watch(self, step);
            match self.outcome.map(|address| self.word(address)) {
                Some(PASSED) => return Ended::Passed,
                Some(FAILED) => return Ended::Failed,
                _ if self.now() >= limit => return Ended::OutOfCycles(limit),
                _ => {}
            }
        }
    }

    /// Does what comes next: one instruction of the core that is behind. None if both sleep for good.
    pub fn step(&mut self) -> Option<Step> {
        let core = loop {
            match (self.is_awake(0), self.is_awake(1)) {
                (true, true) => break usize::from(self.clock[1] < self.clock[0]),
                (true, false) => break 0,
                (false, true) => break 1,
                (false, false) if self.pass_time() => {}
                (false, false) => return None,
            }
        };
        let registers = &self.emulator.cores[core].regs;
        let (address, was_handling) = (registers.pc(), registers.in_handler_mode());
        let at = self.clock[core];
        let claimed = self.emulator.bus.sio.spinlock_bits();

        self.step_alone(core);

        let cycles = self.clock[core] - at;
        self.awake[core] += cycles;
        if self.emulator.bus.sio.spinlock_bits() & !claimed & CRITICAL_SECTION != 0 {
            self.critical_sections += 1;
        }
        let registers = &self.emulator.cores[core].regs;
        let is_handling = registers.in_handler_mode();
        if is_handling != was_handling {
            self.emulator.bus.event_flag[core] = true;
            if self.emulator.cores[core].is_in_hardfault() {
                self.faults[core] = Some(address);
            }
        }
        self.raise_fifo_interrupts();
        self.wake_for_interrupts(self.clock[core]);
        Some(Step { core, address, at, cycles, entered: is_handling && !was_handling })
    }

    /// The clock of the core that is ahead.
    pub fn now(&self) -> u64 {
        self.clock[0].max(self.clock[1])
    }

    /// The clock of one core.
    pub fn clock(&self, core: usize) -> u64 {
        self.clock[core]
    }

    /// How many cycles a core was awake.
    pub fn awake_cycles(&self, core: usize) -> u64 {
        self.awake[core]
    }

    /// How often a critical section was entered, by both cores (nested ones count once).
    pub fn critical_sections(&self) -> u64 {
        self.critical_sections
    }

    /// The instruction at which a core last took a hard fault.
    pub fn fault(&self, core: usize) -> Option<u32> {
        self.faults[core]
    }

    /// The instruction a core is at.
    pub fn program_counter(&self, core: usize) -> u32 {
        self.emulator.cores[core].regs.pc()
    }

    /// Reads memory, at an address that is a multiple of four.
    pub fn word(&self, address: u32) -> u32 {
        self.emulator.bus.peek32(address)
    }

    /// Bytes of memory.
    pub fn memory(&self, start: u32, count: usize) -> Vec<u8> {
        // The machine reads whole words.
        let byte = |address: u32| self.word(address & !3).to_le_bytes()[address as usize % 4];
        (start..).take(count).map(byte).collect()
    }

    /// What cores left that died: none if they did not, or it was reported.
    pub fn epitaphs(&self) -> Vec<Epitaph> {
        (0..2).filter_map(|core| self.epitaph(core)).collect()
    }

    /// What a core left.
    pub fn epitaph(&self, core: u32) -> Option<Epitaph> {
        let bytes = self.memory(self.graves? + core * epitaph::SIZE as u32, epitaph::SIZE);
        epitaph::decode(bytes.as_slice().try_into().ok()?)
    }

    /// Takes what the image has written for the host over RTT, as a debug probe does.
    ///
    /// The layout is one that every probe knows: a mark of 16 bytes, two counts of channels, then for each channel its name, its
    /// buffer, the size of that, where is written next and where is read next.
    pub fn take_rtt(&mut self) -> Vec<u8> {
        let Some(block) = self.rtt.filter(|&block| self.memory(block, 10) == b"SEGGER RTT") else { return Vec::new() };
        let field = |index: u32| block + 4 * index;
        let (buffer, size, written, read) =
            (self.word(field(7)), self.word(field(8)), self.word(field(9)), self.word(field(10)));
        let taken = match written.checked_sub(read) {
            Some(count) => self.memory(buffer + read, count as usize),
            // Around the end.
            None => {
                [self.memory(buffer + read, (size - read) as usize), self.memory(buffer, written as usize)].concat()
            }
        };
        self.emulator.bus.poke32(field(10), written);
        taken
    }

    /// The bytes that were written to UART0 so far.
    pub fn uart0(&mut self) -> &[u8] {
        self.uart0.extend(self.emulator.drain_uart0_tx_log());
        &self.uart0
    }

    fn is_awake(&self, core: usize) -> bool {
        !self.emulator.cores[core].is_halted() && !self.emulator.bus.wfe_waiting[core]
    }

    /// Steps one core while the other is parked.
    fn step_alone(&mut self, core: usize) {
        let other = 1 - core;
        let other_was_awake = self.is_awake(other);
        let other_was_halted = self.emulator.cores[other].is_halted();
        let bus = &mut self.emulator.bus;
        let event = bus.event_flag[other];
        if other_was_awake {
            bus.wfe_waiting[other] = true;
            bus.event_flag[other] = false;
        }
        self.emulator.clock.cycles = self.clock[core];
        self.emulator.step_quantum = 1;
        self.emulator
            .step()
            .unwrap_or_else(|error| unreachable!("a machine on one thread can always be stepped: {error}"));
        self.clock[core] = self.emulator.clock.cycles;

        let bus = &mut self.emulator.bus;
        if other_was_awake {
            // An event wakes a core that waits and is used up. This one did not wait, so it keeps the event.
            bus.event_flag[other] = event || !bus.wfe_waiting[other];
            bus.wfe_waiting[other] = false;
        } else if self.is_awake(other) || (other_was_halted && !self.emulator.cores[other].is_halted()) {
            // Woken, or started, by what this core just did.
            self.clock[other] = self.clock[core].max(self.clock[other]);
        }
    }

    /// Lets time pass while both cores sleep, until something happens. False if nothing can.
    fn pass_time(&mut self) -> bool {
        let now = self.now();
        let busy = !self.emulator.bus.all_peripherals_idle();
        self.emulator.clock.cycles = now;
        self.emulator.step_quantum = if busy { NAP } else { u32::MAX };
        self.emulator
            .step()
            .unwrap_or_else(|error| unreachable!("a machine on one thread can always be stepped: {error}"));
        if self.emulator.clock.cycles == now && busy {
            self.emulator.bus.tick_peripherals(NAP);
            self.emulator.clock.cycles += u64::from(NAP);
        }
        let later = self.emulator.clock.cycles;
        self.clock = [later; 2];
        self.wake_for_interrupts(later);
        later != now || self.is_awake(0) || self.is_awake(1)
    }

    fn raise_fifo_interrupts(&mut self) {
        let bus = &mut self.emulator.bus;
        for (core, interrupt) in FIFO_INTERRUPT.into_iter().enumerate() {
            if bus.sio.read32(FIFO_STATUS, core) & FIFO_RAISES != 0 {
                bus.nvics[core].set_pending(interrupt);
            }
        }
    }

    /// An interrupt that would be taken ends WFE.
    fn wake_for_interrupts(&mut self, now: u64) {
        for core in 0..2 {
            let would_be_taken = self.emulator.bus.nvics[core].pending_and_enabled() != 0
                && self.emulator.cores[core].regs.primask & 1 == 0
                && !self.emulator.bus.ppb[core].any_active();
            if self.emulator.bus.wfe_waiting[core] && would_be_taken {
                self.emulator.bus.wfe_waiting[core] = false;
                self.clock[core] = self.clock[core].max(now);
            }
        }
    }
}
