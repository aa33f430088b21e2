//! The largest free box in an occupancy.
//!
//! For every range of consecutive planes, the planes are ANDed together. The largest rectangle in
//! the result is then found row by row, as the largest rectangle under a histogram, using a stack
//! of columns of increasing height. To keep the number of ranges small, planes are perpendicular to
//! the shortest axis.
//!
//! ```text
//!   row y:     . # . . . #        a column's height is the number of free nodes from row y up:
//!   heights:   3 0 2 4 1 0        where a column ends, rectangles of its height end
//!   row y + 1: . # # . . #        the run at column 0 continues, so a later row searches it
//! ```
//!
//! Bit operations on words of 64 nodes select the runs of free nodes to search in each row. A run
//! is skipped if all of its nodes are also free in the next row, because a later row then yields a
//! larger box. A run is also skipped if it is too short to beat the best box so far, given the
//! maximum height in its row or within the run.
//!
//! Invariant: `best` is the best box in the planes and rows searched so far. The search abandons a
//! range of planes, a row or a run as soon as nothing in it can beat `best`.
//!
//! Cost: O(N H / 16) vector operations for N nodes and a shortest side of H, plus one step per node
//! in the runs that are searched. In the worst case, this is O(N H). A ring is traversed twice,
//! which costs up to four times as much.
//!
//! Source: the method for finding the largest rectangle under a histogram is from textbooks. Its
//! application to ranges of planes and the pruning are our own.

mod line;

use std::cmp::Ordering;

use line::Line;

use crate::search::vectors::{Kernel, Vectors};
use crate::{Cuboid, Grid, NodeId, Occupancy, Sides, volume};

impl Occupancy {
    /// Finds the free box with the largest volume. Ties go to the lexicographically largest sides,
    /// then to the first base in row-major order. Returns `None` if no node is free.
    ///
    /// ```
    /// # use pavior_mesh as pavior;
    /// use pavior::{Cuboid, Grid, Occupancy};
    /// let mut free = Occupancy::all_free(Grid::mesh(&[4, 3])?);
    /// free.take(&Cuboid::new([1, 1, 0], [1, 1, 1])).unwrap();
    /// assert_eq!(free.largest_free(), Some(Cuboid::new([2, 0, 0], [2, 3, 1])));
    /// # Ok::<(), pavior::GridError>(())
    /// ```
    pub fn largest_free(&self) -> Option<Cuboid> {
        self.largest_free_above(0)
    }

    /// Finds the largest free box with more than `least` nodes. This is faster than
    /// [`Self::largest_free`] if no such box exists.
    pub fn largest_free_above(&self, least: u32) -> Option<Cuboid> {
        Search::new(self, least, self.grid().sides()).run()
    }

    /// Finds the largest free box whose sides do not exceed the given maximums. If several bases
    /// are possible, the box does not necessarily have the first one.
    ///
    /// ```
    /// # use pavior_mesh as pavior;
    /// use pavior::{Cuboid, Grid, Occupancy};
    /// let mut free = Occupancy::all_free(Grid::mesh(&[4, 3])?);
    /// free.take(&Cuboid::new([1, 1, 0], [1, 1, 1])).unwrap();
    /// let within = free.largest_free_within([3, 1, 1]);
    /// assert_eq!(within.map(|cuboid| cuboid.sides), Some([3, 1, 1]));
    /// # Ok::<(), pavior::GridError>(())
    /// ```
    pub fn largest_free_within(&self, most: Sides) -> Option<Cuboid> {
        Search::new(self, 0, most).run()
    }
}

/// A search that reorders the axes so that rows run along a long axis and planes are perpendicular
/// to the shortest one.
struct Search {
    /// The machine's axes in search order: along rows, across rows, across planes.
    axes: [usize; 3],
    grid: Grid,
    /// The maximum sides. `within`, `sides` and `wraps` are all in search order.
    within: Sides,
    sides: Sides,
    wraps: [bool; 3],
    /// All rows, plane by plane. Each row starts in a new word.
    rows: Vec<u64>,
    /// The number of words per row.
    width: usize,
    /// Boxes with this many nodes or fewer are ignored.
    least: u64,
    best: Option<Cuboid>,
    /// For each node in a row, the number of consecutive free nodes that end there, counted across
    /// rows. There are 64 entries per word. On a ring, the row appears twice, without unused bits.
    heights: Vec<u16>,
    line: Line,
    /// The start and height of each rectangle that is still open at the current node, shortest
    /// first.
    stack: Vec<(usize, u16)>,
}

/// The boxes that span `planes` planes, starting with plane `first`, and end at row `y`. The
/// tallest of these boxes has `highest` rows.
#[derive(Clone, Copy)]
struct Place {
    first: u16,
    planes: u16,
    y: usize,
    highest: u16,
}

