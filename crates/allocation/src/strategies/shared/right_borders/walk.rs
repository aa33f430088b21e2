//! A walk along a busy list to the boxes on whose right side there may be bases: RBS, BL, TBL and
//! GABL.

use pavior_mesh::{BaseSet, Cuboid};

use crate::strategies::shared::busy_list::BusyList;

/// The columns of the machine in which a shape has bases, and how far the walk has come.
///
/// Bases may vanish while the walk goes on: it then stops at boxes that have none left beside them,
/// but passes none that has. What it has passed need not be looked at again.
#[derive(Clone, Debug, Default)]
pub(crate) struct RightSides {
    /// The side of the machine along x.
    side: u32,
    /// Bit x % 64 of word x / 64.
    columns: Vec<u64>,
    /// How boxes of the machine's list are found.
    guide: Guide,
    /// Those beside which there were bases, by key, and how many of them were passed.
    beside: Vec<u64>,
    gone_by: usize,
    /// By list, that of the machine and that of what is proposed: the boxes that were passed.
    pub(crate) passed: [usize; 2],
}

/// How boxes that have bases beside them are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Guide {
    /// Along the list.
    #[default]
    Columns,
    /// The first one from the bases that are left, then along the list.
    First,
    /// All from the bases that there were.
    All,
}

impl RightSides {
    /// Begins a walk; along a list that may know the box of each node, if it is given. O(words).
    pub(crate) fn begin(&mut self, bases: &BaseSet, list: Option<&BusyList>) {
        self.side = u32::from(bases.grid().side(0));
        bases.columns_into(&mut self.columns);
        let sparse = list.filter(|list| list.is_sparse(bases));
        self.guide = match sparse {
            None => Guide::Columns,
            Some(list) if list.is_long() => {
                list.beside(bases, &mut self.beside);
                self.gone_by = 0;
                Guide::All
            }
            Some(_) => Guide::First,
        };
        self.passed = [0; 2];
    }

    /// Whether there may be a base in column 0, on the left face of the machine.
    pub(crate) fn has_left_face(&self) -> bool {
        self.columns[0] & 1 == 1
    }

    /// No base is left in column 0. From then on the walk goes along the boxes: one at the right
    /// border of a mesh has nothing beside it, and beside one that ends a ring is column 0.
    pub(crate) fn pass_left_face(&mut self) {
        self.columns[0] &= !1;
    }

    /// Passes the boxes of the machine's list before the first that has a base beside it, if that
    /// is less work than to walk.
    pub(crate) fn skip(&mut self, list: &BusyList, bases: &BaseSet) {
        if self.guide == Guide::First {
            self.passed[0] = list.first_beside(bases);
        }
    }

    /// Goes on to the next box of the machine's list that may have a base beside it.
    pub(crate) fn go_on_in(&mut self, list: &BusyList) -> Option<Stop> {
        if self.guide != Guide::All {
            return self.go_on(0, list.boxes());
        }
        while let Some(&key) = self.beside.get(self.gone_by) {
            let index = list.place_of(key);
            if index >= self.passed[0] {
                self.passed[0] = index;
                return Some(Stop { index, x: self.right_of(&list.boxes()[index]) as u16 });
            }
            self.gone_by += 1;
        }
        self.passed[0] = list.boxes().len();
        None
    }

    /// The column beside a box.
    fn right_of(&self, held: &Cuboid) -> u32 {
        let right = u32::from(held.base[0]) + u32::from(held.sides[0]);
        if right >= self.side { right - self.side } else { right }
    }

    /// Goes on to the first box of a list, 0 or 1, that has a column with bases beside it.
    pub(crate) fn go_on(&mut self, list: usize, boxes: &[Cuboid]) -> Option<Stop> {
        let from = self.passed[list];
        let rest = boxes.get(from..).unwrap_or(&[]);
        let found = match self.columns[..] {
            [word] => rest.iter().position(|held| word >> self.right_of(held) & 1 == 1),
            _ => rest.iter().position(|held| {
                let x = self.right_of(held);
                self.columns[x as usize / 64] >> (x % 64) & 1 == 1
            }),
        };
        self.passed[list] = found.map_or(boxes.len(), |ahead| from + ahead);
        let index = self.passed[list];
        found.map(|_| Stop { index, x: self.right_of(&boxes[index]) as u16 })
    }
}

/// A box at which a walk stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// Where it stands in its list.
    pub(crate) index: usize,
    /// The column beside it.
    pub(crate) x: u16,
}
