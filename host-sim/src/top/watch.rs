//! The loop: shows a picture, waits for keys, and lets simulated time pass up to the next picture.

use std::io;
use std::process::exit;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal;
use ratatui::{DefaultTerminal, Frame};

use super::controls::{FRAME, Key};
use super::view::{View, draw};
use crate::run::{CoreSnapshot, Run, Snapshot};

/// Where pictures are shown and keys are pressed.
pub(super) trait Console {
    /// Shows a picture. False if nothing can be shown any more.
    fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<bool>;

    /// Waits so long for a key, or for ever.
    fn key(&mut self, wait: Option<Duration>) -> io::Result<Option<Key>>;

    /// Gives the terminal back. May be called again.
    fn close(&mut self);
}

/// Watches one device.
pub(super) struct Watch<C> {
    console: C,
    view: View,
    /// When the next picture is due, in cycles.
    next: u64,
    frame_began: Instant,
    is_closed: bool,
    failed: Option<io::Error>,
}

impl<C: Console> Watch<C> {
    pub(super) fn new(console: C, view: View) -> Self {
        Self { console, view, next: 0, frame_began: Instant::now(), is_closed: false, failed: None }
    }

    /// The device at a moment. Returns when time may pass again.
    pub(super) fn look(&mut self, now: &Snapshot) {
        let is_due =
            if self.view.controls.is_stepping { has_changed(&self.view.now, now) } else { now.cycles >= self.next };
        if self.is_closed || !is_due {
            return;
        }
        self.view.controls.is_stepping = false;
        self.view.advance(now.clone());
        if let Err(error) = self.show() {
            self.failed = Some(error);
            self.end();
        }
    }

    /// Shows how it ended until a key is pressed.
    pub(super) fn show_end<R>(&mut self, run: &Run<R>) {
        if self.is_closed {
            return;
        }
        let cores =
            run.cores.iter().map(|figures| CoreSnapshot { figures: figures.clone(), is_asleep: true, turn: None });
        self.view.advance(Snapshot { cycles: run.cycles, cores: cores.collect(), actors: run.actors.clone() });
        self.view.controls.is_at_end = true;
        if let Err(error) = self.show() {
            self.failed = Some(error);
        }
        self.end();
    }

    /// Gives the terminal back, and says whether drawing ever failed.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.end();
        self.failed.take().map_or(Ok(()), Err)
    }

    fn end(&mut self) {
        self.is_closed = true;
        self.console.close();
    }

    /// Shows the view until simulated time may pass.
    fn show(&mut self) -> io::Result<()> {
        loop {
            let Self { console, view, .. } = self;
            if !console.draw(|frame| draw(frame, view))? {
                self.end();
                return Ok(());
            }
            let stands_still = view.controls.is_paused || view.controls.is_at_end;
            let rest = FRAME.saturating_sub(self.frame_began.elapsed());
            match console.key(if stands_still { None } else { Some(rest) })? {
                Some(Key::Abort) => {
                    self.end();
                    exit(130);
                }
                Some(Key::Redraw) => {}
                Some(key) if key == Key::Quit || view.controls.is_at_end => {
                    self.end();
                    return Ok(());
                }
                Some(key) => view.controls.press(key),
                None if stands_still => {}
                None => break,
            }
            if view.controls.is_stepping {
                break;
            }
        }
        self.frame_began = Instant::now();
        self.next = self.view.now.cycles + self.view.controls.cycles_a_frame(self.view.megahertz);
        Ok(())
    }
}

/// Whether anything but time differs.
fn has_changed(before: &Snapshot, now: &Snapshot) -> bool {
    let cores = |snapshot: &Snapshot| snapshot.cores.iter().map(|core| (core.is_asleep, core.turn)).collect::<Vec<_>>();
    before.actors != now.actors || cores(before) != cores(now)
}

/// The terminal of this process.
pub(super) struct Screen {
    terminal: DefaultTerminal,
    is_open: bool,
}

impl Screen {
    /// Takes the terminal. A panic gives it back, so that its message can be read.
    pub(super) fn open() -> io::Result<Self> {
        Ok(Self { terminal: ratatui::try_init()?, is_open: true })
    }
}

impl Console for Screen {
    fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<bool> {
        // A panic in an actor's method gave the terminal back; what it said must stay readable.
        if !terminal::is_raw_mode_enabled()? {
            self.is_open = false;
            return Ok(false);
        }
        self.terminal.draw(picture)?;
        Ok(true)
    }

    fn key(&mut self, wait: Option<Duration>) -> io::Result<Option<Key>> {
        if let Some(wait) = wait
            && !event::poll(wait)?
        {
            return Ok(None);
        }
        Ok(Some(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => meaning(key),
            _ => Key::Redraw,
        }))
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            ratatui::restore();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.close();
    }
}

fn meaning(key: KeyEvent) -> Key {
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Abort,
        KeyCode::Char(' ' | 'p') => Key::Pause,
        KeyCode::Char('s') | KeyCode::Right => Key::Step,
        KeyCode::Char('+' | '=') | KeyCode::Up => Key::Faster,
        KeyCode::Char('-') | KeyCode::Down => Key::Slower,
        KeyCode::Char('q') | KeyCode::Esc => Key::Quit,
        _ => Key::Other,
    }
}
