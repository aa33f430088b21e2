//! Explains why a request is refused, finds the jobs to move, and moves them.
//!
//! Jobs a, b and c are from docs/first-scheduler.md. Job a has released the bottom row of a 4x4
//! mesh, and b holds the two rows above it. Eight nodes are free, but there is no room for c's 2x2
//! box.

use pavior::answers::{Demand, Question, SearchLimits, Snapshot, why};
use pavior::{Cuboid, JobId, Machine, Placement, Request};

const A: JobId = JobId(1);
const B: JobId = JobId(2);
const C: JobId = JobId(3);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut machine = Machine::new("mesh:4x4".parse()?, "tff")?;
    machine.allocate(A, &Request::shape([4, 1]))?;
    machine.allocate(B, &Request::shape([4, 2]))?;
    machine.release(A)?;

    let request = Request::shape([2, 2]);
    let refused = machine.allocate(C, &request).unwrap_err();
    println!("c waits: {refused}");
    let (demand, snapshot) = (Demand::of(&mut machine, &request), Snapshot::of(&machine));
    // The jobs' end times are unknown, and no other requests are queued ahead of this one.
    let limits = SearchLimits::jobs(3);
    let why = why(&snapshot, &Question { limits, ..Question::new(&demand, &|_| None) });
    let blocked = why.blocked.expect("the request fits on the empty machine");
    assert_eq!(blocked.jobs, [(B, 8)]);
    let plan = blocked.moves.expect("b can move");
    // If the moves are made in order, each target is free except for nodes held by the job that is
    // moving. A job with several boxes moves as a whole: `to` replaces `from`, part by part.
    for step in &plan.moves {
        let (from, to) = (Placement::from(step.from.clone()), Placement::from(step.to.clone()));
        println!("move job {} from {from} to {to}", step.job.0);
        machine.relocate(step.job, to)?;
    }
    let placement = machine.allocate(C, &request)?;
    assert_eq!(placement.parts(), [Cuboid::new([0, 2], [2, 2])]);
    println!("c starts: {placement}");
    Ok(())
}
