//! A live view of a stepped device in the terminal: what its cores and actors do, while simulated time passes as fast as one likes.
//!
//! | key | |
//! |---|---|
//! | space | pause, and on again |
//! | `s` or → | a step: on to the next thing that happens |
//! | `+` and `-`, or ↑ and ↓ | faster and slower |
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

pub use controls::{Controls, Key};
/// What [`draw`] draws with.
pub use ratatui;
pub use view::{View, draw};

use crate::device::Mode;
use crate::options::Options;
use crate::run::Run;
use crate::stepped::Deadlock;
use watch::{Screen, Watch};

/// Runs `main` on the device of these options, and shows it in the terminal.
///
/// # Errors
/// If the device is not stepped, if there is no terminal to draw on, and if all cores come to wait for one another.
///
/// # Panics
/// As [`Device::try_run`](crate::Device::try_run).
pub fn run<R>(options: &Options, title: &str, main: impl FnOnce() -> R) -> Result<Run<R>, Trouble> {
    if options.mode != Mode::Stepped {
        return Err(Trouble::NotStepped);
    }
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Trouble::NoTerminal(io::Error::other("input and output are not one")));
    }
    let screen = Screen::open().map_err(Trouble::NoTerminal)?;
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

/// Why a program was not watched to its end.
#[derive(Debug)]
pub enum Trouble {
    /// Nobody can look at all threads at one moment.
    NotStepped,
    /// There is no terminal, or it cannot be drawn on.
    NoTerminal(io::Error),
    /// All cores came to wait for one another.
    Deadlock(Deadlock),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStepped => f.write_str("only a stepped device can be watched; add `--mode stepped`"),
            Self::NoTerminal(error) => write!(f, "the live view needs a terminal: {error}"),
            Self::Deadlock(deadlock) => deadlock.fmt(f),
        }
    }
}

impl Error for Trouble {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotStepped => None,
            Self::NoTerminal(error) => Some(error),
            Self::Deadlock(deadlock) => Some(deadlock),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_cannot_be_watched() {
        let options = Options { mode: Mode::Threads, ..Options::default() };
        let trouble = run(&options, "", || unreachable!("it does not run")).expect_err("nobody can look");
        assert_eq!(trouble.to_string(), "only a stepped device can be watched; add `--mode stepped`");
    }
}
