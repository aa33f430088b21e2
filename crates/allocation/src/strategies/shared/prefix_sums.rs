//! Counting busy nodes in any box in O(1), after one pass over the machine.

use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Point, Scan, Sides};

use super::contact::faces;
use crate::Work;

/// Three-dimensional prefix sums of the busy nodes, doubled along axes that wrap, so that a box that
/// passes the end of an axis is one box of the table.
#[derive(Clone, Debug)]
pub(crate) struct PrefixSums {
    grid: Grid,
    /// Extents of the table, one more than the coordinates it covers.
    extents: [usize; 3],
    /// `sums[x, y, z]`: busy nodes with coordinates below x, y and z.
    sums: Vec<u32>,
    work: Work,
}

impl PrefixSums {
    pub(crate) fn new(grid: Grid) -> PrefixSums {
        let extents: [usize; 3] = std::array::from_fn(|axis| {
            let n = usize::from(grid.side(axis));
            if grid.wraps(axis) { 2 * n } else { n + 1 }
        });
        let sums = vec![0; extents.iter().product()];
        PrefixSums { grid, extents, sums, work: Work::default() }
    }

    /// Counts the busy nodes of a machine: O(N), or up to 8 N on tori.
    pub(crate) fn load(&mut self, free: &Occupancy) {
        let [wide, deep, high] = self.extents;
        self.work.words += ((wide - 1) * (deep - 1) * (high - 1)) as u64;
        let [w, d, h] = self.grid.sides().map(usize::from);
        for z in 1..high {
            for y in 1..deep {
                let row = w * ((y - 1) % d + d * ((z - 1) % h));
                let mut line = 0;
                for x in 1..wide {
                    let node = NodeId((row + (x - 1) % w) as u32);
                    line += u32::from(!free.is_node_free(node));
                    let below = self.at(x, y - 1, z) + self.at(x, y, z - 1);
                    let sum = line + below - self.at(x, y - 1, z - 1);
                    self.sums[x + wide * (y + deep * z)] = sum;
                }
            }
        }
    }

    fn at(&self, x: usize, y: usize, z: usize) -> u32 {
        self.sums[x + self.extents[0] * (y + self.extents[1] * z)]
    }

    /// The number of busy nodes of a box.
    pub(crate) fn busy_in(&self, cuboid: &Cuboid) -> u32 {
        let [x0, y0, z0] = cuboid.base.map(usize::from);
        let [a, b, c] = cuboid.sides.map(usize::from);
        let (x1, y1, z1) = (x0 + a, y0 + b, z0 + c);
        let plane = |z: usize| {
            self.at(x1, y1, z) + self.at(x0, y0, z) - self.at(x0, y1, z) - self.at(x1, y0, z)
        };
        plane(z1) - plane(z0)
    }

    /// The contact score of a free box, as [`contact`](super::contact::contact) has it, in O(1): a
    /// face is a box one node thick.
    pub(in crate::strategies) fn contact(&self, cuboid: &Cuboid) -> i64 {
        let touching = |slab: Cuboid| i64::from(self.busy_in(&slab));
        faces(&self.grid, cuboid).map(|(slab, area)| slab.map_or(area, touching)).sum()
    }

    /// The first base, in scan order, at which a shape is free. O(bases).
    pub(in crate::strategies) fn first(&mut self, shape: Sides, scan: Scan) -> Option<Point> {
        let mut tested = 0;
        let mut bases = scan.bases(self.grid, shape).inspect(|_| tested += 1);
        let found = bases.find(|&base| self.busy_in(&Cuboid::new(base, shape)) == 0);
        drop(bases);
        self.work.boxes += tested;
        found
    }

    /// The cells filled, and the bases tested by [`PrefixSums::first`]; who counts busy nodes
    /// counts his own tests.
    pub(in crate::strategies) fn work(&self) -> Work {
        self.work
    }
}
