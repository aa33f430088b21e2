//! Runs of points.

mod jobs;

use pavior_network::ChannelLoad;
use pavior_simulation::metrics::{Context, MetricSpec};
use pavior_simulation::{Histories, JobRecord, Observer, RunError, Simulation, Stop};
use pavior_workload::Job;

use crate::settings::Asked;
use crate::snapshot::Snapshot;
use crate::{InputError, InputFiles, RunSettings, Sample};
use jobs::Jobs;

/// A point that can be run.
pub struct Scenario(Kind);

enum Kind {
    Jobs(Box<Jobs>),
    Snapshot(Snapshot),
}

/// What happened in one replication, besides its metrics.
#[derive(Clone, Debug, Default)]
pub struct RunRecord {
    /// The jobs, in the order of arrival.
    pub jobs: Vec<JobRecord>,
    /// The load of every channel, and the cycles in which it was carried, if there is a network.
    pub channels: Option<(ChannelLoad, u64)>,
}

impl Scenario {
    /// The scenario of some settings. What `histories` knows of jobs that are alone on the network
    /// is used and added to.
    ///
    /// # Errors
    /// If its log or its list of failures cannot be read.
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

    /// The jobs of a replication, in the order of arrival; drawn ones have no end. A snapshot
    /// has none.
    pub fn jobs(&self, replication: u64) -> Box<dyn Iterator<Item = Job> + Send + '_> {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.jobs(replication),
            Kind::Snapshot(_) => Box::new(std::iter::empty()),
        }
    }

    /// Runs one replication.
    ///
    /// # Errors
    /// If the run cannot go on, because its messages deadlock, say, or is stopped.
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

    /// What metrics are told of its runs; none of a snapshot.
    pub(crate) fn context(&self) -> Option<Context> {
        match &self.0 {
            Kind::Jobs(jobs) => Some(jobs.context()),
            Kind::Snapshot(_) => None,
        }
    }

    /// Runs one replication, which `observer` alone observes; nothing happens in a snapshot.
    ///
    /// # Errors
    /// As [`Scenario::replicate`].
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

    /// One replication with its first `most` jobs, for a caller that steps it; it ends when they
    /// have departed. A snapshot has none.
    ///
    /// # Errors
    /// If strategy, machine and network do not go together, or a scheduler cannot be made.
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

    /// The jobs whose ends end a run: as many as are to complete, or all of a log; 1 for a
    /// snapshot.
    pub fn length(&self) -> u64 {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.length(),
            Kind::Snapshot(_) => 1,
        }
    }

    /// Runs one replication, and records what happened in it; `other` observes it, too.
    ///
    /// # Errors
    /// As [`Scenario::replicate`].
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
