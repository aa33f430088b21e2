//! GABL's busy list: border lines in a plane whose y does not wrap, border planes elsewhere.

use pavior_mesh::{BaseSet, Cuboid, Grid, Sides};

use super::border_planes::{BorderPlanes, BusyBoxes};
use super::busy_list::BusyList;
use super::right_borders::RightBorders;
use crate::{Placement, Work};

/// A busy list with its search, as the machine allows.
#[derive(Clone)]
pub(in crate::strategies) enum BorderWalk {
    Lines(RightBorders),
    Planes(BorderPlanes, BusyList),
}

impl BorderWalk {
    /// Nothing is busy.
    pub(in crate::strategies) fn new(grid: Grid) -> BorderWalk {
        if RightBorders::supports(&grid).is_ok() {
            return BorderWalk::Lines(RightBorders::with_owners(grid));
        }
        let list = BusyList::default().with_owners(grid);
        BorderWalk::Planes(BorderPlanes::new(grid), list)
    }

    /// The first free box of a shape, by the boxes alone.
    pub(in crate::strategies) fn first(&mut self, shape: Sides) -> Option<Cuboid> {
        match self {
            BorderWalk::Lines(lines) => lines.first(shape),
            BorderWalk::Planes(planes, list) => planes.first(list.boxes(), shape),
        }
    }

    /// Begins to ask for boxes by the set of all bases of a shape.
    pub(in crate::strategies) fn begin(&mut self, bases: &BaseSet) {
        match self {
            BorderWalk::Lines(lines) => lines.begin(bases),
            BorderWalk::Planes(planes, list) => {
                list.know_owners();
                planes.begin(bases, &BusyBoxes::of(list));
            }
        }
    }

    /// What [`BorderWalk::first`] would find if what is proposed were in the list. Since
    /// [`BorderWalk::begin`] bases may only have vanished.
    pub(in crate::strategies) fn next(&mut self, bases: &BaseSet) -> Option<Cuboid> {
        match self {
            BorderWalk::Lines(lines) => lines.next(bases),
            BorderWalk::Planes(planes, list) => planes.next(&BusyBoxes::of(list), bases),
        }
    }

    /// A box counts as busy until [`BorderWalk::withdraw`].
    pub(in crate::strategies) fn propose(&mut self, piece: Cuboid) {
        match self {
            BorderWalk::Lines(lines) => lines.propose(piece),
            BorderWalk::Planes(_, list) => list.propose(piece),
        }
    }

    /// Nothing is proposed any more.
    pub(in crate::strategies) fn withdraw(&mut self) {
        match self {
            BorderWalk::Lines(lines) => lines.withdraw(),
            BorderWalk::Planes(_, list) => list.withdraw(),
        }
    }

    /// The list itself.
    pub(in crate::strategies) fn list(&self) -> &BusyList {
        match self {
            BorderWalk::Lines(lines) => lines.list(),
            BorderWalk::Planes(_, list) => list,
        }
    }

    pub(in crate::strategies) fn work(&self) -> Work {
        match self {
            BorderWalk::Lines(lines) => lines.work(),
            BorderWalk::Planes(planes, list) => planes.work() + list.work(),
        }
    }

    pub(in crate::strategies) fn add(&mut self, placement: &Placement) {
        match self {
            BorderWalk::Lines(lines) => lines.add(placement),
            BorderWalk::Planes(_, list) => list.add(placement),
        }
    }

    pub(in crate::strategies) fn remove(&mut self, placement: &Placement) {
        match self {
            BorderWalk::Lines(lines) => lines.remove(placement),
            BorderWalk::Planes(_, list) => list.remove(placement),
        }
    }
}
