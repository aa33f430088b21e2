//! A map from each node to the busy box that contains it. The map makes it possible to find the
//! boxes next to a few bases or around a few nodes without iterating over the list.
//!
//! Invariant: a busy node has the key of the box that contains it. Keys are in list order, and
//! every box has a different key.
//!
//! Cost: O(nodes in the box) to take or release a box, and O(visited nodes) per query.

use std::ops::Range;

use pavior_mesh::{BaseSet, Cuboid, Grid};

/// For each node, the key of the busy box that contains it.
#[derive(Clone, Debug)]
pub(crate) struct Owners {
    grid: Grid,
    /// For each node, the key of the box that contains it, plus one; 0 if the node is free.
    keys: Vec<u64>,
}

impl Owners {
    /// Creates the map with all nodes free.
    pub(crate) fn new(grid: Grid) -> Owners {
        Owners { grid, keys: vec![0; grid.nodes() as usize] }
    }

    /// Records that a box with the given key has been taken.
    pub(crate) fn take(&mut self, part: &Cuboid, key: u64) {
        self.set(part, key + 1);
    }

    /// Records that a box has been released.
    pub(crate) fn give(&mut self, part: &Cuboid) {
        self.set(part, 0);
    }

    fn set(&mut self, part: &Cuboid, value: u64) {
        if part.sides == [1; 3] {
            self.keys[self.grid.id(part.base).index()] = value;
            return;
        }
        for row in rows(self.grid, part) {
            self.keys[row].fill(value);
        }
    }

    /// Returns the number of nodes that [`Owners::left_of`] visits for these bases.
    pub(crate) fn looks(bases: &BaseSet) -> usize {
        let [_, b, c] = bases.shape().map(usize::from);
        bases.count() as usize * b * c
    }

    /// Calls `show` with the key of each busy node just left of a placement at one of the bases.
    /// The boxes with these keys have a base directly to their right. Takes O(bases * b * c) time
    /// for an a x b x c shape.
    pub(crate) fn left_of(&self, bases: &BaseSet, mut show: impl FnMut(u64)) {
        let [w, d, h] = self.grid.sides().map(usize::from);
        let [_, b, c] = bases.shape().map(usize::from);
        for [x, y, z] in bases.row_major().map(|base| base.map(usize::from)) {
            let left = match x {
                0 if self.grid.wraps(0) => w - 1,
                0 => continue,
                _ => x - 1,
            };
            for plane in z..z + c {
                let plane = if plane >= h { plane - h } else { plane };
                for row in y..y + b {
                    let row = if row >= d { row - d } else { row };
                    let key = self.keys[left + w * (row + d * plane)];
                    if key > 0 {
                        show(key - 1);
                    }
                }
            }
        }
    }

    /// Collects, in ascending order, the keys of the boxes that overlap `part`. Takes O(nodes in
    /// `part`) time, plus O(k log k) for k keys.
    pub(crate) fn within(&self, part: &Cuboid, keys: &mut Vec<u64>) {
        keys.clear();
        for row in rows(self.grid, part) {
            let held = self.keys[row].iter().filter(|key| **key > 0);
            held.for_each(|&key| note(key - 1, keys));
        }
        keys.sort_unstable();
        keys.dedup();
    }
}

/// Adds a key to a list unless it equals the last key.
pub(crate) fn note(key: u64, keys: &mut Vec<u64>) {
    if keys.last() != Some(&key) {
        keys.push(key);
    }
}

/// Returns a box's nodes as ranges along x.
fn rows(grid: Grid, part: &Cuboid) -> impl Iterator<Item = Range<usize>> + use<> {
    part.unwrapped(&grid).flat_map(move |piece| {
        let [x, y, z] = piece.base;
        let [a, b, c] = piece.sides;
        (z..z + c).flat_map(move |z| {
            (y..y + b).map(move |y| {
                let from = grid.id([x, y, z]).index();
                from..from + usize::from(a)
            })
        })
    })
}
