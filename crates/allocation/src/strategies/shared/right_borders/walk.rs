//! A walk along a busy list that stops at the boxes with bases beside their right side.
//!
//! One bit a column says whether it has a base. A box beside a column without one is passed. Where
//! bases are few, the boxes are found from the nodes left of the bases:
//!
//! ```text
//!   columns:   0 1 0 0 1      a box beside column 3 is passed, one beside 4 is not
//!   few bases: . n b . .      it stops at the box that holds the node n, left of the base b
//! ```
//!
//! [`BorderWalk::begin`] begins a walk for the bases of a shape. For each base wanted, a search
//! then
//!
//! 1. looks at the left face, if [`BorderWalk::has_left_face`];
//! 2. calls [`BorderWalk::skip_to_first`];
//! 3. calls [`BorderWalk::next`] for a box, and [`BorderWalk::pass`] if there is no base beside it,
//!    until there is one.
//!
//! Invariant: bases may vanish during a walk, but none is added. The walk may stop at a box whose
//! last base has vanished. It passes no box that has one, and looks at no box twice.
//!
//! Cost: O(words) to begin, O(1) a box passed.

use pavior_mesh::{BaseSet, Cuboid};

use crate::strategies::shared::busy_list::BusyList;

/// A list along which a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// The boxes that the machine has granted.
    Granted,
    /// The boxes that are proposed.
    Proposed,
}

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
    /// How many boxes were passed, by [`List`]. So it is also the place of the next box.
    passed: [usize; 2],
}

/// How granted boxes with bases beside them are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Finder {
    /// From the bits of the columns, box by box along the list.
    #[default]
    Columns,
    /// The first from the nodes left of the bases, the others as with `Columns`.
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

    /// How many boxes of a list were passed.
    pub(super) fn passed(&self, list: List) -> usize {
        self.passed[list as usize]
    }

    /// Passes the box at which the walk has stopped: no base is left beside it.
    pub(super) fn pass(&mut self, list: List) {
        self.passed[list as usize] += 1;
    }

    /// A box has come into a list at `index`: it and those behind it are not passed.
    pub(super) fn turn_back(&mut self, list: List, index: usize) {
        let passed = &mut self.passed[list as usize];
        *passed = (*passed).min(index);
    }

    /// Passes the granted boxes before the first with a base beside it, where this is less work
    /// than a walk.
    pub(super) fn skip_to_first(&mut self, granted: Option<&BusyList>, bases: &BaseSet) {
        if let Some(granted) = granted.filter(|_| self.finder == Finder::FirstKey) {
            self.passed[List::Granted as usize] = granted.first_beside(bases);
        }
    }

    /// The next box that may have a base in the column on its right. `granted` is the list of the
    /// machine's boxes if it may know the box of each node.
    #[inline]
    pub(super) fn next(
        &mut self,
        list: List,
        boxes: &[Cuboid],
        granted: Option<&BusyList>,
    ) -> Option<Stop> {
        match granted {
            Some(granted) if list == List::Granted && self.finder == Finder::AllKeys => {
                self.next_by_key(granted)
            }
            _ => self.next_along(list, boxes),
        }
    }

    /// The next granted box whose key is in `keys`, in the order of the list.
    fn next_by_key(&mut self, list: &BusyList) -> Option<Stop> {
        let passed = &mut self.passed[List::Granted as usize];
        while let Some(&key) = self.keys.get(self.keys_passed) {
            let index = list.place_of(key);
            if index >= *passed {
                // The key stays: once the box is passed, its place is too low.
                *passed = index;
                return Some(Stop { index, x: self.right_of(&list.boxes()[index]) as u16 });
            }
            self.keys_passed += 1;
        }
        *passed = list.boxes().len();
        None
    }

    /// The column beside a box.
    fn right_of(&self, held: &Cuboid) -> u32 {
        let right = u32::from(held.base[0]) + u32::from(held.sides[0]);
        if right >= self.side { right - self.side } else { right }
    }

    /// The next box of a list beside a column with bases.
    fn next_along(&mut self, list: List, boxes: &[Cuboid]) -> Option<Stop> {
        let from = self.passed(list);
        let rest = boxes.get(from..).unwrap_or(&[]);
        let found = match self.columns[..] {
            [word] => rest.iter().position(|held| word >> self.right_of(held) & 1 == 1),
            _ => rest.iter().position(|held| {
                let x = self.right_of(held);
                self.columns[x as usize / 64] >> (x % 64) & 1 == 1
            }),
        };
        let index = found.map_or(boxes.len(), |ahead| from + ahead);
        self.passed[list as usize] = index;
        found.map(|_| Stop { index, x: self.right_of(&boxes[index]) as u16 })
    }
}
