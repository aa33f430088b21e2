//! Tests of backfilling promises, which hold if estimates are exact.

use std::collections::BTreeMap;

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_trials::size;
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs, strategies};
use crate::world::{StartObserver, Started, World};

/// The latest allowed start of each head, computed independently when the job first becomes head.
#[derive(Default)]
struct Bounds(BTreeMap<JobId, Time>);

impl StartObserver for Bounds {
    fn asked(&mut self, world: &World) {
        let head = world.dispatcher.queue().get(0).unwrap();
        if self.0.contains_key(&head.id) {
            return;
        }
        if let Some((bound, _)) = world.first_fit(&head.request) {
            self.0.insert(head.id, bound);
        }
    }
}

/// Runs jobs under EASY, and asserts that no head starts later than first promised.
fn keeps_promises(jobs: &[Job], strategy: &str) {
    let mut bounds = Bounds::default();
    let world = World::new(GRID, strategy, "easy").run_watched(jobs, &mut bounds);
    assert_eq!(world.broken(), 0);
    for (job, bound) in bounds.0 {
        assert!(world.start_of(job.0) <= bound, "{job:?} with {strategy}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(19, 96, 96)))]

    #[test]
    fn with_exact_estimates_no_head_starts_later_than_first_promised(
        jobs in jobs(40, Estimates::Exact),
    ) {
        for strategy in strategies(GRID) {
            keeps_promises(&jobs, strategy);
        }
    }

    /// If jobs end earlier than estimated, no head may start later than first promised.
    #[test]
    fn with_safe_estimates_no_head_starts_later_than_first_promised(
        jobs in jobs(40, Estimates::Safe),
    ) {
        for strategy in ["tff", "tbl", "mbs", "naive"] {
            keeps_promises(&jobs, strategy);
        }
    }

    /// With exact estimates, a conservative booking is final: later arrivals must not change it.
    #[test]
    fn with_exact_estimates_conservative_delays_no_job(
        jobs in jobs(30, Estimates::Exact),
        part in 0usize..30,
    ) {
        let part = part.min(jobs.len());
        let before = |starts: Vec<(JobId, Time)>| {
            let mut starts: Vec<_> =
                starts.into_iter().filter(|start| start.0.0 < part as u64).collect();
            starts.sort_unstable();
            starts
        };
        for strategy in strategies(GRID) {
            let run = |jobs| World::new(GRID, strategy, "conservative").run(jobs);
            let (all, some) = (run(&jobs), run(&jobs[..part]));
            prop_assert_eq!((all.broken(), all.started.len()), (0, jobs.len()));
            prop_assert_eq!(before(all.starts()), before(some.starts()), "{}", strategy);
        }
    }

    #[test]
    fn with_safe_estimates_conservative_breaks_no_promise(jobs in jobs(30, Estimates::Safe)) {
        for strategy in ["tff", "tbl", "mbs", "naive", "random"] {
            let world = World::new(GRID, strategy, "conservative").run(&jobs);
            prop_assert_eq!(world.broken(), 0, "{}", strategy);
        }
    }

    /// The first job that has to wait must start no later under EASY than without backfilling. The
    /// state is the same in both cases when the job begins to wait.
    #[test]
    fn the_first_to_wait_is_not_delayed(jobs in jobs(30, Estimates::Exact)) {
        for strategy in ["tff", "mbs", "naive"] {
            let fcfs = World::new(GRID, strategy, "fcfs").run(&jobs);
            let waited = |start: &&Started| start.at > jobs[start.job.0 as usize].arrival;
            let Some(first) = fcfs.started.iter().find(waited) else { continue };
            for scheduler in ["easy", "conservative"] {
                let other = World::new(GRID, strategy, scheduler).run(&jobs);
                prop_assert!(other.start_of(first.job.0) <= first.at, "{}", scheduler);
            }
        }
    }
}
