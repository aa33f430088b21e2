//! Time per allocation attempt, for every strategy and variant of the registry.
//!
//! `cargo bench -p pavior-allocation`. Each bench replays the same churn near saturation: random
//! requests until one is refused, then releases of the oldest jobs until it fits. An item is an
//! attempt; grants and releases, and so the upkeep of lists, are included.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use pavior_allocation::{Machine, Registry, Selection};
use pavior_kernel::Stream;
use pavior_mesh::{Grid, JobId, Request};

fn main() {
    divan::main();
}

/// A strategy on a machine, with sides uniform up to a bound.
#[derive(Clone)]
struct Case {
    selection: Selection,
    grid: Grid,
    longest: u16,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {} {}", self.grid, self.longest, self.selection)
    }
}

fn cases() -> Vec<Case> {
    let machines = [
        ("mesh:8x8", 8),
        ("mesh:32x32", 32),
        ("mesh:128x128", 128),
        ("mesh:8x8x8", 8),
        ("torus:8x8x8", 8),
        ("mesh:16x16x16", 4),
        ("mesh:32x32x32", 32),
    ];
    let mut cases = Vec::new();
    for (name, longest) in machines {
        let grid: Grid = name.parse().expect("written right");
        for selection in Registry::new().entries().flat_map(Selection::variants) {
            if selection.supports(&grid).is_ok() {
                cases.push(Case { selection, grid, longest });
            }
        }
    }
    cases
}

/// Requests that the churn asks for.
const REQUESTS: usize = 200;

fn requests(case: &Case) -> Vec<Request> {
    let mut draw = Stream::new(1, 0, "bench");
    let mut side = |axis: usize| {
        let most = u64::from(case.longest.min(case.grid.side(axis)));
        draw.between(1, most) as u16
    };
    (0..REQUESTS).map(|_| Request::shape([side(0), side(1), side(2)])).collect()
}

#[divan::bench(args = cases(), sample_count = 10, max_time = 1)]
fn attempt(bencher: Bencher<'_, '_>, case: &Case) {
    let requests = requests(case);
    let fill = |machine: &mut Machine| {
        let (mut attempts, mut oldest) = (0u64, 0u64);
        for (job, request) in (0u64..).zip(&requests) {
            attempts += 1;
            while machine.allocate(JobId(job), request).is_err() {
                attempts += 1;
                if oldest == job {
                    // Not even the empty machine grants it.
                    break;
                }
                // The job may have been one that was never granted.
                let _ = machine.release(JobId(oldest));
                oldest += 1;
            }
        }
        attempts
    };
    let new = || Machine::with_seed(case.grid, &case.selection, 1).expect("supported");
    let attempts = fill(&mut new());
    bencher
        .counter(ItemsCount::new(attempts))
        .with_inputs(new)
        .bench_local_values(|mut machine| black_box(fill(&mut machine)));
}
