//! embassy-time in both modes: timers come in order, and in virtual time at once.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use embassy_executor::task;
use embassy_time::{Duration, Instant, Timer};
use flockwork::{Actor, Pinned, Serial, actor, worker};
use flockwork_host_sim::{Device, Faults, OnceIn, run_until};

/// Keeps what it is told, in order.
pub struct Diary(Vec<(u64, &'static str)>);

#[actor]
impl Diary {
    pub fn enter(&mut self, after: u64, what: &'static str) {
        self.0.push((after, what));
    }

    pub fn read(&mut self) -> Vec<(u64, &'static str)> {
        std::mem::take(&mut self.0)
    }

    pub fn entries(&self) -> usize {
        self.0.len()
    }
}

#[actor]
static DIARY: Actor<Diary, Serial, 16> = Diary(Vec::new());

/// Waits, and says after how many milliseconds it went on.
#[task(pool_size = 8)]
async fn wait(milliseconds: u64, name: &'static str) {
    let start = Instant::now();
    Timer::after_millis(milliseconds).await;
    let waited = start.elapsed().as_millis();
    DIARY.enter(waited, name).send().await.expect("a letter that can run");
}

fn spawn_three() {
    for (milliseconds, name) in [(30, "last"), (10, "first"), (20, "second")] {
        worker::spawner().spawn(wait(milliseconds, name).expect("the pool is large enough"));
    }
}

/// Starts the same on another core.
pub struct Starter;

#[actor]
impl Starter {
    pub fn start(&mut self) {
        spawn_three();
    }
}

#[actor]
static STARTER: Actor<Starter, Pinned<1>, 4> = Starter;

const IN_ORDER: [(u64, &str); 3] = [(10, "first"), (20, "second"), (30, "last")];

fn three_are_done() {
    run_until(|| DIARY.entries().get() == Ok(3));
}

#[test]
fn virtual_timers_come_in_order_and_at_their_time() {
    for cores in [1, 2] {
        let run = Device::stepped(cores).seed(5).run(|| {
            spawn_three();
            three_are_done();
            DIARY.read().get().unwrap()
        });
        assert_eq!(run.returned, IN_ORDER);
        let milliseconds = run.cycles / u64::from(run.megahertz) / 1000;
        assert_eq!(milliseconds, 30, "no longer than the longest of them");
    }
}

#[test]
fn a_sleeping_core_is_woken_by_its_timer() {
    let run = Device::stepped(2).run(|| {
        STARTER.start().get().unwrap();
        three_are_done();
        DIARY.read().get().unwrap()
    });
    assert_eq!(run.returned, IN_ORDER);
    assert!(run.cores[1].asleep > 50 * run.cores[1].awake, "{:?}", run.cores[1]);
}

#[test]
fn a_loop_that_waits_for_a_time_ends() {
    let run = Device::stepped(1).run(|| embassy_time::block_for(Duration::from_millis(2)));
    assert!(run.cycles >= 2 * 1000 * u64::from(run.megahertz));
}

#[test]
fn the_clock_does_not_go_back_between_two_devices() {
    let read =
        || Device::stepped(1).run(|| (embassy_time::block_for(Duration::from_micros(50)), Instant::now()).1).returned;
    assert!(read() < read());
}

#[test]
fn late_timers_are_late_and_none_is_lost() {
    let late = Faults { late_timers: OnceIn(1), late_cycles: 125 * 5000, ..Faults::none() };
    let run = Device::stepped(2).seed(1).faults(late).run(|| {
        spawn_three();
        three_are_done();
        DIARY.read().get().unwrap()
    });
    assert_eq!(run.returned.len(), 3);
    assert!(run.returned.iter().any(|entry| !IN_ORDER.contains(entry)), "none was late: {:?}", run.returned);
    for (after, name) in run.returned {
        let due = IN_ORDER.iter().find(|(_, wanted)| *wanted == name).map_or(0, |(due, _)| *due);
        assert!((due..due + 6).contains(&after), "{name} after {after} ms");
    }
}

#[test]
fn timers_on_threads_follow_the_host() {
    let entries = Device::threads(2).run(|| {
        spawn_three();
        STARTER.start().get().unwrap();
        run_until(|| DIARY.entries().get() == Ok(6));
        DIARY.read().get().unwrap()
    });
    for (after, name) in entries.returned {
        let due = IN_ORDER.iter().find(|(_, wanted)| *wanted == name).map_or(0, |(due, _)| *due);
        assert!(after >= due, "{name} came after {after} ms, before its time");
    }
}
