//! A walk along a busy list that stops at the boxes with bases beside their right side.
//!
//! One bit a column says whether it has a base. A box beside a column without one is passed. Where
//! bases are few, the boxes are found from the nodes left of the bases.
//!
//! Invariant: bases may vanish during a walk, but none is added. The walk may stop at a box whose
//! last base has vanished. It passes no box that has one, and looks at no box twice.
//!
//! Cost: O(words) to begin, O(1) a box passed.

use pavior_mesh::{BaseSet, Cuboid};

use crate::strategies::shared::busy_list::BusyList;

/// The list of the boxes that the machine has granted.
pub(super) const GRANTED: usize = 0;
/// The list of the boxes that are proposed.
pub(super) const PROPOSED: usize = 1;

/// How far the walk has come, and what tells it where to stop.
#[derive(Clone, Debug, Default)]
pub(super) struct BorderWalk {
    /// The side of the machine along x.
    side: u32,
    /// The columns with bases: bit x % 64 of word x / 64.
    columns: Vec<u64>,
    finder: Finder,
    /// With [`Finder::AllKeys`]: the keys of the boxes beside which there were bases, and how many
    /// of these were passed.
    keys: Vec<u64>,
    keys_passed: usize,
    /// How many boxes were passed, of [`GRANTED`] and of [`PROPOSED`].
    pub(super) passed: [usize; 2],
}

/// How granted boxes with bases beside them are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Finder {
    /// By a walk along the list.
    #[default]
    Columns,
    /// The first from the nodes left of the bases, the others by a walk along the list.
    FirstKey,
    /// All from the nodes left of the bases, when the walk begins.
    AllKeys,
}

/// A box at which a walk stops.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    /// Where it stands in its list.
    pub(super) index: usize,
    /// The column beside it.
    pub(super) x: u16,
}

impl BorderWalk {
    /// Begins a walk, in O(words). A list that knows the box of each node may make it quicker.
    pub(super) fn begin(&mut self, bases: &BaseSet, list: Option<&BusyList>) {
        self.side = u32::from(bases.grid().side(0));
        bases.columns_into(&mut self.columns);
        let sparse = list.filter(|list| list.is_sparse(bases));
        self.finder = match sparse {
            None => Finder::Columns,
            Some(list) if list.is_long() => {
                list.beside(bases, &mut self.keys);
                self.keys_passed = 0;
                Finder::AllKeys
            }
            Some(_) => Finder::FirstKey,
        };
        self.passed = [0; 2];
    }

    /// Whether there may be a base in column 0, on the left face of the machine.
    pub(super) fn has_left_face(&self) -> bool {
        self.columns[0] & 1 == 1
    }

    /// Notes that no base is left in column 0. On a ring, that column is also beside a box that
    /// ends at the last one.
    pub(super) fn pass_left_face(&mut self) {
        self.columns[0] &= !1;
    }

    /// Passes the granted boxes before the first with a base beside it, where this is less work
    /// than a walk.
    pub(super) fn skip_to_first(&mut self, list: &BusyList, bases: &BaseSet) {
        if self.finder == Finder::FirstKey {
            self.passed[GRANTED] = list.first_beside(bases);
        }
    }

    /// The next granted box that may have a base beside it.
    pub(super) fn next_granted(&mut self, list: &BusyList) -> Option<Stop> {
        if self.finder != Finder::AllKeys {
            return self.next_along(GRANTED, list.boxes());
        }
        while let Some(&key) = self.keys.get(self.keys_passed) {
            let index = list.place_of(key);
            if index >= self.passed[GRANTED] {
                self.passed[GRANTED] = index;
                return Some(Stop { index, x: self.right_of(&list.boxes()[index]) as u16 });
            }
            self.keys_passed += 1;
        }
        self.passed[GRANTED] = list.boxes().len();
        None
    }

    /// The column beside a box.
    fn right_of(&self, held: &Cuboid) -> u32 {
        let right = u32::from(held.base[0]) + u32::from(held.sides[0]);
        if right >= self.side { right - self.side } else { right }
    }

    /// The next box of a list, [`GRANTED`] or [`PROPOSED`], that may have a base in the column on
    /// its right.
    pub(super) fn next_along(&mut self, list: usize, boxes: &[Cuboid]) -> Option<Stop> {
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
