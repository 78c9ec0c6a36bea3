//! Every ready-made monitor as a plain decision: its golden trace in a rehearsal, without actors and cores.

use flockwork::{
    Claims, CollectiveBound, Id, Join, Methods, Monitor, Mutex, Philosophers, ReadersFirst, ReadersWriter, Rehearsal,
    Resources, Synchronizer, WritersFirst,
};

use crate::golden::{self, Letters, Line, Script};
use crate::performers::{Colours, Performer, Seats, Table};
use crate::{Case, Device, Stop, require};

/// Letters of one script, and of what may run at once.
const LETTERS: usize = 16;

macro_rules! rehearse {
    ($($name:literal, $proves:literal: $monitor:ty, $actor:ty, $script:ident;)*) => {
        pub(crate) const CASES: &[Case] = &[$(
            Case {
                name: concat!("monitors/rehearsed/", $name),
                proves: $proves,
                cores: 1,
                run: |device| {
                    // Its letters are linked to each other, so it stays where it is.
                    let stage = Rehearsal::<$monitor, LETTERS>::new(<$actor as Methods>::METHODS);
                    rehearse(device, &stage, &golden::$script)
                },
            },
        )*];
    };
}

rehearse! {
    "mutex", "PAM-L1": Mutex, Performer, MUTEX;
    "readers-writer", "PAM-L3": ReadersWriter, Performer, READERS_WRITER;
    "readers-first", "PAM-L3": ReadersFirst, Performer, READERS_FIRST;
    "writers-first", "PAM-L3": WritersFirst, Performer, WRITERS_FIRST;
    "philosophers", "PAM-L5": Philosophers<5>, Table, PHILOSOPHERS;
    "resources", "PAM-L5": Resources, Table, RESOURCES;
    "collective-bound", "PAM-L6": CollectiveBound<2>, Performer, COLLECTIVE_BOUND;
    "synchronizer", "PAM-L7, PAM-L8": Synchronizer<Colours>, Performer, SYNCHRONIZER;
    "join", "PAM-F2": Join, Performer, JOIN;
}

/// Plays a script: granted letters run, and leave, in the order of their grants.
fn rehearse<'r, M: Monitor>(
    device: &dyn Device,
    stage: &'r Rehearsal<'r, M, LETTERS>,
    script: &Script,
) -> Result<(), Stop> {
    for act in script.acts {
        let mut trace = Line::<128>::new();
        for cue in act.letters {
            let claims =
                cue.objects.iter().try_fold(Claims::NONE, |claims, seat| claims.exclusive::<Seats>(Id::new(*seat)));
            let Ok(claims) = claims else { return Err(Stop::Wrong("the script names a seat twice, or one too far")) };
            stage.post_naming(cue.method, claims);
        }
        let mut queue = [None; LETTERS];
        let (mut queued, mut played) = (0, 0);
        let mut granted = stage.schedule();
        loop {
            let mut together = Letters::default();
            for letter in granted.iter() {
                together.insert(letter.number());
                queue[queued % LETTERS] = Some(*letter);
                queued += 1;
            }
            if !together.is_empty() {
                trace.word(format_args!("+{together}"));
            }
            if played == queued {
                break;
            }
            let Some(next) = queue[played % LETTERS] else { return Err(Stop::Wrong("a queue of letters has no gaps")) };
            played += 1;
            trace.word(format_args!("!{0} -{0}", next.number()));
            granted = stage.finish(next);
        }
        if trace.as_str() != act.trace {
            device.log(format_args!("  expected {}", act.trace));
            device.log(format_args!("  found    {}", trace.as_str()));
            return Err(Stop::Wrong("the trace is not the golden one"));
        }
    }
    require(stage.waiting() == 0, "a letter is left over")?;
    require(stage.refused() == 0, "a ready-made monitor grants nothing that would alias")?;
    require(stage.schedule_calls_on_empty() == 0, "nothing is scheduled when nothing waits (PAM-G3)")
}
