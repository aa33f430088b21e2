//! The set of bases at which a shape is free, by shifts and ANDs over whole words.
//!
//! With one bit a node, `free & free >> 1` has a bit wherever a run of two along x begins, and
//! `that & that >> 2` wherever a run of four begins: a run of any length takes about log2(length)
//! passes. The same along y with a stride of W, and along z with W*D, gives every base of the shape.
//! O((log a + log b + log c) * N / 64) word operations for a shape a x b x c.
//!
//! ```text
//!   free     1 1 0 1 1 1 1 0        runs of 3 along x:
//!   & >> 1   1 0 0 1 1 1 0 0        step 1 doubles the length to 2,
//!   & >> 1   0 0 0 1 1 0 0 0        step 1 more gives 3: bases 3 and 4
//! ```
//!
//! Rows are not padded, so a shift along x carries bits over the end of a row. On an axis that does
//! not wrap this only touches coordinates that are no bases, and those are never looked at. On an
//! axis that wraps the shift is a rotation within the axis: two shifts and a periodic mask.

use crate::{Grid, NodeId, Occupancy, Point, Scan, Sides};

/// A search for the bases of a shape, with its scratch memory: no allocation once warm.
///
/// ```
/// use pavior_mesh::{BaseSet, Cuboid, Grid, Occupancy, Scan};
/// let grid = Grid::mesh(&[5, 3])?;
/// let mut free = Occupancy::all_free(grid);
/// free.take(&Cuboid::new([1, 0], [1, 1])).unwrap();
/// let mut bases = BaseSet::new(grid);
/// assert_eq!(bases.find(&free, [3, 2, 1], Scan::default()), Some([2, 0, 0]));
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BaseSet {
    grid: Grid,
    shape: Sides,
    words: Vec<u64>,
    spare: Vec<u64>,
    /// By axis and shift: which nodes take their bit from beyond the end of the axis.
    wrapped: [Vec<Box<[u64]>>; 3],
    touched: u64,
}

impl BaseSet {
    /// A search on machines of this grid.
    pub fn new(grid: Grid) -> BaseSet {
        let words = (grid.nodes() as usize).div_ceil(64);
        let wrapped = std::array::from_fn(|axis| {
            let shifts = if grid.wraps(axis) { usize::from(grid.side(axis)) } else { 0 };
            vec![Box::default(); shifts]
        });
        let (words, spare) = (vec![0; words], vec![0; words]);
        BaseSet { grid, shape: [1; 3], words, spare, wrapped, touched: 0 }
    }

    /// The first base, in scan order, at which the shape is free, unturned.
    pub fn find(&mut self, free: &Occupancy, shape: Sides, scan: Scan) -> Option<Point> {
        if !self.compute(free, shape) {
            return None;
        }
        if scan.is_row_major() {
            return self.first();
        }
        let mut looked = 0;
        let bases = scan.bases(self.grid, self.shape).inspect(|_| looked += 1);
        let found = bases.into_iter().find(|&base| self.contains(base));
        self.touched += looked;
        found
    }

    /// The words that searches have gone over so far: one for each word of each pass, and one for
    /// each look at the result.
    pub fn words_touched(&self) -> u64 {
        self.touched
    }

    /// Computes the bases of a shape, to be asked with [`BaseSet::contains`] and
    /// [`BaseSet::iter`]. Returns false, and leaves nothing to ask, if the shape does not fit the
    /// empty grid unturned, or the occupancy is of another grid.
    pub fn compute(&mut self, free: &Occupancy, shape: Sides) -> bool {
        self.shape = shape;
        if !self.grid.fits(shape) || free.grid() != &self.grid {
            self.words.fill(0);
            return false;
        }
        self.words.copy_from_slice(free.words());
        let pass = self.words.len() as u64;
        self.touched += pass;
        let mut stride = 1;
        for (axis, &side) in shape.iter().enumerate() {
            let n = self.grid.side(axis);
            let rotate = self.grid.wraps(axis) && side < n;
            let mut length = 1;
            while length < side {
                let step = length.min(side - length);
                if rotate {
                    self.and_rotated(axis, step, stride);
                } else {
                    and_shifted(&mut self.words, usize::from(step) * stride);
                }
                length += step;
                self.touched += pass;
            }
            stride *= usize::from(n);
        }
        true
    }

