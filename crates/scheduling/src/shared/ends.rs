//! The expected ends of running jobs and advance reservations.

use std::iter::Peekable;

use pavior_kernel::Time;
use pavior_workload::Job;

use crate::{Calendar, Running, RunningJob};

/// A running job and its expected end.
pub(crate) type End<'a> = (Time, &'a RunningJob);

/// A time at which nodes become free, and the number of running jobs that end by that time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) at: Time,
    pub(crate) ended: usize,
}

/// Returns the times at which running jobs or advance reservations end, in order. Nodes become free
/// at no other time.
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

/// The expected ends of running jobs.
///
/// A job that has outrun its estimate is expected to take twice as long
/// ([`RunningJob::expected_end`]). As a result, underestimated jobs postpone promises, more such
/// jobs can start before the new promised time, and a large job starves while they keep arriving.
/// With `promise=holds`, a job that overtook the oldest waiting job and then outran its estimate is
/// expected to end at any moment. It does not postpone any promise, and until it ends, no other job
/// starts on the promised nodes.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) now: Time,
    running: &'a Running,
    /// The oldest waiting job, with `promise=holds`.
    oldest: Option<&'a Job>,
}

impl<'a> Expected<'a> {
    /// Creates the expected ends for a scheduler that may postpone its promises.
    pub(crate) fn of(now: Time, running: &'a Running) -> Expected<'a> {
        Expected { now, running, oldest: None }
    }

    /// Makes promises hold for `oldest`, if any, and for the jobs behind it.
    pub(crate) fn holding(self, oldest: Option<&'a Job>) -> Expected<'a> {
        Expected { oldest, ..self }
    }

    /// Returns the time from which to reserve nodes for the oldest waiting job, if those nodes are
    /// expected to be free from `at`. If they may become free at any moment, returns the current
    /// time, so that no other job counts as ending before the reserved time.
    pub(crate) fn reserved(&self, at: Time) -> Time {
        let at_any_moment = self.oldest.is_some() && at <= self.now.saturating_add(Time(1));
        if at_any_moment { self.now } else { at }
    }

    pub(crate) fn running(&self) -> &'a Running {
        self.running
    }

    /// Returns the expected end of a running job.
    pub(crate) fn end(&self, running: &RunningJob) -> Time {
        let is_late = running.start < self.now && running.estimated_end() <= self.now;
        let place = |job: &Job| (job.arrival, job.id);
        if is_late && self.oldest.is_some_and(|oldest| place(oldest) < place(&running.job)) {
            return self.now.saturating_add(Time(1));
        }
        running.expected_end(self.now)
    }

    /// Returns the running jobs with their expected ends, earliest first. Ties are broken by id.
    ///
    /// [`Running`] is sorted by estimated end. Only the l jobs that have outrun their estimates
    /// have a later expected end. They are sorted in O(l log l) time and merged with the others.
    pub(crate) fn by_end(self) -> Peekable<impl Iterator<Item = End<'a>>> {
        let mut jobs = self.running.by_estimated_end().peekable();
        let mut late = Vec::new();
        while let Some(job) = jobs.next_if(|job| job.estimated_end() <= self.now) {
            late.push((self.end(job), job));
        }
        late.sort_by_key(|&(end, job)| (end, job.job.id));
        let mut late = late.into_iter().peekable();
        let merged = std::iter::from_fn(move || {
            let next = jobs.peek().map(|job| (job.estimated_end(), job.job.id));
            let overdue =
                late.next_if(|&(end, job)| next.is_none_or(|next| (end, job.job.id) < next));
            overdue.or_else(|| jobs.next().map(|job| (job.estimated_end(), job)))
        });
        merged.peekable()
    }
}
