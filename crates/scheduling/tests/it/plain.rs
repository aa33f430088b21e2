//! Lock-step tests of the plain and fast implementations of backfilling.

use pavior_kernel::Time;
use pavior_mesh::{NodeId, Occupancy, Pool, Request};
use pavior_trials::size;
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs, jobs_with_freedoms, strategies};
use crate::world::{Aside, Upset, World, fail_and_repair, in_lock_step, job};

fn compare(scheduler: &str, grid: &str, jobs: &[Job], strategy: &str, upsets: &[Upset]) {
    let plain = World::new(grid, strategy, &format!("{scheduler}:plain"));
    in_lock_step(World::new(grid, strategy, scheduler), plain, jobs, upsets);
}

/// Compares both implementations with three pools: the first half of the nodes, every third node,
/// and all nodes. In rotation, each job is confined to one of the pools or to none.
fn compare_in_pools(scheduler: &str, jobs: &[Job], strategy: &str) {
    let world = |scheduler: &str| {
        let mut world = World::new(GRID, strategy, scheduler);
        let grid = *world.dispatcher.machine().grid();
        let half = grid.nodes() / 2;
        let kept: [&dyn Fn(u32) -> bool; 3] =
            [&|node| node < half, &|node| node % 3 == 0, &|_| true];
        for (number, kept) in kept.iter().enumerate() {
            let mut nodes = Occupancy::all_free(grid);
            for node in (0..grid.nodes()).filter(|&node| !kept(node)) {
                nodes.take_node(NodeId(node));
            }
            assert_eq!(world.dispatcher.add_pool(nodes), Ok(Pool(number as u32)));
        }
        world
    };
    let pools = [None, Some(Pool(0)), Some(Pool(1)), None, Some(Pool(2))];
    let confined = jobs.iter().zip(pools.iter().cycle());
    let confined: Vec<Job> = confined
        .map(|(job, pool)| Job { request: job.request.within(*pool), ..job.clone() })
        .collect();
    in_lock_step(world(scheduler), world(&format!("{scheduler}:plain")), &confined, &[]);
}

/// Returns the strategies whose answers do not depend on the number of queries.
fn steady_strategies() -> impl Iterator<Item = &'static str> {
    strategies(GRID).into_iter().filter(|name| *name != "random")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(8, 32, 64)))]

    #[test]
    fn easy_decides_as_its_plain_form(jobs in jobs(40, Estimates::Any)) {
        for strategy in strategies(GRID) {
            let fast = World::new(GRID, strategy, "easy").run(&jobs);
            let plain = World::new(GRID, strategy, "easy:plain").run(&jobs);
            prop_assert!(fast.attempts <= plain.attempts);
            prop_assert_eq!(fast.started, plain.started, "{}", strategy);
        }
    }

    #[test]
    fn easy_decides_as_its_plain_form_for_jobs_with_freedoms(
        jobs in jobs_with_freedoms(40, Estimates::Any),
    ) {
        for strategy in steady_strategies() {
            compare("easy", GRID, &jobs, strategy, &[]);
        }
    }

    #[test]
    fn easy_decides_as_its_plain_form_in_pools(jobs in jobs_with_freedoms(40, Estimates::Any)) {
        for strategy in ["ff", "tff", "bf", "mbs", "gabl", "anca"] {
            compare_in_pools("easy", &jobs, strategy);
        }
    }

    #[test]
    fn easy_decides_as_its_plain_form_while_nodes_fail(
        jobs in jobs(30, Estimates::Any),
        nodes in prop::collection::vec(0u32..20, 3),
    ) {
        let upsets = fail_and_repair(&nodes);
        for strategy in ["ff", "bf", "fs", "naive", "mbs", "gabl", "anca"] {
            compare("easy", GRID, &jobs, strategy, &upsets);
        }
    }
}

