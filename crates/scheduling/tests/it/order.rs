//! Tests of the order in which each scheduler starts the jobs of random workloads.

use pavior_mesh::JobId;
use pavior_trials::size;
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs, schedulers, strategies};
use crate::world::{StartObserver, World};

fn starts(strategy: &str, scheduler: &str, jobs: &[Job]) -> Vec<(JobId, pavior_kernel::Time)> {
    World::new(GRID, strategy, scheduler).run(jobs).starts()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(19, 96, 96)))]

    /// All jobs must start exactly once. The world validates the machine after every time step, and
    /// panics if a job starts on taken nodes.
    #[test]
    fn all_jobs_start_once_on_nodes_of_their_own(jobs in jobs(25, Estimates::Any)) {
        for scheduler in schedulers() {
            for strategy in ["tff", "tbl", "mbs", "random"] {
                let world = World::new(GRID, strategy, &scheduler).run(&jobs);
                let mut started: Vec<JobId> = world.started.iter().map(|start| start.job).collect();
                started.sort_unstable();
                let all: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
                prop_assert_eq!(started, all, "{} with {}", scheduler, strategy);
            }
        }
    }

    #[test]
    fn fcfs_starts_in_the_order_of_arrival(jobs in jobs(40, Estimates::Any)) {
        for strategy in ["tff", "ff", "naive"] {
            let order = starts(strategy, "fcfs", &jobs);
            prop_assert!(order.is_sorted_by_key(|start| start.0));
        }
    }

    #[test]
    fn some_schedulers_are_others_with_an_option(jobs in jobs(40, Estimates::Any)) {
        for strategy in ["tff", "random"] {
            for (one, other) in [
                ("window:1", "fcfs"),
                ("window:4294967295", "scan-all"),
                ("bypass:0", "fcfs"),
                ("bypass:1", "scan-all"),
                ("sjf:time", "ssd"),
            ] {
                let (a, b) = (starts(strategy, one, &jobs), starts(strategy, other, &jobs));
                prop_assert_eq!(a, b, "{} and {}", one, other);
            }
        }
    }

    #[test]
    fn no_job_is_overtaken_from_outside_the_window(
        jobs in jobs(60, Estimates::Any),
        width in 1u64..6,
    ) {
        for strategy in ["tff", "ff", "naive"] {
            let world =
                World::new(GRID, strategy, &format!("window:{width}")).run(&jobs);
            for start in &world.started {
                for passed in start.waiting.iter().filter(|job| job.id < start.job) {
                    prop_assert!(start.job.0 - passed.id.0 < width);
                }
            }
        }
    }

    /// No job in the window may be left waiting if it fits.
    #[test]
    fn a_window_idles_no_job_that_fits(jobs in jobs(40, Estimates::Any)) {
        let mut watch = InWindow(3);
        World::new(GRID, "tff", "window:3").run_watched(&jobs, &mut watch);
    }

    #[test]
    fn scan_all_never_idles_a_job_that_fits(jobs in jobs(40, Estimates::Any)) {
        // A strategy may miss a free box, so the strategy itself determines whether a job fits.
        for strategy in strategies(GRID) {
            World::new(GRID, strategy, "scan-all").run_watched(&jobs, &mut InWindow(u64::MAX));
        }
    }

    #[test]
    fn the_least_or_greatest_job_starts_first(jobs in jobs(40, Estimates::Any)) {
        type Key = fn(&Job) -> i128;
        let size: Key = |job| i128::from(job.request.nodes);
        let time: Key = |job| i128::from(job.estimate.0);
        let area: Key = |job| i128::from(job.request.nodes) * i128::from(job.estimate.0);
        for (name, key, sign) in [
            ("ssd", time, 1), ("sjf", size, 1), ("sjf:area", area, 1),
            ("ljf", size, -1), ("ljf:area", area, -1), ("ljf:time", time, -1),
        ] {
            let world = World::new(GRID, "tff", name).run(&jobs);
            for start in &world.started {
                let first = start.waiting.iter().min_by_key(|job| (sign * key(job), job.id));
                prop_assert_eq!(first.unwrap().id, start.job, "{}", name);
            }
        }
    }

    /// The scheduler may leave a class only when no job in it is waiting, and must then move on to
    /// the next class in order.
    #[test]
    fn scan_serves_a_class_until_none_of_it_waits(jobs in jobs(40, Estimates::Any)) {
        for (name, order) in [
            ("scan", vec![0, 1, 2, 3, 4]),
            ("scan:down", vec![4, 3, 2, 1, 0]),
        ] {
            let mut watch = Classes { order, expected: Vec::new() };
            let world = World::new(GRID, "tff", name).run_watched(&jobs, &mut watch);
            let started: Vec<JobId> = world.started.iter().map(|start| start.job).collect();
            prop_assert_eq!(started, watch.expected, "{}", name);
        }
    }
}

/// An observer that records which jobs should start. `order` begins with the current class.
struct Classes {
    order: Vec<u32>,
    expected: Vec<JobId>,
}

impl StartObserver for Classes {
    fn asked(&mut self, world: &World) {
        let oldest =
            |class| world.dispatcher.queue().iter().find(|job| job.request.nodes.ilog2() == class);
        while oldest(self.order[0]).is_none() {
            self.order.rotate_left(1);
        }
        self.expected.truncate(world.started.len());
        self.expected.extend(oldest(self.order[0]).map(|job| job.id));
    }
}

/// An observer that checks that, once the scheduler is done, no job in the window fits.
struct InWindow(u64);

impl StartObserver for InWindow {
    fn settled(&mut self, world: &mut World) {
        let Some(oldest) = world.dispatcher.queue().get(0).map(|job| job.id.0) else { return };
        let mut machine = world.dispatcher.machine().clone();
        for job in world.dispatcher.queue().iter() {
            if job.id.0 - oldest < self.0 {
                assert!(machine.probe(&job.request).is_err(), "{job:?} idles");
            }
        }
    }
}