    /// Whether the shape last computed is free at a canonical base.
    pub fn contains(&self, base: Point) -> bool {
        let index = self.grid.id(base).index();
        self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// The first base in row-major order of a shape of two parts, on a mesh: `self` and `other` have
    /// computed one part each, which lie at these offsets from the base of the shape's bounding box.
    /// `None`, too, where a part leaves the bounding box, the grids differ or an axis wraps.
    pub fn first_with(
        &mut self,
        other: &BaseSet,
        offsets: [Point; 2],
        bounding: Sides,
    ) -> Option<Point> {
        let inside = |set: &BaseSet, offset: Point| {
            (0..3).all(|axis| {
                u32::from(offset[axis]) + u32::from(set.shape[axis]) <= u32::from(bounding[axis])
            })
        };
        let parts = inside(self, offsets[0]) && inside(other, offsets[1]);
        if !parts || self.grid != other.grid || self.grid.has_wrap() {
            return None;
        }
        let starts: Sides = std::array::from_fn(|axis| self.grid.starts(axis, bounding[axis]));
        let id = |offset: Point, [x, y, z]: Point| {
            self.grid.id([offset[0] + x, offset[1] + y, offset[2] + z]).index()
        };
        for z in 0..starts[2] {
            for y in 0..starts[1] {
                for x in (0..starts[0]).step_by(64) {
                    let count = usize::from((starts[0] - x).min(64));
                    self.touched += 2;
                    let own = window(&self.words, id(offsets[0], [x, y, z]), count);
                    let both = own & window(&other.words, id(offsets[1], [x, y, z]), count);
                    if both != 0 {
                        return Some([x + both.trailing_zeros() as u16, y, z]);
                    }
                }
            }
        }
        None
    }

    /// The bases of the shape last computed, in scan order.
    pub fn iter(&self, scan: Scan) -> impl Iterator<Item = Point> + '_ {
        scan.bases(self.grid, self.shape).filter(|&base| self.contains(base))
    }

    /// The bases of the shape last computed, in row-major order. O(rows + bases found).
    pub fn row_major(&self) -> impl Iterator<Item = Point> + '_ {
        let [columns, rows, planes] =
            std::array::from_fn(|axis| usize::from(self.grid.starts(axis, self.shape[axis])));
        let [w, d, _] = self.grid.sides().map(usize::from);
        let starts = (0..planes).flat_map(move |z| (0..rows).map(move |y| w * (y + d * z)));
        starts.flat_map(move |row| {
            let mut from = row;
            std::iter::from_fn(move || {
                let length = (row + columns).checked_sub(from).filter(|&length| length > 0)?;
                let found = first_one(&self.words, from, length)?;
                from = found + 1;
                Some(self.grid.point(NodeId(found as u32)))
            })
        })
    }

    /// The first base in row-major order.
    fn first(&mut self) -> Option<Point> {
        let [columns, rows, planes] =
            std::array::from_fn(|axis| usize::from(self.grid.starts(axis, self.shape[axis])));
        let [w, d, _] = self.grid.sides().map(usize::from);
        for z in 0..planes {
            for y in 0..rows {
                let row = w * (y + d * z);
                let found = first_one(&self.words, row, columns);
                let last = found.unwrap_or(row + columns - 1);
                self.touched += (last / 64 - row / 64 + 1) as u64;
                if let Some(bit) = found {
                    return Some(self.grid.point(NodeId(bit as u32)));
                }
            }
        }
        None
    }

    /// `words &= words` rotated so that each node sees the one `step` further along the axis.
    fn and_rotated(&mut self, axis: usize, step: u16, stride: usize) {
        let n = usize::from(self.grid.side(axis));
        let step = usize::from(step);
        let mask = &mut self.wrapped[axis][step];
        if mask.is_empty() {
            *mask = wrapped_mask(n, step, stride, self.words.len());
        }
        let (ahead, back) = (step * stride, (n - step) * stride);
        let mut masks = mask.iter().cycle();
        for (index, out) in self.spare.iter_mut().enumerate() {
            let wrapped = masks.next().expect("a mask is not empty");
            let direct = shifted_right(&self.words, index, ahead);
            let around = shifted_left(&self.words, index, back);
            *out = self.words[index] & ((direct & !wrapped) | (around & wrapped));
        }
        std::mem::swap(&mut self.words, &mut self.spare);
    }
}