/// Generates withdrawals and grants outside the queue, in order of time.
fn asides() -> impl Strategy<Value = Vec<(Time, Aside)>> {
    let draft = (0u64..90, 1u16..4, 1u16..3, 1u64..20, 0u64..20, 0usize..12);
    prop::collection::vec(draft, 0..20).prop_map(|drafts| {
        let aside = |(id, (at, w, d, run, estimate, place)): (u64, (_, _, _, _, _, usize))| {
            let request = Request::shape([w, d, 1]);
            let aside = match place {
                4.. => Aside::Grant(job(1000 + id, at, request, run, estimate)),
                _ => Aside::Withdraw(place),
            };
            (Time(at), aside)
        };
        let mut asides: Vec<_> = (0..).zip(drafts).map(aside).collect();
        asides.sort_by_key(|aside| aside.0);
        asides
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(2, 12, 24)))]

    #[test]
    fn backfilling_decides_as_its_plain_form_beside_grants(
        jobs in jobs(40, Estimates::Any),
        asides in asides(),
        nodes in prop::collection::vec(0u32..20, 0..2),
    ) {
        let upsets = fail_and_repair(&nodes);
        for strategy in ["ff", "tff", "bf", "fs", "naive", "mbs", "gabl"] {
            for scheduler in ["easy", "conservative", "easy:promise=holds"] {
                let world = |name: &str| World::new(GRID, strategy, name).beside(&asides);
                let plain = world(&format!("{scheduler}:plain"));
                in_lock_step(world(scheduler), plain, &jobs, &upsets);
            }
            let count = World::new(GRID, strategy, "conservative:count").beside(&asides);
            prop_assert!(count.run(&jobs).started.len() <= jobs.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(1, 4, 12)))]

    #[test]
    fn conservative_decides_as_its_plain_form(
        safe in jobs(40, Estimates::Safe),
        any in jobs(40, Estimates::Any),
    ) {
        for jobs in [safe, any] {
            for strategy in strategies(GRID).into_iter().step_by(size(5, 1, 1)) {
                compare("conservative", GRID, &jobs, strategy, &[]);
                compare("conservative:promise=holds", GRID, &jobs, strategy, &[]);
            }
        }
    }

    /// Compares both forms on long queues, in which many jobs move up when a job ends early.
    #[test]
    fn conservative_decides_as_its_plain_form_for_a_long_queue(
        sizes in prop::collection::vec((1u16..6, 1u16..6, 1u64..200, 1u64..8), size(30, 60, 60)),
    ) {
        let waiting = |(id, &(w, d, run, factor)): (u64, &(u16, u16, u64, u64))| {
            job(id, 0, Request::shape([w, d, 1]), run, run * factor)
        };
        let jobs: Vec<Job> = (0..).zip(&sizes).map(waiting).collect();
        for grid in ["mesh:12x12", "torus:12x12"] {
            for strategy in ["ff", "tff"] {
                compare("conservative", grid, &jobs, strategy, &[]);
            }
        }
    }

    /// Compares both forms for jobs with freedoms. A strategy that grants by count can refuse such
    /// jobs even if enough nodes are free; one that grants boxes can grant connected sets.
    #[test]
    fn conservative_decides_as_its_plain_form_for_jobs_with_freedoms(
        jobs in jobs_with_freedoms(40, Estimates::Any),
    ) {
        for strategy in steady_strategies().step_by(size(3, 1, 1)) {
            compare("conservative", GRID, &jobs, strategy, &[]);
        }
    }

    #[test]
    fn conservative_decides_as_its_plain_form_in_pools(
        jobs in jobs_with_freedoms(40, Estimates::Any),
    ) {
        for strategy in ["ff", "tff", "bf", "mbs", "gabl", "anca"] {
            compare_in_pools("conservative", &jobs, strategy);
        }
    }

    #[test]
    fn conservative_decides_as_its_plain_form_around_rings_and_in_depth(
        jobs in jobs(size(30, 60, 60), Estimates::Any),
    ) {
        for grid in ["torus:5x4", "torus:9x5", "mesh:5x4x3", "torus:5x4x3"] {
            for strategy in ["ff", "tff", "bf", "mbs"] {
                compare("conservative", grid, &jobs, strategy, &[]);
            }
        }
    }

    #[test]
    fn conservative_decides_as_its_plain_form_while_nodes_fail(
        jobs in jobs(30, Estimates::Any),
        nodes in prop::collection::vec(0u32..20, 3),
    ) {
        let upsets = fail_and_repair(&nodes);
        // These include strategies that miss some boxes. Strategies whose lists of free boxes
        // depend on the order of changes (fl, kymfl, pmfl) are excluded.
        for strategy in ["ff", "bf", "fs", "naive", "mbs", "gabl", "anca"] {
            compare("conservative", GRID, &jobs, strategy, &upsets);
        }
    }
}