impl Search {
    fn new(free: &Occupancy, least: u32, most: Sides) -> Self {
        let grid = *free.grid();
        let mut axes = [0, 1, 2];
        axes.sort_by_key(|&axis| std::cmp::Reverse(grid.side(axis)));
        // Let rows run along x, where nodes are adjacent in memory.
        if axes[1] == 0 && grid.side(0) >= 64 {
            axes.swap(0, 1);
        }
        let sides = axes.map(|axis| grid.side(axis));
        let wraps = axes.map(|axis| grid.wraps(axis));
        let width = usize::from(sides[0]).div_ceil(64);
        let twice = if wraps[0] { 2 * usize::from(sides[0]) } else { 0 };
        Search {
            axes,
            grid,
            within: axes.map(|axis| most[axis].min(grid.side(axis))),
            sides,
            wraps,
            rows: rows(free, axes, width),
            width,
            least: u64::from(least),
            best: None,
            heights: vec![0; twice.max(64 * width)],
            line: Line::default(),
            stack: Vec::new(),
        }
    }

    fn run(mut self) -> Option<Cuboid> {
        let [_, d, h] = self.sides;
        let length = self.width * usize::from(d);
        let mut planes = vec![0u64; length];
        for z in 0..h {
            planes.copy_from_slice(&self.rows[usize::from(z) * length..][..length]);
            let most = self.within[2].min(if self.wraps[2] { h } else { h - z });
            for c in 1..=most {
                if c > 1 {
                    let next = (usize::from(z) + usize::from(c) - 1) % usize::from(h);
                    let next = &self.rows[next * length..][..length];
                    planes.iter_mut().zip(next).for_each(|(word, more)| *word &= more);
                }
                let common: u64 = planes.iter().map(|word| u64::from(word.count_ones())).sum();
                if common * u64::from(most) < self.wanted() {
                    break;
                }
                if common * u64::from(c) >= self.wanted() {
                    self.search_planes(z, c, &planes);
                }
            }
        }
        self.best
    }

    /// Returns the minimum volume needed to match or beat the best box so far.
    fn wanted(&self) -> u64 {
        self.best.map_or(1, |best| volume(best.sides)).max(self.least + 1)
    }

    /// Searches for boxes that span `c` planes, starting at plane `z`. `planes` contains the nodes
    /// that are free in all of these planes.
    fn search_planes(&mut self, z: u16, c: u16, planes: &[u64]) {
        let (d, width) = (usize::from(self.sides[1]), self.width);
        let row = |y: usize| &planes[y % d * width..][..width];
        let last = if self.wraps[1] { 2 * d } else { d } - 1;
        let face = u64::from(self.within[0]) * u64::from(c);
        self.heights.fill(0);
        for y in 0..=last {
            let highest = self.grow(row(y));
            if u64::from(highest) * face >= self.wanted() {
                let place = Place { first: z, planes: c, y, highest };
                self.search_row(place, row(y), (y < last).then(|| row(y + 1)));
            }
        }
    }

    /// Computes the heights in the next row from its free nodes. Returns the maximum height.
    fn grow(&mut self, bits: &[u64]) -> u16 {
        let heights = &mut self.heights[..64 * self.width];
        let grow = Grow { heights, bits, cap: self.within[1] };
        if self.width < FEW_WORDS { grow.run() } else { Vectors::widest().run(grow) }
    }

    /// Searches for boxes that end at a row, given the free nodes in that row and in the next one.
    fn search_row(&mut self, place: Place, bits: &[u64], next: Option<&[u64]>) {
        let w = usize::from(self.sides[0]);
        let ring = if self.wraps[0] { w } else { 0 };
        if !self.line.load(bits, next, ring) {
            return;
        }
        if ring > 0 {
            self.heights.copy_within(..w, w);
        }
        let high = u64::from(place.highest) * u64::from(place.planes);
        if !self.line.seek(self.wanted().div_ceil(high) as usize) {
            return;
        }
        let mut from = 0;
        while let Some((start, end)) = self.line.next_run(from).filter(|run| run.0 < w) {
            let wide = (end - start).min(usize::from(self.within[0]));
            if self.line.ends_in(start, end) {
                let highest = self.heights[start..end].iter().fold(0, |most, &at| at.max(most));
                if self.may_be_better([wide as u16, highest, place.planes]) {
                    self.search_run(place, start, end);
                }
            }
            from = end;
        }
    }

