//! Letters under load: from both cores, from interrupts, through mailboxes that are full most of the time.
//!
//! A [`Sink`] accounts for every letter: the letters of each sender come in order, each once, and their fingerprints
//! amount to what was sent.

use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use flockwork::{Actor, Mutex, Pinned, Post, ReadersWriter, Ref, Refused, Rejected, Serial, actor};

use crate::hold::{CORE_1, hold_core_1};
use crate::patience::{deliver, reach};
use crate::{Case, Device, Stop, require, require_equal, share};

pub(crate) const CASES: &[Case] = &[
    Case { name: "letters/full-mailbox", proves: "KER-2", cores: 1, run: full_mailbox },
    Case { name: "letters/full-mailbox-of-core-1", proves: "KER-2", cores: 2, run: full_mailbox_of_core_1 },
    Case { name: "letters/both-directions", proves: "KER-2, KER-3, KER-5, KER-7", cores: 2, run: both_directions },
    Case { name: "letters/timer-into-busy-actor", proves: "KER-4", cores: 1, run: timer_into_busy_actor },
    Case { name: "letters/timers-of-both-cores", proves: "KER-4, KER-7", cores: 2, run: timers_of_both_cores },
    Case { name: "letters/a-million", proves: "KER-2, KER-3, KER-4, PAM-G1, SAFE-1", cores: 1, run: a_million },
];

// ---- who sends ----

/// Senders that a sink tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// `main` on core 0, outside of all turns.
    Main,
    /// An actor on core 0.
    Core0,
    /// An actor on core 1.
    Core1,
    /// An actor that moves between cores.
    Rover,
    /// The timer interrupt of core 0.
    Timer0,
    /// The timer interrupt of core 1.
    Timer1,
}

const SENDERS: usize = 6;

impl Sender {
    /// A number that stands for a letter: its bits are mixed, so that a lost and a doubled letter do not cancel out.
    fn fingerprint(self, number: u32) -> u32 {
        let mixed = (number ^ (self as u32) << 28).wrapping_add(1).wrapping_mul(0x9e37_79b9);
        mixed ^ mixed >> 15
    }
}

/// What a number of letters amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    count: u32,
    sum: u32,
    xor: u32,
}

impl Tally {
    const NOTHING: Self = Self { count: 0, sum: 0, xor: 0 };

    fn add(&mut self, sender: Sender, number: u32) {
        let print = sender.fingerprint(number);
        self.count += 1;
        self.sum = self.sum.wrapping_add(print);
        self.xor ^= print.rotate_left(number % 32);
    }

    /// Adds the first `letters` letters of a sender.
    fn add_all(&mut self, sender: Sender, letters: u32) {
        (0..letters).for_each(|number| self.add(sender, number));
    }
}

// ---- who receives ----

/// Accounts for letters.
pub(crate) struct Sink {
    next: [u32; SENDERS],
    tally: Tally,
    /// Turns that began and that ended: a reader that sees them differ sees half a turn.
    begun: AtomicU32,
    ended: AtomicU32,
    out_of_order: u32,
    /// How many came, for `main` to look at without a letter. Written in turns of this actor alone.
    arrived: &'static AtomicU32,
}

impl Sink {
    const fn new(arrived: &'static AtomicU32) -> Self {
        Self {
            next: [0; SENDERS],
            tally: Tally::NOTHING,
            begun: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            out_of_order: 0,
            arrived,
        }
    }
}

#[actor]
impl Sink {
    /// Takes a letter.
    pub fn take(&mut self, sender: Sender, number: u32) {
        let turn = self.ended.load(SeqCst).wrapping_add(1);
        self.begun.store(turn, SeqCst);
        let next = &mut self.next[sender as usize];
        self.out_of_order += u32::from(*next != number);
        *next = number.wrapping_add(1);
        self.tally.add(sender, number);
        self.ended.store(turn, SeqCst);
        self.arrived.store(self.tally.count, SeqCst);
    }
    /// Looks whether somebody writes meanwhile.
    pub fn look(&self) {
        if self.ended.load(SeqCst) != self.begun.load(SeqCst) {
            // Anybody may set it, nobody clears it: one such look is one too many.
            HALF_A_TURN_SEEN.store(1, SeqCst);
        }
    }
    /// What came since the last time, and how many of it came out of order.
    pub fn clear(&mut self) -> (Tally, u32) {
        self.next = [0; SENDERS];
        self.arrived.store(0, SeqCst);
        (core::mem::take(&mut self.tally), core::mem::take(&mut self.out_of_order))
    }
}

static HALF_A_TURN_SEEN: AtomicU32 = AtomicU32::new(0);

