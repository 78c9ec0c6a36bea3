//! One web page that shows what was measured: figures, what the cores did, how full mailboxes were, how long letters took.
//!
//! The page is one file, without scripts and without anything from elsewhere: it can be mailed, printed and kept. Pictures are SVG and
//! follow the reader's choice of light or dark. The same input gives the same bytes.
//!
//! ```no_run
//! use flockwork_host_sim::report::{Chart, Report, Table};
//!
//! # fn main() -> std::io::Result<()> {
//! let run = flockwork_host_sim::Device::stepped(2).seed(7).run(|| { /* … */ });
//! Report::new("Couples on two cores")
//!     .introduction("One flock, derived on one core and on two.")
//!     .highlight("1.96 ×", "speed-up at 400 people")
//!     .replay("cargo run -- urbiflock --people 400 --seed 7", &run)
//!     .chart(
//!         Chart::new("Speed-up", "people", "speed-up on two cores, ×")
//!             .y_from(1.0)
//!             .guide(2.0, "two cores at best")
//!             .line("stepped", [(100.0, 1.93), (400.0, 1.97)])
//!             .points("the paper", [(100.0, 1.88), (400.0, 1.96)]),
//!     )
//!     .table(Table::new("All sizes", ["people", "speed-up"]).row(["100", "1.93"]).row(["400", "1.97"]))
//!     .run("400 people, two cores", &run)?
//!     .write("report.html")
//! # }
//! ```
//!
//! Sections stand on the page in the order in which they are added.

mod axis;
mod chart;
mod latency;
mod mailboxes;
mod timeline;

use std::fmt::{self, Write};
use std::io;
use std::path::Path;

pub use chart::Chart;

use crate::device::Mode;
use crate::figures::{grouped, time};
use crate::run::Run;
use crate::turns;

/// A page in the making.
#[derive(Clone, Debug)]
#[must_use = "a report is nowhere until it is written"]
pub struct Report {
    title: String,
    introduction: String,
    highlights: String,
    replay: String,
    sections: String,
}

impl Report {
    /// A page with a title and nothing else yet.
    pub fn new(title: impl fmt::Display) -> Self {
        Self {
            title: escaped(title),
            introduction: String::new(),
            highlights: String::new(),
            replay: String::new(),
            sections: String::new(),
        }
    }

    /// A paragraph below the title: what was done, and why it matters.
    pub fn introduction(mut self, text: impl fmt::Display) -> Self {
        self.introduction += &format!("<p class=\"introduction\">{}</p>\n", escaped(text));
        self
    }

    /// A figure in large type at the top, with what it means.
    pub fn highlight(mut self, figure: impl fmt::Display, meaning: impl fmt::Display) -> Self {
        let (figure, meaning) = (escaped(figure), escaped(meaning));
        self.highlights += &format!("<div><strong>{figure}</strong><span>{meaning}</span></div>\n");
        self
    }

    /// The command that gives such a run again: the very same, if it was simulated.
    pub fn replay<R>(mut self, command: impl fmt::Display, run: &Run<R>) -> Self {
        let note = match run.mode {
            Mode::Stepped => {
                format!("Seed {:#x}. The same seed gives the same simulated run, on any machine.", run.seed)
            }
            Mode::Threads => "Threads of a host are never twice the same: times differ from run to run.".to_owned(),
        };
        self.replay = format!(
            "<section><h2>Run it again</h2>\n<pre><code>{}</code></pre>\n<p class=\"note\">{note}</p></section>\n",
            escaped(command)
        );
        self
    }

    /// A figure of several series.
    pub fn chart(mut self, chart: Chart) -> Self {
        self.sections += &chart.to_html();
        self
    }

    /// A table.
    pub fn table(mut self, table: Table) -> Self {
        self.sections += &format!("<section><h2>{}</h2>\n{}</section>\n", table.title, table.to_html());
        self
    }

    /// What happened in one run: the first turns of each core, mailboxes, times of letters, and figures per core and actor.
    ///
    /// # Errors
    /// If the run had letters but kept no events.
    pub fn run<R>(mut self, heading: impl fmt::Display, run: &Run<R>) -> io::Result<Self> {
        turns::check_events(run)?;
        let turns = turns::turns(run);
        let names = turns::names(run.actors.iter().map(|actor| actor.name));
        let _ = write!(
            self.sections,
            "<section><h2>{}</h2>\n<p class=\"note\">{}</p>\n{}{}{}<h3>Cores</h3>\n{}<h3>Actors</h3>\n{}</section>\n",
            escaped(heading),
            circumstances(run),
            timeline::to_html(run, &turns, &names),
            mailboxes::to_html(run, &names),
            latency::to_html(run, &turns),
            cores(run).to_html(),
            actors(run, &names).to_html(),
        );
        Ok(self)
    }

    /// The page as text.
    pub fn to_html(&self) -> String {
        let Self { title, introduction, highlights, replay, sections } = self;
        let style = include_str!("report/page.css");
        let highlights = match &**highlights {
            "" => String::new(),
            highlights => format!("<div class=\"highlights\">\n{highlights}</div>\n"),
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{style}</style>\n</head>\n\
             <body>\n<main>\n<header><h1>{title}</h1>\n{introduction}</header>\n{highlights}{sections}{replay}\
             <footer>Written by Flockwork’s simulator. No scripts, nothing loaded from elsewhere.</footer>\n\
             </main>\n</body>\n</html>\n"
        )
    }

