//! What the live view shows, on a terminal that is only memory.
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use flockwork::{Actor, Eventually, ReadersWriter, Report, actor};
use flockwork_host_sim::top::ratatui::Terminal;
use flockwork_host_sim::top::ratatui::backend::TestBackend;
use flockwork_host_sim::top::ratatui::buffer::Cell;
use flockwork_host_sim::top::{Key, View, draw};
use flockwork_host_sim::{
    ActorFigures, CoreFigures, CoreSnapshot, Device, Snapshot, Watched, charge, record_from_here, run_until,
};

/// What is on the screen, a line each, without spaces at its end.
fn screen(view: &View, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory can be drawn on");
    let frame = terminal.draw(|frame| draw(frame, view)).expect("memory can be drawn on");
    let row = |row: &[Cell]| row.iter().map(|cell| cell.symbol()).collect::<String>();
    frame
        .buffer
        .content
        .chunks(usize::from(width))
        .map(|cells| row(cells).trim_end().replace('\u{202f}', " "))
        .collect()
}

fn core(awake: u64, asleep: u64, letters: u64) -> CoreSnapshot {
    let figures = CoreFigures { awake, asleep, letters, longest_turn: 1_250, ..CoreFigures::default() };
    CoreSnapshot { figures, is_asleep: false, turn: None }
}

fn flock() -> View {
    let flock = ActorFigures {
        name: Some("urbiflock::flock::Flock"),
        sent: 1_240,
        ended: 1_234,
        left: 1_232,
        refused: 3,
        high_water: 16,
        longest_turn: 98_765,
        ..ActorFigures::default()
    };
    let person = |dropped| ActorFigures {
        name: Some("urbiflock::Person"),
        sent: 7,
        ended: 7,
        left: 7,
        dropped,
        high_water: 1,
        longest_turn: 400,
        ..ActorFigures::default()
    };
    let mut view = View::new("urbiflock, 120 people", 125, 2);
    view.advance(Snapshot {
        cycles: 1_000_000,
        cores: vec![core(900_000, 100_000, 600), core(500_000, 500_000, 400)],
        actors: vec![],
    });
    let mut cores = vec![core(1_150_000, 100_000, 850), core(562_500, 687_500, 404)];
    cores[0].turn = NonZeroU32::new(17).map(|letter| ("urbiflock::flock::Flock", "couples", letter));
    cores[1].is_asleep = true;
    let nobody = ActorFigures::default();
    view.advance(Snapshot { cycles: 1_250_000, cores, actors: vec![flock, person(0), nobody, person(2)] });
    view
}

#[test]
fn cores_and_actors_are_shown_with_what_happened_since_the_last_picture() {
    let expected = [
        " urbiflock, 120 people                                      1 254 letters · 10.000 ms · 500 µs a second",
        " cores ─────────────────────────────────────────────────────────────────────────────────────────────────",
        "core awake                     letters/s    letters   longest turn  turn",
        "   0 ████████████████ 100 %      125 000        850        10.0 µs  Flock::couples #17",
        "   1 ████░░░░░░░░░░░░  25 %        2 000        404        10.0 µs  asleep",
        " actors ────────────────────────────────────────────────────────────────────────────────────────────────",
        "actor                   letters   mailbox                  high-water   refused   dropped   longest turn",
        "Flock                     1 234         8 ████████░░░░░░░░         16         3         0         790 µs",
        "Person #1                     7         0 ░░░░░░░░░░░░░░░░          1         0         0        3.20 µs",
        "Person #2                     7         0 ░░░░░░░░░░░░░░░░          1         0         2        3.20 µs",
        "",
        " space pause · s step · + faster · - slower · q close",
    ];
    assert_eq!(screen(&flock(), 104, 12), expected);
}