/// Letters of one core that a sink has room for. Less than a pump sends in one go, so that mailboxes are full most of the time.
const ROOM: usize = 8;
const BURST: u32 = 16;

/// One sink under each kind of monitor.
static ARRIVED: [AtomicU32; 5] = [const { AtomicU32::new(0) }; 5];

#[actor]
static NEAR: Actor<Sink, Pinned<0>, ROOM> = Sink::new(&ARRIVED[0]);
#[actor]
static FAR: Actor<Sink, Pinned<1>, ROOM> = Sink::new(&ARRIVED[1]);
#[actor]
static ANYWHERE: Actor<Sink, Serial, ROOM> = Sink::new(&ARRIVED[2]);
#[actor]
static EXCLUSIVE: Actor<Sink, Mutex, ROOM> = Sink::new(&ARRIVED[3]);
#[actor]
static SHARED: Actor<Sink, ReadersWriter, ROOM> = Sink::new(&ARRIVED[4]);

/// A sink, and how many letters it has.
#[derive(Clone, Copy)]
pub(crate) struct Receiver {
    pub(crate) sink: Ref<Sink>,
    arrived: &'static AtomicU32,
    name: &'static str,
}

impl Receiver {
    /// Waits until all that was sent has arrived, and compares.
    pub(crate) fn settle(self, device: &'static dyn Device, sent: &[(Sender, u32)]) -> Result<(), Stop> {
        let mut expected = Tally::NOTHING;
        sent.iter().for_each(|(sender, letters)| expected.add_all(*sender, *letters));
        let arrived = reach(device, self.name, expected.count, || self.arrived.load(SeqCst));
        let Ok((tally, out_of_order)) = self.sink.clear().get() else {
            return Err(Stop::Wrong("no answer from a sink"));
        };
        arrived?;
        require_equal("readers that saw half a turn of a writer", 0u32, HALF_A_TURN_SEEN.load(SeqCst))?;
        require_equal("letters out of their sender's order", 0u32, out_of_order)?;
        require_equal("letters", expected.count, tally.count)?;
        require_equal("sum of the letters", expected.sum, tally.sum)?;
        require_equal("the letters together", expected.xor, tally.xor)
    }
}

pub(crate) static RECEIVERS: [Receiver; 5] = [
    Receiver { sink: &NEAR, arrived: &ARRIVED[0], name: "letters to core 0" },
    Receiver { sink: &FAR, arrived: &ARRIVED[1], name: "letters to core 1" },
    Receiver { sink: &ANYWHERE, arrived: &ARRIVED[2], name: "letters without a monitor" },
    Receiver { sink: &EXCLUSIVE, arrived: &ARRIVED[3], name: "letters under Mutex" },
    Receiver { sink: &SHARED, arrived: &ARRIVED[4], name: "letters under ReadersWriter" },
];

pub(crate) const NEAR_SINK: usize = 0;
pub(crate) const FAR_SINK: usize = 1;

// ---- pumps: actors that send ----

/// Sends letters from the core it runs on. What finds no room is kept and sent again: the very letter that came back.
pub(crate) struct Pump {
    sender: Sender,
    next: u32,
    /// The letter that came back.
    returned: Option<Rejected<Sink, dyn Post<Sink>>>,
}

impl Pump {
    const fn new(sender: Sender) -> Self {
        Self { sender, next: 0, returned: None }
    }

    /// Sends the next letter; false if there is no room.
    fn send_one(&mut self, to: Ref<Sink>) -> bool {
        let told = match self.returned.take() {
            Some(letter) => letter.retry(),
            None => {
                self.next += 1;
                to.take(self.sender, self.next - 1).tell()
            }
        };
        self.returned = told.err();
        self.returned.is_none()
    }
}

#[actor]
impl Pump {
    /// Sends so many letters in all, a few in each turn, and a reader with them, if there is room.
    pub fn pump(&mut self, me: Ref<Pump>, to: Ref<Sink>, letters: u32) {
        for _ in 0..BURST {
            if self.next == letters && self.returned.is_none() {
                self.next = 0;
                return;
            }
            if !self.send_one(to) {
                break;
            }
        }
        // Nobody counts the readers; what they look for is counted.
        let _ = to.look().tell();
        if me.pump(me, to, letters).tell().is_err() {
            // It has one letter to itself at a time. If there is no room all the same, the sink will miss letters.
            self.next = 0;
        }
    }
}

#[actor]
static ON_CORE_0: Actor<Pump, Pinned<0>, 2> = Pump::new(Sender::Core0);
#[actor]
static ON_CORE_1: Actor<Pump, Pinned<1>, 2> = Pump::new(Sender::Core1);
#[actor]
static ROVER: Actor<Pump, Serial, 2> = Pump::new(Sender::Rover);

