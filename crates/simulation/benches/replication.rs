//! Whole runs: jobs a second, from arrival to metrics.
//!
//! `cargo bench -p pavior-simulation`. An item is a completed job, so that divan's items per second
//! are jobs per second and core.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use pavior_kernel::Time;
use pavior_simulation::metrics::{ALL, Context, Metric};
use pavior_simulation::{Ending, Inputs, Observer, Setup, run};
use pavior_workload::{Synthetic, SyntheticJobs};

fn main() {
    divan::main();
}

const JOBS: u64 = 1000;

/// A 1000-job replication of the TBL paper's experiment at load 4.6, with all standard metrics.
#[divan::bench(args = ["tff", "tff:plain", "tbl", "ff", "bl"])]
fn mesh_8x8x8_load_4_6(bencher: Bencher<'_, '_>, strategy: &str) {
    let setup = Setup {
        grid: "mesh:8x8x8".parse().unwrap(),
        strategy: strategy.parse().unwrap(),
        scheduler: "fcfs".parse().unwrap(),
        network: None,
        migration: None,
        seed: 1,
        replication: 0,
        begin: Time::ZERO,
        warmup: 0,
        ending: Ending::Completions(JOBS),
        timing: false,
        slice: None,
    };
    let context = Context::of(setup.grid);
    bencher.counter(ItemsCount::new(JOBS)).bench(|| {
        let jobs = SyntheticJobs::new(&Synthetic::at_load(4.6), &setup.grid, 1, 0).unwrap();
        let standard = ALL.iter().filter(|spec| spec.standard);
        let mut metrics: Vec<Box<dyn Metric>> =
            standard.map(|spec| (spec.build)(&context)).collect();
        let mut observers: Vec<&mut dyn Observer> =
            metrics.iter_mut().map(|metric| &mut **metric as &mut dyn Observer).collect();
        let inputs = Inputs { jobs: Box::new(jobs), failures: None };
        black_box(run(&setup, inputs, &mut observers).unwrap());
    });
}
