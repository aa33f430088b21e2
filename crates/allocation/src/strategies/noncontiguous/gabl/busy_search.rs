//! GABL's busy list: border lines in a plane whose y does not wrap, border planes elsewhere.

use pavior_mesh::{BaseSet, Cuboid, Grid, Sides};

use crate::strategies::shared::busy_list::BusyList;
use crate::strategies::shared::right_borders::lines::RightBorders;
use crate::strategies::shared::right_borders::planes::{BorderPlanes, BusyBoxes};
use crate::{Placement, Work};

/// A busy list with its search, as the machine allows.
#[derive(Clone)]
pub(crate) enum BorderWalk {
    Lines(RightBorders),
    Planes(BorderPlanes, BusyList),
}

impl BorderWalk {
    /// Nothing is busy.
    pub(crate) fn new(grid: Grid) -> BorderWalk {
        if RightBorders::supports(&grid).is_ok() {
            return BorderWalk::Lines(RightBorders::with_owners(grid));
        }
        let list = BusyList::default().with_owners(grid);
        BorderWalk::Planes(BorderPlanes::new(grid), list)
    }

    /// The first free box of a shape, by the boxes alone.
    pub(crate) fn first(&mut self, shape: Sides) -> Option<Cuboid> {
        match self {
            BorderWalk::Lines(lines) => lines.first(shape),
            BorderWalk::Planes(planes, list) => planes.first(list.boxes(), shape),
        }
    }

    /// Begins to ask for boxes by the set of all bases of a shape.
    pub(crate) fn begin(&mut self, bases: &BaseSet) {
        match self {
            BorderWalk::Lines(lines) => lines.begin(bases),
            BorderWalk::Planes(planes, list) => planes.begin(bases, &BusyBoxes::of(list)),
        }
    }

    /// What [`BorderWalk::first`] would find if what is proposed were in the list. Since
    /// [`BorderWalk::begin`] bases may only have vanished.
    pub(crate) fn next(&mut self, bases: &BaseSet) -> Option<Cuboid> {
        match self {
            BorderWalk::Lines(lines) => lines.next(bases),
            BorderWalk::Planes(planes, list) => planes.next(&BusyBoxes::of(list), bases),
        }
    }

    /// A box counts as busy until [`BorderWalk::withdraw`].
    pub(crate) fn propose(&mut self, piece: Cuboid) {
        match self {
            BorderWalk::Lines(lines) => lines.propose(piece),
            BorderWalk::Planes(_, list) => list.propose(piece),
        }
    }

    /// Nothing is proposed any more.
    pub(crate) fn withdraw(&mut self) {
        match self {
            BorderWalk::Lines(lines) => lines.withdraw(),
            BorderWalk::Planes(_, list) => list.withdraw(),
        }
    }

    /// The list itself.
    pub(crate) fn list(&self) -> &BusyList {
        match self {
            BorderWalk::Lines(lines) => lines.list(),
            BorderWalk::Planes(_, list) => list,
        }
    }

    pub(crate) fn work(&self) -> Work {
        match self {
            BorderWalk::Lines(lines) => lines.work(),
            BorderWalk::Planes(planes, list) => planes.work() + list.work(),
        }
    }

    pub(crate) fn add(&mut self, placement: &Placement) {
        match self {
            BorderWalk::Lines(lines) => lines.add(placement),
            BorderWalk::Planes(_, list) => list.add(placement),
        }
    }

    pub(crate) fn remove(&mut self, placement: &Placement) {
        match self {
            BorderWalk::Lines(lines) => lines.remove(placement),
            BorderWalk::Planes(_, list) => list.remove(placement),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_kernel::Stream;
    use pavior_mesh::{NodeId, Occupancy};

    /// Long lists are searched by the boxes of nodes, short ones along the list: either way the
    /// boxes are those that the search of the list finds, one after the other, and a copy finds the
    /// same.
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
                let mut walk = BorderWalk::new(grid);
                while walk.list().boxes().len() < busy {
                    let base = grid.point(NodeId(dice.below(u64::from(grid.nodes())) as u32));
                    let part = Cuboid::new(base, [1 + dice.below(2) as u16, 1, 1]);
                    if part.lies_on(&grid) && free.is_free(&part) {
                        free.take(&part).unwrap();
                        walk.add(&Placement::Whole(part));
                    }
                }
                for shape in [[3, 2, 1], [2, 2, 2], [1, 3, 1], [2, 1, 1], [1, 1, 1]] {
                    if grid.fits(shape) {
                        assert_same(&walk, &free, shape);
                    }
                }
            }
        }
    }

    /// The first 20 boxes of a shape.
    fn assert_same(walk: &BorderWalk, free: &Occupancy, shape: Sides) {
        let (mut engine, mut plain) = (walk.clone(), walk.clone());
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
