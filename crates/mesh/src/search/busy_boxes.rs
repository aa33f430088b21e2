//! The list of busy boxes, in groups of eight, with one vector for each coordinate in a group.
//!
//! ```text
//!   group 0:   base x   [x0 x1 x2 .. x7]     sides x   [a0 a1 .. a7]      and likewise y and z
//! ```
//!
//! Boxes are in no particular order. The last group is padded with empty boxes, so that searches
//! can read whole groups.
//!
//! Invariant: `keys[i]` is the base of the i-th box, and no two keys are equal. The key of a cover
//! (a permanently busy box) is marked, because a cover may have the same base as another box.
//!
//! Cost: O(1) to add or remove a box. To find a box, a short list is scanned, while a long list
//! (for example, with thousands of jobs) has an index.

use super::key_index::KeyIndex;
use super::lanes::I16x8;
use crate::{Coordinates, Cuboid};

#[derive(Clone, Debug, Default)]
pub(super) struct BusyBoxes {
    /// The groups, padded with empty boxes.
    groups: Vec<Group>,
    /// Each box's base, packed into a word.
    keys: Vec<u64>,
    /// The position of each base in the list. Unused while the list is short.
    index_of_keys: KeyIndex,
}

/// The length above which a list gets an index.
const LONG: usize = 128;
/// The length at which a shrinking list loses its index.
const SHORT: usize = 64;

/// Eight boxes, given by their base and side on each axis.
pub(super) type Group = [[I16x8; 2]; 3];

fn key(base: Coordinates) -> u64 {
    let [x, y, z] = base.map(u64::from);
    x | y << 16 | z << 32
}

/// The bit that marks the key of a cover. It is never set in a base.
const COVER: u64 = 1 << 63;

impl BusyBoxes {
    /// The number of boxes in a group.
    pub(super) const LANES: usize = 8;
    /// The number of groups by which the list grows, and the most groups that a search reads.
    pub(super) const GROUPS: usize = 8;

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Cuboid> + '_ {
        (0..self.count()).map(|index| self.get(index))
    }

    /// Returns the first N groups of a nonempty list.
    #[inline(always)]
    pub(super) fn groups<const N: usize>(&self) -> &[Group; N] {
        self.groups.first_chunk().expect("padded")
    }

    pub(super) fn add(&mut self, cuboid: &Cuboid) {
        self.add_by(key(cuboid.base), cuboid);
    }

    /// Adds a permanently busy box, which may overlap other boxes. Returns false, without adding
    /// the box, if there is already a cover with the same base but different sides. Takes O(m) time
    /// for m boxes.
    pub(super) fn add_cover(&mut self, cuboid: &Cuboid) -> bool {
        let key = key(cuboid.base) | COVER;
        if let Some(index) = self.keys.iter().position(|&other| other == key) {
            return self.get(index).sides == cuboid.sides;
        }
        self.add_by(key, cuboid);
        true
    }

    /// Returns true if any boxes may overlap.
    pub(super) fn has_covers(&self) -> bool {
        self.keys.iter().any(|key| key & COVER != 0)
    }

    fn add_by(&mut self, key: u64, cuboid: &Cuboid) {
        let index = self.keys.len();
        self.keys.push(key);
        if index >= LONG || self.index_of_keys.is_used() {
            self.index_of_keys.pushed(&self.keys);
        }
        if self.groups.len() * Self::LANES <= index {
            self.groups.resize(self.groups.len() + Self::GROUPS, Group::default());
        }
        self.set(index, cuboid.base, cuboid.sides);
    }

    pub(super) fn remove(&mut self, cuboid: &Cuboid) {
        let index = self.unlist(key(cuboid.base)).expect("only taken boxes are released");
        debug_assert_eq!(self.get(index), *cuboid, "boxes are released whole");
        let last = self.keys.len();
        let moved = self.get(last);
        self.set(index, moved.base, moved.sides);
        self.set(last, [0; 3], [0; 3]);
    }

    /// Removes a key and moves the last key to its position. Returns that position.
    fn unlist(&mut self, key: u64) -> Option<usize> {
        if !self.index_of_keys.is_used() {
            let index = self.keys.iter().position(|&other| other == key)?;
            self.keys.swap_remove(index);
            return Some(index);
        }
        let index = self.index_of_keys.swap_remove(&mut self.keys, key);
        if self.keys.len() <= SHORT {
            self.index_of_keys = KeyIndex::default();
        }
        index
    }

    fn get(&self, index: usize) -> Cuboid {
        let (group, lane) = (&self.groups[index / Self::LANES], index % Self::LANES);
        let of = |what: usize| group.map(|axis| axis[what].as_array()[lane] as u16);
        Cuboid::new(of(0), of(1))
    }

    fn set(&mut self, index: usize, base: Coordinates, sides: Coordinates) {
        let (group, lane) = (&mut self.groups[index / Self::LANES], index % Self::LANES);
        for (axis, [bases, all_sides]) in group.iter_mut().enumerate() {
            bases.as_mut_array()[lane] = base[axis] as i16;
            all_sides.as_mut_array()[lane] = sides[axis] as i16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_what_was_added_and_not_removed() {
        let (mut busy, mut truth) = (BusyBoxes::default(), Vec::new());
        // The list grows and shrinks past both index limits. Boxes are removed at all positions.
        for (up, down) in [(LONG + 90, SHORT), (LONG, LONG + 20), (2 * LONG, 2)] {
            for _ in 0..up {
                let number = truth.last().map_or(0, |last: &Cuboid| last.base[0] + 1);
                let cuboid = Cuboid::new([number, 40_000, 7], [1, number + 1, 2]);
                busy.add(&cuboid);
                truth.push(cuboid);
            }
            assert!(busy.index_of_keys.is_used());
            while truth.len() > down {
                let removed = truth.remove(truth.len() * 5 / 8);
                busy.remove(&removed);
                let mut listed: Vec<Cuboid> = busy.iter().collect();
                listed.sort_unstable_by_key(|cuboid| cuboid.base);
                assert_eq!(listed, truth);
            }
            assert_eq!(busy.index_of_keys.is_used(), down > SHORT);
        }
    }
}
