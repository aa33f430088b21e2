//! Prefix sums of the busy nodes, which give the number of busy nodes in any box in O(1).
//!
//! ```text
//!   busy in [x0,x1) x [y0,y1) = s[x1,y1] - s[x0,y1] - s[x1,y0] + s[x0,y0]
//! ```
//!
//! Along an axis that wraps, the table is doubled, so a box that crosses the end is a single box in
//! the table.
//!
//! Cost: O(N) to load a state, up to 8 N on tori; O(1) per box.

use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Occupancy, Scan, Sides};

use crate::Work;
use crate::strategies::shared::contact::faces;

#[derive(Clone, Debug)]
pub(crate) struct PrefixSums {
    grid: Grid,
    /// The table's size along each axis, one more than the number of coordinates covered.
    extents: [usize; 3],
    /// `sums[x, y, z]`: the number of busy nodes with coordinates below x, y and z.
    sums: Vec<u32>,
    /// Scratch space for the sums within the current row.
    line: Vec<u32>,
    work: Work,
}

/// For each byte, the number of set bits among its lowest 1, 2, ..., 8 bits.
const PREFIXES: [[u8; 8]; 256] = {
    let mut prefixes = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            prefixes[byte][bit] = (byte << (7 - bit) & 0xFF).count_ones() as u8;
            bit += 1;
        }
        byte += 1;
    }
    prefixes
};

impl PrefixSums {
    pub(crate) fn new(grid: Grid) -> PrefixSums {
        let extents: [usize; 3] = std::array::from_fn(|axis| {
            let n = usize::from(grid.side(axis));
            if grid.wraps(axis) { 2 * n } else { n + 1 }
        });
        let sums = vec![0; extents.iter().product()];
        PrefixSums { grid, extents, sums, line: vec![0; extents[0]], work: Work::default() }
    }

    /// Counts a machine's busy nodes. Takes O(N), or up to 8 N on tori.
    pub(crate) fn load(&mut self, free: &Occupancy) {
        let [wide, deep, high] = self.extents;
        self.work.words += ((wide - 1) * (deep - 1) * (high - 1)) as u64;
        let [w, d, h] = self.grid.sides().map(usize::from);
        for z in 1..high {
            for y in 1..deep {
                let from = w * ((y - 1) % d + d * ((z - 1) % h));
                self.count_row(free, from, w);
                let row = wide * (y + deep * z);
                let (before, rest) = self.sums.split_at_mut(row);
                let cells = rest[..wide].iter_mut().zip(&self.line);
                let below = &before[row - wide..];
                let back = &before[row - wide * deep..][..wide];
                let both = &before[row - wide * deep - wide..][..wide];
                for ((((cell, line), below), back), both) in cells.zip(below).zip(back).zip(both) {
                    *cell = line + below + back - both;
                }
            }
        }
    }

    /// Computes the prefix sums for one row. On a ring, the row is repeated past its end.
    fn count_row(&mut self, free: &Occupancy, from: usize, w: usize) {
        let mut sum = 0;
        for first in (0..w).step_by(64) {
            let count = (w - first).min(64);
            let busy = !free.window(NodeId((from + first) as u32), count as u16);
            for (byte, cells) in self.line[first + 1..=first + count].chunks_mut(8).enumerate() {
                let ones = &PREFIXES[(busy >> (8 * byte) & 0xFF) as usize];
                for (cell, &ones) in cells.iter_mut().zip(ones) {
                    *cell = sum + u32::from(ones);
                }
                sum += u32::from(ones[cells.len() - 1]);
            }
        }
        for x in w + 1..self.line.len() {
            self.line[x] = sum + self.line[x - w];
        }
    }

    fn at(&self, x: usize, y: usize, z: usize) -> u32 {
        self.sums[x + self.extents[0] * (y + self.extents[1] * z)]
    }

    pub(crate) fn busy_in(&self, cuboid: &Cuboid) -> u32 {
        let [x0, y0, z0] = cuboid.base.map(usize::from);
        let [a, b, c] = cuboid.sides.map(usize::from);
        let (x1, y1, z1) = (x0 + a, y0 + b, z0 + c);
        let plane = |z: usize| {
            self.at(x1, y1, z) + self.at(x0, y0, z) - self.at(x0, y1, z) - self.at(x1, y0, z)
        };
        plane(z1) - plane(z0)
    }

    /// Returns a free box's contact, as [`contact`](crate::strategies::shared::contact::contact)
    /// does, but in O(1) time, because each face is a box one node thick.
    pub(crate) fn contact(&self, cuboid: &Cuboid) -> i64 {
        let touching = |slab: Cuboid| i64::from(self.busy_in(&slab));
        faces(&self.grid, cuboid).map(|(slab, area)| slab.map_or(area, touching)).sum()
    }

    /// Returns the first base, in scan order, at which a shape is free. Takes O(bases) time.
    pub(crate) fn first(&mut self, shape: Sides, scan: Scan) -> Option<Coordinates> {
        let mut tested = 0;
        let mut bases = scan.bases(self.grid, shape).inspect(|_| tested += 1);
        let found = bases.find(|&base| self.busy_in(&Cuboid::new(base, shape)) == 0);
        drop(bases);
        self.work.boxes += tested;
        found
    }

    /// Returns the number of cells filled, plus the number of bases tested by
    /// [`PrefixSums::first`]. Callers of [`PrefixSums::busy_in`] count their own queries.
    pub(crate) fn work(&self) -> Work {
        self.work
    }
}
