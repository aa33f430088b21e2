//! The list of busy boxes, eight to a group, a vector for each coordinate.
//!
//! Adding and removing a box take O(1): a short list is walked to find the box, a long one, as of
//! thousands of jobs, or of jobs of hundreds of parts, has an index.

use wide::i16x8;

use super::places::Places;
use crate::{Coordinates, Cuboid};

/// The busy boxes, in no order.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy {
    /// Padded with boxes of no nodes.
    groups: Vec<Group>,
    /// The bases again, a word each: they tell boxes apart.
    keys: Vec<u64>,
    /// Where in the list each base is; no index while the list is short.
    places: Places,
}

/// The index is made when the list gets longer than this,
const LONG: usize = 128;
/// and dropped when it is no longer than this again.
const SHORT: usize = 64;

/// Eight boxes: by axis, their bases and their sides.
pub(super) type Group = [[i16x8; 2]; 3];

fn key(base: Coordinates) -> u64 {
    let [x, y, z] = base.map(u64::from);
    x | y << 16 | z << 32
}

impl Busy {
    /// The boxes of a group.
    pub(super) const LANES: usize = 8;
    /// The list grows by so many groups, so that any number up to this can be read.
    pub(super) const GROUPS: usize = 8;

    /// The number of boxes.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.keys.len()
    }

    /// The boxes.
    pub(super) fn iter(&self) -> impl Iterator<Item = Cuboid> + '_ {
        (0..self.count()).map(|index| self.get(index))
    }

    /// The first N groups of a list that is not empty.
    #[inline(always)]
    pub(super) fn groups<const N: usize>(&self) -> &[Group; N] {
        self.groups.first_chunk().expect("padded")
    }

    /// Adds a box.
    pub(super) fn add(&mut self, cuboid: &Cuboid) {
        let index = self.keys.len();
        self.keys.push(key(cuboid.base));
        if index >= LONG || self.places.exist() {
            self.places.pushed(&self.keys);
        }
        if self.groups.len() * Self::LANES <= index {
            self.groups.resize(self.groups.len() + Self::GROUPS, Group::default());
        }
        self.set(index, cuboid.base, cuboid.sides);
    }

    /// Removes a box that was added.
    pub(super) fn remove(&mut self, cuboid: &Cuboid) {
        let index = self.unlist(key(cuboid.base)).expect("only what was taken is given back");
        debug_assert_eq!(self.get(index), *cuboid, "a box is given back whole");
        let last = self.keys.len();
        let moved = self.get(last);
        self.set(index, moved.base, moved.sides);
        self.set(last, [0; 3], [0; 3]);
    }

    /// Takes a base out of the keys, and says where it was; the last one is there now.
    fn unlist(&mut self, key: u64) -> Option<usize> {
        if !self.places.exist() {
            let index = self.keys.iter().position(|&other| other == key)?;
            self.keys.swap_remove(index);
            return Some(index);
        }
        let index = self.places.swap_remove(&mut self.keys, key);
        if self.keys.len() <= SHORT {
            self.places = Places::default();
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
        let (mut busy, mut truth) = (Busy::default(), Vec::new());
        // Up and down past both ends of where there is an index, removing from all over the list.
        for (up, down) in [(LONG + 90, SHORT), (LONG, LONG + 20), (2 * LONG, 2)] {
            for _ in 0..up {
                let number = truth.last().map_or(0, |last: &Cuboid| last.base[0] + 1);
                let cuboid = Cuboid::new([number, 40_000, 7], [1, number + 1, 2]);
                busy.add(&cuboid);
                truth.push(cuboid);
            }
            assert!(busy.places.exist());
            while truth.len() > down {
                let removed = truth.remove(truth.len() * 5 / 8);
                busy.remove(&removed);
                let mut listed: Vec<Cuboid> = busy.iter().collect();
                listed.sort_unstable_by_key(|cuboid| cuboid.base);
                assert_eq!(listed, truth);
            }
            assert_eq!(busy.places.exist(), down > SHORT);
        }
    }
}
