//! Simulates one future with the machine's own scheduler and strategy.

use std::sync::atomic::{AtomicBool, Ordering};

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_scheduling::{DispatchError, Dispatcher, Future};
use pavior_workload::{Job, Service};
use rustc_hash::FxHashMap;

use super::HORIZON;
use super::arrivals::Arrival;

/// The maximum number of arrivals in a future.
const ARRIVALS: usize = 3_000;
/// The number of the first later arrival, unless existing jobs have greater numbers.
const FIRST: u64 = 1 << 62;

/// Runs the machine forward from a given state and returns the start times of the `targets`, in
/// order. If a job does not start within [`HORIZON`], its start time is [`HORIZON`] from now.
/// `runs` contains the run time of every running or waiting job, and `later` contains the later
/// arrivals with their run times.
pub(crate) fn starts(
    (dispatcher, now): (Dispatcher, Time),
    runs: &FxHashMap<JobId, Time>,
    later: impl Iterator<Item = (Arrival, Time)>,
    targets: &[JobId],
    stop: &AtomicBool,
) -> Result<Vec<Time>, DispatchError> {
    let mut missing: FxHashMap<JobId, usize> =
        targets.iter().enumerate().map(|(place, &id)| (id, place)).collect();
    let end = now.saturating_add(HORIZON);
    let mut starts = vec![end; targets.len()];
    if missing.is_empty() {
        return Ok(starts);
    }
    let running = dispatcher.running().by_estimated_end().map(|running| running.job.id);
    let jobs = running.chain(dispatcher.queue().iter().map(|job| job.id));
    let first = jobs.max().map_or(FIRST, |most| FIRST.max(most.0.saturating_add(1)));
    let arrivals = later.take(ARRIVALS).zip(first..=u64::MAX);
    let arrivals = arrivals.map(|((arrival, run), number)| arriving(&arrival, number, run));
    let length = |job: &Job, _| match (runs.get(&job.id), &job.service) {
        (Some(run), _) | (None, Service::Run(run)) => *run,
        (None, _) => job.estimate,
    };
    let started = |id: JobId, at| {
        if let Some(place) = missing.remove(&id) {
            starts[place] = at;
        }
        !missing.is_empty()
    };
    let future = Future { dispatcher, now, moves: Vec::new(), arrivals, length, end };
    future.run_while(started, || !stop.load(Ordering::Relaxed))?;
    Ok(starts)
}

/// Creates a job for a later arrival. If the arrival has no estimate, its run time serves as the
/// estimate, as in a log replay.
fn arriving(arrival: &Arrival, number: u64, run: Time) -> Job {
    let job = Job::new(JobId(number), arrival.at, arrival.request, run);
    Job { estimate: arrival.kind.estimate.unwrap_or(run), ..job }
}
