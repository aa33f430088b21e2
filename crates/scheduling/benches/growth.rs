//! Measures how the scheduling cost per job grows with machine size, using random jobs at a load
//! near the machine's capacity.
//!
//! ```sh
//! cargo bench -p pavior-scheduling --bench growth                             # the table
//! cargo bench -p pavior-scheduling --bench growth -- easy mesh:32x32x32 20000 # one run
//! cargo bench -p pavior-scheduling --bench growth -- check                    # check fixed set
//! cargo bench -p pavior-scheduling --bench growth -- write                    # write fixed set
//! ```
//!
//! Each side of a job is uniformly distributed up to half the machine's side, 36 jobs arrive per
//! mean run time, and `tff` places the jobs. Each run prints the elapsed seconds and a checksum of
//! all start times. Versions that make the same decisions print the same checksum. On a busy host,
//! measure processor time or use `valgrind --tool=callgrind`.

use std::hash::Hasher;
use std::process::ExitCode;
use std::time::Instant;

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_mesh::Grid;
use pavior_scheduling::{Dispatcher, Future, Selection};
use pavior_trials::instructions::{FixedSet, collected};
use pavior_workload::{Job, Service, Synthetic, SyntheticJobs};
use rustc_hash::FxHasher;

const MACHINES: [&str; 4] = ["mesh:16x16x16", "mesh:32x32x32", "mesh:64x64x64", "torus:32x32x32"];
const SCHEDULERS: [&str; 3] = ["fcfs", "easy:count", "easy"];
const JOBS: usize = 50_000;

/// The fixed set of runs whose instruction counts are compared with `growth.tsv`.
const FIXED: FixedSet = FixedSet {
    what: "runs of drawn jobs",
    file: concat!(env!("CARGO_MANIFEST_DIR"), "/benches/growth.tsv"),
    counts: || {
        let count = |words: [&str; 3]| (words.join("\t"), collected(&words, "counted_run", ""));
        let counts = [["fcfs", "mesh:32x32x32", "1000"], ["easy", "mesh:32x32x32", "1000"]];
        counts.map(count).map(|(name, count)| (name, count.unwrap_or(f64::NAN))).to_vec()
    },
};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(code) = FIXED.done(words.first().copied()) {
        return code;
    }
    match words[..] {
        [scheduler, machine, jobs] => {
            print_run(scheduler, machine, jobs.parse().expect("a number of jobs"));
        }
        _ => {
            for machine in MACHINES {
                for scheduler in SCHEDULERS {
                    print_run(scheduler, machine, JOBS);
                }
            }
        }
    }
    ExitCode::SUCCESS
}

fn print_run(scheduler: &str, machine: &str, jobs: usize) {
    let before = Instant::now();
    let checksum = counted_run(scheduler, machine, jobs);
    let seconds = before.elapsed().as_secs_f64();
    let each = 1e6 * seconds / jobs as f64;
    println!("{machine}\t{scheduler}\t{jobs}\t{seconds:.2} s\t{each:.1} us a job\t{checksum:016x}");
}

/// Runs random jobs, and returns a checksum of all start times. Callgrind finds this function by
/// name.
#[inline(never)]
fn counted_run(scheduler: &str, machine: &str, jobs: usize) -> u64 {
    let grid: Grid = machine.parse().expect("a machine");
    let scheduler: Selection = scheduler.parse().expect("a scheduler");
    let scheduler = scheduler.build(()).expect("a scheduler without code");
    let machine = Machine::new(grid, "tff").expect("it works on every grid");
    let half = grid.sides().into_iter().max().unwrap_or(1) / 2;
    let mut workload = Synthetic::at_load(36.0);
    workload.sides = format!("uniform:{half}").parse().expect("a distribution");
    let arrivals = SyntheticJobs::new(&workload, &grid, 1, 0).expect("it can be drawn").take(jobs);
    let length = |job: &Job, _| match job.service {
        Service::Run(time) => time,
        _ => job.estimate,
    };
    let dispatcher = Dispatcher::new(machine, scheduler);
    let future =
        Future { dispatcher, now: Time::ZERO, moves: Vec::new(), arrivals, length, end: Time::MAX };
    let mut checksum = FxHasher::default();
    future
        .run(|job, at| {
            checksum.write_u64(job.0);
            checksum.write_u64(at.0);
            true
        })
        .expect("neither strategy nor scheduler fails");
    checksum.finish()
}
