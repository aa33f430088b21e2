//! Which busy box holds each node, for questions about the boxes beside a few bases.

use pavior_mesh::{BaseSet, Cuboid, Grid};

/// By node: the key of the busy box that holds it, its place in an order that no two boxes share.
#[derive(Clone, Debug)]
pub(in crate::strategies) struct Owners {
    grid: Grid,
    /// One more than the key; 0 where a node is free.
    keys: Vec<u64>,
}

impl Owners {
    /// All nodes free.
    pub(in crate::strategies) fn new(grid: Grid) -> Owners {
        Owners { grid, keys: vec![0; grid.nodes() as usize] }
    }

    /// A box holds its nodes from now on.
    pub(in crate::strategies) fn take(&mut self, part: &Cuboid, key: u64) {
        for node in part.nodes(&self.grid) {
            self.keys[node.index()] = key + 1;
        }
    }

    /// A box is gone.
    pub(in crate::strategies) fn give(&mut self, part: &Cuboid) {
        for node in part.nodes(&self.grid) {
            self.keys[node.index()] = 0;
        }
    }

    /// The nodes that [`Owners::first_left_of`] looks at.
    pub(in crate::strategies) fn looks(bases: &BaseSet) -> usize {
        let [_, b, c] = bases.shape().map(usize::from);
        bases.count() as usize * b * c
    }

    /// The least key of the boxes on whose right side a base is: of those that hold a node just left of
    /// the left face of a placement. O(bases * b * c) for a shape a x b x c.
    pub(in crate::strategies) fn first_left_of(&self, bases: &BaseSet) -> Option<u64> {
        let [w, d, h] = self.grid.sides().map(usize::from);
        let [_, b, c] = bases.shape().map(usize::from);
        let mut least = u64::MAX;
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
                    // Of a free node the key is greater than all.
                    least = least.min(self.keys[left + w * (row + d * plane)].wrapping_sub(1));
                }
            }
        }
        (least < u64::MAX).then_some(least)
    }
}
