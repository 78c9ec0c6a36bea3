//! What a letter costs: every way to send one, between marks that the emulator measures (`cargo xtask cycles`).
//!
//! Core 0 measures, in thread mode. Core 1 does what the measurement needs: stays out of the kernel, polls, or sleeps in its worker.
//! Where a method does more than be there (to know when to stop), that is a span of its own, `… (own work)`, and is subtracted.
#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "enables the interrupt that sends")]

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use cortex_m::asm::{delay, sev, wfe};
use cortex_m::peripheral::NVIC;
use embassy_executor::{Spawner, task};
use embassy_rp::pac::{Interrupt, interrupt};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use flockwork::{
    Actor, Answered, Eventually, Mutex, Pinned, Promise, ReadersWriter, Report, Reports, Serial, Token, actor, worker,
};
use flockwork_rp2040::{Core1Stack, Outcome, begin, end, entry, finish, lap, run};
use static_cell::ConstStaticCell;

/// How often each thing is measured.
const TIMES: u32 = 16;
/// Longer than anything core 1 is asked to do.
const SETTLED: u32 = 4000;

fn must(happened: bool) {
    assert!(happened, "a measurement went wrong");
}

/// No letter is left.
fn all_left(actor: &'static impl Reports) {
    must(Report::of(actor).letters == 0);
}

/// One of two actors that send a letter to each other. `$self` is the receiver of the method.
macro_rules! player {
    ($type:ident, $name:ident, $other:ident, $monitor:ty, $letter:literal, $($self:tt)+) => {
        pub(super) struct $type;

        #[actor]
        impl $type {
            pub fn hit($($self)+) {
                lap!($letter ", in turns");
                begin!($letter ", in turns (own work)");
                let left = LEFT.load(Ordering::Relaxed);
                LEFT.store(left.wrapping_sub(1), Ordering::Relaxed);
                if left == 0 {
                    return;
                }
                end!($letter ", in turns (own work)");
                must($other.hit().tell().is_ok());
            }
        }

        #[actor]
        static $name: Actor<$type, $monitor, 8> = $type;
    };
}

/// Letters to actors of one monitor, whose methods are empty: from thread mode one by one and eight at a time, and in turns.
macro_rules! letters {
    ($module:ident, $monitor:ty, $letter:literal, $($self:tt)+) => {
        mod $module {
            use super::*;

            static LEFT: AtomicU32 = AtomicU32::new(0);

            player!(Ping, PING, PONG, $monitor, $letter, $($self)+);
            player!(Pong, PONG, PING, $monitor, $letter, $($self)+);

            pub(super) struct Idle;

            #[actor]
            impl Idle {
                pub fn touch($($self)+) {}
            }

            #[actor]
            static IDLE: Actor<Idle, $monitor, 8> = Idle;

            pub(super) fn measure() {
                for _ in 0..TIMES {
                    begin!($letter ", from a thread");
                    must(IDLE.touch().tell().is_ok());
                    worker::step_once();
                    end!($letter ", from a thread");
                    all_left(&IDLE);
                }
                for _ in 0..TIMES {
                    begin!($letter ", burst of 8");
                    for _ in 0..8 {
                        must(IDLE.touch().tell().is_ok());
                    }
                    worker::step_once();
                    end!($letter ", burst of 8");
                    all_left(&IDLE);
                }
                LEFT.store(4 * TIMES, Ordering::Relaxed);
                must(PING.hit().tell().is_ok());
                while worker::step_once() {}
                all_left(&PING);
                all_left(&PONG);
            }
        }
    };
}

letters!(default, Serial, "default", &mut self);
letters!(pinned, Pinned<0>, "pinned", &mut self);
letters!(mutex, Mutex, "mutex", &mut self);
letters!(reader, ReadersWriter, "reader", &self);
letters!(writer, ReadersWriter, "writer", &mut self);

/// Sends without their letters: inside a turn, in thread mode, from an interrupt.
mod sends {
    use super::*;

    pub(super) struct Receiver;

    #[actor]
    impl Receiver {
        pub fn touch(&mut self) {}
        pub fn value(&self) -> u32 {
            7
        }
    }

    #[actor]
    pub(super) static RECEIVER: Actor<Receiver, Serial, 8> = Receiver;

    pub(super) struct Sender;

    #[actor]
    impl Sender {
        pub fn send(&mut self) {
            begin!("send, in a turn");
            must(RECEIVER.touch().tell().is_ok());
            end!("send, in a turn");
        }

