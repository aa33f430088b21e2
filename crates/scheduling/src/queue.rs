//! The waiting jobs.

use std::collections::VecDeque;

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

/// Waiting jobs in the order of arrival.
///
/// Adding and taking the first is O(1); taking from the middle moves the nearer end.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    jobs: VecDeque<Job>,
    returns: u64,
    withdrawals: u64,
}

impl Queue {
    /// An empty queue.
    pub fn new() -> Queue {
        Queue::default()
    }

    /// The number of waiting jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether no job waits.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The job at a place, 0 for the oldest.
    pub fn get(&self, index: usize) -> Option<&Job> {
        self.jobs.get(index)
    }

    /// The jobs from the oldest to the youngest.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Job> + ExactSizeIterator {
        self.jobs.iter()
    }

    /// The place of a job that arrived at this time; `None` if it does not wait. O(log q) for q
    /// waiting jobs.
    pub fn place_of(&self, arrival: Time, id: JobId) -> Option<usize> {
        let index = self.jobs.partition_point(|job| (job.arrival, job.id) < (arrival, id));
        self.jobs.get(index).filter(|job| job.id == id).map(|_| index)
    }

    /// Adds the youngest job.
    pub fn push(&mut self, job: Job) {
        self.jobs.push_back(job);
    }

    /// Puts a job back where its arrival places it (a job that failed and is requeued).
    pub fn reinsert(&mut self, job: Job) {
        self.returns += 1;
        let key = |job: &Job| (job.arrival, job.id);
        let index = self.jobs.partition_point(|other| key(other) < key(&job));
        self.jobs.insert(index, job);
    }

    /// The number of jobs that were put back so far ([`Queue::reinsert`]).
    pub fn returns(&self) -> u64 {
        self.returns
    }

    /// Takes out the job at a place that no longer wants to run; `None` if there is none.
    pub fn withdraw(&mut self, index: usize) -> Option<Job> {
        let job = self.jobs.remove(index)?;
        self.withdrawals += 1;
        Some(job)
    }

    /// The number of jobs that were withdrawn so far ([`Queue::withdraw`]): where it has grown,
    /// jobs stand elsewhere than a scheduler remembers.
    pub fn withdrawals(&self) -> u64 {
        self.withdrawals
    }

    /// Takes the job at a place, which starts; `None` if there is none.
    pub fn take(&mut self, index: usize) -> Option<Job> {
        self.jobs.remove(index)
    }
}
