//! The running jobs, by estimated end.

use std::collections::BTreeMap;

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;
use rustc_hash::FxHashMap;

/// A running job.
#[derive(Clone, Debug)]
pub struct RunningJob {
    /// The job.
    pub job: Job,
    /// When it started.
    pub start: Time,
}

impl RunningJob {
    /// When it is said to end: its start and its estimate.
    pub fn estimated_end(&self) -> Time {
        self.start.saturating_add(self.job.estimate)
    }

    /// When it is expected to end: its start and its estimate, doubled until that is not past.
    ///
    /// A job that outruns its estimate is expected to take as long again. In the end this guess is
    /// off by at most a factor of two. The obvious guess, that the job ends at any moment, would
    /// stop backfilling while it runs. A job that waits for its nodes would be promised them now,
    /// and no other job ends by then.
    ///
    /// A job said to take no time ends in the instant in which it starts, after the scheduler has
    /// been asked. So it is not late yet.
    pub fn expected_end(&self, now: Time) -> Time {
        let mut end = self.estimated_end();
        let mut length = self.job.estimate.max(Time(1));
        while end <= now && self.start < now && end < Time::MAX {
            length = length.saturating_add(length);
            end = self.start.saturating_add(length);
        }
        end
    }
}

/// The running jobs in the order (estimated end, job). Every change costs O(log n) for n of them.
#[derive(Clone, Debug, Default)]
pub struct Running {
    jobs: BTreeMap<(Time, JobId), RunningJob>,
    /// The estimated end of each.
    ends: FxHashMap<JobId, Time>,
    revisions: u64,
}

impl Running {
    /// No job runs.
    pub fn new() -> Running {
        Running::default()
    }

    /// The number of running jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether no job runs.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// A job, if it runs.
    pub fn get(&self, job: JobId) -> Option<&RunningJob> {
        self.jobs.get(&(*self.ends.get(&job)?, job))
    }

    /// The jobs by estimated end, ties by job.
    pub fn by_estimated_end(&self) -> impl DoubleEndedIterator<Item = &RunningJob> {
        self.jobs.values()
    }

    /// Adds a job that starts and does not run yet.
    pub fn start(&mut self, job: Job, start: Time) -> &RunningJob {
        let running = RunningJob { job, start };
        let (id, end) = (running.job.id, running.estimated_end());
        self.ends.insert(id, end);
        self.jobs.entry((end, id)).or_insert(running)
    }

    /// Changes how long a running job is said to run, from its start on. Returns whether it runs.
    pub fn estimate_anew(&mut self, job: JobId, estimate: Time) -> bool {
        let revised = self.end(job);
        self.revisions += u64::from(revised.is_some());
        revised.is_some_and(|RunningJob { job, start }| {
            self.start(Job { estimate, ..job }, start);
            true
        })
    }

    /// How often an estimate was changed so far ([`Running::estimate_anew`]).
    pub fn revisions(&self) -> u64 {
        self.revisions
    }

    /// Removes a job that ends; `None` if it does not run.
    pub fn end(&mut self, job: JobId) -> Option<RunningJob> {
        let end = self.ends.remove(&job)?;
        self.jobs.remove(&(end, job))
    }
}
