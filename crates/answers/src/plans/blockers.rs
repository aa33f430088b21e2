//! Blockers: the place of a box that it costs least to empty.
//!
//! Of all places of the box, in any orientation: of those with the fewest nodes that are not
//! available the one whose jobs weigh least together. A job counts once, with all its weight,
//! however many of its nodes lie there. Ties go to the earlier orientation, then to the earlier
//! base, row-major. Exact.
//!
//! O(jobs + N) an orientation; less where few jobs end in a row of places: see `windows.rs`, also
//! for jobs of several parts.

use pavior_mesh::{Cuboid, JobId, NodeId};

use crate::plans::windows::{Cost, Costs, Layers, Places};
use crate::{Shape, Snapshot, Weights};

/// A place, and who stands in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blockers {
    /// The place.
    pub at: Cuboid,
    /// What its jobs weigh together; 0 where none holds a node.
    pub weight: u64,
    /// The jobs that hold nodes in it, by number.
    pub jobs: Vec<JobId>,
    /// The nodes in it that are not available, row-major; none if there is a place without.
    pub unavailable: Vec<NodeId>,
}

/// The place that it costs least to empty; `None` if the machine has no such box. O(j + N) an
/// orientation for j jobs on N nodes.
pub fn blockers(snapshot: &Snapshot, shape: Shape, weights: &Weights) -> Option<Blockers> {
    let grid = snapshot.grid;
    let mut best: Option<(Cost, Cuboid)> = None;
    for sides in shape.orientations(&grid) {
        let places = Places::of(&grid, sides);
        let costs = Costs::of(snapshot, &places, &snapshot.healthy, |job| weights.0[job]);
        let (mut least, mut at) = (best.map_or(Cost::MAX, |(least, _)| least), None);
        costs.each(Layers::Falling, |cost, base| {
            if cost < least {
                (least, at) = (cost, Some(base));
            }
        });
        best = at.map(|base| (least, places.at(base))).or(best);
    }
    best.map(|(cost, at)| {
        let weight = cost as u64;
        let mut unavailable: Vec<NodeId> =
            at.nodes(&grid).filter(|&node| !snapshot.healthy.is_node_free(node)).collect();
        unavailable.sort_unstable();
        Blockers { at, weight, jobs: jobs_in(snapshot, &at, |_| true), unavailable }
    })
}

/// Returns the jobs that hold nodes in a box, of those that can.
pub(crate) fn jobs_in(snapshot: &Snapshot, at: &Cuboid, can: impl Fn(JobId) -> bool) -> Vec<JobId> {
    let meets = |parts: &[Cuboid]| parts.iter().any(|part| part.intersects(&snapshot.grid, at));
    let jobs = snapshot.jobs.iter().filter(|(job, _)| can(*job));
    jobs.filter(|(_, held)| meets(held.parts())).map(|(job, _)| *job).collect()
}
