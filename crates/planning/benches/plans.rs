//! Times on a torus of 16x16x16 with 200 jobs: blockers and unblock of boxes that do not fit.

use divan::{Bencher, black_box};
use pavior_allocation::{Machine, Placement, Selection};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Cuboid, Grid, JobId};
use pavior_planning::{
    SearchLimits, Shape, Snapshot, Weights, blockers, earliest, nearest, unblock,
};

fn main() {
    divan::main();
}

/// 200 jobs with sides of 1 to 5, each at the first of many random places that is free.
fn snapshot(seed: u64) -> Snapshot {
    let grid = Grid::torus(&[16, 16, 16]).expect("a torus of 4096 nodes");
    let first_fit: Selection = "ff".parse().expect("a strategy");
    let mut machine = Machine::with_seed(grid, &first_fit, 1).expect("any grid");
    let mut stream = Stream::new(seed, 0, "bench");
    while machine.jobs() < 200 {
        let mut below = |n: u64| (stream.next_u64() % n) as u16;
        let sides = [1 + below(5), 1 + below(5), 1 + below(4)];
        let at = Cuboid::new([below(16), below(16), below(16)], sides);
        let job = JobId(machine.jobs() as u64);
        // A place that is taken is drawn again.
        let _ = machine.allocate_at(job, Placement::Whole(at));
    }
    Snapshot::of(&machine)
}

const SHAPES: [[u16; 3]; 2] = [[8, 8, 4], [6, 5, 4]];

#[divan::bench(args = SHAPES)]
fn blockers_of_200_jobs(bencher: Bencher<'_, '_>, shape: [u16; 3]) {
    let snapshot = snapshot(1);
    let weights = Weights::nodes(&snapshot);
    bencher.bench(|| blockers(&snapshot, Shape::new(black_box(shape)), &weights));
}

#[divan::bench(args = SHAPES)]
fn earliest_of_200_jobs(bencher: Bencher<'_, '_>, shape: [u16; 3]) {
    let snapshot = snapshot(1);
    bencher.bench(|| earliest(&snapshot, Shape::new(black_box(shape)), |job| Some(Time(job.0))));
}

#[divan::bench(args = SHAPES)]
fn nearest_of_200_jobs(bencher: Bencher<'_, '_>, shape: [u16; 3]) {
    let snapshot = snapshot(1);
    bencher.bench(|| nearest(&snapshot, Shape::new(black_box(shape)), 3));
}

/// Two moves at most; what the search says, and whether it is proven, is printed once.
#[divan::bench(
    args = [([8, 8, 4], 1), ([6, 5, 4], 1), ([6, 5, 4], 2), ([5, 5, 4], 3)],
    sample_count = 3
)]
fn unblock_two(bencher: Bencher<'_, '_>, (shape, seed): ([u16; 3], u64)) {
    let snapshot = snapshot(seed);
    let weights = Weights::nodes(&snapshot);
    let ask = || unblock(&snapshot, Shape::new(black_box(shape)), &weights, &SearchLimits::jobs(2));
    let answer = ask();
    let found = answer.plan.map(|plan| (plan.cost, plan.jobs));
    eprintln!(
        "{shape:?}, seed {seed}: {} free, {found:?}, proven {}",
        snapshot.free().count(),
        answer.proven
    );
    bencher.bench(ask);
}
