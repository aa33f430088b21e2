//! GABL's busy list and search. The search follows right border lines in 2D if the y axis does not
//! wrap, and right border planes otherwise.
//!
//! Invariant: [`BusySearch::next`] returns the box that the plain search [`BusySearch::first`]
//! would find if the proposed boxes were in the list.
//!
//! Cost with B boxes: O(B) to find the next box, or O(nodes next to the bases) if that is less. The
//! plain search takes O(B^2). Adding or removing a box takes O(log B), plus O(nodes in the box).

use pavior_mesh::{BaseSet, Cuboid, Grid, Sides};

use crate::strategies::shared::busy_list::BusyList;
use crate::strategies::shared::right_borders::lines::RightBorders;
use crate::strategies::shared::right_borders::planes::{BorderPlanes, BusyBoxes};
use crate::strategies::shared::right_borders::planes_plain::PlaneSubtraction;
use crate::{Placement, Work};

/// A busy list with the search that suits the machine.
#[derive(Clone)]
pub(super) enum BusySearch {
    Lines(RightBorders),
    Planes(PlaneSearch),
}

#[derive(Clone)]
pub(super) struct PlaneSearch {
    plain: PlaneSubtraction,
    engine: BorderPlanes,
    list: BusyList,
}

impl BusySearch {
    pub(super) fn new(grid: Grid) -> BusySearch {
        if RightBorders::supports(&grid).is_ok() {
            return BusySearch::Lines(RightBorders::with_owners(grid));
        }
        BusySearch::Planes(PlaneSearch {
            plain: PlaneSubtraction::new(grid),
            engine: BorderPlanes::new(grid),
            list: BusyList::default().with_owners(grid),
        })
    }

    /// Finds the first free box of a shape with the plain search.
    pub(super) fn first(&mut self, shape: Sides) -> Option<Cuboid> {
        match self {
            BusySearch::Lines(lines) => lines.first(shape),
            BusySearch::Planes(planes) => planes.plain.first(planes.list.boxes(), shape),
        }
    }

    /// Starts a search restricted to the bases of a shape.
    pub(super) fn begin(&mut self, bases: &BaseSet) {
        match self {
            BusySearch::Lines(lines) => lines.begin(bases),
            BusySearch::Planes(planes) => planes.engine.begin(bases, &BusyBoxes::of(&planes.list)),
        }
    }

    /// Finds the box that [`BusySearch::first`] would find if the proposed boxes were busy. Since
    /// [`BusySearch::begin`], bases may have been removed, but none may have been added.
    pub(super) fn next(&mut self, bases: &BaseSet) -> Option<Cuboid> {
        match self {
            BusySearch::Lines(lines) => lines.next(bases),
            BusySearch::Planes(planes) => planes.engine.next(&BusyBoxes::of(&planes.list), bases),
        }
    }

    /// Treats a box as busy until [`BusySearch::withdraw`] is called.
    pub(super) fn propose(&mut self, piece: Cuboid) {
        match self {
            BusySearch::Lines(lines) => lines.propose(piece),
            BusySearch::Planes(planes) => planes.list.propose(piece),
        }
    }

    /// Removes all proposed boxes.
    pub(super) fn withdraw(&mut self) {
        match self {
            BusySearch::Lines(lines) => lines.withdraw(),
            BusySearch::Planes(planes) => planes.list.withdraw(),
        }
    }

    pub(super) fn list(&self) -> &BusyList {
        match self {
            BusySearch::Lines(lines) => lines.list(),
            BusySearch::Planes(planes) => &planes.list,
        }
    }

    pub(super) fn work(&self) -> Work {
        match self {
            BusySearch::Lines(lines) => lines.work(),
            BusySearch::Planes(planes) => {
                planes.plain.work() + planes.engine.work() + planes.list.work()
            }
        }
    }

    pub(super) fn add(&mut self, placement: &Placement) {
        match self {
            BusySearch::Lines(lines) => lines.add(placement),
            BusySearch::Planes(planes) => planes.list.add(placement),
        }
    }

    pub(super) fn remove(&mut self, placement: &Placement) {
        match self {
            BusySearch::Lines(lines) => lines.remove(placement),
            BusySearch::Planes(planes) => planes.list.remove(placement),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_kernel::Stream;
    use pavior_mesh::{NodeId, Occupancy};

    /// The search by bases must find the same boxes in the same order as the plain search. It looks
    /// boxes up by node in long lists, and iterates over short ones.
    #[test]
    fn the_boxes_found_by_bases_are_those_of_the_list() {
        for (grid, busy) in [
            (Grid::torus(&[12, 9, 7]).unwrap(), 350),
            (Grid::mesh(&[12, 9, 7]).unwrap(), 400),
            (Grid::torus(&[12, 9, 7]).unwrap(), 60),
            (Grid::mesh(&[40, 25]).unwrap(), 500),
        ] {
            let mut dice = Stream::new(5, 0, "border walk");
            for _ in 0..12 {
                let mut free = Occupancy::all_free(grid);
                let mut search = BusySearch::new(grid);
                while search.list().boxes().len() < busy {
                    let base = grid.point(NodeId(dice.below(u64::from(grid.nodes())) as u32));
                    let part = Cuboid::new(base, [1 + dice.below(2) as u16, 1, 1]);
                    if part.lies_on(&grid) && free.is_free(&part) {
                        free.take(&part).unwrap();
                        search.add(&Placement::Whole(part));
                    }
                }
                for shape in [[3, 2, 1], [2, 2, 2], [1, 3, 1], [2, 1, 1], [1, 1, 1]] {
                    if grid.fits(shape) {
                        assert_same(&search, &free, shape);
                    }
                }
            }
        }
    }

    /// Compares the first 20 boxes that each search finds for a shape.
    fn assert_same(search: &BusySearch, free: &Occupancy, shape: Sides) {
        let (mut engine, mut plain) = (search.clone(), search.clone());
        let mut bases = BaseSet::new(*free.grid());
        bases.compute(free, shape);
        engine.begin(&bases);
        for _ in 0..20 {
            let found = engine.next(&bases);
            assert_eq!(found, plain.first(shape), "{shape:?} on {}", free.grid());
            let Some(found) = found else { return };
            engine.propose(found);
            bases.cover(&found);
            plain.add(&Placement::Whole(found));
        }
        engine.withdraw();
    }
}
