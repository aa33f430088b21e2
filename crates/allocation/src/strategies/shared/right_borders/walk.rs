//! A walk along a busy list that stops at each box with a base directly to its right.
//!
//! A column's bit is set if the column contains a base. A box next to a column without a base is
//! passed. If there are few bases, the boxes are found from the nodes left of the bases:
//!
//! ```text
//!   columns:   0 1 0 0 1      a box next to column 3 is passed, one next to 4 is not
//!   few bases: . n b . .      the walk stops at the box with the node n, left of the base b
//! ```
//!
//! [`BorderWalk::begin`] starts a walk for a shape's bases. For each base, a search:
//!
//! 1. searches the left face, if [`BorderWalk::has_left_face`];
//! 2. calls [`BorderWalk::skip_to_first`];
//! 3. calls [`BorderWalk::next`] to get a box; as long as there is no base next to that box, calls
//!    [`BorderWalk::pass`] and repeats this step.
//!
//! Invariant: bases may be removed during a walk but never added. The walk may stop at a box whose
//! last base was removed. It never passes a box that has a base, and never visits a box twice.
//!
//! Cost: O(words) to start, and O(1) per box passed.

use pavior_mesh::{BaseSet, Cuboid};

use crate::strategies::shared::busy_list::BusyList;

/// A list that a walk follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// The boxes that the machine has granted.
    Granted,
    /// The proposed boxes.
    Proposed,
}

/// The progress of a walk, and the data that determines its stops.
#[derive(Clone, Debug, Default)]
pub(super) struct BorderWalk {
    /// The machine's side along x.
    side: u32,
    /// The columns that contain bases, where column x is bit x % 64 of word x / 64.
    columns: Vec<u64>,
    finder: Finder,
    /// With [`Finder::AllKeys`], the keys of the boxes that had bases directly to their right when
    /// the walk began, and the number of these boxes passed so far.
    keys: Vec<u64>,
    keys_passed: usize,
    /// The number of boxes passed in each [`List`]. This is also the index of the next box.
    passed: [usize; 2],
}

/// The method for finding granted boxes that have bases directly to their right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Finder {
    /// Goes through the list box by box, testing each one against the column bits.
    #[default]
    Columns,
    /// Finds the first box via the nodes left of the bases, and finds the other boxes as `Columns`
    /// does.
    FirstKey,
    /// When the walk starts, finds all boxes via the nodes left of the bases.
    AllKeys,
}

/// A box at which a walk stops.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    /// The index of the box in its list.
    pub(super) index: usize,
    /// The column next to the box.
    pub(super) x: u16,
}

impl BorderWalk {
    /// Starts a walk. The walk may be faster if the given list stores which box contains each node.
    /// Takes O(words) time.
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

    /// Returns true if column 0, on the machine's left face, may contain a base.
    pub(super) fn has_left_face(&self) -> bool {
        self.columns[0] & 1 == 1
    }

    /// Records that no bases remain in column 0. On a ring, column 0 is also to the right of any
    /// box that ends at the last column.
    pub(super) fn pass_left_face(&mut self) {
        self.columns[0] &= !1;
    }

    /// Returns the number of boxes in a list that the walk has passed.
    pub(super) fn passed(&self, list: List) -> usize {
        self.passed[list as usize]
    }

    /// Passes the box at which the walk has stopped, because no bases remain directly to its right.
    pub(super) fn pass(&mut self, list: List) {
        self.passed[list as usize] += 1;
    }

    /// Moves the walk back because a box was inserted into a list at `index`. That box and all
    /// boxes after it no longer count as passed.
    pub(super) fn turn_back(&mut self, list: List, index: usize) {
        let passed = &mut self.passed[list as usize];
        *passed = (*passed).min(index);
    }

    /// Passes all granted boxes before the first one with a base directly to its right, if this is
    /// cheaper than walking.
    pub(super) fn skip_to_first(&mut self, granted: Option<&BusyList>, bases: &BaseSet) {
        if let Some(granted) = granted.filter(|_| self.finder == Finder::FirstKey) {
            self.passed[List::Granted as usize] = granted.first_beside(bases);
        }
    }

    /// Returns the next box for which the column to the right may contain a base. `granted` is the
    /// list of the machine's boxes, if that list might store which box contains each node.
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

    /// Returns the next granted box whose key is in `keys`, in list order.
    fn next_by_key(&mut self, list: &BusyList) -> Option<Stop> {
        let passed = &mut self.passed[List::Granted as usize];
        while let Some(&key) = self.keys.get(self.keys_passed) {
            let index = list.place_of(key);
            if index >= *passed {
                // The key stays in the list; once the box is passed, its index is below `passed`.
                *passed = index;
                return Some(Stop { index, x: self.right_of(&list.boxes()[index]) as u16 });
            }
            self.keys_passed += 1;
        }
        *passed = list.boxes().len();
        None
    }

    /// Returns the column next to a box.
    fn right_of(&self, held: &Cuboid) -> u32 {
        let right = u32::from(held.base[0]) + u32::from(held.sides[0]);
        if right >= self.side { right - self.side } else { right }
    }

    /// Returns the next box in a list for which the column to the right may contain a base.
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
