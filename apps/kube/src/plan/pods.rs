//! Decides which pods to open and which to delete.

use std::cell::LazyCell;
use std::collections::HashMap;

use pavior::{Grid, NodeId};

use super::action::{Absence, Action};
use super::context::PlanContext;
use super::patch;
use super::records::Record;
use crate::objects::{Job, Object as _, ObjectRef, Pod};
use crate::world::{Index, JobGroup};

/// Opens the pods of a valid placement. A pod that was opened for another node is deleted, and its
/// Job recreates it with a gate.
pub(super) fn open(context: PlanContext<'_>, record: &Record<'_>, actions: &mut Vec<Action>) {
    let PlanContext { layout, index, .. } = context;
    let Some(group) = &record.group else { return };
    let nodes = record.ranked_nodes();
    // Open all pods together, because a pod that starts alone would just wait for the others. Do
    // this as soon as every unfinished index has a pod, or if one pod is already open. Most
    // placements have no gated pod, so compute this flag and the ranks lazily.
    let may_open = LazyCell::new(|| {
        let has_open_pod = group.pods(index).any(|(_, pod)| pod.spec.gate().is_none());
        has_open_pod || group.pods(index).count() as u64 >= group.remaining()
    });
    let ranks = LazyCell::new(|| -> HashMap<NodeId, usize> {
        nodes.iter().enumerate().map(|(rank, &node)| (node, rank)).collect()
    });
    for (rank, pod) in group.pods(index) {
        let Some(rank) = rank.filter(|&rank| rank < nodes.len()) else { continue };
        let name = &record.placement.spec.nodes[rank];
        match pod.spec.gate() {
            Some(_) if *may_open => {
                let annotations = [
                    ("box", record.placement.spec.at.clone()),
                    ("coordinates", layout.config.coordinates(nodes[rank])),
                    ("neighbours", adjacent_ranks(&layout.config.grid, &ranks, nodes[rank])),
                ];
                let patch = patch::open(pod, name, &annotations);
                actions.extend(patch.map(|patch| Action::Open { pod: ObjectRef::of(pod), patch }));
            }
            Some(_) => {}
            None if is_bound_for(pod, name) => {}
            None => {
                let why = "its gate was removed for the wrong node".to_string();
                actions.push(Action::Remove { pod: ObjectRef::of(pod), why, absent: None });
            }
        }
    }
}

/// Returns true if an open pod is on a node or will start on it.
fn is_bound_for(pod: &Pod, node: &str) -> bool {
    pod.node().map_or_else(|| pod.target_node().as_deref() == Some(node), |on| on == node)
}

/// Deletes open pods that have no placement. Running pods are kept unless the group also has gated
/// pods, in which case the whole group is placed again.
pub(super) fn remove_unplaced(group: &JobGroup<'_>, index: &Index<'_>, actions: &mut Vec<Action>) {
    let has_gated_pod = group.pods(index).any(|(_, pod)| pod.spec.gate().is_some());
    for (_, pod) in group.pods(index).filter(|(_, pod)| pod.spec.gate().is_none()) {
        if has_gated_pod || pod.node().is_none() {
            let why = "it has neither a gate nor a placement".to_string();
            // The placement, which is named after the Job's uid, may be newer than the latest list.
            let placement = |job: &&Job| ObjectRef {
                namespace: job.namespace().to_string(),
                name: job.uid().0,
                ..ObjectRef::default()
            };
            let placements = group.jobs().iter().map(placement).collect();
            let absent = Some(Absence::Placements(placements));
            actions.push(Action::Remove { pod: ObjectRef::of(pod), why, absent });
        }
    }
}

/// Returns the ranks on the adjacent nodes, such as `-x=3 +x=1`.
fn adjacent_ranks(grid: &Grid, ranks: &HashMap<NodeId, usize>, node: NodeId) -> String {
    let point = grid.point(node);
    let mut found = Vec::new();
    for (axis, letter) in ["x", "y", "z"].iter().enumerate().take(grid.axes()) {
        let side = grid.side(axis);
        for (sign, at) in [("-", point[axis].checked_sub(1)), ("+", Some(point[axis] + 1))] {
            let mut other = point;
            other[axis] = match at {
                Some(inside) if inside < side => inside,
                _ if !grid.wraps(axis) || side < 2 => continue,
                // Beyond either end, the axis wraps around.
                None => side - 1,
                Some(_) => 0,
            };
            let rank = ranks.get(&grid.id(other));
            found.extend(rank.map(|rank| format!("{sign}{letter}={rank}")));
        }
    }
    found.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_ranks_belong_to_the_same_job() {
        let grid: Grid = "torus:4x2".parse().unwrap();
        let all: HashMap<NodeId, usize> = (0..8).map(|id| (NodeId(id), id as usize)).collect();
        assert_eq!(adjacent_ranks(&grid, &all, NodeId(0)), "-x=3 +x=1 -y=4 +y=4");
        let two = HashMap::from([(NodeId(3), 0), (NodeId(0), 1)]);
        assert_eq!(adjacent_ranks(&grid, &two, NodeId(0)), "-x=0");
        let mesh: Grid = "mesh:4x2".parse().unwrap();
        assert_eq!(adjacent_ranks(&mesh, &all, NodeId(0)), "+x=1 +y=4");
    }
}
