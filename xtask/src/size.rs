//! `cargo xtask size`: what images take of flash and RAM, against the budgets in `boards/budgets.toml` and the bars of the
//! kernel.
//!
//! A *budget* is what an image may take; more fails the tests. A *bar* is what the kernel itself should not exceed; it is
//! told by images that differ in one thing each (`boards/size-probe`), and printed, met or missed.

mod actors;
mod budgets;

use crate::{
    args::{Args, Misuse},
    board::{BOARDS, Board, Profile, RP2040, build_command},
    elf::Elf,
    rustup,
    step::{Stop, exit_code},
};
use actors::Actor;
use budgets::Budgets;
use std::{fmt::Write, path::PathBuf, process::ExitCode};

/// Images that measure or test: they grow with every case, and nobody flashes them.
const INSTRUMENTS: &[&str] = &["cycles", "quiet", "straight", "suite"];

/// The package of the images that differ in one thing each.
pub(crate) const PROBES: &str = "flockwork-size-probe";

/// Where the budgets are kept.
const BUDGETS: &str = "boards/budgets.toml";

pub(crate) fn run(mut args: Args) -> Result<ExitCode, Misuse> {
    let (json, accept) = (args.flag("--json"), args.flag("--accept"));
    args.nothing_else()?;
    let report = || {
        let sizes = Sizes::measure()?;
        if accept {
            Budgets::of(&sizes.figures()).write(BUDGETS)?;
        }
        let budgets = Budgets::read(BUDGETS)?;
        print!("{}", if json { sizes.json(&budgets) } else { sizes.table(&budgets) });
        budgets.check(&sizes.figures())
    };
    Ok(exit_code("size", report()))
}

/// The step of the tests: the table, and an error for what exceeds its budget.
pub(crate) fn check() -> Result<(), Stop> {
    let (sizes, budgets) = (Sizes::measure()?, Budgets::read(BUDGETS)?);
    print!("{}", sizes.table(&budgets));
    budgets.check(&sizes.figures())
}

/// Everything that was measured.
struct Sizes {
    images: Vec<Image>,
    bars: Vec<Bar>,
}

/// What one image takes.
struct Image {
    /// The board and the example: `rp2040.hello`.
    name: String,
    flash: u32,
    ram: u32,
    actors: Vec<Actor>,
}

/// What the kernel takes, and should not exceed.
struct Bar {
    name: &'static str,
    about: &'static str,
    bytes: u32,
    /// None where the figure only explains another.
    bar: Option<u32>,
}

/// A number that has a budget: of an image, or of the kernel.
struct Figure {
    /// The table it is in, in the file of budgets.
    table: String,
    key: &'static str,
    bytes: u32,
}

impl Sizes {
    fn measure() -> Result<Self, Stop> {
        actors::prepare()?;
        let mut images = Vec::new();
        for board in BOARDS {
            for example in board.examples().iter().filter(|example| !INSTRUMENTS.contains(&example.as_str())) {
                images.push(Image::read(format!("{}.{example}", board.name), board.build(example, Profile::Release)?)?);
            }
        }
        Ok(Self { images, bars: bars(&Probes::build()?) })
    }

    fn figures(&self) -> Vec<Figure> {
        let of_image = |image: &Image| {
            [("flash", image.flash), ("ram", image.ram)].map(|(key, bytes)| Figure {
                table: image.name.clone(),
                key,
                bytes,
            })
        };
        let of_kernel = |bar: &Bar| Figure { table: "kernel".to_owned(), key: bar.name, bytes: bar.bytes };
        self.images.iter().flat_map(of_image).chain(self.bars.iter().map(of_kernel)).collect()
    }

