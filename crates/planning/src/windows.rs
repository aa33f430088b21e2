//! Every place of a box at once: which jobs stand in it, and what they weigh.
//!
//! The bases at which a window meets a box are themselves a box (on a mesh, of sides window + box -
//! 1, cut at the border). So a job's weight is added to all of them by a difference array: eight
//! corners, and one pass of prefix sums along each axis at the end. A job of several boxes counts
//! once where the window meets any of them. The union of its boxes is marked in a bit set, and its
//! maximal runs along x are added. O(jobs + N) for jobs of one part.
//!
//! ```text
//!   window of 3, job at 4 and 5 of a row of 9     weight 2
//!   bases that meet it: 2 to 5                     difference  . . +2 . . . -2
//!                                                  prefix sum  0 0  2 2 2 2  0
//! ```

use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Occupancy, Sides};

use crate::Snapshot;

/// The canonical bases of a box, as a grid of their own.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    grid: Grid,
    sides: Sides,
    bases: Grid,
}

impl Places {
    /// The places of a box that fits the grid, unturned.
    pub(crate) fn of(grid: &Grid, sides: Sides) -> Places {
        let starts: Sides = std::array::from_fn(|axis| grid.starts(axis, sides[axis]));
        let wraps: [bool; 3] =
            std::array::from_fn(|axis| grid.wraps(axis) && starts[axis] == grid.side(axis));
        let axes = grid.axes();
        let bases = Grid::new(&starts[..axes], &wraps[..axes]);
        Places { grid: *grid, sides, bases: bases.expect("the box fits the grid") }
    }

    /// The bases.
    pub(crate) fn bases(&self) -> &Grid {
        &self.bases
    }

    /// The place at a base.
    pub(crate) fn at(&self, base: Coordinates) -> Cuboid {
        Cuboid::new(base, self.sides)
    }

    /// The bases at which the box meets another: disjoint boxes that do not wrap.
    pub(crate) fn meeting(&self, part: &Cuboid) -> impl Iterator<Item = Cuboid> + use<> {
        let (mut base, mut sides) = ([0; 3], [1; 3]);
        for axis in 0..3 {
            let (n, starts) = (u32::from(self.grid.side(axis)), self.bases.side(axis));
            let (at, length) = (u32::from(part.base[axis]), u32::from(part.sides[axis]));
            let reach = u32::from(self.sides[axis]) - 1;
            (base[axis], sides[axis]) = if starts == 1 {
                (0, 1)
            } else if self.grid.wraps(axis) {
                (((at + n - reach) % n) as u16, (length + reach).min(n) as u16)
            } else {
                let first = at.saturating_sub(reach);
                let last = (at + length - 1).min(u32::from(starts) - 1);
                (first as u16, (last - first + 1) as u16)
            };
        }
        Cuboid::new(base, sides).unwrapped(&self.bases)
    }
}

/// A number for each base, summed over the boxes that were added.
pub(crate) struct Sums {
    sides: [usize; 3],
    /// One more on each axis than there are bases, so that no corner falls outside.
    values: Vec<u64>,
}

impl Sums {
    pub(crate) fn new(bases: &Grid) -> Sums {
        let sides = bases.sides().map(|side| usize::from(side) + 1);
        Sums { sides, values: vec![0; sides.iter().product()] }
    }

    /// Adds a value to all bases of a box that does not wrap. Sums are exact below 2^64: what
    /// passes the end on the way comes back.
    pub(crate) fn add(&mut self, cuboid: &Cuboid, value: u64) {
        let low = cuboid.base.map(usize::from);
        let [w, d, _] = self.sides;
        for corner in 0..8usize {
            let at: [usize; 3] = std::array::from_fn(|axis| {
                low[axis] + (corner >> axis & 1) * usize::from(cuboid.sides[axis])
            });
            let signed = if corner.count_ones() % 2 == 0 { value } else { value.wrapping_neg() };
            let cell = &mut self.values[at[0] + w * (at[1] + d * at[2])];
            *cell = cell.wrapping_add(signed);
        }
    }

