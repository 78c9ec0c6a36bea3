//! `cargo run -- urbiflock`: one flock of one size.

use std::num::{NonZeroU16, NonZeroU32};

use flockwork_host_sim::report::{Chart, Report};
use flockwork_host_sim::{Faults, Misuse, Mode, Options, Run};
use flockwork_urbiflock::{Definition, Derivation, Generator, MAX_NEARBY, Predicate};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::couples::{BASE, Measured, Method, Monitor, Series, as_expected, world};
use crate::files::{self, Files};
use crate::live::{self, Happenings, Lived};
use crate::meanwhile::{Meanwhile, Scene, derive_meanwhile};
use crate::{counted, say};

/// How many people are near if nobody says.
const PEOPLE: usize = 120;
/// The cores of the report's figure.
const CORES: [usize; 4] = [1, 2, 4, 8];

pub(crate) fn run(mut arguments: Arguments) -> Result<(), Misuse> {
    let (options, seed) = arguments.device_among_people()?;
    let people = arguments.number("--people", 0..=MAX_NEARBY)?.unwrap_or(PEOPLE);
    let monitor = arguments.value("--monitor")?.map_or(Ok(Monitor::ReadersWriter), |name| Monitor::named(&name))?;
    let batch = arguments.number("--batch", 1..=MAX_NEARBY)?;
    let flock = arguments.value("--flock")?.map(|text| definition(&text)).transpose()?;
    let happenings = Happenings::take_from(&mut arguments, world(seed), seed, people)?;
    let during = arguments.flag("--during");
    let files = Files::take_from(&mut arguments)?;
    let top = arguments.flag("--top");
    let json = arguments.flag("--json");
    arguments.nothing_else()?;
    if during && happenings.is_quiet() {
        return Err(Misuse::new("--during: nothing happens; add `--bustle N`, `--leave N` or `--events FILE`".into()));
    }
    files.check()?;

    let mut method = Method::on(options.clone(), people);
    if let Some(batch) = batch.and_then(|batch| NonZeroU16::new(batch as u16)) {
        method.batch = batch;
    }
    let chosen = Series { monitor, cores: options.cores };
    let scene = Scene { world: world(seed), people, flock, generator: Generator::new(seed) };

    let lived = live::live(&options, monitor.flockr(), scene.world, people, flock, &happenings);
    let meanwhile = during.then(|| derive_meanwhile(&method, chosen, &scene, &happenings));
    let measure = |method: &Method, series: &[Series]| {
        method.measure(series, |flockr| {
            let flock = live::begin(flockr, scene.world, people, flock);
            for event in happenings.events() {
                // What is refused here was refused, and told, before.
                let _ = event.happen(flockr);
            }
            flock
        })
    };
    let measured = measure(&method, &[BASE, chosen]);
    let Ok([base, measured]) = <[Measured; 2]>::try_from(measured) else {
        unreachable!("two series, two measurements")
    };
    let expected = match happenings.is_quiet() && flock.is_none() {
        true => as_expected(seed, people, &measured.derivation),
        false => None,
    };
    assert_ne!(expected, Some(false), "{:?} is not what the check values say", measured.derivation);
    if top {
        method.watch(chosen, measured.flock).map_err(|trouble| Misuse::new(format!("--top: {trouble}")))?;
    }
    let over_cores = files.have_report().then(|| {
        let stepped = Method::on(Options { mode: Mode::Stepped, ..options.clone() }, people);
        let stepped = if options.mode == Mode::Stepped { method.clone() } else { stepped };
        OverCores::measure(|series| measure(&stepped, series))
    });
    let found = Found { flock, seed, lived, meanwhile, method, chosen, base, measured, over_cores };
    if files.are_wanted() {
        let record = found.method.record(chosen, &found.measured);
        files.write(&record, || found.page(&record))?;
    }
    if json {
        say(&format!("{:#}\n", found.json(&files)));
    } else {
        let checked = match expected {
            Some(true) => "\nThe couples are those of the workload's check values.\n",
            _ => "",
        };
        say(&(found.tell() + checked + &files.tell()));
    }
    Ok(())
}

fn definition(text: &str) -> Result<&'static Definition, Misuse> {
    let predicate = Predicate::parse(text).map_err(|mistake| Misuse::new(format!("--flock, {mistake}")))?;
    // A flockr refers to its flocks, and it is a static.
    Ok(Box::leak(Box::new(Definition::new(String::leak(text.to_owned()), predicate))))
}

