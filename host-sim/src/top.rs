//! A live view of a device in the terminal: what its cores and actors do, while simulated time passes as fast as one likes, or while
//! threads run.
//!
//! | key | |
//! |---|---|
//! | space | pause, and on again (stepped only) |
//! | `s` or → | a step: on to the next thing that happens (stepped only) |
//! | `+` and `-`, or ↑ and ↓ | faster and slower (stepped only) |
//! | `q` or Esc | closes the view; the program goes on to its end |
//! | Ctrl-C | ends the process, with exit code 130 |
//!
//! When the program has ended, its last state stays until a key is pressed.
//!
//! ```no_run
//! use flockwork_host_sim::{Options, top};
//!
//! let run = top::run(&Options::default(), "my program", || { /* … */ });
//! match run {
//!     Ok(run) => println!("{} letters", run.letters()),
//!     Err(trouble) => eprintln!("error: {trouble}"),
//! }
//! ```

mod controls;
mod view;
mod watch;

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::io::{self, IsTerminal};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use controls::{Controls, Key};
/// What [`draw`] draws with.
pub use ratatui;
pub use view::{View, draw};

use crate::device::Mode;
use crate::options::Options;
use crate::run::Run;
use crate::stepped::Deadlock;
use watch::{Screen, Watch};

/// Whether a view is shown.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Whether the view of the device that runs is open: a program that has nothing to wait for can go on until somebody has seen enough.
pub fn is_open() -> bool {
    IS_OPEN.load(Ordering::SeqCst)
}

/// Runs `main` on the device of these options, and shows it in the terminal. On threads the record has no events: whoever looks on
/// for long would fill the memory with them.
///
/// # Errors
/// If there is no terminal to draw on, and in stepped mode if all cores come to wait for one another.
///
/// # Panics
/// As [`Device::try_run`](crate::Device::try_run).
pub fn run<R>(options: &Options, title: &str, main: impl FnOnce() -> R) -> Result<Run<R>, Trouble> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Trouble::NoTerminal(io::Error::other("standard input or output is none")));
    }
    let screen = Screen::open().map_err(Trouble::NoTerminal)?;
    if options.mode == Mode::Threads {
        return on_threads(options, Watch::new(screen, View::of_threads(title, options.cores)), main);
    }
    let view = View::new(title, options.costs.megahertz, options.cores);
    let watch = Rc::new(RefCell::new(Watch::new(screen, view)));
    let looks = Rc::clone(&watch);
    // As often as every microsecond, so that a step can stop at what happens next.
    let every = u64::from(options.costs.megahertz);
    let run = options.device().try_run_watched(every, move |snapshot| looks.borrow_mut().look(snapshot), main);
    if let Ok(run) = &run {
        watch.borrow_mut().show_end(run);
    }
    let drawn = watch.borrow_mut().close();
    let run = run.map_err(Trouble::Deadlock)?;
    drawn.map_err(Trouble::NoTerminal)?;
    Ok(run)
}

/// The picture is drawn by a thread of its own: time passes by itself.
fn on_threads<R>(options: &Options, mut watch: Watch<Screen>, main: impl FnOnce() -> R) -> Result<Run<R>, Trouble> {
    let run = options.device().keep_events(false).run_watched_threads(|watched| watch.look_on(watched), main);
    watch.show_end(&run);
    watch.close().map_err(Trouble::NoTerminal)?;
    Ok(run)
}

/// Why a program was not watched to its end.
#[derive(Debug)]
pub enum Trouble {
    /// There is no terminal, or it cannot be drawn on.
    NoTerminal(io::Error),
    /// All cores came to wait for one another.
    Deadlock(Deadlock),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTerminal(error) => write!(f, "the live view needs a terminal: {error}"),
            Self::Deadlock(deadlock) => deadlock.fmt(f),
        }
    }
}

impl Error for Trouble {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NoTerminal(error) => Some(error),
            Self::Deadlock(deadlock) => Some(deadlock),
        }
    }
}