// ---- timers: interrupts that send ----

/// What a core's timer has to send, and has sent.
struct Timer {
    sender: Sender,
    /// Which of [`RECEIVERS`] it sends to.
    to: AtomicU32,
    /// Written by `main` while the timer stands still.
    wanted: AtomicU32,
    /// Written by the interrupt; by `main` while the timer stands still.
    sent: AtomicU32,
    /// Interrupts, also those that had nothing to send.
    ticks: AtomicU32,
}

static TIMERS: [Timer; 2] = [Timer::new(Sender::Timer0), Timer::new(Sender::Timer1)];

impl Timer {
    const fn new(sender: Sender) -> Self {
        Self {
            sender,
            to: AtomicU32::new(0),
            wanted: AtomicU32::new(0),
            sent: AtomicU32::new(0),
            ticks: AtomicU32::new(0),
        }
    }

    fn set(&self, to: usize, wanted: u32) {
        self.to.store(to as u32, SeqCst);
        self.sent.store(0, SeqCst);
        self.wanted.store(wanted, SeqCst);
    }

    /// One interrupt: one letter, which is sent again with the next interrupt if it finds no room.
    fn interrupt(&self) {
        self.ticks.store(self.ticks.load(SeqCst).wrapping_add(1), SeqCst);
        let sent = self.sent.load(SeqCst);
        let receiver = RECEIVERS.get(self.to.load(SeqCst) as usize);
        if sent < self.wanted.load(SeqCst)
            && let Some(receiver) = receiver
            && receiver.sink.take(self.sender, sent).tell().is_ok()
        {
            self.sent.store(sent + 1, SeqCst);
        }
    }
}

/// What the interrupt of a core's timer does: it sends. The runner calls it in that interrupt.
pub fn timer_interrupt(core: u8) {
    if let Some(timer) = TIMERS.get(usize::from(core)) {
        timer.interrupt();
    }
}

/// How many timer interrupts core 0 had so far.
pub(crate) fn ticks() -> u32 {
    TIMERS[0].ticks.load(SeqCst)
}

// ---- the cases ----

/// A mailbox takes as many letters as it has room for; the next one comes back as it was, also when it is tried again.
/// Once there is room it is taken, and nothing is lost or doubled.
fn fill(
    device: &'static dyn Device,
    receiver: Receiver,
    make_room: impl FnOnce() -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut sent = 0;
    let returned = loop {
        match receiver.sink.take(Sender::Main, sent).tell() {
            Ok(()) => sent += 1,
            Err(rejected) => break rejected,
        }
        require(sent <= ROOM as u32, "a mailbox took more letters than it has room for")?;
    };
    require_equal("letters in a full mailbox", ROOM as u32, sent)?;
    require(returned.why() == Refused::Full, "a full mailbox says that it is full")?;
    let Err(returned) = returned.retry() else { return Err(Stop::Wrong("a full mailbox took a letter")) };
    match returned.into_message() {
        SinkMessage::Take(Sender::Main, number, _) => require_equal("the letter that came back", sent, number)?,
        _ => return Err(Stop::Wrong("another letter came back")),
    }
    make_room()?;
    deliver(device, receiver.sink.take(Sender::Main, sent).tell())?;
    receiver.settle(device, &[(Sender::Main, sent + 1)])
}

fn full_mailbox(device: &'static dyn Device) -> Result<(), Stop> {
    // Nobody but this core empties it, and this core does not work meanwhile.
    fill(device, RECEIVERS[NEAR_SINK], || Ok(()))
}

fn full_mailbox_of_core_1(device: &'static dyn Device) -> Result<(), Stop> {
    let held = hold_core_1(device)?;
    fill(device, RECEIVERS[FAR_SINK], || held.let_go())
}

fn start(device: &'static dyn Device, pump: Ref<Pump>, to: Receiver, letters: u32) -> Result<(), Stop> {
    deliver(device, pump.pump(pump, to.sink, letters).tell())
}

fn both_directions(device: &'static dyn Device) -> Result<(), Stop> {
    let letters = share(device, 100, 2000);
    let (near, far) = (RECEIVERS[NEAR_SINK], RECEIVERS[FAR_SINK]);
    start(device, &ON_CORE_0, far, letters)?;
    start(device, &ON_CORE_1, near, letters)?;
    for number in 0..letters {
        deliver(device, far.sink.take(Sender::Main, number).tell())?;
    }
    near.settle(device, &[(Sender::Core1, letters)])?;
    far.settle(device, &[(Sender::Core0, letters), (Sender::Main, letters)])
}

