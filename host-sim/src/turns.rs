//! What pictures of a run are made of: turns, depths of mailboxes, and names that tell actors apart. Read out of its events.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU32;

use flockwork::trace::Hop;

use crate::run::Run;

/// The turn of one letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) core: u8,
    pub(crate) actor: u16,
    pub(crate) method: &'static str,
    pub(crate) letter: NonZeroU32,
    /// When it was sent; none if that was before the run, or not on a core.
    pub(crate) sent: Option<u64>,
    pub(crate) started: u64,
    /// When its method ended; none if the run ended before.
    pub(crate) ended: Option<u64>,
    /// How many turns of the same core it is nested in.
    pub(crate) nesting: usize,
}

/// All turns, in the order in which they started.
pub(crate) fn turns<R>(run: &Run<R>) -> Vec<Turn> {
    let mut sent = BTreeMap::new();
    let mut turns = Vec::<Turn>::new();
    // By core: places of the turns that have not ended, innermost last.
    let mut open = vec![Vec::<usize>::new(); run.cores.len()];
    for event in &run.events {
        let (Some(letter), open) = (event.letter, &mut open[usize::from(event.core)]) else { continue };
        match event.hop {
            Hop::Sent => {
                sent.insert(letter, event.time);
            }
            Hop::Started => {
                open.push(turns.len());
                turns.push(Turn {
                    core: event.core,
                    actor: event.actor,
                    method: event.method_name().unwrap_or("?"),
                    letter,
                    sent: sent.remove(&letter),
                    started: event.time,
                    ended: None,
                    nesting: open.len() - 1,
                });
            }
            Hop::Ended => {
                if let Some(place) = open.pop() {
                    turns[place].ended = Some(event.time);
                }
            }
            Hop::Granted | Hop::Refused | Hop::Left | Hop::Dropped => {}
        }
    }
    turns
}

/// How many letters a mailbox holds, running ones included.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Depth(u64);

impl Depth {
    /// The depth after a hop; none if the hop does not change it.
    pub(crate) fn after(&mut self, hop: Hop) -> Option<u64> {
        self.0 = match hop {
            Hop::Sent => self.0 + 1,
            // A letter that was sent before the run leaves in it, but was never counted.
            Hop::Left => self.0.checked_sub(1)?,
            _ => return None,
        };
        Some(self.0)
    }
}

/// By actor: when the depth of its mailbox changed, and to what.
pub(crate) fn depths<R>(run: &Run<R>) -> BTreeMap<u16, Vec<(u64, u64)>> {
    let mut depths = BTreeMap::<u16, (Depth, Vec<(u64, u64)>)>::new();
    for event in &run.events {
        let (depth, changes) = depths.entry(event.actor).or_default();
        changes.extend(depth.after(event.hop).map(|depth| (event.time, depth)));
    }
    depths
        .into_iter()
        .map(|(actor, (_, changes))| (actor, changes))
        .filter(|(_, changes)| !changes.is_empty())
        .collect()
}

/// When the last thing happened, in cycles.
pub(crate) fn end<R>(run: &Run<R>) -> u64 {
    run.events.last().map_or(0, |event| event.time).max(run.cycles)
}

/// Names of all actors, by number: the type without its path, and a count if several are of that type.
pub(crate) fn names<'a>(types: impl Iterator<Item = Option<&'a str>> + Clone) -> Vec<String> {
    let mut counts = BTreeMap::<String, (usize, usize)>::new();
    let short = types.map(|name| name.map_or_else(|| "?".to_owned(), without_path));
    for name in short.clone() {
        counts.entry(name).or_default().0 += 1;
    }
    short
        .map(|name| match counts.get_mut(&name) {
            Some((all, so_far)) if *all > 1 => {
                *so_far += 1;
                format!("{name} #{so_far}")
            }
            _ => name,
        })
        .collect()
}

/// `a::b::Map<c::Key>` is `Map<Key>`.
pub(crate) fn without_path(name: &str) -> String {
    let mut short = String::new();
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
        } else if letter == ':' {
            word.clear();
        } else {
            short.push_str(&word);
            word.clear();
            short.push(letter);
        }
    }
    short + &word
}

/// An error if there were letters, but their events were not kept.
pub(crate) fn check_events<R>(run: &Run<R>) -> io::Result<()> {
    if run.events.is_empty() && run.letters() > 0 {
        let what = "the run kept no events to draw; let its device `keep_events(true)`";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(())
}

/// The same error, with the file that it is about.
pub(crate) fn about(path: &std::path::Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_paths_and_differ() {
        let types = [Some("a::b::Map<c::Key, [d::e; 3]>"), Some("x::Clerk"), None, Some("y::Clerk"), Some("Bell")];
        assert_eq!(names(types.into_iter()), ["Map<Key, [e; 3]>", "Clerk #1", "?", "Clerk #2", "Bell"]);
    }

    #[test]
    fn a_letter_from_before_the_run_does_not_make_a_depth_negative() {
        let mut depth = Depth::default();
        let hops = [Hop::Left, Hop::Sent, Hop::Granted, Hop::Sent, Hop::Left, Hop::Dropped, Hop::Left];
        let depths = hops.map(|hop| depth.after(hop));
        assert_eq!(depths, [None, Some(1), None, Some(2), Some(1), None, Some(0)]);
    }
}