        pub fn via<'t>(&mut self, reply: Token<'t, u32>) -> Answered<'t> {
            begin!("forward, the call");
            let forwarded = RECEIVER.value().forward(reply);
            end!("forward, the call");
            forwarded.unwrap_or_else(|(reply, full)| reply.fail(full))
        }
    }

    #[actor]
    static SENDER: Actor<Sender, Serial, 8> = Sender;

    #[interrupt]
    fn RTC_IRQ() {
        begin!("send, from an interrupt");
        must(RECEIVER.touch().tell().is_ok());
        end!("send, from an interrupt");
    }

    pub(super) fn measure() {
        // SAFETY: no critical section relies on this interrupt being off.
        unsafe { NVIC::unmask(Interrupt::RTC_IRQ) };
        for _ in 0..TIMES {
            must(SENDER.send().tell().is_ok());
            while worker::step_once() {}

            begin!("send, from a thread");
            must(RECEIVER.touch().tell().is_ok());
            end!("send, from a thread");
            while worker::step_once() {}

            NVIC::pend(Interrupt::RTC_IRQ);
            while worker::step_once() {}
            all_left(&RECEIVER);
        }
        for _ in 0..TIMES {
            begin!("ask and reply");
            let answer = RECEIVER.value().get();
            end!("ask and reply");
            must(answer == Ok(7));
            while worker::step_once() {}

            begin!("ask, forward and reply");
            let answer = SENDER.via().get();
            end!("ask, forward and reply");
            must(answer == Ok(7));
            while worker::step_once() {}
        }
    }
}

/// What letters are held against, in the same image.
mod blocks {
    use super::*;

    pub(super) static CHANNEL: Channel<CriticalSectionRawMutex, u32, 8> = Channel::new();
    static QUEUE: ConstStaticCell<heapless::spsc::Queue<u32, 8>> = ConstStaticCell::new(heapless::spsc::Queue::new());

    pub(super) fn measure() {
        for _ in 0..TIMES {
            begin!("nothing");
            end!("nothing");
            begin!("critical section");
            critical_section::with(|_| {});
            end!("critical section");
        }
        for number in 0..TIMES {
            begin!("channel");
            let sent = CHANNEL.try_send(number);
            let received = CHANNEL.try_receive();
            end!("channel");
            must(sent.is_ok() && received == Ok(number));
        }
        let (mut producer, mut consumer) = QUEUE.take().split();
        for number in 0..TIMES {
            begin!("spsc");
            let sent = producer.enqueue(number);
            let received = consumer.dequeue();
            end!("spsc");
            must(sent.is_ok() && received == Some(number));
        }
    }
}

/// From core 0 to core 1.
mod across {
    use super::*;

    /// Letters that have arrived on core 1.
    static ARRIVED: AtomicU32 = AtomicU32::new(0);

