//! Counts slots, that is, disjoint free boxes of a shape.
//!
//! 1. [`slots`] lists all free placements of the shape, in each orientation.
//! 2. [`bound`] computes an upper bound on the number of disjoint placements, based on nodes that
//!    every placement must contain.
//! 3. [`greedy`] packs mutually aligned placements, and then any others that still fit. On empty
//!    machines, and on most nearly empty ones, this packing reaches the bound.
//! 4. If the bound is not reached, a graph of [`conflicts`] links overlapping placements.
//!    [`disjoint`] finds the largest set without conflicts, component by component, within a
//!    budget.
//!
//! Steps 1 to 3 take O(N + P V / 64) time for N nodes and P placements of V nodes. Step 4 takes
//! O(P^2 / 64) time plus the search, which is exponential in the worst case. The problem is NP-hard
//! (Fowler, Paterson & Tanimoto, "Optimal packing and covering in the plane are NP-complete",
//! 1981).

mod after;
mod answer;
mod bound;
mod conflicts;
mod disjoint;
mod greedy;
mod next;

use pavior_mesh::{BaseSet, Cuboid, Grid, Occupancy, Sides};

use crate::Shape;
pub(crate) use after::after_moves;
pub use answer::SlotsAnswer;
pub use next::{NextSlot, next_slot};

use crate::plans::plan::Budget;
use bound::at_most;
use conflicts::Conflicts;
use disjoint::most_disjoint;
use greedy::{aligned, in_turn};

/// The maximum number of placements to list. If there are more, the result is a greedy packing.
const LISTED: usize = 8_192;

/// A set of disjoint free boxes of a shape, and an upper bound on the number of such boxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The boxes found.
    pub boxes: Vec<Cuboid>,
    /// An upper bound on the number of disjoint free boxes.
    pub bound: u32,
}

impl Slots {
    /// Returns true if it is proven that no more boxes fit.
    pub fn proven(&self) -> bool {
        self.boxes.len() as u32 == self.bound
    }
}

/// Finds a maximum set of disjoint free boxes, in any mixture of the given shapes.
///
/// The search stops after reading `budget` bit-set words. In that case, the answer is the best set
/// found so far, with a bound.
///
/// ```
/// # mod pavior { pub use pavior_answers as answers; pub use pavior_mesh::*; }
/// use pavior::answers::{SearchLimits, Shape, slots};
/// use pavior::{Cuboid, Grid, Occupancy};
/// let mut free = Occupancy::all_free(Grid::mesh(&[5, 4])?);
/// free.take(&Cuboid::new([2, 1], [1, 2])).unwrap();
/// let slots = slots(&free, &[Shape::new([2, 2, 1])], SearchLimits::BUDGET);
/// assert_eq!((slots.boxes.len(), slots.bound), (4, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn slots(free: &Occupancy, shapes: &[Shape], budget: u64) -> Slots {
    let grid = *free.grid();
    let mut budget = Budget { left: budget };
    let sides = all_sides(shapes, &grid);
    let bases: Vec<BaseSet> = sides.iter().map(|&sides| bases_of(free, sides)).collect();
    let places = bases
        .iter()
        .flat_map(|bases| bases.row_major().map(|base| Cuboid::new(base, bases.shape())));
    if bases.iter().map(|bases| u64::from(bases.count())).sum::<u64>() > LISTED as u64 {
        let boxes = in_turn(free, places);
        let bound = at_most(&grid, &sides, &free.iter().collect::<Vec<_>>());
        return Slots { bound: bound.max(boxes.len() as u32), boxes };
    }
    let places: Vec<Cuboid> = places.collect();
    budget.spend(bases.iter().map(BaseSet::words_touched).sum());
    let covered = bound::covered(&grid, &places);
    let bound = at_most(&grid, &sides, &covered);
    let boxes = aligned(free, &sides, &places);
    if boxes.len() as u32 >= bound {
        return Slots { bound: boxes.len() as u32, boxes };
    }
    let searched = most_disjoint(&Conflicts::of(&grid, &places), &mut budget);
    let bound = bound.min(searched.bound);
    if searched.chosen.len() <= boxes.len() {
        return Slots { boxes, bound };
    }
    Slots { boxes: searched.chosen.into_iter().map(|place| places[place]).collect(), bound }
}

/// Returns the sides that the shapes can have on a grid, without duplicates.
fn all_sides(shapes: &[Shape], grid: &Grid) -> Vec<Sides> {
    let mut all: Vec<Sides> = Vec::new();
    for sides in shapes.iter().flat_map(|shape| shape.orientations(grid)) {
        if !all.contains(&sides) {
            all.push(sides);
        }
    }
    all
}

fn bases_of(free: &Occupancy, sides: Sides) -> BaseSet {
    let mut bases = BaseSet::new(*free.grid());
    bases.compute(free, sides);
    bases
}