    /// For people.
    fn table(&self, budgets: &Budgets) -> String {
        let mut text = format!("\n{:<28} {:>8} {:>8} {:>8} {:>8}\n", "image", "flash", "budget", "RAM", "budget");
        let budget =
            |image: &Image, key| budgets.of_figure(&image.name, key).map_or("-".to_owned(), |bytes| bytes.to_string());
        for image in &self.images {
            let (flash, ram) = (budget(image, "flash"), budget(image, "ram"));
            let _ = writeln!(text, "{:<28} {:>8} {flash:>8} {:>8} {ram:>8}", image.name, image.flash, image.ram);
            for Actor { name, state, monitor, letters, promises, rest } in &image.actors {
                let parts =
                    format!("state {state}, monitor {monitor}, letters {letters}, promises {promises}, rest {rest}");
                let _ = writeln!(text, "  {name:<40} {parts}");
            }
        }
        let _ = writeln!(text, "\n{:<72} {:>6} {:>6}", "the kernel, in bytes (opt-level s, RP2040)", "", "bar");
        for Bar { about, bytes, bar, .. } in &self.bars {
            let verdict = match bar {
                Some(bar) if bytes <= bar => format!("{bar:>6}  met"),
                Some(bar) => format!("{bar:>6}  missed by {}", bytes - bar),
                None => String::new(),
            };
            let _ = writeln!(text, "{about:<72} {bytes:>6} {verdict}");
        }
        text + "\n"
    }

