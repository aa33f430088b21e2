//! The engine that searches along the right border lines of busy boxes in 2D, for RBS and GABL.
//!
//! ```text
//!   . . .      b: the right border line of the box # for a request of height 2. It goes from the
//!   # # b      top row of the box down to the last base at which the request touches the box.
//!   # # b      The left border of the machine is also a line.
//!   . . b
//! ```
//!
//! The plain search subtracts every box from every line (`lines_plain.rs`). The engine receives the
//! set of all bases and chooses the base that the plain search would find. A search first calls
//! [`RightBorders::begin`], and then [`RightBorders::next`] for each base.
//!
//! Invariant: boxes are sorted by top row, highest first. A segment above one box is above all
//! later boxes, so only one segment of each line needs to be kept.
//!
//! Cost: O(B) for B boxes, because the engine visits one box per line, and O(log B) to add or
//! remove a box.

use pavior_mesh::{BaseSet, Cuboid, Grid};

use crate::kind::Unsupported;
use crate::strategies::shared::busy_list::BusyList;
use crate::strategies::shared::coverage::{AxisRange, covered};
use crate::strategies::shared::right_borders::walk::{BorderWalk, List};
use crate::{Placement, Work};

/// A busy list searched along right border lines. It is sorted by top row, highest first.
#[derive(Clone)]
pub(crate) struct RightBorders {
    pub(super) grid: Grid,
    pub(super) busy: BusyList,
    /// Boxes that temporarily count as busy while a proposal is built, also sorted by top row.
    proposed: Vec<Cuboid>,
    /// The current search's progress through the boxes.
    walk: BorderWalk,
    pub(super) work: Work,
}

/// Returns the y coordinate of a box's top row.
fn top(held: &Cuboid) -> u16 {
    held.base[1] + held.sides[1] - 1
}

impl RightBorders {
    /// Checks that the search works correctly on a grid.
    ///
    /// # Errors
    /// Returns an error if the machine is not 2D or if its y axis wraps. (A line on a ring can be
    /// cut into two segments.)
    pub(crate) fn supports(grid: &Grid) -> Result<(), Unsupported> {
        if grid.side(2) > 1 {
            return Err(Unsupported("its border lines are defined only in two dimensions".into()));
        }
        if grid.wraps(1) && grid.side(1) > 1 {
            return Err(Unsupported(
                "it keeps only one segment per line, too few if the y axis wraps".into(),
            ));
        }
        Ok(())
    }

    pub(crate) fn new(grid: Grid) -> RightBorders {
        let busy = BusyList::by(|held| u16::MAX - top(held));
        let (proposed, walk) = (Vec::new(), BorderWalk::default());
        RightBorders { grid, busy, proposed, walk, work: Work::default() }
    }

    /// Creates the search like [`RightBorders::new`], but with a list that also stores which box
    /// contains each node. This makes searches faster when there are few bases.
    pub(crate) fn with_owners(grid: Grid) -> RightBorders {
        let mut borders = RightBorders::new(grid);
        borders.busy = borders.busy.with_owners(grid);
        borders
    }

    pub(crate) fn add(&mut self, placement: &Placement) {
        self.busy.add(placement);
    }

    pub(crate) fn remove(&mut self, placement: &Placement) {
        self.busy.remove(placement);
    }

    /// Returns the work done so far: lines searched, busy boxes compared with lines, and boxes
    /// added and removed by grants and releases.
    pub(crate) fn work(&self) -> Work {
        self.work + self.busy.work()
    }

    pub(crate) fn list(&self) -> &BusyList {
        &self.busy
    }

    /// Starts a search restricted to the bases of a shape.
    pub(crate) fn begin(&mut self, bases: &BaseSet) {
        self.walk.begin(bases, Some(&self.busy));
    }

