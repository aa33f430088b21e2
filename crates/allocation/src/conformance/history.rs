//! Long random histories of a machine.

use pavior_kernel::Stream;
use pavior_mesh::{Grid, JobId, NodeId, Request};

use super::judge::failed;
use super::states::random_box;
use super::{Flaw, judge};
use crate::{AllocateError, Machine, Placement, Selection};

/// Runs a machine for `steps` random steps. Most steps are allocations and releases; the others are
/// failures, repairs, queries on forks, and reservations that the strategy did not propose. Checks
/// every answer and, after each step, every index. Returns the number of answers.
///
/// # Errors
/// Returns the first broken claim, or any other failure.
pub fn history(selection: &Selection, grid: &Grid, seed: u64, steps: u64) -> Result<u64, Flaw> {
    let mut machine =
        Machine::with_seed(*grid, selection, seed).map_err(|error| error.to_string())?;
    let mut dice = Stream::new(seed, 0, "history");
    let mut jobs: Vec<JobId> = Vec::new();
    let mut answers = 0;
    for step in 0..steps {
        let job = JobId(step);
        match dice.below(20) {
            0..=8 => {
                let request = random_request(selection, grid, &mut dice);
                let granted = allocate(&mut machine, job, &request, selection, &jobs)
                    .map_err(|flaw| flaw.after(answers))?;
                answers += 1;
                if granted {
                    jobs.push(job);
                }
            }
            9..=15 if !jobs.is_empty() => {
                let job = jobs.swap_remove(dice.below(jobs.len() as u64) as usize);
                machine.release(job).map_err(|error| error.to_string())?;
            }
            16 => {
                let cuboid = random_box(grid, &mut dice);
                if machine.allocate_at(job, Placement::Whole(cuboid)).is_ok() {
                    jobs.push(job);
                }
            }
            17 => {
                let node = NodeId(dice.below(u64::from(grid.nodes())) as u32);
                machine.fail(node).map_err(|error| error.to_string())?;
            }
            18 => {
                let node = NodeId(dice.below(u64::from(grid.nodes())) as u32);
                machine.repair(node).map_err(|error| error.to_string())?;
            }
            _ => {
                // A fork must give the same answers as the machine, and changes to a fork must not
                // affect the machine.
                let request = random_request(selection, grid, &mut dice);
                let mut fork = machine.clone();
                let forked = fork.allocate(job, &request).cloned();
                if forked != machine.probe(&request).map_err(AllocateError::from) {
                    let words =
                        format!("{selection}: a fork gave a different answer to {request:?}");
                    return Err(words.into());
                }
                fork.validate();
            }
        }
        machine.validate();
    }
    Ok(answers)
}

/// Allocates nodes and checks the answer. Returns true if the request was granted.
fn allocate(
    machine: &mut Machine,
    job: JobId,
    request: &Request,
    selection: &Selection,
    jobs: &[JobId],
) -> Result<bool, Flaw> {
    let before = machine.free().clone();
    let held: Vec<Placement> =
        jobs.iter().filter_map(|&job| machine.placement(job).cloned()).collect();
    let probed = machine.probe(request);
    let answer = machine.allocate(job, request).cloned();
    if let Some(error) = machine.error() {
        return Err(failed(selection, &before, request, &error));
    }
    if probed.clone().map_err(AllocateError::from) != answer {
        let words = format!(
            "{selection}: probing {request:?} returned {probed:?}, but allocating it returned \
             {answer:?}"
        );
        return Err(words.into());
    }
    judge(selection, &before, &held, request, answer.as_ref().ok())?;
    Ok(answer.is_ok())
}

fn random_request(selection: &Selection, grid: &Grid, dice: &mut Stream) -> Request {
    let mut side = |axis: usize| {
        let n = u64::from(grid.side(axis));
        let most = if dice.below(4) == 0 { n } else { n.div_ceil(2) };
        dice.between(1, most) as u16
    };
    let request = Request::shape([side(0), side(1), side(2)]);
    match dice.below(4) {
        0 if !selection.entry.does.contiguous => Request::nodes(request.nodes),
        1 if !selection.entry.does.contiguous && request.nodes > 1 => {
            Request { nodes: request.nodes - 1, ..request }
        }
        _ => request,
    }
}
