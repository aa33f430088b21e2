//! Benchmarks the explanation of a refused request, by number of leases. Square leases fill a
//! `mesh:1024x1024`, but every fifth lease has ended. The request is for a slightly larger square.
//!
//! ```sh
//! cargo bench -p pavior-answers --bench refusal          # 10 to 100,000 leases
//! cargo bench -p pavior-answers --bench refusal -- check # checks the fixed set
//! cargo bench -p pavior-answers --bench refusal -- write # rewrites the fixed set
//! ```

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use pavior_allocation::{Machine, Placement};
use pavior_answers::{Demand, Question, SearchLimits, Shape, Snapshot, Why, nearest, why};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, JobId, Request};
use pavior_trials::instructions::{FixedSet, collected};

const SIDE: u16 = 1024;

/// The expected instruction counts, by number of leases and kind of diagnosis.
const FIXED: FixedSet = FixedSet {
    what: "a refusal, by number of leases",
    file: concat!(env!("CARGO_MANIFEST_DIR"), "/benches/refusal.tsv"),
    counts: || {
        let cases = [("10000", "why"), ("10000", "told"), ("100000", "told")];
        let count = |(leases, what): (&str, &str)| {
            let count = collected(&[leases], &format!("counted_{what}"), "").unwrap_or(f64::NAN);
            (format!("{leases} {what}"), count)
        };
        cases.into_iter().map(count).collect()
    },
};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let Some(code) = FIXED.done(words.first().map(String::as_str)) {
        return code;
    }
    let leases = words.first().map(|word| word.parse().expect("a number of leases"));
    for leases in leases.map_or(vec![10, 1_000, 10_000, 100_000], |leases| vec![leases]) {
        let (mut machine, width) = filled(leases);
        let request = Request::shape([width + 1, width + 1]);
        let demand = Demand::of(&mut machine, &request);
        let snapshot = Snapshot::of(&machine);
        let begin = Instant::now();
        let why = counted_why(&snapshot, &demand);
        let why_ms = 1e3 * begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let told = counted_told(&snapshot, &demand, &request);
        let told_ms = 1e3 * begin.elapsed().as_secs_f64();
        assert!(told.nearest.is_some() && told.largest.is_some(), "some nodes are free");
        let blockers = |why: &Why| why.blocked.as_ref().map_or(0, |blocked| blocked.jobs.len());
        let (one, other) = (blockers(&why), blockers(&told.why));
        println!("{leases} leases\twhy {why_ms:.2} ms, {one} in the way");
        println!("{leases} leases\ttold {told_ms:.2} ms, {other} in the way");
    }
    ExitCode::SUCCESS
}

/// Returns a job's end time. Jobs end in order of their numbers.
#[expect(clippy::unnecessary_wraps, reason = "`Question` takes an optional end")]
fn end(job: JobId) -> Option<Time> {
    Some(Time(job.0))
}

/// Computes the answer, with a plan of at most one move. Callgrind finds this function by name.
#[inline(never)]
fn counted_why(snapshot: &Snapshot, demand: &Demand) -> Why {
    let (demand, limits) = (black_box(demand), SearchLimits::jobs(1));
    why(snapshot, &Question { limits, ..Question::new(demand, &end) })
}

struct Told {
    why: Why,
    nearest: Option<Cuboid>,
    largest: Option<Cuboid>,
}

/// Computes everything that the service reports about a refusal, without a plan.
#[inline(never)]
fn counted_told(snapshot: &Snapshot, demand: &Demand, request: &Request) -> Told {
    let why = why(snapshot, &Question::new(black_box(demand), &end));
    let shape = Shape::new(request.shape.expect("it asks for a box"));
    let nearest = nearest(snapshot, shape, 1).pop();
    Told { why, nearest, largest: snapshot.free().largest_free() }
}

/// Fills a machine with square leases and one lease for the remaining rows, then ends every fifth
/// square lease. Returns the machine and the squares' side length.
fn filled(leases: usize) -> (Machine, u16) {
    let all = leases * 5 / 4;
    let fits = |width: &u16| usize::from(SIDE / width).pow(2) >= all;
    let width = (1..=SIDE).rev().find(fits).expect("there is room");
    let grid = Grid::mesh(&[SIDE, SIDE]).expect("a million nodes");
    let mut machine = Machine::new(grid, "ff").expect("any grid");
    let row = usize::from(SIDE / width);
    let mut hold = |at: usize, part: Cuboid| {
        let held = machine.allocate_at(JobId(at as u64), Placement::Whole(part)).map(drop);
        held.expect("it is free");
    };
    for at in 0..all {
        let base = [(at % row) as u16 * width, (at / row) as u16 * width];
        hold(at, Cuboid::new(base, [width, width]));
    }
    let rows = all.div_ceil(row) as u16 * width;
    if rows < SIDE {
        hold(all, Cuboid::new([0, rows], [SIDE, SIDE - rows]));
    }
    (0..all).step_by(5).for_each(|at| drop(machine.release(JobId(at as u64))));
    (machine, width)
}
