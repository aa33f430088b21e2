//! Which pods are opened, and which are in the wrong place.

use std::collections::HashMap;

use pavior::{Grid, NodeId};

use super::Plot;
use super::act::{Act, Seen, Unless};
use super::patch::{self, Told};
use super::records::Record;
use crate::objects::{Job, Known as _, Pod};
use crate::unit::Unit;
use crate::world::Index;

/// Opens the pods of a Job whose record stands. A pod that is open for another node is deleted: the
/// Job makes it anew, gated.
pub(crate) fn open(plot: &Plot<'_>, index: &Index<'_>, record: &Record<'_>, acts: &mut Vec<Act>) {
    let Some(unit) = &record.unit else { return };
    // Most records have no pod to open: then neither is looked at, nor is a table of ranks made.
    let begins = || {
        let begun = unit.pods(index).any(|(_, pod)| pod.gate().is_none());
        begun || unit.pods(index).count() as u64 >= unit.left()
    };
    let mut opens = None;
    let ranks = || record.nodes.iter().enumerate().map(|(rank, &node)| (node, rank)).collect();
    let mut known: Option<HashMap<NodeId, usize>> = None;
    for (rank, pod) in unit.pods(index) {
        let place = rank.and_then(|rank| Some((record.nodes.get(rank)?, rank)));
        let Some((&node, rank)) = place else { continue };
        let name = &record.placement.spec.nodes[rank];
        match pod.gate() {
            Some(_) if *opens.get_or_insert_with(begins) => {
                let told = told(plot, record, known.get_or_insert_with(ranks), node);
                let patch = patch::open(pod, name, &told);
                acts.extend(patch.map(|patch| Act::Open { pod: Seen::of(pod), patch }));
            }
            Some(_) => {}
            None if is_for(pod, name) => {}
            None => {
                let why = "it is open for another node than its Job's placement says".to_string();
                acts.push(Act::Remove { pod: Seen::of(pod), why, unless: None });
            }
        }
    }
}

/// Whether an open pod is on a node, or is to start there.
fn is_for(pod: &Pod, node: &String) -> bool {
    pod.node().map_or_else(|| pod.meant_for().as_ref() == Some(node), |on| on == node)
}

/// Deletes pods that are open without a record. Those that run are let run, unless their Job, or
/// another of its set, has others that wait: then it is to be placed as a whole.
pub(crate) fn remove(unit: &Unit<'_>, index: &Index<'_>, acts: &mut Vec<Act>) {
    let gated = unit.pods(index).any(|(_, pod)| pod.gate().is_some());
    for (_, pod) in unit.pods(index).filter(|(_, pod)| pod.gate().is_none()) {
        if gated || pod.node().is_none() {
            let why = "it is open, and its Job has no placement".to_string();
            // A record has the name of a Job's uid. It may be younger than what was read of them.
            let record = |job: &&Job| Seen {
                namespace: job.namespace().to_string(),
                name: job.uid().0,
                ..Seen::default()
            };
            let records = unit.jobs().iter().map(record).collect();
            let unless = Some(Unless::Record(records));
            acts.push(Act::Remove { pod: Seen::of(pod), why, unless });
        }
    }
}

/// What the pod of a node is told.
fn told(
    plot: &Plot<'_>,
    record: &Record<'_>,
    ranks: &HashMap<NodeId, usize>,
    node: NodeId,
) -> Told {
    Told {
        at: record.placement.spec.at.clone(),
        coordinates: plot.site.coordinates(node),
        neighbours: neighbours(&plot.site.grid, ranks, node),
    }
}

/// The ranks beside a node on the links of the machine, such as `-x=3 +x=1`.
fn neighbours(grid: &Grid, ranks: &HashMap<NodeId, usize>, node: NodeId) -> String {
    let point = grid.point(node);
    let mut found = Vec::new();
    for (axis, letter) in ["x", "y", "z"].iter().enumerate().take(grid.axes()) {
        let side = grid.side(axis);
        for (sign, at) in [("-", point[axis].checked_sub(1)), ("+", Some(point[axis] + 1))] {
            let at = match at {
                Some(at) if at < side => at,
                _ if !grid.wraps(axis) || side < 2 => continue,
                None => side - 1,
                Some(_) => 0,
            };
            let mut beside = point;
            beside[axis] = at;
            let other = ranks.get(&grid.id(beside)).filter(|_| beside != point);
            found.extend(other.map(|rank| format!("{sign}{letter}={rank}")));
        }
    }
    found.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_ranks_of_the_same_job() {
        let grid: Grid = "torus:4x2".parse().unwrap();
        let whole: HashMap<NodeId, usize> = (0..8).map(|id| (NodeId(id), id as usize)).collect();
        assert_eq!(neighbours(&grid, &whole, NodeId(0)), "-x=3 +x=1 -y=4 +y=4");
        let two = HashMap::from([(NodeId(3), 0), (NodeId(0), 1)]);
        assert_eq!(neighbours(&grid, &two, NodeId(0)), "-x=0");
        let mesh: Grid = "mesh:4x2".parse().unwrap();
        assert_eq!(neighbours(&mesh, &whole, NodeId(0)), "+x=1 +y=4");
    }
}
