//! When running jobs are expected to end.

use pavior_kernel::Time;

use crate::{Running, RunningJob};

/// When a running job is expected to end: its estimated end, or just after now if that has passed.
///
/// A job that outruns its estimate is expected to end one tick from now, and again one tick from
/// the next now, until it does: nothing better is known of it. A job said to take no time ends in
/// the instant in which it starts, after the scheduler has been asked, and so is not late yet.
pub(crate) fn expected_end(now: Time, job: &RunningJob) -> Time {
    let end = job.estimated_end();
    if end > now || job.start == now { end } else { now.saturating_add(Time(1)) }
}

/// The running jobs by expected end, with it; ties by job. O(r), since they are kept in the order
/// of estimated ends and only overdue ones move.
pub(crate) fn by_expected_end(now: Time, running: &Running) -> Vec<(Time, &RunningJob)> {
    let mut jobs: Vec<(Time, &RunningJob)> =
        running.by_estimated_end().map(|job| (expected_end(now, job), job)).collect();
    jobs.sort_by_key(|&(end, job)| (end, job.job.id));
    jobs
}
