//! Tasks of both cores' executors that wait: for answers, and for room.

use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use embassy_executor::{SpawnError, task};
use flockwork::worker;

use crate::answers::ORACLES;
use crate::hold::CORE_1;
use crate::load::{FAR_SINK, NEAR_SINK, RECEIVERS, Sender};
use crate::patience::reach;
use crate::{Case, Device, Stop, require_equal, share};

pub(crate) const CASES: &[Case] =
    &[Case { name: "tasks/wait-across-cores", proves: "OCA-5, KER-2, KER-7", cores: 2, run: wait_across_cores }];

/// How far the task of each core is, and what was wrong.
static ASKED: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
static WRONG: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// Asks both cores' oracles, and writes to the other core's sink, which is full most of the time.
#[task(pool_size = 2)]
async fn ask_and_send(core: usize, questions: u32) {
    let (sender, sink) = if core == 0 { (Sender::Core0, FAR_SINK) } else { (Sender::Core1, NEAR_SINK) };
    let mut wrong = 0;
    for number in 0..questions {
        for oracle in ORACLES {
            wrong += u32::from(oracle.next(number).await != Ok(number + 1));
        }
        for letter in 0..LETTERS_PER_QUESTION {
            let letter = number * LETTERS_PER_QUESTION + letter;
            wrong += u32::from(RECEIVERS[sink].sink.take(sender, letter).send().await.is_err());
        }
        WRONG[core].store(wrong, SeqCst);
        ASKED[core].store(number + 1, SeqCst);
    }
}

/// More than there is room for.
const LETTERS_PER_QUESTION: u32 = 12;

/// Starts the task of the core this is called on.
pub(crate) fn start(core: usize, questions: u32) -> Result<(), SpawnError> {
    ask_and_send(core, questions).map(|token| worker::spawner().spawn(token))
}

fn wait_across_cores(device: &'static dyn Device) -> Result<(), Stop> {
    let questions = share(device, 500, 200);
    for (asked, wrong) in ASKED.iter().zip(&WRONG) {
        asked.store(0, SeqCst);
        wrong.store(0, SeqCst);
    }
    let started = CORE_1.start_task(questions).get();
    started.map_err(|_| Stop::Wrong("core 1 could not start its task"))?;
    start(0, questions).map_err(|_| Stop::Wrong("core 0 could not start its task"))?;
    for asked in &ASKED {
        reach(device, "questions of a task", questions, || asked.load(SeqCst))?;
    }
    for wrong in &WRONG {
        require_equal("wrong answers to a task", 0u32, wrong.load(SeqCst))?;
    }
    let letters = questions * LETTERS_PER_QUESTION;
    RECEIVERS[FAR_SINK].settle(device, &[(Sender::Core0, letters)])?;
    RECEIVERS[NEAR_SINK].settle(device, &[(Sender::Core1, letters)])
}