/// The timer of core 0 sends into an actor that is busy with letters of its own core, from the same lane.
fn timer_into_busy_actor(device: &'static dyn Device) -> Result<(), Stop> {
    let letters = share(device, 100, 2000);
    let interrupts = share(device, 2000, 100);
    let near = RECEIVERS[NEAR_SINK];
    TIMERS[0].set(NEAR_SINK, interrupts);
    device.start_timer();
    let busy = start(device, &ON_CORE_0, near, letters);
    let sent = busy.and_then(|()| {
        (0..letters).try_for_each(|number| deliver(device, near.sink.take(Sender::Main, number).tell()))?;
        reach(device, "letters of a timer", interrupts, || TIMERS[0].sent.load(SeqCst))
    });
    device.stop_timer();
    sent?;
    near.settle(device, &[(Sender::Core0, letters), (Sender::Main, letters), (Sender::Timer0, interrupts)])
}

/// Timers of both cores send to the other core, whose actor is busy as well.
fn timers_of_both_cores(device: &'static dyn Device) -> Result<(), Stop> {
    let letters = share(device, 100, 2000);
    let interrupts = share(device, 2000, 100);
    let (near, far) = (RECEIVERS[NEAR_SINK], RECEIVERS[FAR_SINK]);
    let sent = with_both_timers(device, [FAR_SINK, NEAR_SINK], interrupts, || {
        start(device, &ON_CORE_0, far, letters)?;
        start(device, &ON_CORE_1, near, letters)
    });
    sent?;
    near.settle(device, &[(Sender::Core1, letters), (Sender::Timer1, interrupts)])?;
    far.settle(device, &[(Sender::Core0, letters), (Sender::Timer0, interrupts)])
}

/// Runs the timers of as many cores as there are, up to two, until each has sent so many letters to its receiver.
fn with_both_timers(
    device: &'static dyn Device,
    to: [usize; 2],
    interrupts: u32,
    work: impl FnOnce() -> Result<(), Stop>,
) -> Result<(), Stop> {
    let two = device.cores() > 1;
    TIMERS[0].set(to[0], interrupts);
    TIMERS[1].set(to[1], interrupts);
    device.start_timer();
    if two {
        CORE_1.start_timer(device).get().map_err(|_| Stop::Wrong("core 1 did not start its timer"))?;
    }
    let worked = work().and_then(|()| {
        reach(device, "letters of core 0's timer", interrupts, || TIMERS[0].sent.load(SeqCst))?;
        if two {
            reach(device, "letters of core 1's timer", interrupts, || TIMERS[1].sent.load(SeqCst))?;
        }
        Ok(())
    });
    device.stop_timer();
    if two {
        CORE_1.stop_timer(device).get().map_err(|_| Stop::Wrong("core 1 did not stop its timer"))?;
    }
    worked
}

/// A million letters, or what the device has time for, from every kind of sender to every kind of receiver.
fn a_million(device: &'static dyn Device) -> Result<(), Stop> {
    let two = device.cores() > 1;
    let receivers = RECEIVERS.iter().enumerate().filter(|(place, _)| two || *place != FAR_SINK);
    let pumps: &[(Sender, Ref<Pump>)] = match two {
        true => &[(Sender::Core0, &ON_CORE_0), (Sender::Core1, &ON_CORE_1), (Sender::Rover, &ROVER)],
        false => &[(Sender::Core0, &ON_CORE_0), (Sender::Rover, &ROVER)],
    };
    let rounds = if two { 5 } else { 4 };
    let each = device.letters() / rounds / (pumps.len() as u32 + 1) + 1;
    let interrupts = each / 200 + 1;
    let mut accounted = 0;
    for (place, receiver) in receivers {
        let mut sent = [(Sender::Main, 0); SENDERS];
        let mut senders = 0;
        let mut add = |sender, letters| {
            sent[senders] = (sender, letters);
            senders += 1;
            accounted += letters;
        };
        with_both_timers(device, [place; 2], interrupts, || {
            for (_, pump) in pumps {
                start(device, pump, *receiver, each)?;
            }
            (0..each).try_for_each(|number| deliver(device, receiver.sink.take(Sender::Main, number).tell()))
        })?;
        add(Sender::Main, each);
        add(Sender::Timer0, interrupts);
        if two {
            add(Sender::Timer1, interrupts);
        }
        pumps.iter().for_each(|(sender, _)| add(*sender, each));
        receiver.settle(device, &sent[..senders])?;
    }
    require(accounted >= device.letters(), "fewer letters were sent than promised")?;
    device.log(format_args!("  {accounted} letters, each accounted for"));
    Ok(())
}
