//! Tests whether a given set of jobs can be moved, by finding new positions and an order of moves.

use pavior_mesh::Cuboid;

use crate::plans::order;
use crate::plans::packing::{Outcome, Room, pack};
use crate::plans::plan::{Budget, Move};

/// Places the requested boxes and the moved jobs so that the moves can be made one at a time.
pub(crate) fn relocate(room: &mut Room<'_>, jobs: &[u32], budget: &mut Budget) -> Outcome {
    let (grid, count) = (room.snapshot.grid, room.goal.count);
    let mut free = room.without(jobs);
    budget.spend(u64::from(grid.nodes() / 64));
    let mut items = room.wanted();
    // The number of groups of interchangeable parts so far.
    let mut alike = 0;
    for &job in jobs {
        items.extend(room.parts(job, &mut alike));
    }
    let from: Vec<&[Cuboid]> = jobs.iter().map(|&job| room.snapshot.parts(job as usize)).collect();
    // `circular` is set if some packing has no order in which the jobs can move directly.
    let (mut answer, mut circular) = (None, false);
    pack(room, &mut free, &mut items, budget, &mut |items| {
        let mut placed = items.iter().filter_map(|item| item.at);
        let boxes: Vec<Cuboid> = placed.by_ref().take(count).collect();
        let new_parts = |parts: &&[Cuboid]| placed.by_ref().take(parts.len()).collect();
        let to: Vec<Vec<Cuboid>> = from.iter().map(new_parts).collect();
        let order = order::direct(&grid, &from, &to);
        circular |= order.is_none();
        answer = order.map(|order| (boxes, to, order));
        answer.is_some()
    });
    match answer {
        Some((boxes, to, order)) => {
            let step = |index: usize| Move {
                job: room.snapshot.jobs[jobs[index] as usize].0,
                from: from[index].to_vec(),
                to: to[index].clone(),
            };
            Outcome::Found(boxes, order.into_iter().map(step).collect())
        }
        None if budget.left == 0 => Outcome::Unknown,
        None if circular => order::indirect(room, jobs, budget),
        None => Outcome::Nothing,
    }
}