    /// Writes the page into a file.
    ///
    /// # Errors
    /// If the file cannot be written; the error names it.
    pub fn write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        std::fs::write(path, self.to_html()).map_err(turns::about(path))
    }
}

/// A table of text. Columns of numbers are set to the right, but for the first: it says what its row is about.
#[derive(Clone, Debug)]
#[must_use = "a table is nowhere until it is added to a report"]
pub struct Table {
    title: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new<T: fmt::Display>(title: impl fmt::Display, head: impl IntoIterator<Item = T>) -> Self {
        Self { title: escaped(title), head: head.into_iter().map(escaped).collect(), rows: Vec::new() }
    }

    /// Adds a row, with as many cells as the head has.
    ///
    /// # Panics
    /// If it has fewer or more cells.
    #[track_caller]
    pub fn row<T: fmt::Display>(mut self, cells: impl IntoIterator<Item = T>) -> Self {
        let cells = cells.into_iter().map(escaped).collect::<Vec<_>>();
        assert_eq!(cells.len(), self.head.len(), "a row of `{}` has other cells than its head: {cells:?}", self.title);
        self.rows.push(cells);
        self
    }

    fn to_html(&self) -> String {
        let is_number = |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit() || first == '–');
        let is_right =
            |column: usize| column > 0 && !self.rows.is_empty() && self.rows.iter().all(|row| is_number(&row[column]));
        let class = |column| if is_right(column) { " class=\"number\"" } else { "" };
        let line = |tag: &str, cells: &[String]| {
            let cells =
                cells.iter().enumerate().map(|(column, cell)| format!("<{tag}{}>{cell}</{tag}>", class(column)));
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        let rows = self.rows.iter().map(|row| line("td", row)).collect::<String>();
        format!(
            "<div class=\"wide\"><table><thead>\n{}</thead><tbody>\n{rows}</tbody></table></div>\n",
            line("th", &self.head)
        )
    }
}

fn circumstances<R>(run: &Run<R>) -> String {
    let cores = run.cores.len();
    let cores = format!("{cores} core{}", if cores == 1 { "" } else { "s" });
    let time = time(run.cycles, run.megahertz);
    let letters = grouped(run.letters());
    match run.mode {
        Mode::Stepped => format!(
            "{cores} in simulated time at {} MHz, seed {:#x}: {letters} letters in {time} ({} cycles).",
            run.megahertz,
            run.seed,
            grouped(run.cycles)
        ),
        Mode::Threads => format!("{cores}, each a thread of the host: {letters} letters in {time}."),
    }
}

fn cores<R>(run: &Run<R>) -> Table {
    let head = ["core", "awake", "letters", "longest turn by itself", "stalled by faults"];
    run.cores.iter().enumerate().fold(Table::new("Cores", head), |table, (number, core)| {
        let all = (core.awake + core.asleep).max(1);
        table.row([
            number.to_string(),
            format!("{:.1} %", 100.0 * core.awake as f64 / all as f64),
            grouped(core.letters),
            time(core.longest_turn, run.megahertz),
            if core.stalled == 0 { "–".to_owned() } else { time(core.stalled, run.megahertz) },
        ])
    })
}

fn actors<R>(run: &Run<R>, names: &[String]) -> Table {
    let head = ["actor", "letters", "most in its mailbox", "grants refused", "dropped", "longest turn by itself"];
    let with_letters = run.actors.iter().zip(names).filter(|(actor, _)| actor.name.is_some());
    with_letters.fold(Table::new("Actors", head), |table, (actor, name)| {
        table.row([
            name.clone(),
            grouped(actor.ended),
            grouped(actor.high_water),
            grouped(actor.refused),
            grouped(actor.dropped),
            time(actor.longest_turn, run.megahertz),
        ])
    })
}

/// Text as it stands between tags and in attributes.
fn escaped(text: impl fmt::Display) -> String {
    text.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Whose colour is whose: a list of names with a swatch each. The swatch of place `n` has the class `colour-n`.
fn legend<'a>(names: impl IntoIterator<Item = (usize, &'a str)>) -> String {
    let items = names.into_iter().map(|(colour, name)| {
        format!("<li><svg viewBox=\"0 0 12 12\"><rect class=\"colour-{colour}\" width=\"12\" height=\"12\" rx=\"2\"/></svg>{}</li>", escaped(name))
    });
    format!("<ul class=\"legend\">{}</ul>\n", items.collect::<String>())
}

/// How many colours the page tells apart, besides the one for everything else.
const COLOURS: usize = 8;
/// The colour for everything else.
const OTHERS: usize = COLOURS;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let run = crate::Device::stepped(1).run(|| ());
        let page = Report::new("a < b & \"c\"").introduction("<script>").replay("x && y > z", &run).to_html();
        assert!(page.contains("<h1>a &lt; b &amp; &quot;c&quot;</h1>"));
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"));
        assert!(page.contains("<code>x &amp;&amp; y &gt; z</code>"));
    }

    #[test]
    fn numbers_are_set_to_the_right_and_words_are_not() {
        let html = Table::new("t", ["name", "n"]).row(["a", "1 ms"]).row(["b", "–"]).to_html();
        assert!(html.contains("<th>name</th><th class=\"number\">n</th>"), "{html}");
        assert!(html.contains("<td>b</td><td class=\"number\">–</td>"), "{html}");
    }
}
