//! `cargo run`: the couples among 50 to 500 people, one core against several, in simulated time and on threads.

use std::io::IsTerminal;
use std::num::NonZeroU32;

use flockwork_host_sim::report::{Chart, Report, Table};
use flockwork_host_sim::{Misuse, Mode, Options, Run};
use flockwork_urbiflock::{Derivation, SEED};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::chart::{Points, draw};
use crate::couples::{BASE, LETTERS_ON_THREADS, Measured, Method, Monitor, Series, Spread, as_expected, crowd, world};
use crate::files::{self, Files};
use crate::{counted, say};

/// People per row.
const SIZES: [usize; 10] = [50, 100, 150, 200, 250, 300, 350, 400, 450, 500];
/// What the paper measured: people, and the speed-up of a readers-writer monitor on two cores over one core.
const PAPER: [(usize, f64); 2] = [(100, 1.88), (400, 1.96)];

/// What the emulated board takes; `tests/emulator/tests/urbiflock.rs` writes it.
const BOARD: &str = include_str!("../../../bench/cycles/rp2040-urbiflock.json");
/// The size whose run is recorded.
const RECORDED: usize = 400;

/// One size, in both modes: default, mutex, readers-writer.
struct Row {
    people: usize,
    stepped: Vec<Measured>,
    threads: Vec<Measured>,
    /// Whether it was compared with a check value.
    checked: bool,
}

pub(crate) fn run(mut arguments: Arguments) -> Result<(), Misuse> {
    let (options, seed) = arguments.device_among_people()?;
    let files = Files::take_from(&mut arguments)?.or_beside_the_program();
    let json = arguments.flag("--json");
    arguments.nothing_else()?;
    files.check()?;

    let series = [
        BASE,
        Series { monitor: Monitor::Mutex, cores: 1 },
        Series { monitor: Monitor::ReadersWriter, cores: options.cores },
    ];
    let world = world(seed);
    let live = std::io::stderr().is_terminal();
    let measure = |people| {
        if live {
            eprint!("\rderiving, {people} people ");
        }
        let arrive = |flockr| crowd(flockr, world, people);
        let stepped = Method::on(Options { mode: Mode::Stepped, ..options.clone() }, people).measure(&series, arrive);
        let threads = Method::on(Options { mode: Mode::Threads, ..options.clone() }, people).measure(&series, arrive);
        let (one, other) = (&stepped[0].derivation, &threads[0].derivation);
        assert_eq!((one.members, one.comparisons), (other.members, other.comparisons), "{people} people in both modes");
        let checked = as_expected(seed, people, one);
        assert_ne!(checked, Some(false), "{people} people: {one:?} is not what the check values say");
        Row { people, stepped, threads, checked: checked.is_some() }
    };
    let rows: Vec<Row> = SIZES.into_iter().map(measure).collect();
    let board = board(seed, options.cores);
    if live {
        eprint!("\r{:30}\r", "");
    }
    let figure = Figure { rows, board, cores: options.cores };
    files.write(figure.recorded(), || figure.page(figure.recorded()))?;
    if json {
        let rows = figure.rows.iter().flat_map(|row| figure.json(row, &series)).collect::<Vec<_>>();
        let (seed, world) = (options.seed, seed);
        let paper = PAPER.map(|(people, speed_up)| json!({ "people": people, "cores": 2, "speed_up": speed_up }));
        say(&format!(
            "{:#}\n",
            json!({ "seed": seed, "world": world, "rows": rows, "paper": paper, "files": files.json() })
        ));
    } else {
        say(&(figure.tell() + &files.tell()));
    }
    Ok(())
}

/// What the emulated board takes: people, and the cycles of default, mutex and readers-writer.
type Board = Vec<(usize, [f64; 3])>;

/// What was measured on the emulated board, if it is about the same people and as many cores.
fn board(world: NonZeroU32, cores: usize) -> Board {
    if (world, cores) != (SEED, 2) {
        return Vec::new();
    }
    let kept: Value = serde_json::from_str(BOARD).expect("the file is JSON; a test writes it");
    let number = |value: &Value| value.as_f64().expect("people and cycles are numbers");
    let row = |row: &Value| {
        let cycles = Monitor::ALL.map(|monitor| number(&row[monitor.name()]));
        (number(&row["people"]) as usize, cycles)
    };
    kept["rows"].as_array().map(|rows| rows.iter().map(row).collect()).unwrap_or_default()
}

/// What one size took under default, mutex and readers-writer.
fn spent(measured: &[Measured]) -> [f64; 3] {
    [0, 1, 2].map(|series| measured[series].spent)
}

/// The speed-up of the readers-writer monitor.
fn gain([default, _, readers_writer]: [f64; 3]) -> f64 {
    default / readers_writer
}

/// What the mutex monitor costs, in per cent of the default actor.
fn overhead([default, mutex, _]: [f64; 3]) -> f64 {
    100.0 * (mutex / default - 1.0)
}

/// Everything that was measured.
struct Figure {
    rows: Vec<Row>,
    board: Board,
    cores: usize,
}

