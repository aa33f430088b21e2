//! The set of bases at which a shape is free, computed by shifting and ANDing whole words.
//!
//! With one bit per node, `pairs = free & free >> 1` has a bit set wherever a run of two nodes
//! along x begins. `pairs & pairs >> 2` has a bit set wherever a run of four begins. A run of any
//! length therefore takes about log2(length) passes. Similar passes over rows along y and planes
//! along z then yield every base of the shape.
//!
//! ```text
//!   free     1 1 0 1 1 1 1 0        runs of 3 along x:
//!   & >> 1   1 0 0 1 1 1 0 0        step 1 doubles the length to 2,
//!   & >> 1   0 0 0 1 1 0 0 0        another step of 1 gives 3: bases 3 and 4
//! ```
//!
//! On an axis that wraps, a shift is a rotation within the axis.
//!
//! The set also shows which faces of a placement are next to free nodes: a face is next to free
//! nodes exactly if the next base on that side is also in the set. [`BaseSet::edges`] uses this
//! property to find the touching faces for all bases in a single pass.
//!
//! Invariant: the set contains only canonical bases, and bits shifted in from beyond the end of an
//! axis never count as free.
//!
//! Cost: O((log a + log b + log c) * rows * W / 64) word operations for an a x b x c shape.

use crate::bits::{Axis, Layout};
use crate::occupancy::Ones;
use crate::search::vectors::{FEW_WORDS, Kernel, Vectors};
use crate::{Coordinates, Cuboid, Grid, Occupancy, Scan, Sides};

/// A search for a shape's bases. It reuses its buffers, so later searches do not allocate memory.
///
/// ```
/// # mod pavior { pub use pavior_mesh as strategies; pub use pavior_mesh::*; }
/// use pavior::strategies::{BaseSet, Scan};
/// use pavior::{Cuboid, Grid, Occupancy};
/// let grid = Grid::mesh(&[5, 3])?;
/// let mut free = Occupancy::all_free(grid);
/// free.take(&Cuboid::new([1, 0], [1, 1])).unwrap();
/// let mut bases = BaseSet::new(grid);
/// assert_eq!(bases.find(&free, [3, 2, 1], Scan::default()), Some([2, 0, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BaseSet {
    grid: Grid,
    layout: Layout,
    shape: Sides,
    /// The free nodes in this layout, or an empty list if they have not been loaded.
    nodes: Vec<u64>,
    /// True if the loaded nodes come from an occupancy for the same grid.
    fits: bool,
    words: Vec<u64>,
    /// Scratch space, left empty until it is first needed.
    spare: Vec<u64>,
    touched: u64,
}

impl BaseSet {
    /// Creates a search for machines with this grid.
    pub fn new(grid: Grid) -> BaseSet {
        let layout = Layout::new(grid);
        let words = vec![0; layout.words()];
        let (nodes, spare) = (Vec::new(), Vec::new());
        BaseSet { grid, layout, shape: [1; 3], nodes, fits: true, words, spare, touched: 0 }
    }

