//! Runs every point of an experiment until its targets hold.
//!
//! Workers take the first replication that is wanted of the first unfinished point, so that points
//! finish one after another. How many replications a point gets depends on its first ones in order,
//! never on which finished first. So the numbers do not depend on the number of threads, nor on how
//! often the sweep was stopped and resumed.

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

/// A part of the points: those whose index leaves `index - 1` when divided by `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub index: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// All points.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Whether a point belongs to it.
    pub fn has(self, point: usize) -> bool {
        point % self.of == self.index - 1
    }
}

/// What a sweep has to do with besides its points and its store.
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    /// Who opens files.
    pub files: &'e dyn InputFiles,
    /// Who is told how far things are.
    pub progress: &'e dyn Progress,
    /// What happens in replication 0 of every point is kept here, if it is wanted.
    pub recording: Option<&'e Recording>,
    /// Set from outside, it ends the sweep, and the replications in flight.
    pub stop: Option<&'e Stop>,
}

impl Environment<'_> {
    /// No files, no progress, nothing recorded, no end before its time.
    pub const PLAIN: Environment<'static> =
        Environment { files: &NoFiles, progress: &NoProgress, recording: None, stop: None };
}

/// What happens in replication 0 of every point.
#[derive(Debug, Default)]
pub struct Recording(Mutex<BTreeMap<usize, RunRecord>>);

impl Recording {
    fn keep(&self, point: usize, record: RunRecord) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(point, record);
    }

    /// The records, by the index of the point.
    pub fn into_records(self) -> BTreeMap<usize, RunRecord> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who is told how far things are.
pub trait Progress: Sync {
    /// `runs` more replications will be run.
    fn planned(&self, runs: u64);
    /// One replication is done.
    fn done(&self);
}

/// Progress that is told to no one.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn planned(&self, _: u64) {}
    fn done(&self) {}
}

/// Why a sweep stopped early.
#[derive(Debug, Error)]
pub enum SweepError {
    /// A log or a list of failures cannot be read.
    #[error("{0}")]
    Input(InputError),
    /// A run cannot go on.
    #[error("{error}")]
    Run {
        /// The index of its point.
        point: usize,
        /// Its replication.
        replication: u64,
        /// Why not.
        error: RunError,
    },
    /// A finished replication could not be kept.
    #[error("{0}")]
    Store(io::Error),
    /// It was stopped from outside.
    #[error("stopped")]
    Stopped,
}

/// The samples of every point, replication by replication; empty where a point was not run.
pub type Samples = Vec<Vec<Sample>>;

impl Specification {
    /// Runs the points of a shard, on the threads of the current pool. What is known from an
    /// earlier run is not run again; what is finished is given to the store at once.
    ///
    /// # Errors
    /// If an input cannot be read, a run cannot go on or the store fails; what it kept until then
    /// stays good. Of several runs that cannot go on the first in the order of points and
    /// replications is reported, whatever the number of threads.
    ///
    /// # Panics
    /// If a run does, on whichever thread.
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

    /// Runs one replication of a point, whose scenario is given: what [`Specification::run`] runs,
    /// for engines that ask for [`Specification::wanted`] replications themselves.
    ///
    /// # Errors
    /// If the run cannot go on, or is stopped.
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

    /// Adds the order of a point's strategy to what was observed there, if it is to be observed.
    fn add_order(&self, point: usize, sample: &mut Sample) {
        let index = self.metrics.iter().position(|spec| spec.name == snapshot::PRINTED_ORDER.name);
        if let Some(index) = index {
            sample.values[index] = self.orders.value(&self.points[point]);
        }
    }

    /// The replications that points need next, given what is known: a function of the first
    /// replications of each alone. None are wanted when all targets hold.
    pub fn wanted(&self, known: Vec<JournalEntry>) -> Vec<Span> {
        Plan::new(self, known, |_| true).wanted()
    }

    /// The samples of a finished sweep from its entries.
    ///
    /// # Errors
    /// If replications are missing: those that are wanted next.
    pub fn complete(&self, entries: Vec<JournalEntry>) -> Result<Samples, Vec<Span>> {
        let plan = Plan::new(self, entries, |_| true);
        let wanted = plan.wanted();
        if wanted.is_empty() { Ok(plan.into_samples()) } else { Err(wanted) }
    }

    /// Whether the inputs of the points that will be run can be read: nothing is run before.
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