#[test]
fn a_core_is_awake_in_the_middle_of_its_work_and_asleep_only_when_it_sleeps() {
    let mut view = View::new("work", 125, 2);
    // Both began work of 900 cycles at once; the second was done with it before, and sleeps.
    let working = [core(900, 0, 0), core(900, 100, 0)];
    view.advance(Snapshot { cycles: 1_000, cores: working.to_vec(), actors: vec![] });
    let mut later = working.to_vec();
    later[1].is_asleep = true;
    later[1].turn = NonZeroU32::new(3).map(|letter| ("Clerk", "ask", letter));
    view.advance(Snapshot { cycles: 1_100, cores: later, actors: vec![] });
    let lines = screen(&view, 104, 10);
    assert!(lines[3].contains(" 100 % ") && lines[3].contains("no turn"), "{lines:?}");
    assert!(lines[4].contains("   0 % ") && lines[4].ends_with("  Clerk::ask #3, waits"), "{lines:?}");
}

#[test]
fn a_narrow_terminal_has_room_for_names() {
    let lines = screen(&flock(), 80, 12);
    let expected = [
        "core awake           letters/s    letters   longest turn  turn",
        "   0 ██████ 100 %      125 000        850        10.0 µs  Flock::couples #17",
    ];
    assert_eq!(lines[2..4], expected);
    let expected = [
        "actor           letters   mailbox  high-water   refused   dropped   longest turn",
        "Flock             1 234         8          16         3         0         790 µs",
    ];
    assert_eq!(lines[6..8], expected);
}

#[test]
fn the_title_says_what_the_keys_have_set() {
    let title = |keys: &[Key]| {
        let mut view = flock();
        keys.iter().for_each(|key| view.controls.press(*key));
        screen(&view, 104, 12)[0].rsplit(" · ").next().expect("a title").to_owned()
    };
    assert_eq!(title(&[Key::Pause]), "paused (500 µs a second)");
    assert_eq!(title(&[Key::Pause, Key::Pause]), "500 µs a second");
    assert_eq!(title(&[Key::Step]), "paused (500 µs a second)");
    assert_eq!(title(&[Key::Faster, Key::Faster]), "2.00 ms a second");
    assert_eq!(title(&[Key::Pause, Key::Slower]), "paused (200 µs a second)");
    let mut view = flock();
    view.controls.is_at_end = true;
    let lines = screen(&view, 104, 12);
    assert!(lines[0].ends_with("· ended") && lines[11].contains("any key closes"), "{lines:?}");
}

#[test]
fn a_very_narrow_terminal_keeps_names_and_drops_figures() {
    let lines = screen(&flock(), 60, 12);
    let expected = [
        "core awake           letters   longest turn  turn",
        "   0 ██████ 100 %        850        10.0 µs  Flock::couples",
    ];
    assert_eq!(lines[2..4], expected);
    let expected = [
        "actor                letters   mailbox  high-water   refused",
        "Flock                  1 234         8          16         3",
        "Person #1                  7         0           1         0",
    ];
    assert_eq!(lines[6..9], expected);
}

#[test]
fn the_end_is_about_the_whole_run() {
    let mut view = flock();
    view.controls.is_at_end = true;
    let lines = screen(&view, 104, 12);
    // Of 1.25 million cycles; since the last picture it would be 100 % and 25 %.
    assert!(lines[3].contains("  92 % ") && lines[4].contains("  45 % "), "{lines:?}");
    assert!(lines[3].contains(" 85 000 ") && lines[4].contains(" 40 400 "), "letters a second: {lines:?}");
}

#[test]
fn what_does_not_fit_is_counted() {
    let mut view = View::new("many", 125, 64);
    let person = ActorFigures { name: Some("Person"), sent: 1, ..ActorFigures::default() };
    view.advance(Snapshot { cycles: 1, cores: vec![core(1, 0, 0); 64], actors: vec![person; 40] });
    let lines = screen(&view, 90, 24);
    assert!(lines[1].ends_with(" 9 of 64"), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with(" actors") && line.ends_with(" 9 of 40")), "{lines:?}");
    // Nor does a tiny terminal make it panic.
    for (width, height) in [(1, 1), (20, 3), (200, 2)] {
        screen(&view, width, height);
    }
}

pub struct Library;

#[actor]
impl Library {
    pub fn read(&self) {
        charge(100_000);
    }
}