    /// For programs. Every name is an identifier, so nothing needs quoting.
    fn json(&self, budgets: &Budgets) -> String {
        let budget =
            |table: &str, key: &str| budgets.of_figure(table, key).map_or("null".to_owned(), |bytes| bytes.to_string());
        let list = |lines: Vec<String>| format!("[\n    {}\n  ]", lines.join(",\n    "));
        let actor = |Actor { name, state, monitor, letters, promises, rest }: &Actor| {
            let parts =
                [("state", state), ("monitor", monitor), ("letters", letters), ("promises", promises), ("rest", rest)];
            let parts = parts.map(|(part, bytes)| format!(r#""{part}": {bytes}"#)).join(", ");
            format!(r#"{{"name": "{name}", {parts}}}"#)
        };
        let image = |Image { name, flash, ram, actors }: &Image| {
            let actors: Vec<String> = actors.iter().map(actor).collect();
            let (flash_budget, ram_budget) = (budget(name, "flash"), budget(name, "ram"));
            let figures = format!(
                r#""flash": {flash}, "flash_budget": {flash_budget}, "ram": {ram}, "ram_budget": {ram_budget}"#
            );
            format!(r#"{{"name": "{name}", {figures}, "actors": [{}]}}"#, actors.join(", "))
        };
        let bar = |Bar { name, bytes, bar, .. }: &Bar| {
            let bar = bar.map_or("null".to_owned(), |bar| bar.to_string());
            format!(r#"{{"name": "{name}", "bytes": {bytes}, "bar": {bar}, "budget": {}}}"#, budget("kernel", name))
        };
        let images = list(self.images.iter().map(image).collect());
        let bars = list(self.bars.iter().map(bar).collect());
        format!("{{\n  \"images\": {images},\n  \"kernel\": {bars}\n}}\n")
    }
}

impl Image {
    fn read(name: String, path: PathBuf) -> Result<Self, Stop> {
        let elf = Elf::read(&path)?;
        Ok(Self { name, flash: flash(&elf), ram: ram(&elf), actors: actors::of(&path)? })
    }
}

/// What is stored: code, constants, and the initial values of variables.
fn flash(elf: &Elf) -> u32 {
    elf.sections().filter(|section| section.is_stored).map(|section| section.size).sum()
}

/// Variables, and the stack of core 1, which is one; not the stack of core 0, which has what is left.
fn ram(elf: &Elf) -> u32 {
    elf.sections().filter(|section| section.is_writable).map(|section| section.size).sum()
}

/// The images of `boards/size-probe`.
struct Probes {
    embassy: Elf,
    no_actor: Elf,
    one_actor: Elf,
    five_actors: Elf,
    one_monitored: Elf,
    five_monitored: Elf,
    /// The one actor of an image, whose mailbox is known.
    mailbox: Actor,
}

impl Probes {
    fn build() -> Result<Self, Stop> {
        let Board { target, .. } = RP2040;
        rustup::target(target)?;
        build_command(PROBES, target, Profile::Release).arg("--bins").run()?;
        let path = |name| ["boards/target", target, "release", name].iter().collect::<PathBuf>();
        let read = |name| Elf::read(&path(name));
        Ok(Self {
            embassy: read("size-embassy")?,
            no_actor: read("size-no-actor")?,
            one_actor: read("size-one-actor")?,
            five_actors: read("size-five-actors")?,
            one_monitored: read("size-one-monitored")?,
            five_monitored: read("size-five-monitored")?,
            mailbox: the_only(actors::of(&path("size-mailbox"))?)?,
        })
    }
}

fn the_only(actors: Vec<Actor>) -> Result<Actor, Stop> {
    let [actor] = <[Actor; 1]>::try_from(actors)
        .map_err(|actors| Stop::Failed(format!("the probe of a mailbox has {} actors instead of one", actors.len())))?;
    Ok(actor)
}

/// Letters of the probe of a mailbox, and promises: four in each of two lanes.
const PLACES: u32 = 8;
/// Actor types that the probes with several have more than those with one.
const FURTHER: u32 = 4;

fn bars(probes: &Probes) -> Vec<Bar> {
    let beyond = |image: &Elf, base: &Elf| flash(image).saturating_sub(flash(base));
    let Probes { embassy, no_actor, one_actor, five_actors, one_monitored, five_monitored, mailbox } = probes;

    let figure = |name, about, bytes, bar| Bar { name, about, bytes, bar };
    vec![
        figure("workers", "flash: workers on both cores, without an actor", beyond(no_actor, embassy), None),
        figure("first", "flash: workers and a first actor", beyond(one_actor, embassy), Some(1536)),
        figure(
            "further",
            "flash: each further actor type, with its one method",
            beyond(five_actors, one_actor) / FURTHER,
            Some(300),
        ),
        figure(
            "further_monitored",
            "flash: each further actor type under `ReadersWriter`, with its one method",
            beyond(five_monitored, one_monitored) / FURTHER,
            Some(300),
        ),
        figure("letter", "RAM: a letter with a message of one word", mailbox.letters / PLACES, None),
        figure("promise", "RAM: a promise of one word", mailbox.promises / PLACES, None),
        figure("actor", "RAM: an actor beside its state, letters and promises", mailbox.rest, Some(24)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::tests::elf;

    fn sizes() -> Sizes {
        let actors =
            vec![Actor { name: "hello::HERE".to_owned(), state: 8, monitor: 0, letters: 456, promises: 64, rest: 24 }];
        let image = Image { name: "rp2040.hello".to_owned(), flash: 30_000, ram: 6_000, actors };
        let bar = |name, bytes, bar| Bar { name, about: name, bytes, bar };
        Sizes { images: vec![image], bars: vec![bar("first", 1600, Some(1536)), bar("actor", 24, Some(24))] }
    }

    #[test]
    fn variables_are_not_stored() {
        let elf = elf(&[]);
        assert_eq!((flash(&elf), ram(&elf)), (0, 24));
    }

    #[test]
    fn the_table_says_what_is_met_and_what_is_missed() {
        let table = sizes().table(&Budgets::of(&sizes().figures()));
        assert!(table.contains("1536  missed by 64") && table.contains("24  met"), "{table}");
        assert!(table.contains("hello::HERE") && table.contains("letters 456"), "{table}");
    }

    #[test]
    fn the_json_has_every_figure() {
        let budgets = Budgets::of(&sizes().figures());
        let json = sizes().json(&budgets);
        let budget = |table, key| budgets.of_figure(table, key).expect("every figure has a budget");
        let hello = format!(
            r#"{{"name": "rp2040.hello", "flash": 30000, "flash_budget": {}, "ram": 6000, "ram_budget": {}, "actors": [{{"name": "hello::HERE""#,
            budget("rp2040.hello", "flash"),
            budget("rp2040.hello", "ram")
        );
        assert!(json.contains(&hello), "{json}");
        let first =
            format!(r#"{{"name": "first", "bytes": 1600, "bar": 1536, "budget": {}}}"#, budget("kernel", "first"));
        assert!(json.contains(&first), "{json}");
    }
}
