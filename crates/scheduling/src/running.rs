//! The running jobs, sorted by estimated end.

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
    /// The start time.
    pub start: Time,
}

impl RunningJob {
    /// Returns the estimated end: the start time plus the estimate.
    pub fn estimated_end(&self) -> Time {
        self.start.saturating_add(self.job.estimate)
    }

    /// Returns the expected end: the start time plus the estimate, which is doubled until this end
    /// is in the future.
    ///
    /// A job that outruns its estimate is expected to take twice as long. This guess is off by at
    /// most a factor of two. Assuming instead that the job may end at any moment would stop all
    /// backfilling while the job runs: a waiting job would be promised its nodes immediately, and
    /// no other job could end before the promised time.
    ///
    /// A job with an estimate of zero is expected to end when it starts, but ends only after the
    /// scheduler has been called. Such a job does not count as late during that call.
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

/// The running jobs, sorted by (estimated end, job). Every change takes O(log n) time for n jobs.
///
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling; pub use pavior_workload as workload;
/// #     pub use {pavior_allocation::*, pavior_kernel::*}; }
/// use pavior::scheduling::Running;
/// use pavior::workload::Job;
/// use pavior::{JobId, Request, Time};
/// let mut running = Running::new();
/// let job = Job::new(JobId(1), Time(0), Request::shape([2, 2]), Time(60));
/// assert_eq!(running.start(job, Time(5)).estimated_end(), Time(65));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Running {
    jobs: BTreeMap<(Time, JobId), RunningJob>,
    /// Each job's estimated end.
    ends: FxHashMap<JobId, Time>,
    revisions: u64,
}

impl Running {
    /// Creates an empty table.
    pub fn new() -> Running {
        Running::default()
    }

    /// Returns the number of running jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Returns true if no jobs are running.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Returns a running job, or `None` if the job is not running.
    pub fn get(&self, job: JobId) -> Option<&RunningJob> {
        self.jobs.get(&(*self.ends.get(&job)?, job))
    }

    /// Returns the jobs in order of estimated end. Ties are broken by job number.
    pub fn by_estimated_end(&self) -> impl DoubleEndedIterator<Item = &RunningJob> {
        self.jobs.values()
    }

    /// Adds a job, which must not already be running.
    pub fn start(&mut self, job: Job, start: Time) -> &RunningJob {
        let running = RunningJob { job, start };
        let (id, end) = (running.job.id, running.estimated_end());
        self.ends.insert(id, end);
        self.jobs.entry((end, id)).or_insert(running)
    }

    /// Changes a job's estimated run time, which is counted from the job's start. Returns true if
    /// the job is running.
    pub fn estimate_anew(&mut self, job: JobId, estimate: Time) -> bool {
        let revised = self.end(job);
        self.revisions += u64::from(revised.is_some());
        revised.is_some_and(|RunningJob { job, start }| {
            self.start(Job { estimate, ..job }, start);
            true
        })
    }

    /// Returns the number of times that estimates were revised ([`Running::estimate_anew`]).
    pub fn revisions(&self) -> u64 {
        self.revisions
    }

    /// Removes a job that has ended. Returns `None` if the job is not running.
    pub fn end(&mut self, job: JobId) -> Option<RunningJob> {
        let end = self.ends.remove(&job)?;
        self.jobs.remove(&(end, job))
    }
}
