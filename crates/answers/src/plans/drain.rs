//! Draining: moving jobs off a set of nodes.

use pavior_mesh::{Cuboid, NodeId};

use crate::plans::plan::{Budget, Goal, Planned, SearchLimits};
use crate::plans::search::cheapest;
use crate::{Shape, Snapshot, Weights};

/// Plans moves that empty the given nodes. If the jobs on these nodes do not fit elsewhere, up to
/// `max_jobs` other jobs move too. These other jobs are chosen so that the total weight is minimal.
/// The plan contains no boxes. If no job holds any of the nodes, the plan contains no moves. Nodes
/// outside the grid are ignored.
///
/// Cost: one search (`search.rs`) over O(jobs^`max_jobs`) sets of jobs.
pub fn drain(
    snapshot: &Snapshot,
    nodes: &[NodeId],
    weights: &Weights,
    limits: &SearchLimits,
) -> Planned {
    let goal = drained(snapshot, nodes);
    let most = goal.required.len() + limits.max_jobs;
    let mut budget = Budget { left: limits.budget };
    cheapest(snapshot, &goal, weights, (most, limits.turn), &mut budget)
}

pub(crate) fn drained(snapshot: &Snapshot, nodes: &[NodeId]) -> Goal {
    let grid = snapshot.grid;
    let inside = || nodes.iter().filter(|node| node.0 < grid.nodes());
    let mut available = snapshot.healthy.clone();
    for &node in inside() {
        available.take_node(node);
    }
    let on_them = |parts: &[Cuboid]| {
        inside().any(|&node| parts.iter().any(|part| part.contains(&grid, grid.point(node))))
    };
    let jobs = (0..).zip(snapshot.jobs());
    let required = jobs.filter(|(_, (_, parts))| on_them(parts)).map(|(index, _)| index).collect();
    Goal { shape: Shape::fixed([1; 3]), count: 0, required, available }
}
