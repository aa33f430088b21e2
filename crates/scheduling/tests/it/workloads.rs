//! Random workloads for property tests.

use pavior_mesh::{Freedom, Request};
use pavior_workload::Job;
use proptest::prelude::*;

use crate::world::job;

/// The machine for the property tests, small enough to fill up and irregular enough to fragment.
pub(crate) const GRID: &str = "mesh:5x4";

/// The schedulers that backfill by reservations.
pub(crate) const BACKFILLING: [&str; 4] =
    ["easy", "easy:count", "conservative", "conservative:count"];

/// The relation between estimates and run times.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Estimates {
    Exact,
    /// Every estimate is at least the run time.
    Safe,
    /// Estimates may have any value, including zero.
    Any,
}

/// Generates jobs for [`GRID`] in order of arrival. Each runs for at least one tick.
pub(crate) fn jobs(most: usize, estimates: Estimates) -> impl Strategy<Value = Vec<Job>> {
    let draft = (0u64..6, 1u16..=5, 1u16..=4, 1u64..20, 0u64..20);
    prop::collection::vec(draft, 1..most).prop_map(move |drafts| {
        let mut arrival = 0;
        let jobs = drafts.into_iter().enumerate().map(|(id, (gap, w, d, run, other))| {
            // Two thirds of the jobs arrive at the same time as the previous job.
            arrival += gap.saturating_sub(3);
            let estimate = match estimates {
                Estimates::Exact => run,
                Estimates::Safe => run + other.saturating_sub(8),
                Estimates::Any => other,
            };
            job(id as u64, arrival, Request::shape([w, d, 1]), run, estimate)
        });
        jobs.collect()
    })
}

/// Works like [`jobs`], but gives a freedom to five in six jobs.
pub(crate) fn jobs_with_freedoms(
    most: usize,
    estimates: Estimates,
) -> impl Strategy<Value = Vec<Job>> {
    let freedoms = prop::collection::vec(0..=Freedom::ALL.len(), most);
    (jobs(most, estimates), freedoms).prop_map(|(mut jobs, freedoms)| {
        for (job, freedom) in jobs.iter_mut().zip(freedoms) {
            job.request.freedom = Freedom::ALL.get(freedom).copied();
        }
        jobs
    })
}

/// Returns the names of all strategies that work on a grid, with default options.
pub(crate) fn strategies(grid: &str) -> Vec<&'static str> {
    let grid = grid.parse().unwrap();
    pavior_allocation::Registry::new()
        .entries()
        .filter(|spec| pavior_allocation::Selection::defaults(spec).supports(&grid).is_ok())
        .map(|spec| spec.name)
        .collect()
}

/// Returns the names of all schedulers, in all their variants.
pub(crate) fn schedulers() -> Vec<String> {
    pavior_scheduling::Registry::new()
        .entries()
        .flat_map(pavior_scheduling::Selection::variants)
        .map(|selection| selection.to_string())
        .collect()
}
