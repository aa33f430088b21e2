//! An upper bound on the number of free boxes after some jobs have moved.
//!
//! Moves do not change the number of free nodes. The number of boxes is therefore limited by the
//! number of free nodes, and by the lattice bounds for all healthy nodes (`bound.rs`). Now let k
//! jobs move, and pick one of them. Any box that overlaps none of the other k - 1 jobs is free once
//! the picked job is removed. There are therefore at most as many such boxes as are free after the
//! best single job is removed. Every other box overlaps one of the k - 1 jobs, and the number of
//! disjoint boxes that overlap a given job is limited.

use pavior_mesh::{Cuboid, Grid, NodeId, Sides, volume};

use super::bound::{at_most, least_held, least_side};
use super::{Slots, all_sides, slots};
use crate::plans::plan::Budget;
use crate::{Shape, Snapshot};

/// Returns an upper bound on the number of free boxes after any plan that moves at most `jobs`
/// jobs. Cost: O(jobs) slot counts.
pub(crate) fn after_moves(
    snapshot: &Snapshot,
    shape: Shape,
    before: &Slots,
    jobs: usize,
    budget: &mut Budget,
) -> u32 {
    let grid = &snapshot.grid;
    let sides = all_sides(&[shape], grid);
    let healthy: Vec<NodeId> = snapshot.healthy.iter().collect();
    let room = u64::from(snapshot.free.count()) / volume(shape.sides).max(1);
    let most = at_most(grid, &sides, &healthy).min(u32::try_from(room).unwrap_or(u32::MAX));
    if jobs == 0 || most <= before.bound {
        return most.min(before.bound);
    }
    let share = budget.left / 8 / (snapshot.jobs.len() as u64).max(1);
    let alone = (0..snapshot.jobs.len()).map(|job| {
        budget.spend(share);
        slots(&snapshot.without([job]), &[shape], share).bound
    });
    let alone = alone.max().unwrap_or(0).max(before.bound);
    let mut meeting: Vec<u32> = snapshot
        .jobs()
        .map(|(_, parts)| parts.iter().map(|part| meeting_part(grid, &sides, part)).sum())
        .collect();
    meeting.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
    most.min(alone.saturating_add(meeting.into_iter().take(jobs - 1).sum()))
}

/// Returns an upper bound on the number of disjoint boxes with these sides that overlap one part of
/// a job. All such boxes are within a limited area around the part, and a lattice bounds the number
/// that fit there.
fn meeting_part(grid: &Grid, sides: &[Sides], part: &Cuboid) -> u32 {
    let Some(first) = sides.first() else { return 0 };
    let reach = |axis: usize| sides.iter().map(|sides| sides[axis]).max().unwrap_or(1) - 1;
    let by_spacing = |spacing: u16| {
        let spacing: Sides = std::array::from_fn(|axis| spacing.min(grid.side(axis)));
        let along = |axis: usize| {
            let (spacing, side) = (u32::from(spacing[axis]), u32::from(grid.side(axis)));
            let around = u32::from(part.sides[axis]) + 2 * u32::from(reach(axis));
            if around < side || !grid.wraps(axis) {
                around.min(side) / spacing
            } else {
                side.div_ceil(spacing)
            }
        };
        let held = least_held(sides, spacing)?;
        Some((0..3).map(along).product::<u32>() / held)
    };
    let bounds = [1, least_side(*first)].into_iter().filter_map(by_spacing);
    bounds.min().unwrap_or(u32::MAX).min(part.volume())
}