    pub(super) fn arrive() {
        must(embassy_rp::multicore::current_core() as u8 == 1);
        ARRIVED.store(ARRIVED.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    pub(super) struct There;

    #[actor]
    impl There {
        pub fn awake(&mut self) {
            end!("across to a pinned actor, awake");
            arrive();
        }

        pub fn asleep(&mut self) {
            end!("across to a pinned actor, asleep");
            arrive();
        }
    }

    #[actor]
    static THERE: Actor<There, Pinned<1>, 8> = There;

    pub(super) struct Anywhere;

    #[actor]
    impl Anywhere {
        pub fn awake(&mut self) {
            end!("across to an unpinned actor, awake");
            arrive();
        }

        pub fn asleep(&mut self) {
            end!("across to an unpinned actor, asleep");
            arrive();
        }
    }

    #[actor]
    static ANYWHERE: Actor<Anywhere, Serial, 8> = Anywhere;

    /// Has long turns, so that the other core takes what waits meanwhile.
    pub(super) struct Busy;

    #[actor]
    impl Busy {
        pub fn work(&mut self) {
            delay(SETTLED);
        }

        pub fn send_and_work(&mut self) {
            begin!("across to an unpinned actor, awake");
            must(ANYWHERE.awake().tell().is_ok());
            delay(SETTLED);
        }
    }

    #[actor]
    static BUSY_HERE: Actor<Busy, Pinned<0>, 8> = Busy;

    /// Letters that go to and fro.
    static LEFT: AtomicU32 = AtomicU32::new(0);
    player!(Here, HERE, YONDER, Pinned<0>, "across and back", &mut self);
    player!(Yonder, YONDER, HERE, Pinned<1>, "across and back", &mut self);

    /// Sends once in each phase of what core 1 does in a loop.
    pub(super) fn each(mut send: impl FnMut()) {
        for phase in 0..4 * TIMES {
            delay(SETTLED + 5 * phase);
            let before = ARRIVED.load(Ordering::Relaxed);
            send();
            while ARRIVED.load(Ordering::Acquire) == before {}
            while worker::step_once() {}
        }
    }

    pub(super) fn measure() {
        core1_does(POLLS);
        each(|| {
            begin!("across to a pinned actor, awake");
            must(THERE.awake().tell().is_ok());
            worker::step_once();
        });
        each(|| {
            must(BUSY_HERE.send_and_work().tell().is_ok());
            worker::step_once();
        });
        core1_does(SLEEPS);
        each(|| {
            begin!("across to a pinned actor, asleep");
            must(THERE.asleep().tell().is_ok());
            worker::step_once();
        });
        each(|| {
            // Ready sets are visited by number, and this actor is older.
            must(BUSY_HERE.work().tell().is_ok());
            begin!("across to an unpinned actor, asleep");
            must(ANYWHERE.asleep().tell().is_ok());
            worker::step_once();
        });
        LEFT.store(4 * TIMES, Ordering::Relaxed);
        must(HERE.hit().tell().is_ok());
        worker::run_while(|| LEFT.load(Ordering::Relaxed) != u32::MAX);
        core1_does(RECEIVES);
        each(|| {
            begin!("channel, one way");
            must(blocks::CHANNEL.try_send(0).is_ok());
        });
    }
}

/// The same to actors with a monitor, which either core may run.
mod across_monitored {
    use super::*;

    macro_rules! monitored {
        ($type:ident, $name:ident, $monitor:ty, $letter:literal, $($self:tt)+) => {
            pub(super) struct $type;

            #[actor]
            impl $type {
                pub fn awake($($self)+) {
                    end!("across to " $letter ", awake");
                    across::arrive();
                }

                pub fn asleep($($self)+) {
                    end!("across to " $letter ", asleep");
                    across::arrive();
                }
            }

            #[actor]
            static $name: Actor<$type, $monitor, 8> = $type;
        };
    }

    monitored!(Locked, MUTEX, Mutex, "a mutex", &mut self);
    monitored!(Read, READER, ReadersWriter, "a reader", &self);
    monitored!(Written, WRITER, ReadersWriter, "a writer", &mut self);

    /// Has long turns, so that the other core takes what waits meanwhile.
    pub(super) struct Occupied;

    #[actor]
    impl Occupied {
        pub fn work(&mut self) {
            delay(SETTLED);
        }

        pub fn send_to_mutex(&mut self) {
            begin!("across to a mutex, awake");
            must(MUTEX.awake().tell().is_ok());
            delay(SETTLED);
        }

        pub fn send_to_reader(&mut self) {
            begin!("across to a reader, awake");
            must(READER.awake().tell().is_ok());
            delay(SETTLED);
        }

        pub fn send_to_writer(&mut self) {
            begin!("across to a writer, awake");
            must(WRITER.awake().tell().is_ok());
            delay(SETTLED);
        }
    }

    #[actor]
    static OCCUPIED: Actor<Occupied, Pinned<0>, 8> = Occupied;

    /// Sends from inside a long turn on core 0.
    macro_rules! awake {
        ($send:ident) => {
            across::each(|| {
                must(OCCUPIED.$send().tell().is_ok());
                worker::step_once();
            });
        };
    }

    /// Sends the second of two letters, while core 0 is busy with the first, whose actor is older.
    macro_rules! asleep {
        ($actor:ident, $letter:literal) => {
            across::each(|| {
                must(OCCUPIED.work().tell().is_ok());
                begin!("across to " $letter ", asleep");
                must($actor.asleep().tell().is_ok());
                worker::step_once();
            });
        };
    }

    pub(super) fn measure() {
        core1_does(POLLS);
        awake!(send_to_mutex);
        awake!(send_to_reader);
        awake!(send_to_writer);
        core1_does(SLEEPS);
        asleep!(MUTEX, "a mutex");
        asleep!(READER, "a reader");
        asleep!(WRITER, "a writer");
    }
}

/// Questions of a task, which its executor wakes for the answer.
mod tasks {
    use super::*;

    pub(super) struct Far;

    #[actor]
    impl Far {
        pub fn value(&self) -> u32 {
            7
        }
    }

    #[actor]
    static FAR: Actor<Far, Pinned<1>, 8> = Far;

    static IS_DONE: AtomicBool = AtomicBool::new(false);

    #[task]
    async fn asker() {
        for _ in 0..TIMES {
            begin!("ask and reply, in a task");
            let answer = sends::RECEIVER.value().await;
            end!("ask and reply, in a task");
            must(answer == Ok(7));
        }
        for _ in 0..TIMES {
            begin!("ask and reply, in a task, across");
            let answer = FAR.value().await;
            end!("ask and reply, in a task, across");
            must(answer == Ok(7));
        }
        IS_DONE.store(true, Ordering::Relaxed);
    }

    pub(super) fn measure(core0: Spawner) {
        core1_does(SLEEPS);
        core0.spawn(asker().expect("the task is spawned once"));
        worker::run_while(|| !IS_DONE.load(Ordering::Relaxed));
    }
}

/// A dictionary as an association list, read by both cores if its monitor lets them.
mod dictionary {
    use super::*;

    const ENTRIES: usize = 4096;
    const READS: u32 = 1000;
    /// Questions that are under way at once.
    const WINDOW: usize = 32;

    struct Entry {
        word: u16,
        meaning: u16,
    }

    pub(super) struct Dictionary {
        entries: [Entry; ENTRIES],
    }

    impl Dictionary {
        const fn new() -> Self {
            let mut entries = [const { Entry { word: 0, meaning: 0 } }; ENTRIES];
            let mut place = 0;
            while place < ENTRIES {
                entries[place] = Entry { word: place as u16, meaning: !(place as u16) };
                place += 1;
            }
            Self { entries }
        }

        /// Not inlined, so that the search is the same code under every monitor.
        #[inline(never)]
        fn search(&self, word: u16) -> Option<u16> {
            self.entries.iter().find(|entry| entry.word == word).map(|entry| entry.meaning)
        }
    }

    #[actor]
    impl Dictionary {
        pub fn get(&self, word: u16) -> Option<u16> {
            self.search(word)
        }
    }

    #[actor]
    static DEFAULT: Actor<Dictionary, Serial, 64, 32> = Dictionary::new();
    #[actor]
    static MUTEX: Actor<Dictionary, Mutex, 64, 32> = Dictionary::new();
    #[actor]
    static READERS_WRITER: Actor<Dictionary, ReadersWriter, 64, 32> = Dictionary::new();

    /// The words that are looked up: all over the list, always the same.
    fn word(read: u32) -> u16 {
        (read.wrapping_mul(0x9E37_79B9) >> 20) as u16
    }

    fn check(read: u32, promise: Promise<Option<u16>>) {
        must(promise.get() == Ok(Some(!word(read))));
    }

    /// Reads with a window of questions: the oldest answer is waited for, then the next question is asked.
    macro_rules! read_all {
        ($dictionary:ident, $name:literal) => {
            delay(SETTLED);
            let mut under_way = [const { None }; WINDOW];
            begin!($name);
            for read in 0..READS {
                let place = &mut under_way[read as usize % WINDOW];
                if let Some(promise) = place.take() {
                    check(read - WINDOW as u32, promise);
                }
                let asked = $dictionary.get(word(read)).ask();
                must(asked.is_ok());
                *place = asked.ok();
            }
            for read in READS - WINDOW as u32..READS {
                if let Some(promise) = under_way[read as usize % WINDOW].take() {
                    check(read, promise);
                }
            }
            end!($name);
            while worker::step_once() {}
        };
    }

    pub(super) fn measure() {
        core1_does(SLEEPS);
        read_all!(DEFAULT, "dictionary, default");
        read_all!(MUTEX, "dictionary, mutex");
        read_all!(READERS_WRITER, "dictionary, readers and writer");
    }
}

/// What core 1 does.
static CORE1: AtomicU8 = AtomicU8::new(STAYS_OUT);
/// Nothing: it is not in the kernel.
const STAYS_OUT: u8 = 0;
/// Its worker, without sleep.
const POLLS: u8 = 1;
/// Its worker, which sleeps when there is nothing to do.
const SLEEPS: u8 = 2;
/// Receives from the channel.
const RECEIVES: u8 = 3;

fn core1_does(what: u8) {
    CORE1.store(what, Ordering::Release);
    sev();
    delay(SETTLED);
}

fn core1() -> ! {
    loop {
        let what = CORE1.load(Ordering::Acquire);
        let goes_on = || CORE1.load(Ordering::Acquire) == what;
        match what {
            POLLS => {
                while goes_on() {
                    worker::step_once();
                }
            }
            SLEEPS => worker::run_while(goes_on),
            RECEIVES => {
                while goes_on() {
                    if blocks::CHANNEL.try_receive().is_ok() {
                        end!("channel, one way");
                        across::arrive();
                    }
                }
            }
            _ => wfe(),
        }
    }
}

fn core0(core0: Spawner) {
    blocks::measure();
    default::measure();
    pinned::measure();
    mutex::measure();
    reader::measure();
    writer::measure();
    sends::measure();
    across::measure();
    tasks::measure(core0);
    dictionary::measure();
    across_monitored::measure();
    finish(Outcome::Passed);
}

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    run(p.CORE1, &CORE1_STACK, core0, |_| core1())
}
