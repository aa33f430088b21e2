//! The free nodes as rows. A row along x is an integer whose bit x is set if node x is free.
//!
//! A row of zeros follows each plane, so that no run of rows continues into the next plane:
//!
//! ```text
//!   plane 0: row y = 0, y = 1, .. D - 1, zeros;   plane 1: row y = 0, ..
//! ```
//!
//! Invariant: bits beyond the last column and bits in the rows of zeros are never set.
//!
//! Cost: O(rows of the box) to flip a box. The search is in [`row_search`](super::row_search).

use crate::{Coordinates, Cuboid, Grid};

/// A row of nodes, one bit each.
pub(super) trait Row:
    Copy
    + Default
    + PartialEq
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitOr<Output = Self>
    + std::ops::BitXor<Output = Self>
    + std::ops::Shl<u32, Output = Self>
    + std::ops::Shr<u32, Output = Self>
{
    /// Returns `count` set bits (at least one), starting with bit `from`.
    fn ones(from: u16, count: u16) -> Self;
    fn lowest(self) -> u16;
}

macro_rules! row {
    ($($integer:ty),*) => {$(
        impl Row for $integer {
            #[inline(always)]
            fn ones(from: u16, count: u16) -> Self {
                (<$integer>::MAX >> (<$integer>::BITS - u32::from(count))) << from
            }
            #[inline(always)]
            fn lowest(self) -> u16 {
                self.trailing_zeros() as u16
            }
        }
    )*};
}
row!(u16, u32, u64);

/// A machine's free nodes, as rows. L rows fill 32 bytes.
#[derive(Clone, Debug)]
pub(super) struct Rows<R, const L: usize> {
    pub(super) grid: Grid,
    /// The rows, plane by plane, with a row of zeros after each plane. L more rows follow, so that
    /// whole vectors can be read.
    pub(super) list: Vec<R>,
    /// Scratch space for the rows that the next pass reads and the rows that it writes.
    pub(super) scratch: [Vec<R>; 2],
    /// Scratch space for the rows of a small region that is searched on its own.
    pub(super) part: Vec<R>,
}

impl<R: Row, const L: usize> Rows<R, L> {
    /// Creates rows with all nodes free. R must have at least one bit per column of the grid.
    pub(super) fn new(grid: Grid) -> Rows<R, L> {
        let [w, d, h] = grid.sides();
        let mut plane = vec![R::ones(0, w); usize::from(d)];
        plane.push(R::default());
        let mut list = plane.repeat(usize::from(h));
        list.resize(list.len() + L, R::default());
        Rows { grid, list, scratch: [Vec::new(), Vec::new()], part: Vec::new() }
    }

    /// Returns the number of rows per plane, including its row of zeros.
    pub(super) fn stride(&self) -> usize {
        usize::from(self.grid.side(1)) + 1
    }

    /// Flips the nodes in a box. The nodes must be all free or all busy.
    pub(super) fn flip(&mut self, cuboid: &Cuboid) {
        let stride = self.stride();
        for piece in cuboid.unwrapped(&self.grid) {
            let [x, y, z] = piece.base;
            let [a, b, c] = piece.sides;
            let mask = R::ones(x, a);
            for plane in z..z + c {
                let from = usize::from(plane) * stride + usize::from(y);
                for row in &mut self.list[from..from + usize::from(b)] {
                    *row = *row ^ mask;
                }
            }
        }
    }

    pub(super) fn is_free(&self, [x, y, z]: Coordinates) -> bool {
        let row = self.list[usize::from(z) * self.stride() + usize::from(y)];
        row & R::ones(x, 1) != R::default()
    }
}
