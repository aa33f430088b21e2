//! Which nodes are free: one bit a node.

use crate::{Cuboid, Grid, NodeId};

/// The free nodes of a grid. This is the only place that knows how the bits lie in memory.
///
/// Bit `i % 64` of word `i / 64` is set while the node with row-major number `i` is free; bits past
/// the last node are zero. Rows are not padded: an 8x8x8 machine is eight words, one cache line.
/// A failed node counts as not free here; who knows of failures is the machine.
///
/// ```
/// use pavior_mesh::{Cuboid, Grid, Occupancy};
/// let mut free = Occupancy::all_free(Grid::mesh(&[8, 8])?);
/// let submesh = Cuboid::new([2, 3, 0], [4, 2, 1]);
/// free.take(&submesh);
/// assert_eq!(free.count(), 56);
/// assert!(!free.is_free(&Cuboid::new([5, 4, 0], [1, 1, 1])));
/// free.give(&submesh);
/// assert!(free.is_free(&Cuboid::whole(free.grid())));
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    grid: Grid,
    words: Box<[u64]>,
    count: u32,
}

impl Occupancy {
    /// Every node free.
    pub fn all_free(grid: Grid) -> Occupancy {
        let nodes = grid.nodes() as usize;
        let mut words = vec![u64::MAX; nodes.div_ceil(64)].into_boxed_slice();
        if nodes % 64 != 0 {
            words[nodes / 64] = (1 << (nodes % 64)) - 1;
        }
        Occupancy { grid, words, count: grid.nodes() }
    }

    /// No node free.
    pub fn all_busy(grid: Grid) -> Occupancy {
        let words = vec![0; (grid.nodes() as usize).div_ceil(64)].into_boxed_slice();
        Occupancy { grid, words, count: 0 }
    }

    /// Becomes a copy of another occupancy of the same grid, without allocating memory.
    pub fn copy_from(&mut self, other: &Occupancy) {
        assert_eq!(self.grid, other.grid, "a copy is of the same grid");
        self.words.copy_from_slice(&other.words);
        self.count = other.count;
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The number of free nodes.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether one node is free.
    pub fn is_node_free(&self, node: NodeId) -> bool {
        self.words[node.index() / 64] >> (node.index() % 64) & 1 == 1
    }

    /// Whether every node of a box is free. O(rows of the box), a few words each.
    pub fn is_free(&self, cuboid: &Cuboid) -> bool {
        self.rows(cuboid).all(|(from, length)| {
            pieces(from, length).all(|(word, mask)| self.words[word] & mask == mask)
        })
    }

    /// Marks every node of a box as not free. O(rows of the box).
    ///
    /// All of them must be free; that is an invariant, and checked.
    pub fn take(&mut self, cuboid: &Cuboid) {
        let mut all = true;
        self.change(cuboid, |word, mask| {
            all &= *word & mask == mask;
            *word &= !mask;
        });
        assert!(all, "{cuboid:?} holds a node that is busy");
        self.count -= cuboid.volume();
    }

    /// Marks every node of a box as free. O(rows of the box).
    ///
    /// None of them may be free already; that is an invariant, and checked.
    pub fn give(&mut self, cuboid: &Cuboid) {
        let mut none = true;
        self.change(cuboid, |word, mask| {
            none &= *word & mask == 0;
            *word |= mask;
        });
        assert!(none, "{cuboid:?} holds a node that is free");
        self.count += cuboid.volume();
    }

    /// Hands every word that a box touches to a function, with the box's bits in it.
    #[inline]
    fn change(&mut self, cuboid: &Cuboid, mut change: impl FnMut(&mut u64, u64)) {
        debug_assert!(cuboid.lies_on(&self.grid), "{cuboid:?} does not lie on {}", self.grid);
        let [w, d, _] = self.grid.sides().map(usize::from);
        for piece in cuboid.unwrapped(&self.grid) {
            let ([x, y, z], [a, b, c]) =
                (piece.base.map(usize::from), piece.sides.map(usize::from));
            for plane in z..z + c {
                let mut from = x + w * (y + d * plane);
                for _ in 0..b {
                    let (word, shift) = (from / 64, from % 64);
                    if shift + a <= 64 {
                        change(&mut self.words[word], (u64::MAX >> (64 - a)) << shift);
                    } else {
                        pieces(from, a)
                            .for_each(|(word, mask)| change(&mut self.words[word], mask));
                    }
                    from += w;
                }
            }
        }
    }

    /// Marks one node as not free, and says whether it was free.
    pub fn take_node(&mut self, node: NodeId) -> bool {
        let (word, mask) = (node.index() / 64, 1 << (node.index() % 64));
        let was_free = self.words[word] & mask != 0;
        self.words[word] &= !mask;
        self.count -= u32::from(was_free);
        was_free
    }

    /// Leaves free only what is free in another occupancy of the same grid too.
    pub fn keep(&mut self, other: &Occupancy) {
        debug_assert_eq!(self.grid, other.grid, "occupancies of different grids");
        self.count = 0;
        for (word, &mask) in self.words.iter_mut().zip(&other.words) {
            *word &= mask;
            self.count += word.count_ones();
        }
    }

    /// The free nodes in row-major order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| Ones(word).map(move |bit| NodeId(index as u32 * 64 + bit)))
    }

    /// The `length` (at most 64) bits from a node on, in the low bits of a word.
    pub(crate) fn bits(&self, from: NodeId, length: usize) -> u64 {
        let (word, shift) = (from.index() / 64, from.index() % 64);
        let low = self.words[word] >> shift;
        let high = match self.words.get(word + 1) {
            Some(next) if shift > 0 => next << (64 - shift),
            _ => 0,
        };
        (low | high) & (u64::MAX >> (64 - length))
    }

    /// The words, 64 nodes each, for the searches of this crate.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The maximal runs `(first node, length)` along x of a box, cut at the wrap.
    fn rows(&self, cuboid: &Cuboid) -> impl Iterator<Item = (usize, usize)> + use<> {
        debug_assert!(cuboid.lies_on(&self.grid), "{cuboid:?} does not lie on {}", self.grid);
        let (grid, cuboid) = (self.grid, *cuboid);
        let [w, d, _] = grid.sides().map(usize::from);
        let runs = cuboid.runs(&grid, 0);
        (0..cuboid.sides[2]).flat_map(move |k| {
            let plane = d * usize::from(cuboid.coordinate(&grid, 2, k));
            (0..cuboid.sides[1]).flat_map(move |j| {
                let row = w * (plane + usize::from(cuboid.coordinate(&grid, 1, j)));
                let of = move |run: (u16, u16)| (row + usize::from(run.0), usize::from(run.1));
                [of(runs[0]), of(runs[1])].into_iter().filter(|&(_, length)| length > 0)
            })
        })
    }
}

/// The words that a run of bits touches, each with the mask of the run's bits in it.
fn pieces(from: usize, length: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = from + length;
    (from / 64..end.div_ceil(64)).map(move |word| {
        let low = from.max(word * 64) - word * 64;
        let high = end.min(word * 64 + 64) - word * 64;
        (word, (u64::MAX >> (64 - (high - low))) << low)
    })
}

/// The positions of the one bits of a word, ascending.
pub(crate) struct Ones(pub(crate) u64);

impl Iterator for Ones {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}
