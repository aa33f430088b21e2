//! Slots: how many boxes of a shape can be placed side by side on the free nodes.
//!
//! 1. All free places of the shape are listed, in each of its orientations.
//! 2. [`bound`] counts nodes that every place must use: no more boxes than that are disjoint.
//! 3. [`greedy`] packs places that are aligned with each other, and then what still fits. On an
//!    empty machine, and on most machines that are nearly empty, it meets the bound.
//! 4. Else places that overlap are joined in a graph of [`conflicts`], and [`disjoint`] finds a
//!    largest set without a conflict, component by component, within a budget.
//!
//! Steps 1 to 3 cost O(N + P V / 64) for N nodes and P places of V nodes, step 4 O(P^2 / 64) and
//! the search, whose worst case is exponential. The problem is NP-hard (Fowler, Paterson &
//! Tanimoto, "Optimal packing and covering in the plane are NP-complete", 1981).

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

/// The most places that are listed. Of more, the first that fit side by side are taken.
const LISTED: usize = 8_192;

/// How many boxes of a shape can be placed side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Free boxes of the shape, disjoint.
    pub boxes: Vec<Cuboid>,
    /// No more disjoint boxes of the shape are free: at least the number of `boxes`.
    pub bound: u32,
}

impl Slots {
    /// Whether there are certainly no more.
    pub fn proven(&self) -> bool {
        self.boxes.len() as u32 == self.bound
    }
}

/// The most disjoint boxes of some shapes, in any mixture, that are free at once.
///
/// The search stops after `budget` words of bit sets looked at. Then the answer is the best that
/// was found, with a bound.
///
/// ```
/// use pavior_mesh::{Cuboid, Grid, Occupancy};
/// use pavior_answers::{SearchLimits, Shape, slots};
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
    if bases.iter().map(|bases| bases.count() as usize).sum::<usize>() > LISTED {
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

/// The sides that the shapes may have on a grid, each once.
fn all_sides(shapes: &[Shape], grid: &Grid) -> Vec<Sides> {
    let mut all: Vec<Sides> = Vec::new();
    for sides in shapes.iter().flat_map(|shape| shape.orientations(grid)) {
        if !all.contains(&sides) {
            all.push(sides);
        }
    }
    all
}

/// The bases at which a box is free.
fn bases_of(free: &Occupancy, sides: Sides) -> BaseSet {
    let mut bases = BaseSet::new(*free.grid());
    bases.compute(free, sides);
    bases
}
