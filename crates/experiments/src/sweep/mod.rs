//! Runs every point of an experiment until the precision targets are met.
//!
//! Each worker takes the next pending replication of the first unfinished point, so points finish
//! one after another. The number of replications of a point depends on the results of its first
//! replications, taken in order, and never on the order in which they finish. Results are therefore
//! independent of the number of threads and of how often the sweep was stopped and resumed.

mod plan;
mod queue;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::{Mutex, PoisonError};

use pavior_simulation::{RunError, Stop};
use thiserror::Error;

use crate::scenario::RunRecord;
use crate::{InputError, InputFiles, NoFiles};
use crate::{JournalEntry, Sample, Scenario, Specification, Store, snapshot};
use plan::Plan;
use queue::WorkQueue;

pub use plan::Span;

/// A subset of the points: those whose index modulo `of` is `index - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The shard number, counted from 1.
    pub index: usize,
    /// The number of shards.
    pub of: usize,
}

impl Shard {
    /// The shard that contains all points.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Returns true if a point belongs to the shard.
    pub fn has(self, point: usize) -> bool {
        point % self.of == self.index - 1
    }
}

/// Everything that a sweep needs, apart from its points and its store.
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    /// The source of input files.
    pub files: &'e dyn InputFiles,
    /// The receiver of progress reports.
    pub progress: &'e dyn Progress,
    /// The recording that receives replication 0 of every point, if requested.
    pub recording: Option<&'e Recording>,
    /// A flag that the caller sets to stop the sweep and any running replications.
    pub stop: Option<&'e Stop>,
}

impl Environment<'_> {
    /// An environment without files, progress reports, a recording or a way to stop early.
    pub const PLAIN: Environment<'static> =
        Environment { files: &NoFiles, progress: &NoProgress, recording: None, stop: None };
}

/// Records of replication 0 at every point.
#[derive(Debug, Default)]
pub struct Recording(Mutex<BTreeMap<usize, RunRecord>>);

impl Recording {
    fn keep(&self, point: usize, record: RunRecord) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(point, record);
    }

    /// Returns the records by point index.
    pub fn into_records(self) -> BTreeMap<usize, RunRecord> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A receiver of progress reports.
pub trait Progress: Sync {
    /// Reports that `runs` additional replications will be run.
    fn planned(&self, runs: u64);
    /// Reports that one replication is done.
    fn done(&self);
}

/// A receiver that ignores progress reports.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn planned(&self, _: u64) {}
    fn done(&self) {}
}

/// An error that ends a sweep early.
#[derive(Debug, Error)]
pub enum SweepError {
    /// An input file cannot be read.
    #[error("{0}")]
    Input(InputError),
    /// A run cannot continue.
    #[error("{error}")]
    Run {
        /// The point's index in the experiment.
        point: usize,
        /// The replication that failed.
        replication: u64,
        /// The run's error.
        error: RunError,
    },
    /// A finished replication could not be stored.
    #[error("{0}")]
    Store(io::Error),
    /// The caller stopped the sweep.
    #[error("stopped")]
    Stopped,
}

/// The samples of each point, by replication. Points that were not run have no samples.
pub type Samples = Vec<Vec<Sample>>;

impl Specification {
    /// Runs a shard's points on the current thread pool. Skips replications known from an earlier
    /// run, and passes each finished replication to the store immediately.
    ///
    /// # Errors
    /// Returns an error if an input cannot be read, a run cannot continue, the store fails, or the
    /// sweep is stopped. Replications stored before the error remain valid. If several runs cannot
    /// continue, the error comes from the first of these runs in order of point and replication,
    /// regardless of the number of threads.
    ///
    /// # Panics
    /// Panics if a run panics, on any thread.
    pub fn run(
        &self,
        known: Vec<JournalEntry>,
        shard: Shard,
        environment: Environment<'_>,
        store: &mut dyn Store,
    ) -> Result<Samples, SweepError> {
        let mut plan = Plan::new(self, known, |point| shard.has(point));
        environment.progress.planned(plan.wanted_runs());
        self.check_inputs(&plan, environment.files)?;
        let queue = WorkQueue::new(self, &mut plan, environment, store);
        rayon::broadcast(|_| queue.work());
        queue.into_result()?;
        Ok(plan.into_samples())
    }

    /// Runs one replication of a point in its scenario, exactly as [`Specification::run`] does.
    /// Intended for engines that call [`Specification::wanted`] themselves.
    ///
    /// # Errors
    /// Returns an error if the run cannot continue, or is stopped.
    pub fn replicate(
        &self,
        point: usize,
        scenario: &Scenario,
        replication: u64,
        stop: &Stop,
    ) -> Result<Sample, RunError> {
        let mut sample = scenario.replicate(replication, &self.metrics, stop)?;
        self.add_order(point, &mut sample);
        Ok(sample)
    }

    /// Adds the strategy's asymptotic cost to a point's sample, if this cost is a metric.
    fn add_order(&self, point: usize, sample: &mut Sample) {
        let index = self.metrics.iter().position(|spec| spec.name == snapshot::PRINTED_ORDER.name);
        if let Some(index) = index {
            sample.values[index] = self.orders.value(&self.points[point]);
        }
    }

    /// Returns the replications that each point needs next, or an empty list if all targets are
    /// met. The result depends only on each point's first replications, taken in order.
    pub fn wanted(&self, known: Vec<JournalEntry>) -> Vec<Span> {
        Plan::new(self, known, |_| true).wanted()
    }

    /// Returns the samples from a finished sweep, given all of its entries.
    ///
    /// # Errors
    /// Returns the replications to be run next, if any are missing.
    pub fn complete(&self, entries: Vec<JournalEntry>) -> Result<Samples, Vec<Span>> {
        let plan = Plan::new(self, entries, |_| true);
        let wanted = plan.wanted();
        if wanted.is_empty() { Ok(plan.into_samples()) } else { Err(wanted) }
    }

    /// Checks, before anything runs, that the inputs of all points can be read.
    fn check_inputs(&self, plan: &Plan<'_>, files: &dyn InputFiles) -> Result<(), SweepError> {
        let mut seen: HashSet<(String, u64)> = HashSet::new();
        for (_, point) in self.points.iter().enumerate().filter(|(index, _)| plan.is_open(*index)) {
            let settings = point.settings();
            let warmup = settings.jobs().map_or(0, |jobs| jobs.warmup);
            for input in settings.inputs() {
                if seen.insert((input.key().to_string(), warmup)) {
                    input.check(files, warmup).map_err(SweepError::Input)?;
                }
            }
        }
        Ok(())
    }
}
