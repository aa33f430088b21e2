//! The list of busy boxes, eight to a group, a vector for each coordinate.

use wide::i16x8;

use crate::{Cuboid, Point};

/// The busy boxes, in no order.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy {
    /// Padded with boxes of no nodes.
    groups: Vec<Group>,
    /// The bases again, a word each: they tell boxes apart.
    keys: Vec<u64>,
}

/// Eight boxes: by axis, their bases and their sides.
pub(super) type Group = [[i16x8; 2]; 3];

fn key(base: Point) -> u64 {
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
        if self.groups.len() * Self::LANES <= index {
            self.groups.resize(self.groups.len() + Self::GROUPS, Group::default());
        }
        self.set(index, cuboid.base, cuboid.sides);
    }

    /// Removes a box that was added.
    pub(super) fn remove(&mut self, cuboid: &Cuboid) {
        let wanted = key(cuboid.base);
        let index = self.keys.iter().position(|&key| key == wanted);
        let index = index.expect("only what was taken is given back");
        debug_assert_eq!(self.get(index), *cuboid, "a box is given back whole");
        let last = self.keys.len() - 1;
        let moved = self.get(last);
        self.set(index, moved.base, moved.sides);
        self.set(last, [0; 3], [0; 3]);
        self.keys.swap_remove(index);
    }

    fn get(&self, index: usize) -> Cuboid {
        let (group, lane) = (&self.groups[index / Self::LANES], index % Self::LANES);
        let of = |what: usize| group.map(|axis| axis[what].as_array()[lane] as u16);
        Cuboid::new(of(0), of(1))
    }

    fn set(&mut self, index: usize, base: Point, sides: Point) {
        let (group, lane) = (&mut self.groups[index / Self::LANES], index % Self::LANES);
        for (axis, [bases, all_sides]) in group.iter_mut().enumerate() {
            bases.as_mut_array()[lane] = base[axis] as i16;
            all_sides.as_mut_array()[lane] = sides[axis] as i16;
        }
    }
}
