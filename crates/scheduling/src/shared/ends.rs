//! When running jobs are expected to end, and reservations ahead.

use std::iter::Peekable;

use pavior_kernel::Time;

use crate::{Calendar, Running, RunningJob};

/// A running job, and when it is expected to end.
pub(crate) type End<'a> = (Time, &'a RunningJob);

/// A time at which a job may find room, and how many running jobs will have ended by then.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) at: Time,
    pub(crate) ended: usize,
}

/// The times at which running jobs or reservations ahead end, in order. Room that a job needs comes
/// about at no other time.
pub(crate) fn instants(now: Time, ends: &[End<'_>], calendar: Option<&Calendar>) -> Vec<Instant> {
    let last = |(index, end): (usize, &End<'_>)| {
        let more = ends.get(index + 1).is_some_and(|next| next.0 == end.0);
        (!more).then_some(Instant { at: end.0, ended: index + 1 })
    };
    let mut instants: Vec<Instant> = ends.iter().enumerate().filter_map(last).collect();
    if let Some(calendar) = calendar {
        let ended = |at: Time| ends.partition_point(|end| end.0 <= at);
        instants.extend(calendar.ends(now).into_iter().map(|at| Instant { at, ended: ended(at) }));
        instants.sort_by_key(|instant| instant.at);
        instants.dedup();
    }
    instants
}

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
