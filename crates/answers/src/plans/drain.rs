//! Drain: how a set of nodes is emptied.

use pavior_mesh::NodeId;

use crate::plans::plan::{Budget, Goal, Planned, SearchLimits};
use crate::plans::search::cheapest;
use crate::{Shape, Snapshot, Weights};

/// Where the jobs on some nodes go, so that these nodes are empty; if there is no room for them,
/// the cheapest at most `max_jobs` others move as well. The plan's boxes are empty, and its moves
/// as well if no job holds such a node. Nodes outside the grid are not looked at.
///
/// Cost: that of `search.rs`; the number of sets grows as jobs to the power of `max_jobs`.
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

/// That some nodes are empty.
pub(crate) fn drained(snapshot: &Snapshot, nodes: &[NodeId]) -> Goal {
    let grid = snapshot.grid;
    let inside = || nodes.iter().filter(|node| node.0 < grid.nodes());
    let mut available = snapshot.healthy.clone();
    for &node in inside() {
        available.take_node(node);
    }
    let on_them = |(_, (_, parts)): &(usize, (_, &[pavior_mesh::Cuboid]))| {
        let holds = |node: &pavior_mesh::NodeId| {
            parts.iter().any(|part| part.contains(&grid, grid.point(*node)))
        };
        inside().any(holds)
    };
    let required: Vec<u32> =
        snapshot.jobs().enumerate().filter(on_them).map(|(index, _)| index as u32).collect();
    Goal { shape: Shape::fixed([1; 3]), count: 0, required, available }
}