#[actor]
static LIBRARY: Actor<Library, ReadersWriter, 16, 16> = Library;

#[test]
fn threads_are_watched_while_they_run() {
    #[actor]
    static SHELF: Actor<Library, ReadersWriter, 16, 16> = Library;
    // The picture that is waited for: five letters sent and none run, while the only core is in `main`.
    let (seen, goes_on) = (AtomicBool::new(false), |lines: &[String]| lines[6].starts_with("Library"));
    let mut pictures = Vec::new();
    let look_on = |watched: &Watched| {
        let mut view = View::of_threads("readers", 1);
        while !watched.ends_within(Duration::from_millis(1)) {
            view.advance(watched.snapshot());
            let lines = screen(&view, 110, 10);
            seen.fetch_or(goes_on(&lines), SeqCst);
            pictures.push(lines);
        }
    };
    let run = Device::threads(1).run_watched_threads(look_on, || {
        (0..5).for_each(|_| SHELF.read().tell().expect("there is room"));
        while !seen.load(SeqCst) {
            std::thread::yield_now();
        }
        run_until(|| Report::of(&SHELF).letters == 0);
    });
    let waiting = pictures.iter().find(|lines| goes_on(lines)).expect("it was waited for");
    let words = waiting[6].split_whitespace().collect::<Vec<_>>();
    assert_eq!((words[1], words[2]), ("0", "5"), "{waiting:#?}");
    assert!(waiting[0].ends_with("· threads") && waiting[9].contains("cannot be paused"), "{waiting:#?}");
    // Nothing is lost or counted twice between two looks.
    let shelf = run.actors.iter().find(|actor| actor.name.is_some_and(|name| name.ends_with("Library")));
    assert_eq!(shelf.map(|shelf| (shelf.sent, shelf.ended, shelf.left, shelf.high_water)), Some((5, 5, 5, 5)));
    assert_eq!((run.letters(), run.events.is_sorted_by_key(|event| event.time)), (5, true));
}

#[test]
fn a_record_of_threads_can_begin_later() {
    #[actor]
    static SHELF: Actor<Library, ReadersWriter, 16, 16> = Library;
    let pause = Duration::from_millis(300);
    let run = Device::threads(1).run(|| {
        SHELF.read().get().expect("it answers");
        std::thread::sleep(pause);
        record_from_here();
        SHELF.read().get().expect("it answers");
    });
    assert_eq!(run.letters(), 1, "the first one was before");
    assert!(u128::from(run.cycles) < pause.as_nanos(), "{} ns", run.cycles);
    assert!(run.events.iter().all(|event| event.time <= run.cycles), "{:?}", run.events);
}

#[test]
fn a_device_is_shown_while_it_runs() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let view = RefCell::new(View::new("readers", 125, 2));
    let looks = Rc::clone(&seen);
    let look = move |snapshot: &Snapshot| {
        view.borrow_mut().advance(snapshot.clone());
        looks.borrow_mut().push(screen(&view.borrow(), 110, 10));
    };
    let run = Device::stepped(2).try_run_watched(50_000, look, || {
        let asked = [0; 8].map(|_| LIBRARY.read().ask().expect("there is room"));
        asked.into_iter().for_each(|answer| assert!(answer.get().is_ok()));
    });
    assert!(run.is_ok());
    let seen = seen.borrow();
    let both_read = |lines: &&Vec<String>| {
        // Until its first letter starts, a core may sleep for some cycles.
        let is_busy = |line: &String| line.contains("100 %") || line.contains(" 99 %");
        lines[3..5].iter().all(|line| line.contains("Library::read #") && is_busy(line))
    };
    assert!(seen.iter().filter(both_read).count() >= 4, "{seen:#?}");
    let depths = seen
        .iter()
        .filter_map(|lines| lines[7].strip_prefix("Library")?.split_whitespace().nth(1)?.parse::<u32>().ok());
    let depths = depths.collect::<Vec<_>>();
    assert!(depths.first() == Some(&8) && depths.is_sorted_by(|one, next| one >= next), "{depths:?}");
}
