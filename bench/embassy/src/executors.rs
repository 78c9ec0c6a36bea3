//! Threads that each poll one embassy executor without ever sleeping.
#![expect(unsafe_code, reason = "a raw executor is polled and pended by unsafe contracts")]

use std::{
    ptr,
    sync::{
        Arc, Barrier, OnceLock,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use embassy_executor::{
    SendSpawner,
    raw::{Executor, TaskStorage},
};
use workloads::{Answer, Measured};

/// Called by embassy when an executor has work. Ours poll all the time, so there is nobody to tell.
#[unsafe(export_name = "__pender")]
fn pender(_context: *mut ()) {}

/// The executors of a run, which wait for [`Executors::measure`] before they poll for the first time.
pub(crate) struct Executors {
    spawners: Vec<SendSpawner>,
    threads: Vec<JoinHandle<()>>,
    begin: Arc<Barrier>,
    finished: Arc<AtomicBool>,
}

impl Executors {
    /// As many executors as there are workers, each on a thread of its own.
    pub(crate) fn new(workers: usize) -> Self {
        let begin = Arc::new(Barrier::new(workers + 1));
        let finished = Arc::new(AtomicBool::new(false));
        let (mut spawners, mut threads) = (Vec::new(), Vec::new());
        for _ in 0..workers {
            let (sender, receiver) = mpsc::channel();
            let (begin, finished) = (begin.clone(), finished.clone());
            threads.push(thread::spawn(move || {
                let executor: &'static Executor = Box::leak(Box::new(Executor::new(ptr::null_mut())));
                let _ = sender.send(executor.spawner().make_send());
                begin.wait();
                while !finished.load(Ordering::Relaxed) {
                    // SAFETY: the executor never leaves this thread, and neither its tasks nor the pender poll it.
                    unsafe { executor.poll() };
                }
            }));
            spawners.push(receiver.recv().expect("the thread sends its spawner before anything else"));
        }
        Self { spawners, threads, begin, finished }
    }

    /// Puts a task on executor number `worker`, modulo their number.
    pub(crate) fn spawn<F: Future + Send + 'static>(&self, worker: usize, task: F) {
        let storage: &'static TaskStorage<F> = Box::leak(Box::new(TaskStorage::new()));
        let token = storage.spawn(|| task).expect("a fresh storage is free");
        self.spawners[worker % self.spawners.len()].spawn(token);
    }

    /// Runs `work` on the first executor, lets all executors go and waits until `work` has its answer.
    pub(crate) fn measure(self, work: impl Future<Output = Answer> + Send + 'static) -> Measured {
        let measured = Arc::new(OnceLock::new());
        let (result, finished) = (measured.clone(), self.finished.clone());
        self.spawn(0, async move {
            let start = Instant::now();
            let answer = work.await;
            let _ = result.set(Measured { elapsed: start.elapsed(), answer });
            finished.store(true, Ordering::Relaxed);
        });
        self.begin.wait();
        for thread in self.threads {
            thread.join().expect("no workload panics");
        }
        *measured.get().expect("the executors stop only after the result is set")
    }
}
