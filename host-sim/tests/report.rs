//! The page is one file that says of a run what the run says itself. The one that is checked here stays in `target/tmp/report.html`.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flockwork::trace::Hop;
use flockwork::{Actor, Eventually, ReadersWriter, Serial, actor};
use flockwork_host_sim::report::{Chart, Report, Table};
use flockwork_host_sim::{Device, Run, charge};

const COMMAND: &str = "cargo run -- market --customers 12 --seed 0x2014 --mode stepped --cores 2";

/// A shelf is looked at by many and filled by one.
pub struct Shelf<Goods>(Vec<Goods>);

#[actor]
impl Shelf<u32> {
    pub fn look(&self, cycles: u32) -> usize {
        charge(cycles);
        self.0.len()
    }

    pub fn fill(&mut self, goods: u32) {
        charge(2_500);
        self.0.push(goods);
    }
}

#[actor]
static SHELF: Actor<Shelf<u32>, ReadersWriter, 32, 32> = Shelf(Vec::new());

pub struct Customer(u32);

#[actor]
impl Customer {
    pub fn shop(&mut self) -> usize {
        self.0 += 1;
        charge(1_000 + 300 * self.0);
        let _ = LEDGER.note(self.0).tell();
        SHELF.look(9_000 + 700 * self.0).get().unwrap_or(0)
    }
}

pub struct Ledger(u32);

#[actor]
impl Ledger {
    pub fn note(&mut self, number: u32) {
        charge(600);
        self.0 += number;
    }
}

#[actor]
static ANN: Actor<Customer, Serial, 16, 16> = Customer(0);
#[actor]
static BOB: Actor<Customer, Serial, 16, 16> = Customer(3);
#[actor]
static LEDGER: Actor<Ledger, Serial, 32, 32> = Ledger(0);

fn market(rounds: u32) -> Run<()> {
    Device::stepped(2).seed(0x2014).run(|| {
        for round in 0..rounds {
            let asked = [&ANN, &BOB].map(|customer| customer.shop().ask().expect("there is room"));
            let looks = [0; 5].map(|_| SHELF.look(12_000 + 90 * round).ask().expect("there is room"));
            SHELF.fill(round).tell().expect("there is room");
            asked.into_iter().for_each(|answer| assert!(answer.get().is_ok()));
            looks.into_iter().for_each(|answer| assert!(answer.get().is_ok()));
        }
    })
}

fn page(run: &Run<()>) -> Report {
    let sizes = [50.0, 100.0, 200.0, 300.0, 400.0, 500.0];
    let series = |figures: [f64; 6]| sizes.into_iter().zip(figures);
    Report::new("A market on two cores")
        .introduction(
            "Customers look at one shelf. Whoever looks does so on both cores at once; whoever fills it is alone.",
        )
        .highlight("1.96 ×", "speed-up at 400 customers, simulated board")
        .highlight("0", "answers that differ from one core’s")
        .highlight("1.6 %", "off the emulated board, at most")
        .chart(
            Chart::new("Speed-up", "customers", "speed-up on two cores, ×")
                .note("How much sooner the same answer is there on two cores than on one.")
                .y_from(1.0)
                .guide(2.0, "two cores at best")
                .line("simulated", series([1.86, 1.91, 1.94, 1.95, 1.96, 1.97]))
                .line("emulated board", series([1.84, 1.90, 1.93, 1.95, 1.96, 1.96]))
                .line("threads", series([1.52, 1.71, 1.80, 1.83, 1.87, 1.88]))
                .points("published", [(100.0, 1.88), (400.0, 1.96)]),
        )
        .chart(
            Chart::new("Time", "customers", "time, ms")
                .logarithmic()
                .line("simulated, one core", series([12.0, 48.0, 190.0, 440.0, 780.0, 1_200.0]))
                .line("simulated, two cores", series([6.4, 25.1, 98.0, 226.0, 398.0, 609.0]))
                .line("threads, two cores", series([0.05, 0.17, 0.61, 1.4, 2.5, 3.9])),
        )
        .table(
            Table::new("All figures", ["customers", "one core", "two cores", "speed-up"])
                .row(["100", "48.0 ms", "25.1 ms", "1.91"])
                .row(["400", "780 ms", "398 ms", "1.96"]),
        )
        .run("One market, closely", run)
        .expect("the run has its events")
        .replay(COMMAND, run)
}

/// The run and the page, made once: actors keep their state.
fn made() -> &'static (Run<()>, String) {
    static MADE: OnceLock<(Run<()>, String)> = OnceLock::new();
    MADE.get_or_init(|| {
        let run = market(12);
        let report = page(&run);
        report.write(file()).expect("the page can be written");
        (run, report.to_html())
    })
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html")
}

/// What stands between the first of two marks and the next of the other.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no `{from}`"));
    rest.split_once(to).unwrap_or_else(|| panic!("no `{to}` after `{from}`")).0
}

#[test]
fn the_file_is_the_page_and_the_page_repeats() {
    let (run, html) = made();
    assert_eq!(&std::fs::read_to_string(file()).expect("it was written"), html);
    assert_eq!(&page(run).to_html(), html);
}

#[test]
fn nothing_is_loaded_and_nothing_is_run() {
    let (_, html) = made();
    for word in ["http:", "https:", "src=", "href=", "<script", "<link", "<img", "url(", "@import", "javascript:"] {
        assert!(!html.contains(word), "`{word}` in a page that needs nobody else");
    }
}