impl Figure {
    /// One figure over people, from each source.
    fn stepped(&self, of: fn([f64; 3]) -> f64) -> Vec<(usize, f64)> {
        self.rows.iter().map(|row| (row.people, of(spent(&row.stepped)))).collect()
    }

    fn threads(&self, of: fn([f64; 3]) -> f64) -> Vec<(usize, f64)> {
        self.rows.iter().map(|row| (row.people, of(spent(&row.threads)))).collect()
    }

    fn board(&self, of: fn([f64; 3]) -> f64) -> Vec<(usize, f64)> {
        self.board.iter().map(|&(people, cycles)| (people, of(cycles))).collect()
    }

    fn on_the_board(&self, people: usize) -> Option<[f64; 3]> {
        self.board.iter().find(|row| row.0 == people).map(|row| row.1)
    }

    /// One size for programs: a row for each mode and monitor, and for the emulated board where it was measured.
    fn json(&self, row: &Row, series: &[Series]) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut add = |mode: &str, series: &Series, unit: &str, spent: f64, speed_up: f64| {
            let found = &row.stepped[0].derivation;
            let mut json = json!({
                "people": row.people, "mode": mode, "cores": series.cores, "monitor": series.monitor.name(),
                "couples": found.couples(), "hash": format!("{:08x}", found.hash()), "comparisons": found.comparisons,
                "speed_up": speed_up, "checked": row.checked,
            });
            json[unit] = json!(spent.round() as u64);
            rows.push(json);
            rows.len() - 1
        };
        let mut rounds = Vec::new();
        for (mode, unit, measured) in [("stepped", "cycles", &row.stepped), ("threads", "nanoseconds", &row.threads)] {
            for (series, one) in series.iter().zip(measured) {
                let place = add(mode, series, unit, one.spent, one.speed_up(&measured[0]));
                rounds.push((place, one, one.spread(&measured[0])));
            }
        }
        let on_the_board = self.on_the_board(row.people);
        for (series, cycles) in series.iter().zip(on_the_board.into_iter().flatten()) {
            add("emulated", series, "cycles", cycles, on_the_board.map_or(f64::NAN, |cycles| cycles[0]) / cycles);
        }
        for (place, one, spread) in rounds {
            if let Some(Spread { least, median, most }) = spread {
                rows[place]["rounds"] = one.rounds.iter().map(|round| json!(round.round() as u64)).collect();
                rows[place]["speed_up_in_rounds"] = json!({ "least": least, "median": median, "most": most });
            }
        }
        rows
    }

    /// The table, the chart, and what one sees.
    fn tell(&self) -> String {
        let cores = self.cores;
        let mut text = format!(
            "UrbiFlock: which of the people nearby came as a couple? A device asks its flock actor once for each person.\n\
             The actor's source is the same in every column; only the monitor in its declaration differs.\n\n\
             {:38} │ stepped RP2040: 1000 cycles      │ emulated │ threads of this machine: µs\n\
             people  couples      hash  comparisons │ default   mutex   r-w/{cores} speed-up │ speed-up │ default   mutex   r-w/{cores} speed-up\n\
             ───────────────────────────────────────┼──────────────────────────────────┼──────────┼──────────────────────────────────\n",
            ""
        );
        let columns = |spent: [f64; 3]| {
            format!(
                "{:>8.1} {:>+6.1}% {:>7.1} {:>6.2} × ",
                spent[0] / 1e3,
                overhead(spent),
                spent[2] / 1e3,
                gain(spent)
            )
        };
        for Row { people, stepped, threads, .. } in &self.rows {
            let found = &stepped[0].derivation;
            text += &format!("{people:>6} {:>8}  {:08x} {:>12} ", found.couples(), found.hash(), found.comparisons);
            let board = self.on_the_board(*people).map_or("–".to_owned(), |cycles| format!("{:.2} ×", gain(cycles)));
            text += &format!("│{} │ {board:>7}  │{}", columns(spent(stepped)), columns(spent(threads)));
            text = text.trim_end().to_owned() + "\n";
        }
        let on = counted(cores as u64, "core");
        text += &format!("\nSpeed-up of the readers-writer monitor on {on} over the default actor on one:\n\n");
        let mut series = vec![Points { sign: '●', name: "stepped", points: self.stepped(gain) }];
        if !self.board.is_empty() {
            series.push(Points { sign: '◆', name: "emulated RP2040", points: self.board(gain) });
        }
        series.push(Points { sign: '○', name: "threads", points: self.threads(gain) });
        series.push(Points { sign: '×', name: "the paper, two cores", points: PAPER.to_vec() });
        text + &draw(&SIZES, &series) + &self.sentences()
    }

    fn sentences(&self) -> String {
        let simulated = match self.cores {
            1 => "1 simulated core is".to_owned(),
            cores => format!("{cores} simulated cores are"),
        };
        let checked: Vec<String> =
            self.rows.iter().filter(|row| row.checked).map(|row| row.people.to_string()).collect();
        let checked = match checked.is_empty() {
            true => String::new(),
            false => format!(";\nthose of {} people are the workload's check values", checked.join(", ")),
        };
        let (emulated, mutex) = match self.board.is_empty() {
            true => Default::default(),
            false => (
                format!("\nthose of the emulated chip {} times,", range(&self.board(gain), 2)),
                format!(" (simulated; {} % on the emulated chip)", range(&self.board(overhead), 1)),
            ),
        };
        format!(
            "\nWhat one sees: with `ReadersWriter` in the declaration, {simulated} {} times as fast as one,{emulated} and threads {} times; the paper measured 1.88 and 1.96 on two cores.\n\
             `Mutex` takes {} % more than no monitor{mutex}.\n\
             All hashes agree, in both modes, under all monitors, and with the incremental engine{checked}.\n\n\
             Stepped: a letter for each person, cycles from a table of what letters take on the board. Emulated: the same on the RP2040's\n\
             emulator, as kept by the tests. Threads: {LETTERS_ON_THREADS} letters a derivation.\n{}{}\n\n",
            range(&self.stepped(gain), 2),
            range(&self.threads(gain), 2),
            range(&self.stepped(overhead), 1),
            Method::on_threads(),
            self.spread(),
        )
    }

    /// How much the speed-up on threads differed from round to round: what else this machine does is in it.
    fn spread(&self) -> String {
        let row = self.rows.iter().find(|row| row.people == RECORDED);
        row.and_then(|row| row.threads[2].spread(&row.threads[0])).map_or(String::new(), |spread| {
            format!(
                "\nWithin single rounds, threads were {:.2} to {:.2} times as fast at {RECORDED} people, with a median of {:.2}: the less \
                 this machine\nhas to do besides, the nearer these are.",
                spread.least, spread.most, spread.median
            )
        })
    }

    /// The run that the trace and the report show: 400 people, all cores.
    fn recorded(&self) -> &Run<Derivation> {
        let row = self.rows.iter().find(|row| row.people == RECORDED).expect("one of the sizes");
        row.stepped[2].run.as_ref().expect("a stepped run is recorded")
    }

    /// The report.
    fn page(&self, run: &Run<Derivation>) -> Report {
        let floats = |points: Vec<(usize, f64)>| points.into_iter().map(|(people, y)| (people as f64, y));
        let chart = |title: &str, y: &str, of: fn([f64; 3]) -> f64| {
            Chart::new(title, "people nearby", y)
                .line("stepped", floats(self.stepped(of)))
                .line("emulated RP2040", floats(self.board(of)))
                .line("threads of the host", floats(self.threads(of)))
        };
        let cores = counted(self.cores as u64, "core");
        let title = match self.cores {
            1 => "UrbiFlock: one actor on one core".to_owned(),
            2 => "UrbiFlock: one actor on both cores".to_owned(),
            cores => format!("UrbiFlock: one actor on {cores} cores"),
        };
        let head = [
            "people",
            "couples",
            "hash",
            "comparisons",
            "default",
            "mutex",
            "readers-writer",
            "stepped",
            "emulated",
            "threads",
        ];
        let table = self.rows.iter().fold(Table::new("All sizes: cycles, and speed-ups", head), |table, row| {
            let (found, cycles) = (&row.stepped[0].derivation, spent(&row.stepped));
            let on_the_board =
                self.on_the_board(row.people).map_or("–".to_owned(), |cycles| format!("{:.2}", gain(cycles)));
            table.row([
                row.people.to_string(),
                found.couples().to_string(),
                format!("{:08x}", found.hash()),
                found.comparisons.to_string(),
                cycles[0].to_string(),
                cycles[1].to_string(),
                cycles[2].to_string(),
                format!("{:.2}", gain(cycles)),
                on_the_board,
                format!("{:.2}", gain(spent(&row.threads))),
            ])
        });
        let at = self.stepped(gain).into_iter().find(|point| point.0 == RECORDED).map_or(f64::NAN, |point| point.1);
        Report::new(title)
            .introduction(format!(
                "A device asks its flock actor, once for each person nearby, who came as a couple. The actor's source is the same \
                 in every series; only the monitor in its declaration differs: none, Mutex, or ReadersWriter on {cores}. Every \
                 answer was checked."
            ))
            .highlight(format!("{at:.2} ×"), format!("as fast on {cores} in simulated time, {RECORDED} people"))
            .highlight(format!("{:08x}", run.returned.hash()), "the same couples in every mode, under every monitor")
            .chart(
                chart("Speed-up of the readers-writer monitor", "times as fast as one core", gain)
                    .y_from(1.0)
                    .guide(self.cores as f64, format!("{cores} at best"))
                    .points("the paper, two cores", floats(PAPER.to_vec())),
            )
            .chart(chart("What the mutex monitor costs over the default actor", "%", overhead).guide(6.0, "the paper: below 6 %"))
            .table(table)
            .run(format!("{RECORDED} people, readers-writer, {cores}"), run)
            .expect("the run kept its events")
            .replay(files::command(), run)
    }
}

fn range(points: &[(usize, f64)], digits: usize) -> String {
    let ys = points.iter().map(|point| point.1);
    let (least, most) = ys.fold((f64::MAX, f64::MIN), |(least, most), y| (least.min(y), most.max(y)));
    format!("{least:.digits$} to {most:.digits$}")
}
