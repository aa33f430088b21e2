//! Benchmarks move planning for boxes that do not fit, and slot counting, on 16x16x16 tori with
//! many jobs.

use divan::{Bencher, black_box};
use pavior_allocation::{Machine, Placement};
use pavior_answers::{
    SearchLimits, Shape, Snapshot, Weights, blockers, earliest, nearest, slots, unblock,
};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Cuboid, Grid, JobId, Request};

fn main() {
    divan::main();
}

fn torus(strategy: &str) -> Machine {
    let grid = Grid::torus(&[16, 16, 16]).expect("a torus of 4096 nodes");
    Machine::new(grid, strategy).expect("any grid")
}

/// Places 200 jobs in random boxes of at most 5x5x4 nodes, skipping boxes that are not free.
fn snapshot(seed: u64) -> Snapshot {
    let mut machine = torus("ff");
    let mut stream = Stream::new(seed, 0, "bench");
    while machine.jobs() < 200 {
        let mut below = |n: u64| (stream.next_u64() % n) as u16;
        let sides = [1 + below(5), 1 + below(5), 1 + below(4)];
        let at = Cuboid::new([below(16), below(16), below(16)], sides);
        let job = JobId(machine.jobs() as u64);
        // If the box is not free, the next iteration draws another.
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

/// Plans moves of at most two jobs. Prints, once, each plan and whether the plan is proven optimal.
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

/// Creates machines that are about 70% full, in states that `tff` reaches as jobs come and go.
fn busy_machines(count: usize) -> Vec<Machine> {
    let mut machine = torus("tff");
    let mut stream = Stream::new(7, 0, "bench");
    let (mut number, mut jobs, mut machines) = (0, Vec::new(), Vec::new());
    while machines.len() < count {
        let mut below = |n: u64| stream.next_u64() % n;
        let sides = [0; 3].map(|_| 1 << below(4));
        let place = below(u64::MAX);
        if machine.busy_nodes() > 2_870 {
            let job = jobs.swap_remove(place as usize % jobs.len());
            machine.release(job).expect("it holds nodes");
            continue;
        }
        number += 1;
        if machine.allocate(JobId(number), &Request::shape(sides)).is_ok() {
            jobs.push(JobId(number));
        }
        // Sample only once the machine is full, at intervals long enough for states to differ.
        if number > 1_000 && number % 20 == 0 && machine.busy_nodes() > 2_700 {
            machines.push(machine.clone());
        }
    }
    machines
}

/// Counts disjoint free boxes. Prints, once, how many of the 100 counts are proven maximal.
#[divan::bench(sample_count = 100, args = [[4, 4, 4], [4, 4, 2], [3, 3, 3], [2, 2, 2]])]
fn slots_of_a_busy_torus(bencher: Bencher<'_, '_>, sides: [u16; 3]) {
    let machines = busy_machines(100);
    let shapes = [Shape::new(sides)];
    let ask = |machine: &Machine| slots(machine.free(), &shapes, 400_000);
    let all: Vec<_> = machines.iter().map(ask).collect();
    let found: usize = all.iter().map(|one| one.boxes.len()).sum();
    let proven = all.iter().filter(|one| one.proven()).count();
    let bound: u32 = all.iter().map(|one| one.bound).sum();
    eprintln!("{sides:?}: {found} slots, at most {bound}, {proven} of 100 proven");
    let mut turn = 0;
    bencher.bench_local(|| {
        turn += 1;
        ask(black_box(&machines[turn % 100]))
    });
}