    /// Creates a search within a box, treating it as a separate machine. An axis wraps if it wraps
    /// on the grid and the box spans it. Coordinates are relative to the box's base. Loads the
    /// box's free nodes in O(rows of the box) time. A box outside the grid has no bases.
    ///
    /// ```
    /// # mod pavior { pub use pavior_mesh as strategies; pub use pavior_mesh::*; }
    /// use pavior::strategies::BaseSet;
    /// use pavior::{Cuboid, Grid, Occupancy};
    /// let mut free = Occupancy::all_free(Grid::mesh(&[8, 8])?);
    /// free.take(&Cuboid::new([4, 4], [1, 1])).unwrap();
    /// let mut bases = BaseSet::within(&free, &Cuboid::new([3, 3], [4, 5]));
    /// assert_eq!(bases.find_loaded([2, 2, 1]), Some([2, 0, 0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn within(free: &Occupancy, cuboid: &Cuboid) -> BaseSet {
        if !cuboid.lies_on(free.grid()) {
            return BaseSet { fits: false, ..BaseSet::new(*free.grid()) };
        }
        let mut bases = BaseSet::new(free.grid().of_box(cuboid));
        bases.touched += bases.words.len() as u64;
        bases.nodes.resize(bases.words.len(), 0);
        bases.layout.load_box(free, cuboid, &mut bases.nodes);
        bases
    }

    /// Returns the grid.
    #[inline]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Finds the first base of an unrotated shape, in row-major order, among the free nodes last
    /// loaded with [`BaseSet::load`].
    pub fn find_loaded(&mut self, shape: Sides) -> Option<Coordinates> {
        if self.compute_loaded(shape) { self.first() } else { None }
    }

    /// Finds the first base, in scan order, at which the shape is free without rotation.
    pub fn find(&mut self, free: &Occupancy, shape: Sides, scan: Scan) -> Option<Coordinates> {
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

    /// Returns the number of words that searches have read so far. Each pass over the set, and each
    /// read of the result, counts every word once.
    #[inline]
    pub fn words_touched(&self) -> u64 {
        self.touched
    }

    /// Computes a shape's bases, which can then be queried with [`BaseSet::contains`] and
    /// [`BaseSet::row_major`]. Returns false, leaving the set empty, if the shape does not fit the
    /// empty grid without rotation, or if the occupancy is for another grid.
    pub fn compute(&mut self, free: &Occupancy, shape: Sides) -> bool {
        self.load(free);
        self.compute_loaded(shape)
    }

    /// Loads the free nodes for [`BaseSet::compute_loaded`] and [`BaseSet::busy_in`]. Takes
    /// O(words) time. If the occupancy is for another grid, no node counts as free.
    pub fn load(&mut self, free: &Occupancy) {
        self.touched += self.words.len() as u64;
        self.nodes.resize(self.words.len(), 0);
        self.fits = free.grid() == &self.grid;
        if self.fits {
            self.layout.load(free, &mut self.nodes);
        } else {
            self.nodes.fill(0);
        }
    }

    /// Computes a shape's bases like [`BaseSet::compute`], but for the free nodes last loaded with
    /// [`BaseSet::load`] or [`BaseSet::compute`].
    pub fn compute_loaded(&mut self, shape: Sides) -> bool {
        self.shape = shape;
        if !self.grid.fits(shape) || !self.fits {
            self.words.fill(0);
            return false;
        }
        if self.nodes.is_empty() {
            self.words.fill(0);
            return true;
        }
        self.words.copy_from_slice(&self.nodes);
        for (axis, &side) in shape.iter().enumerate() {
            let mut length = 1;
            while length < side {
                let step = length.min(side - length);
                self.and_ahead(axis, step);
                length += step;
            }
            if side > 1 && self.words.len() >= FEW_WORDS && !self.any() {
                break;
            }
        }
        true
    }

    /// Keeps only the bases for which the point `step` farther along an axis is also a base.
    fn and_ahead(&mut self, axis: usize, step: u16) {
        self.touched += self.words.len() as u64;
        let ring = self.grid.wraps(axis) && self.shape[axis] < self.grid.side(axis);
        let lies = self.layout.axis(axis);
        if self.spare.is_empty() && (ring || lies.is_in_rows()) {
            self.spare.resize(self.words.len(), 0);
        }
        let step = usize::from(step);
        if self.words.len() < FEW_WORDS {
            lies.and_ahead(&mut self.words, &mut self.spare, step, ring);
        } else {
            AndAhead { lies, words: &mut self.words, spare: &mut self.spare, step, ring }.widest();
        }
    }

    /// Extends the most recently computed shape by 1 along an axis. Returns true if a base remains.
    pub fn grow(&mut self, axis: usize) -> bool {
        self.shape[axis] = self.shape[axis].saturating_add(1);
        if !self.grid.fits(self.shape) {
            self.words.fill(0);
            return false;
        }
        // A longer run begins at a node if shorter runs begin at that node and at the next one. If
        // the longer run fills the ring, there must be shorter runs that begin at 0 and at 1.
        self.and_ahead(axis, 1);
        if self.grid.wraps(axis) && self.shape[axis] == self.grid.side(axis) {
            let mut beyond = Cuboid::whole(&self.grid);
            (beyond.base[axis], beyond.sides[axis]) = (1, self.grid.side(axis) - 1);
            self.layout.clear(&mut self.words, &beyond);
        }
        self.any()
    }

    /// Returns true if the set is not empty.
    #[inline]
    pub fn any(&self) -> bool {
        self.words.iter().any(|&word| word != 0)
    }

    /// Returns the number of bases. Takes O(words) time.
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns true if any base is in the box, or false if the box extends past the end of an axis.
    /// Takes O(rows of the box) time.
    pub fn any_in(&self, cuboid: &Cuboid) -> bool {
        let ends = |axis: usize| u32::from(cuboid.base[axis]) + u32::from(cuboid.sides[axis]);
        let within = |axis| ends(axis) <= u32::from(self.grid.side(axis));
        cuboid.sides.iter().all(|&side| side > 0)
            && (0..3).all(within)
            && self.layout.any(&self.words, cuboid)
    }

    /// Computes which columns contain bases. Column x is bit x % 64 of word x / 64.
    pub fn columns_into(&self, columns: &mut Vec<u64>) {
        self.layout.columns_into(&self.words, columns);
    }

    /// Returns the most recently computed shape.
    #[inline]
    pub fn shape(&self) -> Sides {
        self.shape
    }

    /// Replaces the bases with those of another set for the same grid, without allocating memory.
    /// Keeps the nodes loaded by [`BaseSet::load`]. If the grids differ, the set becomes empty.
    pub fn take(&mut self, other: &BaseSet) {
        self.shape = other.shape;
        if self.grid == other.grid {
            self.words.copy_from_slice(&other.words);
        } else {
            self.words.fill(0);
        }
    }

    /// Removes all bases at which a placement would overlap a box. A box outside the grid has no
    /// effect. Takes time proportional to the number of rows that contain removed bases.
    pub fn cover(&mut self, busy: &Cuboid) {
        if !busy.lies_on(&self.grid) || !self.grid.fits(self.shape) {
            return;
        }
        let reach = |axis: usize| {
            let (n, side) = (self.grid.side(axis), self.shape[axis]);
            let (base, length) = (busy.base[axis], busy.sides[axis]);
            if !self.grid.wraps(axis) {
                let low = (base + 1).saturating_sub(side);
                return (low, base + length - low);
            }
            if u32::from(length) + u32::from(side) > u32::from(n) {
                return (0, n);
            }
            let back = side - 1;
            (if base >= back { base - back } else { n - (back - base) }, length + back)
        };
        let reached: [_; 3] = std::array::from_fn(reach);
        let covered = Cuboid::new(reached.map(|(low, _)| low), reached.map(|(_, length)| length));
        self.layout.clear(&mut self.words, &covered);
    }

    /// Returns true if the last computed shape is free at `base`, which must be canonical.
    #[inline]
    pub fn contains(&self, base: Coordinates) -> bool {
        if !self.grid.contains(base) {
            return false;
        }
        let (word, bit) = self.layout.bit(base);
        self.words[word] >> bit & 1 == 1
    }

    /// Finds the first base, in row-major order, of a two-part shape on a mesh. `self` and `other`
    /// must each hold the computed bases of one part, and `offsets` are the parts' positions
    /// relative to the base of the shape's bounding box. Returns `None` if there is no such base,
    /// if a part extends beyond the bounding box, if the grids differ, or if an axis wraps.
    pub fn first_with(
        &mut self,
        other: &BaseSet,
        offsets: [Coordinates; 2],
        bounding: Sides,
    ) -> Option<Coordinates> {
        let inside = |set: &BaseSet, offset: Coordinates| {
            (0..3).all(|axis| {
                u32::from(offset[axis]) + u32::from(set.shape[axis]) <= u32::from(bounding[axis])
            })
        };
        let parts = inside(self, offsets[0]) && inside(other, offsets[1]);
        if !parts || self.grid != other.grid || self.grid.has_wrap() {
            return None;
        }
        let starts: Sides = std::array::from_fn(|axis| self.grid.starts(axis, bounding[axis]));
        let row = |set: &BaseSet, [x, y, z]: Coordinates, from: [u16; 2], index: usize| {
            let row = [y + from[0], z + from[1]];
            set.layout.row_ahead(&set.words, row, index, usize::from(x))
        };
        for z in 0..starts[2] {
            for y in 0..starts[1] {
                for index in 0..self.layout.row_words() {
                    self.touched += 2;
                    let both = row(self, offsets[0], [y, z], index)
                        & row(other, offsets[1], [y, z], index);
                    if both != 0 {
                        return Some([64 * index as u16 + both.trailing_zeros() as u16, y, z]);
                    }
                }
            }
        }
        None
    }

    /// Returns the bases of the most recently computed shape in row-major order. Takes
    /// O(words + bases found) time.
    pub fn row_major(&self) -> impl Iterator<Item = Coordinates> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(move |(index, &word)| Ones(word).map(move |bit| self.point(index, bit)))
    }

    /// Returns the set's words in row-major order. [`BaseSet::point`] maps a bit to its base.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the base represented by a bit of a word.
    #[inline]
    pub fn point(&self, word: usize, bit: u32) -> Coordinates {
        self.layout.point(word, bit)
    }

    /// Returns the first base in row-major order.
    pub fn first(&mut self) -> Option<Coordinates> {
        let found = self.words.iter().position(|&word| word != 0);
        self.touched += found.map_or(self.words.len(), |word| word + 1) as u64;
        found.map(|word| self.point(word, self.words[word].trailing_zeros()))
    }

    /// Returns true if a placement has faces on an axis. A placement has no faces on an axis of
    /// length 1 or on a ring that it fills.
    pub fn has_faces(&self, axis: usize) -> bool {
        let n = self.grid.side(axis);
        n > 1 && !(self.grid.wraps(axis) && self.shape[axis] == n)
    }

    /// Computes the bases at which a placement touches a busy node or the border, separately for an
    /// axis's low and high sides. Both sets are empty if placements have no faces on this axis.
    pub fn edges(&self, axis: usize, [low, high]: [&mut Vec<u64>; 2]) {
        for edge in [&mut *low, &mut *high] {
            edge.clear();
            edge.resize(self.words.len(), 0);
        }
        if self.has_faces(axis) {
            let (lies, ring) = (self.layout.axis(axis), self.grid.wraps(axis));
            lies.without_neighbour(&self.words, low, ring, false);
            lies.without_neighbour(&self.words, high, ring, true);
        }
    }

    /// Returns the number of nodes in a box that were busy at the last load. If the box is outside
    /// the grid or nothing was loaded, returns the box's volume. Takes O(rows of the box) time.
    pub fn busy_in(&self, cuboid: &Cuboid) -> u32 {
        if !cuboid.lies_on(&self.grid) || self.nodes.is_empty() {
            return cuboid.volume();
        }
        cuboid.volume() - self.layout.count(&self.nodes, cuboid)
    }
}

/// One pass along an axis.
struct AndAhead<'a> {
    lies: Axis,
    words: &'a mut [u64],
    spare: &'a mut [u64],
    step: usize,
    ring: bool,
}

impl AndAhead<'_> {
    #[inline(never)]
    fn widest(self) {
        Vectors::widest().run(self);
    }
}

impl Kernel for AndAhead<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "compiled for each instruction set")]
    #[inline(always)]
    fn run(self) {
        self.lies.and_ahead(self.words, self.spare, self.step, self.ring);
    }
}
