//! When running jobs are expected to end.

use std::iter::Peekable;

use pavior_kernel::Time;

use crate::{Running, RunningJob};

/// The running jobs by expected end, with it; ties by job. O(1) a job, but O(l log l) for the first
/// where l are overdue: the others are kept in this order.
pub(crate) fn by_expected_end(
    now: Time,
    running: &Running,
) -> Peekable<impl Iterator<Item = (Time, &RunningJob)>> {
    let mut jobs = running.by_estimated_end().peekable();
    let mut late = Vec::new();
    while let Some(job) = jobs.next_if(|job| job.estimated_end() <= now) {
        late.push((job.expected_end(now), job));
    }
    late.sort_by_key(|&(end, job)| (end, job.job.id));
    let mut late = late.into_iter().peekable();
    let merged = std::iter::from_fn(move || {
        let next = jobs.peek().map(|job| (job.estimated_end(), job.job.id));
        let overdue = late.next_if(|&(end, job)| next.is_none_or(|next| (end, job.job.id) < next));
        overdue.or_else(|| jobs.next().map(|job| (job.estimated_end(), job)))
    });
    merged.peekable()
}
