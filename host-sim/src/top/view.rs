//! What is drawn: two moments of a device, and what lies between them. Drawing changes nothing and knows no terminal.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Row, Table};

use super::controls::Controls;
use crate::figures::{grouped, time};
use crate::run::{ActorFigures, CoreFigures, CoreSnapshot, Snapshot};
use crate::turns;

/// Below so many columns, bars make room for names.
const WIDE: u16 = 100;
/// Below so many, some figures do as well.
const NARROW: u16 = 78;

/// All that the view shows.
#[derive(Clone, Debug)]
pub struct View {
    /// What runs.
    pub title: String,
    /// Cycles per microsecond.
    pub megahertz: u32,
    /// The device at the picture before; rates are those since then.
    pub before: Snapshot,
    /// The device now.
    pub now: Snapshot,
    /// What the keys have set.
    pub controls: Controls,
    /// Whether time passes by itself: the cores are threads.
    pub is_real: bool,
}

impl View {
    /// A device that has not begun.
    pub fn new(title: &str, megahertz: u32, cores: usize) -> Self {
        let core = CoreSnapshot { figures: CoreFigures::default(), is_asleep: false, turn: None };
        let now = Snapshot { cycles: 0, cores: vec![core; cores], actors: Vec::new() };
        let controls = Controls::default();
        Self { title: title.to_owned(), megahertz, before: now.clone(), now, controls, is_real: false }
    }

    /// The same for a device of threads, whose cycles are nanoseconds.
    pub fn of_threads(title: &str, cores: usize) -> Self {
        Self { is_real: true, ..Self::new(title, 1000, cores) }
    }

    /// Shows a later moment.
    pub fn advance(&mut self, now: Snapshot) {
        self.before = std::mem::replace(&mut self.now, now);
    }
}