pub(crate) fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Threads => "threads",
        Mode::Stepped => "stepped",
    }
}

/// Each monitor on several numbers of cores, in simulated time, and what it took.
struct OverCores(Vec<(Series, f64)>);

impl OverCores {
    fn measure(measure: impl Fn(&[Series]) -> Vec<Measured>) -> Self {
        let series = Monitor::ALL.iter().flat_map(|&monitor| CORES.map(|cores| Series { monitor, cores }));
        let series: Vec<Series> = series.collect();
        let spent = measure(&series).into_iter().map(|measured| measured.spent);
        Self(series.iter().copied().zip(spent).collect())
    }

    /// With how many times as fast as the default actor on one core each is.
    fn speed_ups(&self) -> impl Iterator<Item = (Series, f64, f64)> + Clone + '_ {
        let base = self.0.first().map_or(f64::NAN, |first| first.1);
        self.0.iter().map(move |&(series, spent)| (series, spent, base / spent))
    }

    fn chart(&self) -> Chart {
        let title = "Speed-up over the number of cores, in simulated time";
        let chart = Chart::new(title, "cores", "times as fast as the default actor on one core").y_from(0.0);
        let chart = Monitor::ALL.iter().fold(chart, |chart, monitor| {
            let own = self.speed_ups().filter(|(series, ..)| series.monitor == *monitor);
            chart.line(monitor.name(), own.map(|(series, _, speed_up)| (series.cores as f64, speed_up)))
        });
        chart.points("as many times as cores", CORES.map(|cores| (cores as f64, cores as f64)))
    }

    fn json(&self) -> Value {
        let rows = self.speed_ups().map(|(series, spent, speed_up)| {
            json!({
                "monitor": series.monitor.name(), "cores": series.cores, "cycles": spent.round() as u64,
                "speed_up": speed_up,
            })
        });
        rows.collect()
    }
}

/// Everything that was found and measured.
struct Found {
    flock: Option<&'static Definition>,
    /// What the people are made of.
    seed: NonZeroU32,
    lived: Lived,
    meanwhile: Option<Meanwhile>,
    method: Method,
    chosen: Series,
    base: Measured,
    measured: Measured,
    over_cores: Option<OverCores>,
}

