//! What became of every job.

use pavior_allocation::{Placement, Refusal};
use pavior_kernel::Time;
use pavior_network::IterationRoutes;
use pavior_workload::Job;

use crate::{Fact, Interest, Observer};

/// A job, and its fate in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// The job.
    pub job: Job,
    /// How it ended.
    pub fate: Fate,
    /// What an iteration of its pattern asked of the links, if it started and sends messages.
    pub routes: Option<IterationRoutes>,
}

impl JobRecord {
    fn new(job: &Job, fate: Fate) -> JobRecord {
        JobRecord { job: job.clone(), fate, routes: None }
    }
}

/// What became of a job by the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It was turned away at arrival.
    Rejected(Refusal),
    /// It was still waiting.
    Waiting,
    /// It started.
    Started {
        /// When.
        start: Time,
        /// When it departed; none if it was still running.
        end: Option<Time>,
        /// What it held.
        placement: Placement,
    },
}

/// An observer that keeps everything, the warm-up included, in the order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    records: Vec<JobRecord>,
}

impl Recorder {
    /// The records, in the order of arrival: the job numbered i at i.
    pub fn into_records(self) -> Vec<JobRecord> {
        self.records
    }

    fn of(&mut self, job: &Job) -> &mut JobRecord {
        &mut self.records[job.id.0 as usize]
    }
}

impl Observer for Recorder {
    fn interest(&self) -> Interest {
        Interest::JOBS | Interest::ROUTES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::Arrived(job) => {
                self.records.push(JobRecord::new(job, Fate::Waiting));
            }
            Fact::Rejected(job, refusal) => {
                self.records.push(JobRecord::new(job, Fate::Rejected(*refusal)));
            }
            Fact::Started { job, placement, .. } => {
                let placement = (*placement).clone();
                self.of(job).fate = Fate::Started { start: now, end: None, placement };
            }
            Fact::Routed { job, routes } => self.of(job).routes = Some(**routes),
            Fact::Departed { job, .. } => {
                if let Fate::Started { end, .. } = &mut self.of(job).fate {
                    *end = Some(now);
                }
            }
            Fact::Interrupted { job, .. } => self.of(job).fate = Fate::Waiting,
            _ => {}
        }
    }
}
