//! The pieces of a plane of bases that remain once busy boxes have been cut out. Each piece is a
//! rectangle along y and z.
//!
//! ```text
//!   z   4 4 4 4      The region r is cut from a piece. Up to four slabs remain, in this order:
//!   ^   2 r r 3      1 below r at full width, 2 left of r, 3 right of r, 4 above r at full width.
//!   |   1 1 1 1
//!   +--> y
//! ```
//!
//! Invariant: a plane's pieces do not overlap.
//!
//! Cost: O(1) to cut a piece, and O(rows in the slabs) to find a part that has a base.

use pavior_mesh::{BaseSet, Coordinates, Cuboid, Grid, Sides};

use crate::strategies::shared::coverage::{AxisRange, Cover, covered};

/// A rectangle of bases on a plane of constant x.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) y: AxisRange,
    pub(super) z: AxisRange,
}

impl Piece {
    #[inline]
    pub(super) fn meets(self, other: Piece) -> bool {
        let meet = |a: AxisRange, b: AxisRange| a.low <= b.high && b.low <= a.high;
        meet(self.y, other.y) && meet(self.z, other.z)
    }
}

/// The pieces of a rectangle of bases. The rectangle is split where it wraps around, so there are
/// up to two intervals per axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    pub(super) y: [AxisRange; 2],
    pub(super) z: [AxisRange; 2],
}

impl Pieces {
    /// Returns the bases at which a placement overlaps a box along both y and z.
    #[inline]
    pub(super) fn beside(grid: &Grid, held: &Cuboid, shape: Sides) -> Pieces {
        Pieces { y: covered_on(grid, held, shape, 1), z: covered_on(grid, held, shape, 2) }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Piece> {
        let some = |range: &AxisRange| range.low <= range.high;
        let along_y = move |z| self.y.into_iter().filter(some).map(move |y| Piece { y, z });
        self.z.into_iter().filter(some).flat_map(along_y)
    }
}

/// Returns the x coordinate just right of a box, or `None` if no base can be there.
pub(super) fn right_border(grid: &Grid, held: &Cuboid, side: u16) -> Option<u16> {
    let (n, starts) = (grid.side(0), grid.starts(0, side));
    let right = u32::from(held.base[0]) + u32::from(held.sides[0]);
    if !grid.wraps(0) {
        return (right < u32::from(starts)).then_some(right as u16);
    }
    // If the side closes the ring, the only base is 0, which belongs to the left face.
    (side < n).then_some((right % u32::from(n)) as u16)
}

/// Returns the bases on one axis at which a shape would overlap a box.
#[inline]
pub(super) fn covered_on(grid: &Grid, held: &Cuboid, shape: Sides, axis: usize) -> [AxisRange; 2] {
    covered(grid, axis, held, shape[axis]).map(|range| range.unwrap_or(AxisRange::EMPTY))
}

/// Returns true if a piece of the plane at `x` contains a base.
#[inline]
pub(super) fn has_base(bases: &BaseSet, x: u16, piece: Piece) -> bool {
    let sides = [1, piece.y.high - piece.y.low + 1, piece.z.high - piece.z.low + 1];
    bases.any_in(&Cuboid::new([x, piece.y.low, piece.z.low], sides))
}

/// The single piece of a plane that the engine tracks. Busy boxes are cut from it one by one.
pub(super) struct KeptPiece<'a> {
    grid: Grid,
    bases: &'a BaseSet,
    x: u16,
    piece: Piece,
}

impl<'a> KeptPiece<'a> {
    #[inline]
    pub(super) fn new(grid: Grid, bases: &'a BaseSet, x: u16, piece: Piece) -> KeptPiece<'a> {
        KeptPiece { grid, bases, x, piece }
    }

    /// Returns the tests (one per axis) for whether a box covers any part of the current piece.
    #[inline]
    pub(super) fn cover_tests(&self) -> [Cover; 3] {
        let (grid, shape) = (&self.grid, self.bases.shape());
        [
            Cover::new(grid, 0, shape[0], AxisRange { low: self.x, high: self.x }),
            Cover::new(grid, 1, shape[1], self.piece.y),
            Cover::new(grid, 2, shape[2], self.piece.z),
        ]
    }

    #[inline]
    fn corner(&self) -> Coordinates {
        [self.x, self.piece.y.low, self.piece.z.low]
    }

    /// Returns the placement at the piece's lowest corner.
    pub(super) fn placement(&self) -> Cuboid {
        Cuboid::new(self.corner(), self.bases.shape())
    }

    /// Returns true if the piece's lowest corner is a base.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.bases.contains(self.corner())
    }

    /// Returns the box of all nodes in placements whose bases are in the piece.
    pub(super) fn hull(&self) -> Cuboid {
        let shape = self.bases.shape();
        let side = |axis: usize, piece: AxisRange| {
            (piece.high - piece.low).saturating_add(shape[axis]).min(self.grid.side(axis))
        };
        let sides = [shape[0], side(1, self.piece.y), side(2, self.piece.z)];
        Cuboid::new(self.corner(), sides)
    }

    /// Cuts off the bases that a box covers and keeps the first remaining slab that has a base.
    /// Returns the number of cuts, or `None` if no base is left. `rest` is scratch space.
    #[inline]
    pub(super) fn cut(&mut self, held: &Cuboid, rest: &mut Vec<Piece>) -> Option<u64> {
        let mut cuts = 0;
        for region in Pieces::beside(&self.grid, held, self.bases.shape()).iter() {
            if self.piece.meets(region) {
                cuts += 1;
                subtract(&[self.piece], region, rest);
                let has_base = |piece: &&Piece| has_base(self.bases, self.x, **piece);
                self.piece = *rest.iter().find(has_base)?;
            }
        }
        Some(cuts)
    }
}

/// Returns true if a box covers any part of the piece that the tests were created for.
#[inline]
pub(super) fn covers_some(tests: &[Cover; 3], held: &Cuboid) -> bool {
    tests.iter().all(|cover| cover.is_by(held))
}

/// Subtracts a region from the pieces and writes the result to `rest`. Each piece leaves up to four
/// slabs, in the order shown in the module documentation. This order determines which base is
/// found.
pub(super) fn subtract(pieces: &[Piece], region: Piece, rest: &mut Vec<Piece>) {
    rest.clear();
    for &piece in pieces {
        let (y, z) = (piece.y, piece.z);
        let middle = AxisRange { low: z.low.max(region.z.low), high: z.high.min(region.z.high) };
        if middle.low > middle.high || y.high < region.y.low || region.y.high < y.low {
            rest.push(piece);
            continue;
        }
        if z.low < middle.low {
            rest.push(Piece { y, z: AxisRange { low: z.low, high: middle.low - 1 } });
        }
        if y.low < region.y.low {
            rest.push(Piece { y: AxisRange { low: y.low, high: region.y.low - 1 }, z: middle });
        }
        if region.y.high < y.high {
            rest.push(Piece { y: AxisRange { low: region.y.high + 1, high: y.high }, z: middle });
        }
        if middle.high < z.high {
            rest.push(Piece { y, z: AxisRange { low: middle.high + 1, high: z.high } });
        }
    }
}
