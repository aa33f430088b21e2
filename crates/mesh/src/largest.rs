//! The largest free box of an occupancy.
//!
//! For every pair (first plane, number of planes), and in it every pair (first row, number of
//! rows), the rows between are ANDed together, one AND a step, and the longest run of ones in the
//! result is the best box of that thickness and depth. A pair is left as soon as nothing in it can
//! beat the best box so far. O(H^2 D^2 W / 64) word operations at worst, for sides W x D x H; on
//! machines that are mostly free, or mostly busy, far fewer.

use crate::{Cuboid, Grid, NodeId, Occupancy, Sides, volume};

impl Occupancy {
    /// The free box of the greatest volume; among those, of the lexicographically greatest sides;
    /// among those, at the first base in row-major order. `None` if no node is free.
    ///
    /// ```
    /// use pavior_mesh::{Cuboid, Grid, Occupancy};
    /// let mut free = Occupancy::all_free(Grid::mesh(&[4, 3])?);
    /// free.take(&Cuboid::new([1, 1, 0], [1, 1, 1]));
    /// assert_eq!(free.largest_free(), Some(Cuboid::new([2, 0, 0], [2, 3, 1])));
    /// # Ok::<(), pavior_mesh::GridError>(())
    /// ```
    pub fn largest_free(&self) -> Option<Cuboid> {
        self.largest_free_above(0)
    }

    /// The same among the boxes of more than `least` nodes: faster where there are none.
    pub fn largest_free_above(&self, least: u32) -> Option<Cuboid> {
        Search::new(self, least, self.grid().sides()).run()
    }

    /// The same among the boxes whose sides do not exceed the given ones, each on its own axis; the
    /// base is one at which it is free, not always the first.
    ///
    /// ```
    /// use pavior_mesh::{Cuboid, Grid, Occupancy};
    /// let mut free = Occupancy::all_free(Grid::mesh(&[4, 3])?);
    /// free.take(&Cuboid::new([1, 1, 0], [1, 1, 1]));
    /// let within = free.largest_free_within([3, 1, 1]);
    /// assert_eq!(within.map(|cuboid| cuboid.sides), Some([3, 1, 1]));
    /// # Ok::<(), pavior_mesh::GridError>(())
    /// ```
    pub fn largest_free_within(&self, most: Sides) -> Option<Cuboid> {
        Search::new(self, 0, most).run()
    }
}

struct Search<'a> {
    free: &'a Occupancy,
    grid: Grid,
    /// The longest sides that are looked for.
    within: Sides,
    best: Option<Cuboid>,
    /// Boxes of so many nodes do not count.
    least: u64,
    /// Words a row.
    width: usize,
}

impl<'a> Search<'a> {
    fn new(free: &'a Occupancy, least: u32, most: Sides) -> Self {
        let grid = *free.grid();
        let width = usize::from(grid.side(0)).div_ceil(64);
        let within = std::array::from_fn(|axis| most[axis].min(grid.side(axis)));
        Search { free, grid, within, best: None, least: u64::from(least), width }
    }

    fn run(mut self) -> Option<Cuboid> {
        let [_, d, h] = self.grid.sides();
        let mut planes = vec![0u64; self.width * usize::from(d)];
        let mut row = vec![0u64; self.width];
        for z in 0..h {
            self.load_plane(z, &mut planes);
            for c in 1..=self.most(2, z) {
                if c > 1 {
                    self.and_plane((u32::from(z) + u32::from(c) - 1) % u32::from(h), &mut planes);
                }
                self.search_plane(z, c, &planes, &mut row);
            }
        }
        self.best
    }

    /// The longest side of a box that starts at a coordinate of an axis.
    fn most(&self, axis: usize, from: u16) -> u16 {
        let n = self.grid.side(axis);
        self.within[axis].min(if self.grid.wraps(axis) { n } else { n - from })
    }

    fn search_plane(&mut self, z: u16, c: u16, planes: &[u64], row: &mut [u64]) {
        let [w, d, _] = self.grid.sides();
        let [most_wide, most_deep, _] = self.within;
        if !self.could_win([most_wide, most_deep, c]) {
            return;
        }
        for y in 0..d {
            for b in 1..=self.most(1, y) {
                let at = (usize::from(y) + usize::from(b) - 1) % usize::from(d) * self.width;
                let source = &planes[at..at + self.width];
                if b == 1 {
                    row.copy_from_slice(source);
                } else {
                    row.iter_mut().zip(source).for_each(|(word, more)| *word &= more);
                }
                // The rows between have no more nodes in common as there are more of them.
                let common = row.iter().map(|word| word.count_ones()).sum::<u32>() as u16;
                let common = most_wide.min(common);
                if !self.could_win([common, self.most(1, y), c]) {
                    break;
                }
                if self.could_win([common, b, c]) {
                    let (x, a) = longest_run(row, usize::from(w), self.grid.wraps(0));
                    let a = most_wide.min(a as u16);
                    let found = Cuboid::new([x as u16, y, z], [a, b, c]);
                    if volume(found.sides) > self.least {
                        self.offer(found);
                    }
                }
            }
        }
    }

    /// Whether a box of these sides would at least equal the best so far.
    fn could_win(&self, sides: Sides) -> bool {
        let most = volume(sides);
        most > self.least && self.best.is_none_or(|best| most >= u64::from(best.volume()))
    }

    fn offer(&mut self, cuboid: Cuboid) {
        let cuboid = cuboid.canonical(&self.grid);
        let rank = |c: &Cuboid| {
            (volume(c.sides), c.sides, std::cmp::Reverse([c.base[2], c.base[1], c.base[0]]))
        };
        if self.best.is_none_or(|best| rank(&cuboid) > rank(&best)) {
            self.best = Some(cuboid);
        }
    }

    /// Copies the rows of a plane, each to the start of a word.
    fn load_plane(&self, z: u16, planes: &mut [u64]) {
        planes.fill(u64::MAX);
        self.and_plane(u32::from(z), planes);
    }

    fn and_plane(&self, z: u32, planes: &mut [u64]) {
        let [w, d, _] = self.grid.sides().map(usize::from);
        for y in 0..d {
            let from = w * (y + d * z as usize);
            for (k, word) in planes[y * self.width..(y + 1) * self.width].iter_mut().enumerate() {
                *word &= self.free.bits(NodeId((from + k * 64) as u32), (w - k * 64).min(64));
            }
        }
    }
}

/// The first and longest run of ones in a row of `n` bits: `(first bit, length)`.
fn longest_run(row: &[u64], n: usize, wraps: bool) -> (usize, usize) {
    let bit = |i: usize| row[i / 64] >> (i % 64) & 1 == 1;
    let (mut best, mut start, mut length) = ((0, 0), 0, 0);
    let mut head = None;
    for i in 0..n {
        if bit(i) {
            if length == 0 {
                start = i;
            }
            length += 1;
        }
        if !bit(i) || i + 1 == n {
            if length > best.1 {
                best = (start, length);
            }
            if head.is_none() {
                head = Some(if start == 0 { length } else { 0 });
            }
            if i + 1 < n {
                length = 0;
            }
        }
    }
    // A run that ends at the last node goes on at the first one of a ring.
    if wraps && length > 0 && length < n && bit(n - 1) {
        let joined = length + head.unwrap_or(0);
        if joined > best.1 {
            best = (start, joined);
        }
    }
    best
}
