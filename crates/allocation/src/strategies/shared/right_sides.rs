//! A walk along a busy list to the boxes on whose right side there may be bases: RBS, BL, TBL and GABL.

use pavior_mesh::{BaseSet, Cuboid};

use super::busy_list::BusyList;

/// The columns of the machine in which a shape has bases, and how far the walk has come.
///
/// Bases may vanish while the walk goes on: it then stops at boxes that have none left beside them, but
/// passes none that has. What it has passed need not be looked at again.
#[derive(Clone, Debug, Default)]
pub(in crate::strategies) struct RightSides {
    /// The side of the machine along x.
    side: u32,
    /// Bit x % 64 of word x / 64.
    columns: Vec<u64>,
    /// Whether there are so few bases that the boxes beside them are found from there.
    is_sparse: bool,
    /// By list, that of the machine and that of what is proposed: the boxes that were passed.
    pub(in crate::strategies) passed: [usize; 2],
}

impl RightSides {
    /// Begins a walk; along a list that knows the box of each node, if it is given. O(words).
    pub(in crate::strategies) fn begin(&mut self, bases: &BaseSet, list: Option<&BusyList>) {
        self.side = u32::from(bases.grid().side(0));
        bases.columns_into(&mut self.columns);
        self.is_sparse = list.is_some_and(|list| list.is_sparse(bases));
        self.passed = [0; 2];
    }

    /// Whether there may be a base in column 0, on the left face of the machine.
    pub(in crate::strategies) fn has_left_face(&self) -> bool {
        self.columns[0] & 1 == 1
    }

    /// No base is left in column 0. From then on the walk goes along the boxes: one at the right border
    /// of a mesh has nothing beside it, and beside one that ends a ring is column 0.
    pub(in crate::strategies) fn pass_left_face(&mut self) {
        self.columns[0] &= !1;
    }

    /// Passes the boxes of the machine's list before the first that has a base beside it, if there are so
    /// few bases that this is less work than to walk.
    pub(in crate::strategies) fn skip(&mut self, list: &BusyList, bases: &BaseSet) {
        if self.is_sparse {
            self.passed[0] = list.first_beside(bases);
        }
    }

    /// Goes on to the first box of a list, 0 or 1, that has a column with bases beside it.
    pub(in crate::strategies) fn go_on(&mut self, list: usize, boxes: &[Cuboid]) -> Option<Stop> {
        let from = self.passed[list];
        let right_of = |held: &Cuboid| {
            let right = u32::from(held.base[0]) + u32::from(held.sides[0]);
            if right >= self.side { right - self.side } else { right }
        };
        let rest = boxes.get(from..).unwrap_or(&[]);
        let found = match self.columns[..] {
            [word] => rest.iter().position(|held| word >> right_of(held) & 1 == 1),
            _ => rest.iter().position(|held| {
                let x = right_of(held);
                self.columns[x as usize / 64] >> (x % 64) & 1 == 1
            }),
        };
        self.passed[list] = found.map_or(boxes.len(), |ahead| from + ahead);
        let index = self.passed[list];
        found.map(|_| Stop { index, x: right_of(&boxes[index]) as u16 })
    }
}

/// A box at which a walk stops.
#[derive(Clone, Copy, Debug)]
pub(in crate::strategies) struct Stop {
    /// Where it stands in its list.
    pub(in crate::strategies) index: usize,
    /// The column beside it.
    pub(in crate::strategies) x: u16,
}