/// `words &= words >> shift`, over the whole array.
fn and_shifted(words: &mut [u64], shift: usize) {
    let (skip, bits) = (shift / 64, shift % 64);
    let count = words.len();
    if skip >= count {
        words.fill(0);
        return;
    }
    // Ascending order reads only words that are not written yet.
    if bits == 0 {
        for index in 0..count - skip {
            words[index] &= words[index + skip];
        }
    } else {
        for index in 0..count - skip - 1 {
            words[index] &= words[index + skip] >> bits | words[index + skip + 1] << (64 - bits);
        }
        words[count - skip - 1] &= words[count - 1] >> bits;
    }
    words[count - skip..].fill(0);
}

/// The `count` bits (1 to 64) from a bit on, in the low bits of a word.
fn window(words: &[u64], from: usize, count: usize) -> u64 {
    let (word, shift) = (from / 64, from % 64);
    let next = words.get(word + 1).copied().unwrap_or(0);
    // Two shifts, since one by 64 is none.
    (words[word] >> shift | next << 1 << (63 - shift)) & (u64::MAX >> (64 - count))
}

/// Word `index` of `words >> shift`.
fn shifted_right(words: &[u64], index: usize, shift: usize) -> u64 {
    let (skip, bits) = (shift / 64, shift % 64);
    let at = |index: usize| words.get(index).copied().unwrap_or(0);
    if bits == 0 {
        at(index + skip)
    } else {
        at(index + skip) >> bits | at(index + skip + 1) << (64 - bits)
    }
}

/// Word `index` of `words << shift`.
fn shifted_left(words: &[u64], index: usize, shift: usize) -> u64 {
    let (skip, bits) = (shift / 64, shift % 64);
    let at = |back: usize| index.checked_sub(back).map_or(0, |index| words[index]);
    if bits == 0 { at(skip) } else { at(skip) << bits | at(skip + 1) >> (64 - bits) }
}

/// The nodes whose coordinate is at least `n - step`: they look beyond the end of the axis. The
/// pattern repeats every `n * stride` bits, so the mask is cut to its period in words.
fn wrapped_mask(n: usize, step: usize, stride: usize, words: usize) -> Box<[u64]> {
    let period = n * stride;
    let length = (period / gcd(period, 64)).min(words);
    let mut mask = vec![0u64; length].into_boxed_slice();
    for bit in 0..length * 64 {
        if bit % period >= (n - step) * stride {
            mask[bit / 64] |= 1 << (bit % 64);
        }
    }
    mask
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The first one bit in `from..from + length`.
fn first_one(words: &[u64], from: usize, length: usize) -> Option<usize> {
    let end = from + length;
    let mut index = from / 64;
    let mut word = words[index] & u64::MAX << (from % 64);
    loop {
        if word != 0 {
            let bit = index * 64 + word.trailing_zeros() as usize;
            return (bit < end).then_some(bit);
        }
        index += 1;
        if index * 64 >= end {
            return None;
        }
        word = words[index];
    }
}
