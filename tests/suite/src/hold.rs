//! Core 1 held in a turn: what is sent to it meanwhile stays where it is, so that a case knows what it will find.

use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use embassy_executor::SpawnError;
use flockwork::{Actor, Pinned, actor};

use crate::patience::{deliver, reach};
use crate::seams::add_there;
use crate::tasks;
use crate::{Device, Stop};

/// How often core 1 stopped, was let go by core 0, and went on.
static STOPPED: AtomicU32 = AtomicU32::new(0);
static LET_GO: AtomicU32 = AtomicU32::new(0);
static WENT_ON: AtomicU32 = AtomicU32::new(0);

/// Occupies its core.
pub(crate) struct Holder;

#[actor]
impl Holder {
    /// Does nothing until it is let go.
    pub fn hold(&mut self, device: &'static dyn Device) {
        let turn = STOPPED.load(SeqCst) + 1;
        STOPPED.store(turn, SeqCst);
        // It ends: `main` lets go also when it gives up.
        while LET_GO.load(SeqCst) != turn {
            device.pause();
        }
        WENT_ON.store(turn, SeqCst);
    }
    /// Adds in critical sections.
    pub fn add(&mut self, times: u32) {
        add_there(times);
    }
    /// Starts its core's task.
    pub fn start_task(&mut self, questions: u32) -> Result<(), SpawnError> {
        tasks::start(1, questions)
    }
    /// Starts its core's timer.
    pub fn start_timer(&mut self, device: &'static dyn Device) {
        device.start_timer();
    }
    /// Stops its core's timer.
    pub fn stop_timer(&mut self, device: &'static dyn Device) {
        device.stop_timer();
    }
}

#[actor]
pub(crate) static CORE_1: Actor<Holder, Pinned<1>, 2> = Holder;

/// Core 1 is in a turn while this lives.
pub(crate) struct Held(&'static dyn Device);

/// Stops core 1. Only `main` on core 0 calls this.
pub(crate) fn hold_core_1(device: &'static dyn Device) -> Result<Held, Stop> {
    let turn = STOPPED.load(SeqCst) + 1;
    deliver(device, CORE_1.hold(device).tell())?;
    reach(device, "stops of core 1", turn, || STOPPED.load(SeqCst))?;
    Ok(Held(device))
}

impl Held {
    /// Lets core 1 go on, and waits until it does.
    pub(crate) fn let_go(self) -> Result<(), Stop> {
        let device = self.0;
        drop(self);
        reach(device, "core 1 going on", STOPPED.load(SeqCst), || WENT_ON.load(SeqCst))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        LET_GO.store(STOPPED.load(SeqCst), SeqCst);
    }
}
