//! Blockers: the position that is cheapest to clear for a box, and the jobs that occupy that
//! position.
//!
//! The cheapest box, over all positions and orientations, is the one with the fewest unavailable
//! nodes. Ties go to the box whose jobs have the smallest total weight. A job counts once, with its
//! whole weight, even if only some of its nodes are in the box. Remaining ties go to the earlier
//! orientation, then to the earlier base in row-major order. The answer is exact.
//!
//! Cost: O(jobs + N) time per orientation, or less if the jobs' boxes end in only a few layers. See
//! `windows.rs` for details, including jobs with several parts.

use pavior_mesh::{Cuboid, JobId, NodeId};

use crate::plans::windows::{Cost, Costs, Layers, Places};
use crate::{Shape, Snapshot, Weights};

/// A place and the jobs in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blockers {
    /// The cheapest place to empty.
    pub at: Cuboid,
    /// The total weight of the jobs that hold nodes in the place, or 0 if there are none.
    pub weight: u64,
    /// The jobs that hold nodes in the place, ordered by number.
    pub jobs: Vec<JobId>,
    /// The unavailable nodes in the place, in row-major order. Empty if some place has no
    /// unavailable nodes.
    pub unavailable: Vec<NodeId>,
}

/// Finds the cheapest place to empty. Returns `None` if the box does not fit on the machine. Takes
/// O(j + N) time per orientation for j jobs on N nodes.
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

/// Returns the jobs accepted by `can` that hold nodes in a box.
pub(crate) fn jobs_in(snapshot: &Snapshot, at: &Cuboid, can: impl Fn(JobId) -> bool) -> Vec<JobId> {
    let meets = |parts: &[Cuboid]| parts.iter().any(|part| part.intersects(&snapshot.grid, at));
    let jobs = snapshot.jobs.iter().filter(|(job, _)| can(*job));
    jobs.filter(|(_, held)| meets(held.parts())).map(|(job, _)| *job).collect()
}
