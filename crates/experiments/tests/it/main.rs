//! Experiments from outside: files, sweeps, results.

mod papers;
mod specification;
mod still;
mod sweep;

use std::sync::Arc;

use pavior_experiments::{LogRequest, Logs, NoProgress, NoStore, Samples, Shard, Specification};
use pavior_workload::traces::Trace;

struct NoLogs;

impl Logs for NoLogs {
    fn open(&self, request: &LogRequest) -> Result<Arc<Trace>, String> {
        Err(format!("no log {}", request.path))
    }
}

fn read(text: &str) -> Specification {
    Specification::parse(text, "test").unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn whole(experiment: &Specification) -> Samples {
    experiment.run(Vec::new(), Shard::WHOLE, &NoLogs, &mut NoStore, &NoProgress).unwrap()
}
