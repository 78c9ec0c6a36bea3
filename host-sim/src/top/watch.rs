//! The loop: shows a picture, waits for keys, and lets simulated time pass up to the next picture.

use std::io;
use std::process::exit;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal;
use ratatui::{DefaultTerminal, Frame};

use super::IS_OPEN;
use super::controls::{FRAME, Key};
use super::view::{View, draw};
use crate::recording::Watched;
use crate::run::{CoreSnapshot, Run, Snapshot};

/// Where pictures are shown and keys are pressed.
pub(super) trait Console {
    /// Shows a picture. False if nothing can be shown any more.
    fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<bool>;

    /// Waits so long for a key, or for ever.
    fn key(&mut self, wait: Option<Duration>) -> io::Result<Option<Key>>;

    /// Gives the terminal back.
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

    /// Looks on while threads run, from a thread that is no core, until their program has ended.
    pub(super) fn look_on(&mut self, watched: &Watched) {
        while !watched.ends_within(if self.is_closed { FRAME } else { Duration::ZERO }) {
            if !self.is_closed {
                self.look(&watched.snapshot());
            }
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
        if !std::mem::replace(&mut self.is_closed, true) {
            self.console.close();
        }
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
                // Nobody can hold threads up.
                Some(_) if view.is_real => {}
                Some(key) => view.controls.press(key),
                None if stands_still => {}
                None => break,
            }
            if view.controls.is_stepping {
                break;
            }
        }
        self.frame_began = Instant::now();
        self.next = match self.view.is_real {
            true => 0,
            false => self.view.now.cycles + self.view.controls.cycles_a_frame(self.view.megahertz),
        };
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
        let terminal = ratatui::try_init()?;
        IS_OPEN.store(true, Ordering::SeqCst);
        Ok(Self { terminal, is_open: true })
    }
}

impl Console for Screen {
    fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<bool> {
        // A panic in an actor's method gave the terminal back; what it said must stay readable.
        if !terminal::is_raw_mode_enabled()? {
            self.is_open = false;
            IS_OPEN.store(false, Ordering::SeqCst);
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
            IS_OPEN.store(false, Ordering::SeqCst);
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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::run::ActorFigures;

    /// Keys that are pressed one after the other; none is a picture that stays as long as it may.
    struct Script {
        terminal: Terminal<TestBackend>,
        keys: VecDeque<Option<Key>>,
        drawn: usize,
        closed: usize,
        is_broken: bool,
    }

    impl Console for Script {
        fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<bool> {
            if self.is_broken {
                return Err(io::Error::other("broken"));
            }
            self.drawn += 1;
            let drawn = self.terminal.draw(picture);
            Ok(drawn.is_ok())
        }

        fn key(&mut self, wait: Option<Duration>) -> io::Result<Option<Key>> {
            let key = self.keys.pop_front().expect("no more keys are asked for");
            assert!(wait.is_some() || key.is_some(), "a wait without end ends with a key");
            Ok(key)
        }

        fn close(&mut self) {
            self.closed += 1;
        }
    }

    fn watch(keys: impl IntoIterator<Item = Option<Key>>) -> Watch<Script> {
        let terminal = Terminal::new(TestBackend::new(100, 10)).expect("memory can be drawn on");
        let script = Script { terminal, keys: keys.into_iter().collect(), drawn: 0, closed: 0, is_broken: false };
        Watch::new(script, View::new("test", 100, 1))
    }

    /// A device with one actor that has been sent so many letters.
    fn at(cycles: u64, sent: u64) -> Snapshot {
        let mut snapshot = View::new("test", 100, 1).now;
        snapshot.cycles = cycles;
        snapshot.actors = vec![ActorFigures { name: Some("Actor"), sent, ..ActorFigures::default() }];
        snapshot
    }

    #[test]
    fn a_picture_is_shown_whenever_so_much_time_has_passed() {
        let mut watch = watch([None, None, Some(Key::Slower), None]);
        // Half a millisecond a second, twenty pictures a second, a hundred megahertz: 2 500 cycles.
        for cycles in [0, 500, 2_499, 2_500, 3_500, 4_999] {
            watch.look(&at(cycles, 0));
        }
        assert_eq!(watch.console.drawn, 2);
        // 200 µs a second from then on; a key is seen at once.
        for cycles in [5_001, 6_000] {
            watch.look(&at(cycles, 0));
        }
        assert_eq!((watch.console.drawn, watch.console.keys.len()), (4, 0));
        assert_eq!(watch.next, 6_001);
    }

    #[test]
    fn steps_go_on_to_what_happens_next() {
        let mut watch = watch([Some(Key::Pause), Some(Key::Step), Some(Key::Step), Some(Key::Pause), None]);
        watch.look(&at(0, 0));
        assert_eq!(watch.view.now.cycles, 0);
        for (cycles, sent) in [(100, 0), (200, 0), (300, 1)] {
            watch.look(&at(cycles, sent));
        }
        assert_eq!(
            (watch.view.now.cycles, watch.view.controls.is_paused),
            (300, true),
            "nothing but time passed before"
        );
        watch.look(&at(400, 2));
        assert_eq!((watch.view.now.cycles, watch.view.controls.is_paused), (400, false));
        assert!(watch.console.keys.is_empty());
    }

    #[test]
    fn who_quits_is_not_asked_again_and_gets_the_terminal_back() {
        let mut watch = watch([Some(Key::Redraw), Some(Key::Quit)]);
        (0..10).for_each(|look| watch.look(&at(look * 1_000_000, look)));
        assert_eq!((watch.console.drawn, watch.console.closed), (2, 1));
        assert!(watch.close().is_ok());
    }

    #[test]
    fn threads_are_shown_as_they_are_and_keys_do_not_hold_them_up() {
        let keys = [Some(Key::Pause), Some(Key::Step), None, Some(Key::Slower), None, Some(Key::Quit)];
        let mut watch = watch(keys);
        watch.view = View::of_threads("test", 1);
        for (look, cycles) in [5, 6, 7, 8].into_iter().enumerate() {
            watch.look(&at(cycles, look as u64));
        }
        // A picture for each look but the last, and one more after each key that means nothing here.
        assert_eq!((watch.console.drawn, watch.console.closed, watch.console.keys.len()), (6, 1, 0));
        assert_eq!((watch.view.now.cycles, watch.view.controls), (7, View::of_threads("test", 1).controls));
    }

    #[test]
    fn the_end_stays_until_a_key_is_pressed() {
        let mut watch = watch([None, Some(Key::Redraw), Some(Key::Other)]);
        watch.look(&at(0, 0));
        let run = crate::Device::stepped(1).run(|| flockwork::trace::charge(777));
        watch.show_end(&run);
        assert_eq!((watch.view.now.cycles, watch.console.drawn, watch.console.closed), (777, 3, 1));
        assert!(watch.console.keys.is_empty());
    }

    #[test]
    fn a_terminal_that_fails_is_reported_and_left_alone() {
        let mut watch = watch([]);
        watch.console.is_broken = true;
        (0..3).for_each(|look| watch.look(&at(look * 1_000_000, look)));
        assert_eq!(watch.close().expect_err("it failed").to_string(), "broken");
    }

    #[test]
    fn keys_mean_what_the_help_says() {
        let key = |code| meaning(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(
            [' ', 's', '+', '-', 'q'].map(|letter| key(KeyCode::Char(letter))),
            [Key::Pause, Key::Step, Key::Faster, Key::Slower, Key::Quit]
        );
        assert_eq!(meaning(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Key::Abort);
        assert_eq!(key(KeyCode::Char('c')), Key::Other);
    }
}
