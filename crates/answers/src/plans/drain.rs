//! Draining: moving jobs off a set of nodes.

use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy};

use crate::plans::plan::{Budget, Goal, MoveLimits, Planned, SearchLimits};
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
    let max_jobs = goal.required.len().saturating_add(limits.max_jobs);
    let mut budget = Budget { left: limits.budget };
    cheapest(snapshot, &goal, weights, MoveLimits { max_jobs, ..limits.moves() }, &mut budget)
}

/// Creates the goal of emptying the given nodes.
pub(crate) fn drained(snapshot: &Snapshot, nodes: &[NodeId]) -> Goal {
    let others = others(&snapshot.grid, nodes);
    let mut available = snapshot.healthy.clone();
    available.keep(&others).expect("the nodes are on the machine's grid");
    let jobs = (0..).zip(snapshot.jobs());
    let is_on_them = |parts: &[Cuboid]| parts.iter().any(|part| !others.is_free(part));
    let required =
        jobs.filter(|(_, (_, parts))| is_on_them(parts)).map(|(index, _)| index).collect();
    Goal { shape: Shape::fixed([1; 3]), count: 0, required, available }
}

/// Returns an occupancy in which all nodes are free except the given ones. Nodes outside the grid
/// are ignored.
pub(crate) fn others(grid: &Grid, nodes: &[NodeId]) -> Occupancy {
    let mut others = Occupancy::all_free(*grid);
    for &node in nodes {
        others.take_node(node);
    }
    others
}