/// Draws the view over the whole frame.
pub fn draw(frame: &mut Frame<'_>, view: &View) {
    let cores = view.now.cores.len() as u16;
    let height = frame.area().height;
    // Half of the space at most for cores, if there are many.
    let for_cores = (cores + 2).min((height.saturating_sub(2) / 2).max(4));
    let [title, cores, actors, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(for_cores),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_title(frame, title, view);
    draw_cores(frame, cores, view);
    draw_actors(frame, actors, view);
    let help = if view.controls.is_at_end {
        " any key closes the view"
    } else if view.is_real {
        " q close · threads cannot be paused or stepped: --mode stepped can"
    } else {
        " space pause · s step · + faster · - slower · q close"
    };
    frame.render_widget(Line::from(help).dim(), keys);
}

fn draw_title(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let speed = time(view.controls.microseconds_a_second(), 1);
    let state = match view.controls {
        Controls { is_at_end: true, .. } => Span::from("ended").bold(),
        _ if view.is_real => Span::from("threads").fg(Color::Green),
        Controls { is_paused: true, .. } => Span::from(format!("paused ({speed} a second)")).fg(Color::Yellow).bold(),
        _ => Span::from(format!("{speed} a second")).fg(Color::Green),
    };
    // To a microsecond, so that a step is seen.
    let milliseconds = view.now.cycles as f64 / (f64::from(view.megahertz.max(1)) * 1e3);
    let letters = view.now.cores.iter().map(|core| core.figures.letters).sum();
    let right = Line::from(vec![
        Span::from(format!("{} letters · {milliseconds:.3} ms · ", grouped(letters))),
        state,
        Span::from(" "),
    ]);
    let [left_area, right_area] =
        Layout::horizontal([Constraint::Min(0), Constraint::Length(right.width() as u16)]).areas(area);
    frame.render_widget(Line::from(format!(" {}", view.title)).bold(), left_area);
    frame.render_widget(right, right_area);
}

fn draw_cores(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let bar_width = if area.width < WIDE { 6 } else { 16 };
    // How it ended is about the whole run, not about what happened since some picture.
    let (since, elapsed) = match view.controls.is_at_end {
        true => (&[][..], view.now.cycles),
        false => (&view.before.cores[..], view.now.cycles.saturating_sub(view.before.cycles)),
    };
    let rows = view.now.cores.iter().enumerate().map(|(number, core)| {
        let before = since.get(number).map(|core| core.figures.clone()).unwrap_or_default();
        let awake =
            if view.controls.is_at_end { share_awake_in_all(core) } else { share_awake(&before, core, elapsed) };
        let seconds = elapsed as f64 / (f64::from(view.megahertz.max(1)) * 1e6);
        let letters = core.figures.letters - before.letters;
        let rate = if seconds > 0.0 { grouped((letters as f64 / seconds).round() as u64) } else { "–".to_owned() };
        let doing = match (core.turn, core.is_asleep) {
            (Some((actor, method, letter)), waits) => {
                let waits = if waits { ", waits" } else { "" };
                Span::from(format!(" {}::{method} #{letter}{waits}", turns::without_path(actor)))
            }
            _ if view.controls.is_at_end => Span::from(""),
            (None, true) => Span::from(" asleep").dim(),
            (None, false) => Span::from(" no turn").dim(),
        };
        [
            right(number.to_string(), 4),
            Span::from(bar(awake, bar_width)).fg(Color::Cyan),
            right(format!("{:.0} %", 100.0 * awake), 5),
            right(rate, 12),
            right(grouped(core.figures.letters), 10),
            right(time(core.figures.longest_turn, view.megahertz), 14),
            doing,
        ]
    });
    let columns = [
        ("core", Constraint::Length(4)),
        ("awake", Constraint::Length(bar_width)),
        ("", Constraint::Length(5)),
        (RATE, Constraint::Length(12)),
        ("   letters", Constraint::Length(10)),
        (LONGEST, Constraint::Length(14)),
        (" turn", Constraint::Fill(1)),
    ];
    let left_out: &[&str] = if area.width < NARROW { &[RATE] } else { &[] };
    draw_table(frame, area, "cores", columns, left_out, rows.collect());
}

/// The heads of columns that a narrow terminal has no room for.
const RATE: &str = "   letters/s";
const DROPPED: &str = "  dropped";
const LONGEST: &str = "  longest turn";

fn draw_actors(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let bar_width = if area.width < WIDE { 0 } else { 16 };
    let names = turns::names(view.now.actors.iter().map(|actor| actor.name));
    let with_letters = view.now.actors.iter().zip(&names).filter(|(actor, _)| actor.name.is_some());
    let rows = with_letters.map(|(actor, name)| {
        let ActorFigures { ended, high_water, refused, dropped, longest_turn, .. } = *actor;
        let full = actor.waiting() as f64 / high_water.max(1) as f64;
        let warning = |count: u64, colour: Color| if count > 0 { Style::new().fg(colour) } else { Style::new() };
        [
            Span::from(name.clone()),
            right(grouped(ended), 9),
            right(grouped(actor.waiting()), 9),
            Span::from(bar(full, bar_width)).fg(Color::Magenta),
            right(grouped(high_water), 10),
            right(grouped(refused), 9).style(warning(refused, Color::Yellow)),
            right(grouped(dropped), 9).style(warning(dropped, Color::Red)),
            right(time(longest_turn, view.megahertz), 14),
        ]
    });
    // Columns of figures bring their own space, so that a bar without width leaves no gap.
    let columns = [
        ("actor", Constraint::Fill(1)),
        ("  letters", Constraint::Length(9)),
        ("  mailbox", Constraint::Length(9)),
        ("", Constraint::Length(bar_width)),
        ("high-water", Constraint::Length(10)),
        ("  refused", Constraint::Length(9)),
        (DROPPED, Constraint::Length(9)),
        (LONGEST, Constraint::Length(14)),
    ];
    let left_out: &[&str] = if area.width < NARROW { &[DROPPED, LONGEST] } else { &[] };
    draw_table(frame, area, "actors", columns, left_out, rows.collect());
}

/// A table below a line with the heads of its columns, but for some that are left out; rows that do not fit are counted.
fn draw_table<'a, const N: usize>(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &'a str,
    columns: [(&'a str, Constraint); N],
    left_out: &[&str],
    rows: Vec<[Span<'a>; N]>,
) {
    let is_shown = |place: &usize| !left_out.contains(&columns[*place].0);
    let shown = (0..N).filter(is_shown).collect::<Vec<_>>();
    let mut rows = rows
        .into_iter()
        .map(|row| Row::new(shown.iter().map(|&place| row[place].clone()).collect::<Vec<_>>()))
        .collect::<Vec<_>>();
    let space = usize::from(area.height.saturating_sub(2));
    let all = rows.len();
    let mut block = Block::new().borders(ratatui::widgets::Borders::TOP).title(format!(" {title} "));
    if all > space {
        rows.truncate(space);
        block = block.title(Line::from(format!(" {space} of {all} ")).right_aligned());
    }
    let head = Row::new(shown.iter().map(|&place| columns[place].0).collect::<Vec<_>>()).dim();
    let widths = shown.iter().map(|&place| columns[place].1);
    let table = Table::new(rows, widths).header(head).block(block).column_spacing(1);
    frame.render_widget(table, area);
}
/// The part of the time between two moments in which a core was awake; of all time if none lies between them.
///
/// Work that a core has begun counts as a whole where it begins, so a core that is in the middle of some has none to show for it.
fn share_awake(before: &CoreFigures, now: &CoreSnapshot, elapsed: u64) -> f64 {
    let since = now.figures.awake.saturating_sub(before.awake);
    match (elapsed, since) {
        (0, _) => share_awake_in_all(now),
        (_, 0) if !now.is_asleep => 1.0,
        _ => (since as f64 / elapsed as f64).min(1.0),
    }
}

/// The part of all time in which a core was awake.
fn share_awake_in_all(core: &CoreSnapshot) -> f64 {
    let CoreFigures { awake, asleep, .. } = core.figures;
    awake as f64 / (awake + asleep).max(1) as f64
}

fn bar(part: f64, width: u16) -> String {
    let width = usize::from(width);
    let full = ((part * width as f64).round() as usize).min(width);
    "█".repeat(full) + &"░".repeat(width - full)
}

fn right(text: String, width: usize) -> Span<'static> {
    Span::from(format!("{text:>width$}"))
}
