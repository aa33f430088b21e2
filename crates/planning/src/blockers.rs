//! Blockers: the place of a box that it costs least to empty.
//!
//! Of all places of the box, in any orientation, none of whose nodes has failed: the one whose jobs
//! weigh least together. A job counts once, with all its weight, however many of its nodes lie
//! there. Ties go to the earlier orientation, then to the earlier base, row-major. Exact.
//!
//! O(jobs + N) an orientation; see `windows.rs` for jobs of several parts.

use pavior_mesh::{Cuboid, JobId, Scan};

use crate::windows::{Places, barred, over_jobs};
use crate::{Shape, Snapshot, Weights};

/// A place, and who stands in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blockers {
    /// The place.
    pub at: Cuboid,
    /// What its jobs weigh together; 0 where it is free.
    pub weight: u64,
    /// The jobs that hold nodes in it, by number.
    pub jobs: Vec<JobId>,
}

/// The place of least weight; `None` if no place of the box on the machine is without failed nodes.
pub fn blockers(snapshot: &Snapshot, shape: Shape, weights: &Weights) -> Option<Blockers> {
    let grid = snapshot.grid;
    let mut best: Option<(u64, Cuboid)> = None;
    for sides in shape.orientations(&grid) {
        let places = Places::of(&grid, sides);
        let barred = barred(&places, &snapshot.healthy);
        let sums = over_jobs(snapshot, &places, |job| weights.0[job]);
        let bases = Scan::default().bases(grid, sides);
        for base in bases.filter(|&base| barred.as_ref().is_none_or(|barred| barred.at(base) == 0))
        {
            let weight = sums.at(base);
            if best.is_none_or(|(least, _)| weight < least) {
                best = Some((weight, places.at(base)));
            }
        }
    }
    best.map(|(weight, at)| Blockers { at, weight, jobs: jobs_in(snapshot, &at) })
}

/// The jobs that hold nodes in a box.
fn jobs_in(snapshot: &Snapshot, at: &Cuboid) -> Vec<JobId> {
    let meets = |parts: &[Cuboid]| parts.iter().any(|part| part.intersects(&snapshot.grid, at));
    snapshot.jobs().filter(|(_, parts)| meets(parts)).map(|(job, _)| job).collect()
}