    /// Turns differences into values: a pass along each axis.
    pub(crate) fn finish(&mut self) {
        let [w, d, h] = self.sides;
        for row in self.values.chunks_exact_mut(w) {
            let mut sum = 0u64;
            for value in row {
                sum = sum.wrapping_add(*value);
                *value = sum;
            }
        }
        for (stride, side) in [(w, d), (w * d, h)] {
            for block in self.values.chunks_exact_mut(stride * side) {
                for line in 1..side {
                    let (before, from) = block.split_at_mut(line * stride);
                    let last = &before[(line - 1) * stride..];
                    for (value, last) in from.iter_mut().zip(last) {
                        *value = value.wrapping_add(*last);
                    }
                }
            }
        }
    }

    /// The values of the bases of a row.
    pub(crate) fn row(&self, y: u16, z: u16) -> &[u64] {
        let [w, d, _] = self.sides;
        &self.values[w * (usize::from(y) + d * usize::from(z))..][..w - 1]
    }

    pub(crate) fn at(&self, base: Coordinates) -> u64 {
        let [x, y, z] = base.map(usize::from);
        let [w, d, _] = self.sides;
        self.values[x + w * (y + d * z)]
    }
}

/// A set of bases, to unite what the parts of one job touch.
pub(crate) struct Union {
    bases: Grid,
    words: Vec<u64>,
}

impl Union {
    pub(crate) fn new(bases: &Grid) -> Union {
        Union { bases: *bases, words: vec![0; (bases.nodes() as usize).div_ceil(64)] }
    }

    fn mark(&mut self, cuboid: &Cuboid) {
        let [x, y, z] = cuboid.base;
        let [a, b, c] = cuboid.sides;
        for (j, k) in (0..c).flat_map(|k| (0..b).map(move |j| (j, k))) {
            let (mut at, end) = {
                let first = self.bases.id([x, y + j, z + k]).index();
                (first, first + usize::from(a))
            };
            while at < end {
                let count = (64 - at % 64).min(end - at);
                self.words[at / 64] |= (u64::MAX >> (64 - count)) << (at % 64);
                at += count;
            }
        }
    }

    /// The bases at which a box meets any of these parts, as disjoint boxes; the union is empty
    /// before and after.
    pub(crate) fn meeting(&mut self, places: &Places, parts: &[Cuboid]) -> Vec<Cuboid> {
        if let [part] = parts {
            return places.meeting(part).collect();
        }
        for part in parts {
            for piece in places.meeting(part) {
                self.mark(&piece);
            }
        }
        let mut boxes: Vec<Cuboid> = Vec::new();
        let (mut last, side) = (usize::MAX - 1, usize::from(self.bases.side(0)));
        for (index, word) in self.words.iter_mut().enumerate() {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                let bit = index * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                match boxes.last_mut() {
                    Some(run) if bit == last + 1 && bit % side > 0 => run.sides[0] += 1,
                    _ => {
                        let first = self.bases.point(NodeId(bit as u32));
                        boxes.push(Cuboid::node(first));
                    }
                }
                last = bit;
            }
        }
        boxes
    }
}

/// How many nodes that cannot be had a box would lie on, for each of its places.
pub(crate) fn barred(places: &Places, available: &Occupancy) -> Option<Sums> {
    let grid = *available.grid();
    if available.count() == grid.nodes() {
        return None;
    }
    let mut sums = Sums::new(places.bases());
    let nodes = (0..grid.nodes()).map(NodeId);
    for node in nodes.filter(|&node| !available.is_node_free(node)) {
        for piece in places.meeting(&Cuboid::node(grid.point(node))) {
            sums.add(&piece, 1);
        }
    }
    sums.finish();
    Some(sums)
}

/// The sum of a value over the jobs that stand in the box, for each of its places.
pub(crate) fn over_jobs(
    snapshot: &Snapshot,
    places: &Places,
    value: impl Fn(usize) -> u64,
) -> Sums {
    let mut sums = Sums::new(places.bases());
    let mut union = Union::new(places.bases());
    for (job, (_, parts)) in snapshot.jobs.iter().enumerate() {
        for piece in union.meeting(places, parts) {
            sums.add(&piece, value(job));
        }
    }
    sums.finish();
    sums
}
