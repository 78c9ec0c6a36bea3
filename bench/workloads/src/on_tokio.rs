//! What the systems on tokio's multi-threaded runtime share: a runtime with as many workers as the command says.

use std::process::ExitCode;

use tokio::{runtime::Builder, task::JoinHandle};

use crate::{Command, Measured, dictionary::Tally};

/// [`main`](crate::main) of a system that runs every workload, on workers of a runtime. `configure` adds what the system needs of
/// it beyond them.
pub fn main<F>(system: &str, configure: impl FnOnce(&mut Builder), run: impl FnOnce(Command) -> F) -> ExitCode
where
    F: Future<Output = Measured> + Send + 'static,
{
    crate::main(system, &[], |command| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(command.workers);
        configure(&mut builder);
        let runtime = builder.build().expect("threads for the runtime");
        // Spawned, because what `block_on` is given runs on the main thread, which is no worker.
        let work = runtime.spawn(run(command.clone()));
        Some(runtime.block_on(work).expect("no workload panics"))
    })
}

/// What the clients of a dictionary have seen together, once all of them have ended.
pub async fn seen_by(clients: Vec<JoinHandle<Tally>>) -> Tally {
    let mut seen = Tally::default();
    for client in clients {
        seen = seen.merge(client.await.expect("no client panics"));
    }
    seen
}
