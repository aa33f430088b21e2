use std::collections::VecDeque;

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

/// Waiting jobs in order of arrival.
///
/// Adding a job or removing the first one takes O(1) time. Removing any other job shifts either the
/// jobs before it or the jobs after it, whichever group is smaller.
///
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling; pub use pavior_workload as workload;
/// #     pub use {pavior_allocation::*, pavior_kernel::*}; }
/// use pavior::scheduling::Queue;
/// use pavior::workload::Job;
/// use pavior::{JobId, Request, Time};
/// let mut queue = Queue::new();
/// queue.push(Job::new(JobId(1), Time(0), Request::shape([2, 2]), Time(60)));
/// assert_eq!(queue.get(0).map(|job| job.id), Some(JobId(1)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Queue {
    jobs: VecDeque<Job>,
    returns: u64,
    withdrawals: u64,
}

impl Queue {
    /// Creates an empty queue.
    pub fn new() -> Queue {
        Queue::default()
    }

    /// Returns the number of waiting jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Returns true if no jobs are waiting.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Returns the job at an index. The oldest job has index 0.
    pub fn get(&self, index: usize) -> Option<&Job> {
        self.jobs.get(index)
    }

    /// Returns the jobs from the oldest to the youngest.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Job> + ExactSizeIterator {
        self.jobs.iter()
    }

    /// Returns the index of the job with the given arrival time and id, or `None` if that job is
    /// not waiting. Takes O(log q) time for q waiting jobs.
    pub fn place_of(&self, arrival: Time, id: JobId) -> Option<usize> {
        let index = self.jobs.partition_point(|job| (job.arrival, job.id) < (arrival, id));
        self.jobs.get(index).filter(|job| job.id == id).map(|_| index)
    }

    /// Adds a job, which must be younger than every job in the queue.
    pub fn push(&mut self, job: Job) {
        self.jobs.push_back(job);
    }

    /// Requeues a job after a failure, at the position determined by its arrival time.
    pub fn reinsert(&mut self, job: Job) {
        self.returns += 1;
        let key = |job: &Job| (job.arrival, job.id);
        let index = self.jobs.partition_point(|other| key(other) < key(&job));
        self.jobs.insert(index, job);
    }

    /// Returns the number of jobs requeued so far ([`Queue::reinsert`]).
    pub fn returns(&self) -> u64 {
        self.returns
    }

    /// Withdraws the job at the given index, so that it never runs. Returns `None` if there is no
    /// job at that index.
    pub fn withdraw(&mut self, index: usize) -> Option<Job> {
        let job = self.jobs.remove(index)?;
        self.withdrawals += 1;
        Some(job)
    }

    /// Returns the number of jobs withdrawn so far ([`Queue::withdraw`]). If this number has
    /// increased, indices stored by a scheduler may be out of date.
    pub fn withdrawals(&self) -> u64 {
        self.withdrawals
    }

    /// Removes and returns a job so that it can start, or returns `None` if the index is out of
    /// range.
    pub fn take(&mut self, index: usize) -> Option<Job> {
        self.jobs.remove(index)
    }
}
