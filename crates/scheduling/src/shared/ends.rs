//! When running jobs are expected to end.

use std::iter::Peekable;

use pavior_kernel::Time;

use crate::{Running, RunningJob};

/// The running jobs with their expected ends, the earliest first; ties by job.
///
/// [`Running`] keeps the jobs by estimated end. Only the l jobs that have outrun their estimates
/// are expected later. They are sorted anew, in O(l log l), and merged with the others.
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