    /// Returns true if a box whose sides do not exceed these could beat the best box so far.
    fn may_be_better(&self, sides: Sides) -> bool {
        let (most, wanted) = (volume(sides), self.wanted());
        let Some(best) = self.best.filter(|best| most == wanted && most == volume(best.sides))
        else {
            return most >= wanted;
        };
        match self.own(sides).cmp(&best.sides) {
            Ordering::Less => false,
            // If axes keep their order and none wraps, boxes are found in order of their bases.
            Ordering::Equal => self.axes != [0, 1, 2] || self.grid.has_wrap(),
            Ordering::Greater => true,
        }
    }

    /// Converts coordinates or sides from the search's axis order to the grid's.
    fn own(&self, numbers: [u16; 3]) -> [u16; 3] {
        let mut own = [0; 3];
        for (number, axis) in numbers.into_iter().zip(self.axes) {
            own[axis] = number;
        }
        own
    }

    /// Searches for boxes that end at a row and fit within one of the row's runs of free nodes.
    fn search_run(&mut self, Place { first, planes, y, .. }: Place, begin: usize, end: usize) {
        let [w, d, _] = self.sides.map(usize::from);
        let widest = usize::from(self.within[0]);
        self.stack.clear();
        for x in begin..=end {
            let height = if x < end { self.heights[x] } else { 0 };
            let mut from = x;
            while let Some(&(start, high)) = self.stack.last().filter(|column| column.1 > height) {
                self.stack.pop();
                from = start;
                let wide = (x - start).min(widest) as u16;
                if u64::from(high) * u64::from(wide) * u64::from(planes) >= self.wanted() {
                    let top = (y + 1 - usize::from(high)) % d;
                    self.offer([(start % w) as u16, top as u16, first], [wide, high, planes]);
                }
            }
            if height > 0 && self.stack.last().is_none_or(|column| column.1 < height) {
                self.stack.push((from, height));
            }
        }
    }

    /// Replaces the best box if the given box, which is in search order, is better.
    fn offer(&mut self, base: [u16; 3], sides: Sides) {
        let cuboid = Cuboid::new(self.own(base), self.own(sides)).canonical(&self.grid);
        let rank = |c: &Cuboid| {
            (volume(c.sides), c.sides, std::cmp::Reverse([c.base[2], c.base[1], c.base[0]]))
        };
        if self.best.is_none_or(|best| rank(&cuboid) > rank(&best)) {
            self.best = Some(cuboid);
        }
    }
}

/// Returns the free nodes as rows along the first axis in `axes`. Each row starts in a new word.
fn rows(free: &Occupancy, axes: [usize; 3], width: usize) -> Vec<u64> {
    let grid = free.grid();
    let [w, d, h] = axes.map(|axis| usize::from(grid.side(axis)));
    let mut rows = vec![0; width * d * h];
    let strides =
        [1, usize::from(grid.side(0)), usize::from(grid.side(0)) * usize::from(grid.side(1))];
    let [along, across, beyond] = axes.map(|axis| strides[axis]);
    for (index, row) in rows.chunks_exact_mut(width).enumerate() {
        let from = index % d * across + index / d * beyond;
        if along == 1 {
            for (k, word) in row.iter_mut().enumerate() {
                *word = free.bits(NodeId((from + k * 64) as u32), (w - k * 64).min(64));
            }
        } else {
            for x in 0..w {
                let node = from + x * along;
                row[x / 64] |= (free.words()[node / 64] >> (node % 64) & 1) << (x % 64);
            }
        }
    }
    rows
}

/// Number of words per row below which a plain loop is faster than detecting vector instructions.
const FEW_WORDS: usize = 4;

/// A pass that turns one row's heights into the next row's. Heights increase by one at free nodes,
/// up to a cap, and are zero elsewhere.
struct Grow<'a> {
    /// The heights, 64 per word.
    heights: &'a mut [u16],
    bits: &'a [u64],
    cap: u16,
}

impl Kernel for Grow<'_> {
    /// The maximum height.
    type Output = u16;

    #[expect(clippy::inline_always, reason = "compiled for each instruction set")]
    #[inline(always)]
    fn run(self) -> u16 {
        let mut highest = [0u16; 16];
        for (heights, &bits) in self.heights.chunks_exact_mut(64).zip(self.bits) {
            for (part, heights) in heights.chunks_exact_mut(16).enumerate() {
                let bits = (bits >> (16 * part)) as u16;
                for (at, (height, highest)) in heights.iter_mut().zip(&mut highest).enumerate() {
                    let free = if bits & (1 << at) == 0 { 0 } else { u16::MAX };
                    *height = height.saturating_add(1).min(self.cap) & free;
                    *highest = (*highest).max(*height);
                }
            }
        }
        highest.into_iter().fold(0, u16::max)
    }
}