/// Each tag is closed in its order, and no figure is a number that is none.
#[test]
fn the_page_is_well_formed() {
    let (_, html) = made();
    let body = html.split_once("<body>").expect("a body").1;
    let mut open = vec!["html", "body"];
    for part in body.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag ends");
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "near <{part}");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a tag has a name"));
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
    }
    assert!(open.is_empty(), "{open:?} left open");
    assert!(!body.contains("NaN") && !body.contains("inf\""));
}

#[test]
fn it_says_how_to_run_it_again() {
    let (_, html) = made();
    assert!(html.contains(&format!("<code>{COMMAND}</code>")));
    assert!(html.contains("Seed 0x2014."));
}

#[test]
fn each_turn_is_a_bar_on_its_core() {
    let (run, html) = made();
    let picture = between(html, "<title>Turns of each core</title>", "</svg>");
    let started = run.events.iter().filter(|event| event.hop == Hop::Started).collect::<Vec<_>>();
    assert_eq!(picture.matches("<rect class=\"turn").count(), started.len());
    assert!(picture.contains("Shelf&lt;u32&gt;::look, letter "));
    for core in 0..2_u8 {
        let top = format!("y=\"{:.1}\"", 8.0 + 34.0 * f64::from(core) + 3.0);
        let bars = picture.matches(&format!(" {top} width")).count();
        let outermost =
            started.iter().filter(|event| event.core == core && is_outermost(run, event.time, core)).count();
        assert_eq!(bars, outermost, "core {core}");
    }
}

/// Whether no turn was open on the core just before.
fn is_outermost(run: &Run<()>, time: u64, core: u8) -> bool {
    let before = run.events.iter().filter(|event| event.core == core && event.time < time);
    let change = |hop| match hop {
        Hop::Started => 1,
        Hop::Ended => -1,
        _ => 0,
    };
    before.map(|event| change(event.hop)).sum::<i32>() == 0
}

#[test]
fn tables_have_the_figures_of_the_run() {
    let (run, html) = made();
    let cells =
        |row: &str| row.split("</td>").map(|cell| cell.rsplit('>').next().unwrap_or("").to_owned()).collect::<Vec<_>>();
    let row = |name: &str| {
        let row = html.split("<tr>").find(|row| row.starts_with(name));
        cells(row.unwrap_or_else(|| panic!("no row of {name}")))
    };
    for (number, core) in run.cores.iter().enumerate() {
        assert_eq!(row(&format!("<td>{number}<"))[2], core.letters.to_string());
    }
    let shelf =
        run.actors.iter().find(|actor| actor.name.is_some_and(|name| name.contains("Shelf"))).expect("it is there");
    let cells = row("<td>Shelf");
    assert_eq!(cells[1..3], [shelf.ended.to_string(), shelf.high_water.to_string()]);
    let waited = row("<td>From send to start");
    let both = run.events.iter().filter(|event| event.hop == Hop::Started).count();
    assert_eq!(waited[1], both.to_string());
    let took = row("<td>From start to end");
    // From start to end there is also what was nested in it, and sleep; a core's longest turn is what one did by itself.
    let started = |letter| run.events.iter().find(|event| event.hop == Hop::Started && event.letter == letter);
    let ended = run.events.iter().filter(|event| event.hop == Hop::Ended);
    let longest = ended.filter_map(|end| Some(end.time - started(end.letter)?.time)).max().expect("some turn");
    let microseconds = |cycles: u64| cycles as f64 / f64::from(run.megahertz);
    assert_eq!(took[5], format!("{:.2} ms", microseconds(longest) / 1e3));
    for (number, core) in run.cores.iter().enumerate() {
        let own = microseconds(core.longest_turn);
        assert_eq!(row(&format!("<td>{number}<"))[3], format!("{own:.0} µs"));
        assert!(core.longest_turn < longest, "somebody waited in this run");
    }
}

#[test]
fn a_long_run_shows_its_first_turns_and_says_so() {
    let run = market(80);
    let html = Report::new("long").run("run", &run).expect("it has events").to_html();
    let picture = between(&html, "<title>Turns of each core</title>", "</svg>");
    assert_eq!(picture.matches("<rect class=\"turn").count(), 240);
    assert!(html.contains("The first 240 of "));
    assert!(html.len() < 400_000, "{} bytes", html.len());
}

#[test]
fn what_cannot_be_written_is_said() {
    let error = Report::new("t").write("no/such/folder/page").expect_err("there is no such folder").to_string();
    assert!(error.starts_with("no/such/folder/page: cannot be written: "), "{error}");
    let run = Device::stepped(1).keep_events(false).run(|| LEDGER.note(1).get().expect("it answers"));
    let error = Report::new("t").run("run", &run).expect_err("there are no events").to_string();
    assert!(error.contains("keep_events"), "{error}");
}

#[test]
fn a_run_on_threads_has_the_same_page() {
    let run = Device::threads(2).run(|| {
        let looks = [0; 20].map(|_| SHELF.look(1).ask().expect("there is room"));
        looks.into_iter().for_each(|answer| assert!(answer.get().is_ok()));
    });
    let html = Report::new("threads").run("run", &run).expect("it has events").to_html();
    assert!(html.contains("2 cores, each a thread of the host: 20 letters in "), "{html}");
    assert_eq!(between(&html, "<title>Turns of each core</title>", "</svg>").matches("<rect class=\"turn").count(), 20);
    assert!(html.contains("How long letters took"));
}

#[test]
fn a_run_without_letters_is_a_page_too() {
    let html = Report::new("quiet").run("run", &Device::stepped(1).run(|| ())).expect("nothing is missing").to_html();
    assert!(!html.contains("NaN"), "{html}");
}
