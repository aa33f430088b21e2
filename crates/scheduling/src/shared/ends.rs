//! When running jobs are expected to end.

use pavior_kernel::Time;

use crate::{Running, RunningJob};

/// The running jobs by expected end, with it; ties by job. O(r), since they are kept in the order
/// of estimated ends and only overdue ones move.
pub(crate) fn by_expected_end(now: Time, running: &Running) -> Vec<(Time, &RunningJob)> {
    let mut jobs: Vec<(Time, &RunningJob)> =
        running.by_estimated_end().map(|job| (job.expected_end(now), job)).collect();
    jobs.sort_by_key(|&(end, job)| (end, job.job.id));
    jobs
}
