//! The couples among 50 to 500 people, derived by both cores: the table of the showcase, on the chip itself.
//!
//! Core 0 derives the flock from each of three flockrs that differ in their monitor only; with the readers-writer monitor a helper on
//! core 1 asks for half of the matches. Every flock is compared with the one that the incremental engine has, which never looks
//! into the lists, and with the check values where there are some. The log goes to UART0.
#![no_std]
#![no_main]

use core::fmt;

use embassy_rp::clocks::clk_sys_freq;
use embassy_rp::uart::{Blocking, Config, Error, UartTx};
use embassy_time::Instant;
use embedded_io::{Write, WriteFmtError};
use flockwork::{Actor, Mutex, Pinned, ReadersWriter, Ref, Serial, actor};
use flockwork_rp2040::{Core1Stack, Outcome, entry, finish, run};
use flockwork_urbiflock::{Derivation, DerivationError, FlockId, Flockr, Helper, WORLD, derive_with};

// The same actor three times. The second word of each type is all that differs.
#[actor]
static DEFAULT: Actor<Flockr, Serial, 32, 16> = Flockr::new();
#[actor]
static LOCKED: Actor<Flockr, Mutex, 32, 16> = Flockr::new();
#[actor]
static SHARED: Actor<Flockr, ReadersWriter, 32, 16> = Flockr::new();
#[actor]
static HELPER: Actor<Helper, Pinned<1>, 1, 1> = Helper;

const SIZES: [usize; 10] = [50, 100, 150, 200, 250, 300, 350, 400, 450, 500];

/// What the description of the workload says: people, hash of the couples, comparisons.
const CHECK_VALUES: [(usize, u32, u32); 5] = [
    (50, 0x047f_4ee3, 13_373),
    (100, 0x25b7_7bd3, 29_654),
    (200, 0x6f5f_7ef4, 65_796),
    (300, 0x5a41_c210, 111_812),
    (400, 0x43fa_d0b4, 164_640),
];

/// Why a row of the table is wrong.
enum Wrong {
    /// A flockr did not answer.
    Failed(DerivationError),
    /// The incremental engine has other members.
    EnginesDisagree,
    /// Under another monitor there were others, or another number of comparisons.
    MonitorsDisagree,
    /// It is not what the check values say.
    Unexpected,
}

impl From<DerivationError> for Wrong {
    fn from(why: DerivationError) -> Self {
        Self::Failed(why)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) => why.fmt(f),
            Self::EnginesDisagree => f.write_str("the incremental engine has other members"),
            Self::MonitorsDisagree => f.write_str("another monitor makes a difference to more than the time"),
            Self::Unexpected => f.write_str("the check values say otherwise"),
        }
    }
}

/// Lets further people come, until so many are near. Then a derivation, and the cycles it took.
fn measure(flockr: Ref<Flockr>, people: usize, helpers: &[Ref<Helper>]) -> Result<(Derivation, u32), Wrong> {
    let near = usize::from(flockr.summary(FlockId::NEARBY).get()?.members);
    WORLD.arrivals()[near..people].iter().try_for_each(|&uid| flockr.join(uid).get().map(drop))?;
    let start = Instant::now();
    let derivation = derive_with(flockr, FlockId::COUPLES, helpers)?;
    let microseconds = start.elapsed().as_micros() as u32;
    if flockr.snapshot(FlockId::COUPLES).get()?.members != derivation.members {
        return Err(Wrong::EnginesDisagree);
    }
    Ok((derivation, microseconds * (clk_sys_freq() / 1_000_000)))
}

/// The row of a size.
struct Row {
    people: usize,
    found: Derivation,
    default: u32,
    mutex: u32,
    readers_writer: u32,
}

impl Row {
    fn measure(people: usize) -> Result<Self, Wrong> {
        let (found, default) = measure(&DEFAULT, people, &[])?;
        let (under_mutex, mutex) = measure(&LOCKED, people, &[])?;
        let (shared, readers_writer) = measure(&SHARED, people, &[&HELPER])?;
        let what = |derivation: &Derivation| (derivation.hash(), derivation.comparisons, derivation.restarts);
        if what(&found) != what(&under_mutex) || what(&found) != what(&shared) {
            return Err(Wrong::MonitorsDisagree);
        }
        let expected = CHECK_VALUES.iter().find(|values| values.0 == people);
        if expected.is_some_and(|&(_, hash, comparisons)| what(&found) != (hash, comparisons, 0)) {
            return Err(Wrong::Unexpected);
        }
        Ok(Self { people, found, default, mutex, readers_writer })
    }
}

/// A heading for rows.
const HEADING: &str = "people  couples      hash  comparisons |   default     mutex  readers-writer | mutex  speed-up";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { people, found, default, mutex, readers_writer } = self;
        let (couples, hash, comparisons) = (found.couples(), found.hash(), found.comparisons);
        // In hundredths, and in tenths of a per cent, rounded as the host rounds.
        let speed_up = rounded(u64::from(*default) * 100, *readers_writer);
        let overhead = rounded(u64::from(mutex.saturating_sub(*default)) * 1000, *default);
        write!(
            f,
            "{people:>6} {couples:>8}  {hash:08x} {comparisons:>12} |{default:>10}{mutex:>10}{readers_writer:>16} |"
        )?;
        write!(f, " {:>2}.{}%{:>6}.{:02} x", overhead / 10, overhead % 10, speed_up / 100, speed_up % 100)
    }
}

fn rounded(number: u64, divisor: u32) -> u64 {
    let divisor = u64::from(divisor).max(1);
    (number + divisor / 2) / divisor
}

fn print_table(uart: &mut UartTx<'static, Blocking>) -> Result<Outcome, WriteFmtError<Error>> {
    let flockrs: [Ref<Flockr>; 3] = [&DEFAULT, &LOCKED, &SHARED];
    if let Err(why) = flockrs.iter().try_for_each(|flockr| flockr.begin(&WORLD).get().map(drop)) {
        writeln!(uart, "nothing has begun: {why}")?;
        return Ok(Outcome::Failed);
    }
    writeln!(uart, "{HEADING}")?;
    for people in SIZES {
        match Row::measure(people) {
            Ok(row) => writeln!(uart, "{row}")?,
            Err(why) => {
                writeln!(uart, "{people:>6} {why}")?;
                return Ok(Outcome::Failed);
            }
        }
    }
    writeln!(uart, "cycles; all hashes checked")?;
    uart.flush()?;
    Ok(Outcome::Passed)
}

static CORE1_STACK: Core1Stack<4096> = Core1Stack::new();

#[entry]
fn main() -> ! {
    let p = embassy_rp::init(Default::default());
    let mut uart = UartTx::new_blocking(p.UART0, p.PIN_0, Config::default());
    run(p.CORE1, &CORE1_STACK, move |_core0| finish(print_table(&mut uart).unwrap_or(Outcome::Failed)), |_core1| {})
}
