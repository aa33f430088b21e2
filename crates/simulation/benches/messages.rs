//! Measures the speed of complete runs with messages. Each run either simulates every message or
//! reuses the histories of jobs that were alone on the network.
//!
//! Run with `cargo bench -p pavior-simulation --bench messages`. An item is a completed job.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use pavior_kernel::Time;
use pavior_network::{EngineKind, RankOrder, Settings, TrafficPlan};
use pavior_simulation::{
    Contention, Ending, Fact, Histories, Interest, NetworkSetup, Observer, Setup, run,
};
use pavior_workload::{Synthetic, SyntheticJobs};

fn main() {
    divan::main();
}

const JOBS: u64 = 1000;

/// An observer of every delivery. Its presence forces each message to be simulated.
struct Listener(u64);

impl Observer for Listener {
    fn interest(&self) -> Interest {
        Interest::DELIVERIES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        self.0 += u64::from(matches!(fact, Fact::Delivered(_)));
    }
}

/// Returns the setup of the all-to-all experiment in the NAS paper, with 1000 jobs.
fn all_to_all(strategy: &str, histories: Histories) -> Setup {
    let plan = TrafficPlan {
        pattern: "all-to-all".parse().unwrap(),
        sending: None,
        rounds: None,
        flits: 8,
    };
    let network = NetworkSetup {
        engine: EngineKind::Worm,
        settings: Settings::default(),
        plan,
        ranks: RankOrder::Coordinates,
        contention: Contention::Simulated,
        histories,
    };
    let setup = Setup::new("mesh:16x16".parse().unwrap(), strategy, "fcfs").unwrap();
    setup.with_network(network).with_ending(Ending::Completions(JOBS))
}

fn go(setup: &Setup, observers: &mut [&mut dyn Observer]) {
    let mut workload = Synthetic::at_load(0.0004);
    workload.sides = "uniform-decreasing".parse().unwrap();
    workload.service = "iterations:1".parse().unwrap();
    let jobs = SyntheticJobs::new(&workload, &setup.grid, 1, 0).unwrap();
    black_box(run(setup, jobs.into(), observers).unwrap());
}

#[divan::bench(args = ["ff", "lssa", "nas"], sample_count = 10)]
fn every_message(bencher: Bencher<'_, '_>, strategy: &str) {
    let setup = all_to_all(strategy, Histories::default());
    bencher.counter(ItemsCount::new(JOBS)).bench(|| go(&setup, &mut [&mut Listener(0)]));
}

#[divan::bench(args = ["ff", "lssa", "nas"], sample_count = 10)]
fn nothing_known(bencher: Bencher<'_, '_>, strategy: &str) {
    bencher
        .counter(ItemsCount::new(JOBS))
        .with_inputs(|| all_to_all(strategy, Histories::default()))
        .bench_refs(|setup| go(setup, &mut []));
}

/// Measures a run with known histories. Every replication of an experiment except the first is such
/// a run.
#[divan::bench(args = ["ff", "lssa", "nas"], sample_count = 10)]
fn all_known(bencher: Bencher<'_, '_>, strategy: &str) {
    let setup = all_to_all(strategy, Histories::default());
    go(&setup, &mut []);
    bencher.counter(ItemsCount::new(JOBS)).bench(|| go(&setup, &mut []));
}
