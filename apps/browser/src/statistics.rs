//! Wait times and utilization in a run.

use pavior::Time;
use pavior::experiments::advice::{BATCHES, Batch, Change};
use pavior::workload::Job;

/// The minimum number of jobs for a confidence interval: ten per batch.
pub(crate) const MIN_COMPARED_JOBS: usize = 10 * BATCHES;

/// Wait-time and utilization statistics for a run.
pub(crate) struct Statistics {
    /// The time from which utilization is measured: the last event before the first job starts.
    begin: Time,
    /// The wait times of the started jobs, by job index.
    waits: Vec<Option<Time>>,
    started: u64,
    /// The sum of the wait times, in ticks.
    waited: u128,
    /// The integral of the number of busy nodes over time, in node-ticks.
    used: u128,
}

impl Statistics {
    pub(crate) fn new(begin: Time) -> Statistics {
        Statistics { begin, waits: Vec::new(), started: 0, waited: 0, used: 0 }
    }

    /// Adds an interval during which the number of busy nodes was constant.
    pub(crate) fn add_period(&mut self, from: Time, to: Time, busy_nodes: u32) {
        if self.started == 0 {
            self.begin = self.begin.max(from);
        }
        self.used += u128::from(busy_nodes) * u128::from(to.since(from).0);
    }

    /// Records that a job started. Only its first start counts.
    pub(crate) fn add_start(&mut self, job: &Job, start: Time) {
        let index = job.index as usize;
        if self.has_wait(index) {
            return;
        }
        if self.waits.len() <= index {
            self.waits.resize(index + 1, None);
        }
        let wait = start.since(job.arrival);
        self.waits[index] = Some(wait);
        self.started += 1;
        self.waited += u128::from(wait.0);
    }

    /// Returns true if the job with this index has started.
    pub(crate) fn has_wait(&self, index: usize) -> bool {
        self.waits.get(index).is_some_and(Option::is_some)
    }

    /// Returns the number of jobs that have started.
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// Returns one more than the largest index of any started job, or 0 if no job has started.
    pub(crate) fn known_jobs(&self) -> usize {
        self.waits.len()
    }

    /// Returns the mean wait time in ticks, or `None` if no job has started yet.
    pub(crate) fn mean_wait(&self) -> Option<f64> {
        (self.started > 0).then(|| self.waited as f64 / self.started as f64)
    }

    /// Returns the mean fraction of busy nodes, or `None` if no time has passed.
    pub(crate) fn utilization(&self, now: Time, nodes: u32) -> Option<f64> {
        let span = now.since(self.begin).0;
        (span > 0).then(|| self.used as f64 / (f64::from(nodes) * span as f64))
    }

    /// Returns both wait times of each job that started in both runs and has an index below
    /// `limit`.
    pub(crate) fn common_waits(&self, other: &Statistics, limit: usize) -> Vec<[Time; 2]> {
        let waits = self.waits.iter().zip(&other.waits).take(limit);
        waits.filter_map(|(one, other)| Some([(*one)?, (*other)?])).collect()
    }
}

/// Returns the mean difference between the two values in each pair, with a confidence interval.
pub(crate) fn mean_difference(pairs: &[[f64; 2]]) -> Option<Change> {
    let batches = |side: usize| -> Vec<Batch> {
        let batch = |number: usize| {
            let bound = |number: usize| number * pairs.len() / BATCHES;
            let pairs = &pairs[bound(number)..bound(number + 1)];
            let sum = pairs.iter().map(|pair| pair[side]).sum();
            Batch { sum, of: pairs.len() as f64 }
        };
        (0..BATCHES).map(batch).collect()
    };
    Change::of(&batches(1), &batches(0), 0.95)
}
