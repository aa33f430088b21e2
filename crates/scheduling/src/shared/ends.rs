//! When running jobs are expected to end.

use pavior_kernel::Time;

use crate::{Running, RunningJob};

/// When a running job is expected to end: its start and its estimate, doubled until that is not
/// past.
///
/// A job that outruns its estimate has shown that it is longer; that it will take as long again is
/// the guess that is never off by more than a factor of two in the end. (That it ends at any moment,
/// the obvious guess, freezes backfilling for as long as the job runs: a job that is promised its nodes
/// is promised them now, and no other ends by then.) A job said to take no time ends in the
/// instant in which it starts, after the scheduler has been asked, and so is not late yet.
pub(crate) fn expected_end(now: Time, job: &RunningJob) -> Time {
    let mut end = job.estimated_end();
    let mut length = job.job.estimate.max(Time(1));
    while end <= now && job.start < now && end < Time::MAX {
        length = length.saturating_add(length);
        end = job.start.saturating_add(length);
    }
    end
}

/// The running jobs by expected end, with it; ties by job. O(r), since they are kept in the order
/// of estimated ends and only overdue ones move.
pub(crate) fn by_expected_end(now: Time, running: &Running) -> Vec<(Time, &RunningJob)> {
    let mut jobs: Vec<(Time, &RunningJob)> =
        running.by_estimated_end().map(|job| (expected_end(now, job), job)).collect();
    jobs.sort_by_key(|&(end, job)| (end, job.job.id));
    jobs
}