impl Found {
    fn name(&self) -> &'static str {
        self.flock.map_or("couples", |flock| flock.name)
    }

    /// Of whom, and how many: "Of 120 people nearby: 38 couples".
    fn sentence(&self) -> String {
        let Lived { near, known, .. } = self.lived;
        let people = |number: usize| if number == 1 { "1 person".to_owned() } else { format!("{number} people") };
        let of = match self.flock.is_none_or(|flock| flock.predicate.is_about_nearby()) {
            true => format!("Of {} nearby", people(near)),
            false => format!("Of {} who are known, {near} of them nearby", people(known)),
        };
        let derivation = &self.measured.derivation;
        let what = match (self.flock, derivation.couples()) {
            (None, couples) => counted(couples as u64, "couple"),
            (Some(_), _) => counted(derivation.members.len() as u64, "member"),
        };
        let (hash, comparisons) = (derivation.hash(), counted(derivation.comparisons.into(), "comparison"));
        format!("{of}: {what}, hash {hash:08x}, after {comparisons} of names.")
    }

    /// What one derivation took: cycles, or nanoseconds.
    fn unit(&self) -> &'static str {
        if self.method.device.mode == Mode::Threads { "nanoseconds" } else { "cycles" }
    }

    fn time(&self, measured: &Measured) -> String {
        match &measured.run {
            Some(run) => format!("{:.2} ms", milliseconds(run)),
            None => format!("{:.1} µs", measured.spent / 1e3),
        }
    }

    fn json(&self, files: &Files) -> Value {
        let Self { method, chosen, base, measured, lived, .. } = self;
        let found = &measured.derivation;
        let mut figures = json!({
            "people": lived.near, "known": lived.known, "mode": mode_name(method.device.mode), "cores": chosen.cores,
            "monitor": chosen.monitor.name(), "flock": self.flock.map_or("isNearby and partnerNearby", |flock| flock.name),
            "members": found.members.len(), "couples": self.flock.is_none().then(|| found.couples()),
            "hash": format!("{:08x}", found.hash()), "comparisons": found.comparisons, "batch": method.batch,
            "seed": method.device.seed, "world": self.seed, "faults": method.device.faults.to_string(),
            "events": lived.json(), "during": self.meanwhile.as_ref().map(Meanwhile::json),
            "speed_up": measured.speed_up(base), "over_cores": self.over_cores.as_ref().map(OverCores::json),
            "files": files.json(),
        });
        figures[self.unit()] = json!(measured.spent.round() as u64);
        figures["base"] = json!({ "monitor": BASE.monitor.name(), "cores": BASE.cores });
        figures["base"][self.unit()] = json!(base.spent.round() as u64);
        if let Some(run) = &measured.run {
            let cores = run.cores.iter().map(|core| {
                json!({
                    "letters": core.letters, "awake": core.awake, "asleep": core.asleep, "stalled": core.stalled,
                    "longest_turn": core.longest_turn,
                })
            });
            figures["on_cores"] = cores.collect();
        }
        if let Some(spread) = measured.spread(base) {
            figures["rounds"] = measured.rounds.iter().map(|round| json!(round.round() as u64)).collect();
            figures["speed_up_in_rounds"] =
                json!({ "least": spread.least, "median": spread.median, "most": spread.most });
        }
        figures
    }

    fn tell(&self) -> String {
        let Self { method, chosen, base, measured, .. } = self;
        let mut text = self.lived.tell(self.name());
        text += &self.meanwhile.as_ref().map_or(String::new(), Meanwhile::tell);
        text += &format!("{}\n\n", self.sentence());
        let letters = match method.batch.get() {
            1 => "a letter for each person".to_owned(),
            batch => format!("letters for {batch} people each"),
        };
        text += &format!("  {}, {letters}", mode_name(method.device.mode));
        text += &match &method.device.faults {
            none if *none == Faults::none() => "\n".to_owned(),
            faults => format!("; both with faults, {faults}\n"),
        };
        for (series, measured) in [(BASE, base), (*chosen, measured)] {
            let cores = counted(series.cores as u64, "core");
            let spent = match &measured.run {
                Some(run) => format!("{:>10} cycles {:>12}", run.cycles, self.time(measured)),
                None => format!("{:>13}", self.time(measured)),
            };
            let speed_up = measured.speed_up(base);
            let bar = "▇".repeat((speed_up * 10.0).round() as usize);
            text += &format!("  {:<15} {cores:<8} {spent}  {speed_up:>5.2} ×  {bar}\n", series.monitor.name());
        }
        if let Some(run) = &measured.run {
            text += "\n";
            for (core, figures) in run.cores.iter().enumerate() {
                let busy = 100.0 * figures.awake as f64 / (figures.awake + figures.asleep).max(1) as f64;
                let plural = if figures.letters == 1 { " " } else { "s" };
                text += &format!(
                    "  core {core:<2} {:>6} letter{plural}, awake {busy:>5.1} %, longest turn {} cycles\n",
                    figures.letters, figures.longest_turn
                );
            }
        } else {
            text += &format!("\n{}\n", Method::on_threads());
            if let Some(spread) = measured.spread(base) {
                text += &format!(
                    "Within single rounds it was {:.2} to {:.2} times as fast as the default actor, with a median of {:.2}.\n",
                    spread.least, spread.most, spread.median
                );
            }
        }
        text
    }

    /// The report about one derivation.
    fn page(&self, run: &Run<Derivation>) -> Report {
        let Self { method, chosen, base, measured, .. } = self;
        let cores = if chosen.cores == 1 { "one core".to_owned() } else { format!("{} cores", chosen.cores) };
        let mode = mode_name(method.device.mode);
        let time = match method.device.mode {
            Mode::Stepped => "for one derivation",
            Mode::Threads => "for one derivation, the best of many",
        };
        let made_of = format!("The people are made of the number {:#x}.", self.seed);
        let report = Report::new(format!("{}: one flock on {cores}", self.name()))
            .introduction(format!("{} {made_of}", self.sentence()))
            .highlight(format!("{:.2} ×", measured.speed_up(base)), "speed-up over the default actor on one core")
            .highlight(self.time(measured), time)
            .replay(files::command(), run);
        let report = match &self.over_cores {
            Some(over_cores) => report.chart(over_cores.chart()),
            None => report,
        };
        let heading = format!("One derivation: {} on {cores}, {mode}", chosen.monitor.name());
        report.run(heading, run).expect("the run kept its events")
    }
}

fn milliseconds(run: &Run<Derivation>) -> f64 {
    run.cycles as f64 / f64::from(run.megahertz) / 1e3
}
