//! A core without work sleeps.

use flockwork::worker;

use crate::load::ticks;
use crate::patience::reach;
use crate::{Case, Device, Stop, require};

pub(crate) const CASES: &[Case] = &[Case { name: "idle/sleeps", proves: "KER-7", cores: 1, run: sleeps }];

/// Timer interrupts that core 0 sleeps through; they send nothing.
const TICKS: u32 = 20;
/// How often core 0 looks for work at least, where it does not sleep: interrupts may come faster than it looks there.
const LOOKS_AWAKE: u32 = 1000;
/// How often a core may look for work after an interrupt. Each look asks twice whether to go on: before it looks for work,
/// and before it sleeps. An interrupt may come between the two, and a kick may be latched from before.
const LOOKS_PER_TICK: u32 = 6;

/// While nothing happens but a timer's interrupts, core 0 looks for work once or twice after each, and core 1 not at all.
fn sleeps(device: &'static dyn Device) -> Result<(), Stop> {
    // What earlier cases left behind, a look at surplus for example, is done after some rounds.
    for _ in 0..1000 {
        worker::step_once();
    }
    let calls = |core| device.idle_calls(core);
    let last = device.cores() - 1;
    device.start_timer();
    let start = ticks();
    let (before_0, before_1) = (calls(0), calls(last));
    let least = if device.idle_sleeps() { 0 } else { LOOKS_AWAKE };
    let mut looks = 0;
    worker::run_while(|| {
        looks += 1;
        (ticks().wrapping_sub(start) < TICKS || looks < least) && looks < device.patience()
    });
    let passed = ticks().wrapping_sub(start);
    let (after_0, after_1) = (calls(0), calls(last));
    device.stop_timer();

    device.log(format_args!("  {looks} looks for work during {passed} interrupts"));
    require(passed >= TICKS, "the timer's interrupts do not come")?;
    if let (Some(before), Some(after)) = (before_0, after_0) {
        require(after != before, "core 0 had nothing to do and did not go idle")?;
    }
    if !device.idle_sleeps() {
        if let Some(before) = before_1 {
            // The other core may not have run meanwhile; when it does, it goes idle.
            reach(device, "times that the last core went idle", 1, || u32::from(calls(last) != Some(before)))?;
        }
        return Err(Stop::Skipped(
            "an idle core only yields here; it went idle, but whether it would sleep is not seen",
        ));
    }
    require(looks <= passed * LOOKS_PER_TICK + LOOKS_PER_TICK, "core 0 was awake although nothing happened")?;
    if let (Some(before), Some(after)) = (before_1, after_1)
        && last != 0
    {
        require(after.wrapping_sub(before) <= 2, "the last core woke up although nothing happened")?;
    }
    Ok(())
}
