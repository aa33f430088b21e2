//! Prepares points and runs their replications.

mod jobs;
mod places;

use pavior_network::ChannelLoad;
use pavior_simulation::metrics::{Context, MetricSpec};
use pavior_simulation::{Histories, JobRecord, Observer, RunError, Simulation, Stop};
use pavior_workload::Job;
use pavior_workload::traces::Link;

use crate::settings::Asked;
use crate::snapshot::Snapshot;
use crate::{InputError, InputFiles, RunSettings, Sample};
use jobs::Jobs;
pub use places::PlacedCounts;

/// A point that is ready to run, with its input files loaded.
pub struct Scenario(Kind);

enum Kind {
    Jobs(Box<Jobs>),
    Snapshot(Snapshot),
}

/// A detailed record of one replication.
#[derive(Clone, Debug, Default)]
pub struct RunRecord {
    /// The jobs, in order of arrival.
    pub jobs: Vec<JobRecord>,
    /// The load on each channel and the number of cycles measured, if there is a network.
    pub channels: Option<(ChannelLoad, u64)>,
}

impl Scenario {
    /// Creates a scenario from settings. For jobs that are alone on the network, the scenario
    /// reuses the results in `histories` and adds new ones.
    ///
    /// # Errors
    /// Returns an error if an input file (a log, failures or reservations) cannot be read.
    pub fn new(
        settings: &RunSettings,
        timing: bool,
        files: &dyn InputFiles,
        histories: &Histories,
    ) -> Result<Scenario, InputError> {
        Ok(Scenario(match &settings.asked {
            Asked::Snapshot(snapshot) => Kind::Snapshot(Snapshot::new(settings, snapshot, timing)),
            Asked::Jobs(jobs) => {
                Kind::Jobs(Box::new(Jobs::new(settings, jobs, timing, files, histories)?))
            }
        }))
    }

    /// Returns a replication's jobs in order of arrival. The iterator is endless for synthetic jobs
    /// and empty for a snapshot. For a log, it yields all jobs.
    pub fn jobs(&self, replication: u64) -> Box<dyn Iterator<Item = Job> + Send + '_> {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.jobs(replication),
            Kind::Snapshot(_) => Box::new(std::iter::empty()),
        }
    }

    /// Counts the jobs that can run as placed in the log and those that cannot, provided that
    /// logged placements are used.
    pub fn placed(&self) -> Option<PlacedCounts> {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.places().map(|places| places.counts),
            Kind::Snapshot(_) => None,
        }
    }

    /// Returns the links between a log's jobs if some jobs are submitted only after others end.
    /// Jobs are identified by index.
    pub fn links(&self) -> Option<&[Link]> {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.links(),
            Kind::Snapshot(_) => None,
        }
    }

    /// Counts the links whose first job is rejected in every run because its box can never fit.
    ///
    /// # Errors
    /// Returns an error if the strategy, machine and network are incompatible.
    pub fn unfollowed(&self) -> Result<u64, RunError> {
        match &self.0 {
            Kind::Jobs(jobs) if jobs.links().is_some() => {
                Ok(jobs.stepped(0, usize::MAX)?.unfollowed())
            }
            _ => Ok(0),
        }
    }

    /// Runs one replication.
    ///
    /// # Errors
    /// Returns an error if the run cannot continue, for example because its messages deadlock, or
    /// if it is stopped.
    pub fn replicate(
        &self,
        replication: u64,
        metrics: &[&'static MetricSpec],
        stop: &Stop,
    ) -> Result<Sample, RunError> {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.replicate(replication, metrics, Vec::new(), stop),
            Kind::Snapshot(snapshot) => Ok(snapshot.replicate(replication, metrics)),
        }
    }

    /// Returns the run properties that the metrics need, or `None` for a snapshot.
    pub(crate) fn context(&self) -> Option<Context> {
        match &self.0 {
            Kind::Jobs(jobs) => Some(jobs.context()),
            Kind::Snapshot(_) => None,
        }
    }

    /// Runs one replication with `observer` as its only observer. A snapshot has no events.
    ///
    /// # Errors
    /// Returns the same errors as [`Scenario::replicate`].
    pub(crate) fn observed(
        &self,
        replication: u64,
        observer: &mut dyn Observer,
        stop: &Stop,
    ) -> Result<Sample, RunError> {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.replicate(replication, &[], vec![observer], stop),
            Kind::Snapshot(snapshot) => Ok(snapshot.replicate(replication, &[])),
        }
    }

    /// Creates a replication limited to its first `most` jobs, for a caller that runs it step by
    /// step. The run ends when all of these jobs have departed. Returns `None` for a snapshot.
    ///
    /// # Errors
    /// Returns an error if the strategy, machine and network are incompatible, or if a scheduler
    /// cannot be built.
    pub fn stepped(
        &self,
        replication: u64,
        most: usize,
    ) -> Result<Option<Simulation<'static, 'static, 'static>>, RunError> {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.stepped(replication, most).map(Some),
            Kind::Snapshot(_) => Ok(None),
        }
    }

    /// Returns the number of completions that end a run: the number of jobs in a log, or 1 for a
    /// snapshot.
    pub fn length(&self) -> u64 {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.length(),
            Kind::Snapshot(_) => 1,
        }
    }

    /// Runs one replication and records its jobs and channels. `other` is an additional observer.
    ///
    /// # Errors
    /// Returns the same errors as [`Scenario::replicate`].
    pub fn record(
        &self,
        replication: u64,
        metrics: &[&'static MetricSpec],
        other: Option<&mut dyn Observer>,
        stop: &Stop,
    ) -> Result<(Sample, RunRecord), RunError> {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.record(replication, metrics, other, stop),
            Kind::Snapshot(snapshot) => {
                Ok((snapshot.replicate(replication, metrics), RunRecord::default()))
            }
        }
    }
}
