//! What it takes to say why a request is refused, as leases grow in number: square leases on
//! `mesh:1024x1024`, of which every fifth has ended, and a request for a little more.
//!
//! ```sh
//! cargo bench -p pavior-planning --bench refusal          # 10, 1,000 and 10,000 leases
//! cargo bench -p pavior-planning --bench refusal -- check # the fixed set
//! cargo bench -p pavior-planning --bench refusal -- write # the fixed set, anew
//! ```

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, JobId, Request};
use pavior_planning::{Asked, Queued, SearchLimits, Snapshot, Why, why};
use pavior_trials::instructions::{FixedSet, collected};

const SIDE: u16 = 1024;

/// The counts that the checks hold: the leases, and instructions of a diagnosis.
const FIXED: FixedSet = FixedSet {
    what: "a refusal with so many leases",
    file: concat!(env!("CARGO_MANIFEST_DIR"), "/benches/refusal.tsv"),
    counts: || {
        let count = collected(&["10000"], "counted_why", "").unwrap_or(f64::NAN);
        vec![("10000".to_string(), count)]
    },
};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let Some(code) = FIXED.done(words.first().map(String::as_str)) {
        return code;
    }
    let leases = words.first().map(|word| word.parse().expect("a number of leases"));
    for leases in leases.map_or(vec![10, 1_000, 10_000], |leases| vec![leases]) {
        let (mut machine, width) = filled(leases);
        let asked = Asked::of(&mut machine, &Request::shape([width + 1, width + 1]));
        let snapshot = Snapshot::of(&machine);
        let begin = Instant::now();
        let told = counted_why(&snapshot, &asked);
        let ms = 1e3 * begin.elapsed().as_secs_f64();
        let blockers = told.blocked.map_or(0, |blocked| blocked.jobs.len());
        println!("{leases} leases\t{ms:.2} ms\t{blockers} in the way");
    }
    ExitCode::SUCCESS
}

/// What is measured. Callgrind knows the function by its name.
#[inline(never)]
fn counted_why(snapshot: &Snapshot, asked: &Asked) -> Why {
    let end = |job: JobId| Some(Time(job.0));
    why(snapshot, black_box(asked), Queued::First, end, &SearchLimits::jobs(1))
}

/// A machine full of square leases, a fifth of which has ended, and their side.
fn filled(leases: usize) -> (Machine, u16) {
    let all = leases * 5 / 4;
    let fits = |width: &u16| usize::from(SIDE / width).pow(2) >= all;
    let width = (1..=SIDE).rev().find(fits).expect("there is room");
    let grid = Grid::mesh(&[SIDE, SIDE]).expect("a million nodes");
    let mut machine = Machine::new(grid, "ff").expect("any grid");
    let row = usize::from(SIDE / width);
    let place = |at: usize| {
        let base = [(at % row) as u16 * width, (at / row) as u16 * width];
        Placement::Whole(Cuboid::new(base, [width, width]))
    };
    for at in 0..row * row {
        machine.allocate_at(JobId(at as u64), place(at)).expect("it is free");
    }
    (0..row * row).step_by(5).for_each(|at| drop(machine.release(JobId(at as u64))));
    (machine, width)
}
