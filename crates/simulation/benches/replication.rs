//! Measures the speed of complete runs, from arrivals to metrics, in jobs per second.
//!
//! Run with `cargo bench -p pavior-simulation`. An item is a completed job, so divan reports jobs
//! per second per core.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use pavior_simulation::{Ending, Setup};
use pavior_workload::{Synthetic, SyntheticJobs};

fn main() {
    divan::main();
}

const JOBS: u64 = 1000;

/// Measures one replication of the TBL paper's experiment at load 4.6, with 1000 jobs and all
/// standard metrics.
#[divan::bench(args = ["tff", "tff:plain", "tbl", "ff", "bl"])]
fn mesh_8x8x8_load_4_6(bencher: Bencher<'_, '_>, strategy: &str) {
    let setup = Setup::new("mesh:8x8x8".parse().unwrap(), strategy, "fcfs").unwrap();
    let setup = setup.with_ending(Ending::Completions(JOBS));
    bencher.counter(ItemsCount::new(JOBS)).bench(|| {
        let jobs = SyntheticJobs::new(&Synthetic::at_load(4.6), &setup.grid, 1, 0).unwrap();
        black_box(setup.clone().simulation(jobs).run().unwrap());
    });
}