    /// Returns the box that [`RightBorders::first`] would find, which is at the lowest base in the
    /// highest run on the first line with a base. Bases may have been removed since
    /// [`RightBorders::begin`], but not added.
    pub(crate) fn next(&mut self, bases: &BaseSet) -> Option<Cuboid> {
        if self.walk.has_left_face() {
            self.work.boxes += 1;
            let whole = AxisRange { low: 0, high: self.grid.starts(1, bases.shape()[1]) - 1 };
            let found = base_of_highest_run(bases, 0, whole);
            if found.is_some() {
                return found;
            }
            self.walk.pass_left_face();
        }
        self.walk.skip_to_first(Some(&self.busy), bases);
        match [List::Granted, List::Proposed].map(|list| self.next_in(list, bases)) {
            // The box with the higher top row comes first. Ties go to the granted box.
            [Some((granted_top, _)), Some((proposed_top, found))] if proposed_top > granted_top => {
                Some(found)
            }
            [granted, proposed] => granted.or(proposed).map(|(_, found)| found),
        }
    }

    /// Finds the next base directly to the right of a box in the given list. Returns the box's top
    /// row and the placement at the base.
    fn next_in(&mut self, list: List, bases: &BaseSet) -> Option<(u16, Cuboid)> {
        let boxes = match list {
            List::Granted => self.busy.boxes(),
            List::Proposed => &self.proposed,
        };
        loop {
            // Count both the boxes passed and the box at which the walk stops.
            let before = self.walk.passed(list);
            let stop = self.walk.next(list, boxes, Some(&self.busy));
            self.work.boxes += (self.walk.passed(list) - before) as u64 + 1;
            let stop = stop?;
            let held = &boxes[stop.index];
            if let Some(line) = covered(&self.grid, 1, held, bases.shape()[1])[0]
                && let Some(found) = base_of_highest_run(bases, stop.x, line)
            {
                return Some((top(held), found));
            }
            self.walk.pass(list);
        }
    }

    /// Treats a box as busy until [`RightBorders::withdraw`] is called.
    pub(crate) fn propose(&mut self, part: Cuboid) {
        let index = self.proposed.partition_point(|other| top(other) >= top(&part));
        self.proposed.insert(index, part);
        self.walk.turn_back(List::Proposed, index);
    }

    /// Discards the proposed boxes.
    pub(crate) fn withdraw(&mut self) {
        self.proposed.clear();
    }
}

/// Returns the placement at the lowest base in the highest run of bases on a line.
fn base_of_highest_run(bases: &BaseSet, x: u16, line: AxisRange) -> Option<Cuboid> {
    let is_base = |y: &u16| bases.contains([x, *y, 0]);
    let highest = (line.low..=line.high).rev().find(is_base)?;
    let lowest = (line.low..=highest).rev().take_while(is_base).last()?;
    Some(Cuboid::new([x, lowest, 0], bases.shape()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_mesh::Occupancy;

    fn free_but(busy: &[Cuboid], grid: Grid) -> Occupancy {
        let mut free = Occupancy::all_free(grid);
        for held in busy {
            free.take(held).unwrap();
        }
        free
    }

    /// The order of the list affects correctness, not just speed: with the same boxes in grant
    /// order, the search offers busy nodes.
    #[test]
    fn an_unsorted_list_offers_overlaps() {
        let grid = Grid::mesh(&[4, 4]).unwrap();
        let mut boxes = Vec::new();
        for b in 1..=4 {
            for a in 1..=4 {
                let sides = [a, b, 1];
                let bases = pavior_mesh::Scan::default().bases(grid, sides);
                boxes.extend(bases.map(|base| Cuboid::new(base, sides)));
            }
        }
        let mut unsafe_offers = [0, 0];
        for &first in &boxes {
            for &second in boxes.iter().filter(|second| !first.intersects(&grid, second)) {
                let mut unsorted = RightBorders::new(grid);
                unsorted.busy = BusyList::default();
                unsorted.add(&Placement::Parts(vec![first, second]));
                let mut sorted = RightBorders::new(grid);
                sorted.add(&Placement::Parts(vec![first, second]));
                let free = free_but(&[first, second], grid);
                for (index, mut borders) in [unsorted, sorted].into_iter().enumerate() {
                    for sides in [[1, 1, 1], [2, 1, 1], [1, 2, 1], [2, 2, 1], [3, 2, 1]] {
                        let offer = borders.first(sides);
                        let bad = offer.is_some_and(|offer| !free.is_free(&offer));
                        unsafe_offers[index] += u32::from(bad);
                    }
                }
            }
        }
        assert_eq!(unsafe_offers, [2_640, 0], "unsorted, sorted");
    }
}
