//! Records of what happened to each job.

use pavior_allocation::{Placement, Refusal};
use pavior_kernel::Time;
use pavior_network::IterationRoutes;
use pavior_workload::Job;

use crate::{Fact, Interest, Observer};

/// A job, and what happened to it during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// The job as submitted.
    pub job: Job,
    /// The state of the job when the run ended.
    pub fate: Fate,
    /// The routes in one iteration of the job's pattern, if the job started and sends messages.
    pub routes: Option<IterationRoutes>,
    /// The time of each move, and the job's placement after the move.
    pub moves: Vec<(Time, Placement)>,
}

/// A time interval during which a job held the same nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay<'a> {
    /// The start of the interval.
    pub start: Time,
    /// The end of the interval, or `None` if the job was still running when the run ended.
    pub end: Option<Time>,
    /// The nodes that the job held.
    pub placement: &'a Placement,
}

impl JobRecord {
    fn new(job: &Job, fate: Fate) -> JobRecord {
        JobRecord { job: job.clone(), fate, routes: None, moves: Vec::new() }
    }

    /// Returns the job's stays in order: one if the job started, plus one for each move.
    pub fn stays(&self) -> impl Iterator<Item = Stay<'_>> {
        let held = match &self.fate {
            Fate::Started { start, end, placement } => Some((*start, *end, placement)),
            _ => None,
        };
        held.into_iter().flat_map(|(start, last, first)| {
            let moved = self.moves.iter().map(|(at, to)| (*at, to));
            let ends = self.moves.iter().map(|(at, _)| Some(*at)).chain([last]);
            let held = [(start, first)].into_iter().chain(moved);
            held.zip(ends).map(|((start, placement), end)| Stay { start, end, placement })
        })
    }
}

/// The state of a job when the run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// The job was rejected on arrival.
    Rejected(Refusal),
    /// The job was still waiting.
    Waiting,
    /// The job started.
    Started {
        /// The start time.
        start: Time,
        /// The departure time, or `None` if the job was still running.
        end: Option<Time>,
        /// The nodes on which the job started.
        placement: Placement,
    },
}

/// An observer that records all jobs in order of arrival, including those in the warm-up.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    records: Vec<JobRecord>,
}

impl Recorder {
    /// Returns the records in order of arrival, so that job i is at index i.
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
            Fact::Moved { job, to, .. } => self.of(job).moves.push((now, (*to).clone())),
            Fact::Interrupted { job, .. } => self.of(job).fate = Fate::Waiting,
            _ => {}
        }
    }
}
