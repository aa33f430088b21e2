//! Boxes of nodes.

use std::fmt;

use crate::{Coordinates, Grid, NodeId, PerAxis, Sides, volume};

/// A box of nodes, given by its base (the corner with the smallest coordinates) and its sides.
///
/// On an axis that wraps, `base + side` may exceed the axis's length. The box then continues at 0.
///
/// A box is displayed as its sides and base, such as `4x2 at 0,5`. The third axis is omitted if its
/// side is 1 and its base is 0.
///
/// ```
/// # use pavior_mesh as pavior;
/// use pavior::{Cuboid, Grid};
/// let ring = Grid::torus(&[5])?;
/// let arc = Cuboid::new([3], [3]);
/// let nodes: Vec<u32> = arc.nodes(&ring).map(|node| node.0).collect();
/// assert_eq!(nodes, [3, 4, 0]);
/// assert_eq!(Cuboid::new([0, 5, 2], [4, 2, 1]).to_string(), "4x2x1 at 0,5,2");
/// # Ok::<(), pavior::GridError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cuboid {
    /// The corner with the smallest coordinates (before wrapping).
    pub base: Coordinates,
    /// The side lengths, which are at least 1.
    pub sides: Sides,
}

impl Cuboid {
    /// Creates a box from its base and its sides, with one number per axis. Use [`Cuboid::lies_on`]
    /// to check whether the box is on a grid.
    #[inline]
    pub fn new(base: impl PerAxis, sides: impl PerAxis) -> Cuboid {
        Cuboid { base: base.padded(0), sides: sides.padded(1) }
    }

    /// Creates a box of one node.
    #[inline]
    pub fn node(point: Coordinates) -> Cuboid {
        Cuboid::new(point, [1; 3])
    }

    /// Creates a box that covers the whole grid.
    #[inline]
    pub fn whole(grid: &Grid) -> Cuboid {
        Cuboid::new([0; 3], grid.sides())
    }

    /// Returns the number of nodes, capped at `u32::MAX`.
    #[inline]
    pub fn volume(&self) -> u32 {
        volume(self.sides).min(u64::from(u32::MAX)) as u32
    }

    /// Returns true if the box is on the grid. Its base must be on the grid, no side may exceed its
    /// axis, and the box may extend past the end of an axis only if the axis wraps.
    #[inline]
    pub fn lies_on(&self, grid: &Grid) -> bool {
        grid.contains(self.base)
            && grid.fits(self.sides)
            && (0..3).all(|axis| {
                grid.wraps(axis)
                    || u32::from(self.base[axis]) + u32::from(self.sides[axis])
                        <= u32::from(grid.side(axis))
            })
    }

    /// Returns the same box with its canonical base, which is 0 on any axis that the box spans.
    #[inline]
    pub fn canonical(mut self, grid: &Grid) -> Cuboid {
        for axis in 0..3 {
            if self.sides[axis] == grid.side(axis) {
                self.base[axis] = 0;
            }
        }
        self
    }

    /// Returns true if the box contains a node.
    #[inline]
    pub fn contains(&self, grid: &Grid, point: Coordinates) -> bool {
        (0..3).all(|axis| self.offset(grid, axis, point[axis]) < self.sides[axis])
    }

    /// Returns the distance from the base up to a coordinate, wrapping around at the end of a
    /// ring. The coordinate is inside the box if and only if this distance is less than the side.
    #[inline]
    fn offset(&self, grid: &Grid, axis: usize, coordinate: u16) -> u16 {
        if coordinate >= self.base[axis] {
            coordinate - self.base[axis]
        } else if grid.wraps(axis) {
            coordinate.wrapping_add(grid.side(axis)).wrapping_sub(self.base[axis])
        } else {
            u16::MAX
        }
    }

    /// Returns true if this box overlaps `other`.
    #[inline]
    pub fn intersects(&self, grid: &Grid, other: &Cuboid) -> bool {
        (0..3).all(|axis| {
            if grid.wraps(axis) {
                self.offset(grid, axis, other.base[axis]) < self.sides[axis]
                    || other.offset(grid, axis, self.base[axis]) < other.sides[axis]
            } else {
                let end = |part: &Cuboid| u32::from(part.base[axis]) + u32::from(part.sides[axis]);
                u32::from(self.base[axis]) < end(other) && u32::from(other.base[axis]) < end(self)
            }
        })
    }

    /// Returns the intersection of two boxes, as disjoint boxes that do not wrap. The result has at
    /// most 64 boxes, or at most one if neither box wraps. Both boxes must be on the grid.
    ///
    /// ```
    /// # use pavior_mesh as pavior;
    /// use pavior::{Cuboid, Grid};
    /// let grid = Grid::new(&[9, 9], &[true, false])?;
    /// let common = Cuboid::new([7, 0], [4, 3]).common(&grid, &Cuboid::new([1, 1], [7, 1]));
    /// assert_eq!(common, [Cuboid::new([7, 1], [1, 1]), Cuboid::new([1, 1], [1, 1])]);
    /// # Ok::<(), pavior::GridError>(())
    /// ```
    pub fn common(&self, grid: &Grid, other: &Cuboid) -> Vec<Cuboid> {
        if !self.intersects(grid, other) {
            return Vec::new();
        }
        let shared = |one: &Cuboid, other: &Cuboid| {
            let mut shared = *one;
            for axis in 0..3 {
                let from = one.base[axis].max(other.base[axis]);
                let end = |part: &Cuboid| part.base[axis] + part.sides[axis];
                shared.base[axis] = from;
                shared.sides[axis] = end(one).min(end(other)).checked_sub(from)?;
            }
            shared.sides.iter().all(|&side| side > 0).then_some(shared)
        };
        let others: Vec<Cuboid> = other.unwrapped(grid).collect();
        let mut found = Vec::new();
        for one in self.unwrapped(grid) {
            found.extend(others.iter().filter_map(|two| shared(&one, two)));
        }
        found
    }

    /// Returns the smallest box that contains every box that has the given sides and overlaps
    /// `self`. Unless the result spans a ring, every box inside it that has these sides overlaps
    /// `self`. The result has its canonical base. `self` must be on the grid, and the sides must
    /// fit the grid.
    ///
    /// ```
    /// # use pavior_mesh as pavior;
    /// use pavior::{Cuboid, Grid};
    /// let grid = Grid::new(&[9, 9], &[false, true])?;
    /// let around = Cuboid::new([1, 1], [2, 2]).around(&grid, [3, 3, 1]);
    /// assert_eq!(around, Cuboid::new([0, 8], [5, 6]));
    /// # Ok::<(), pavior::GridError>(())
    /// ```
    #[must_use]
    pub fn around(&self, grid: &Grid, sides: Sides) -> Cuboid {
        let mut around = *self;
        for (axis, side) in sides.into_iter().enumerate() {
            let (n, beside) = (u32::from(grid.side(axis)), u32::from(side).saturating_sub(1));
            let (base, side) = (u32::from(self.base[axis]), u32::from(self.sides[axis]));
            let (base, side) = if !grid.wraps(axis) {
                let low = base.saturating_sub(beside);
                (low, (base + side + beside).min(n).saturating_sub(low))
            } else if side + 2 * beside >= n {
                (0, n)
            } else {
                ((base + n - beside) % n, side + 2 * beside)
            };
            (around.base[axis], around.sides[axis]) = (base as u16, side as u16);
        }
        around
    }

    /// Returns the nodes, with x varying fastest. On each axis, nodes are listed from the base
    /// upward, continuing at 0 after a wrap. The box must be on the grid.
    #[inline]
    pub fn nodes(&self, grid: &Grid) -> impl Iterator<Item = NodeId> + use<> {
        let (grid, own) = (*grid, *self);
        let at = move |axis: usize, offset: u16| own.coordinate(&grid, axis, offset);
        (0..own.sides[2]).flat_map(move |k| {
            (0..own.sides[1]).flat_map(move |j| {
                (0..own.sides[0]).map(move |i| grid.id([at(0, i), at(1, j), at(2, k)]))
            })
        })
    }

    /// Returns the coordinate at an offset from the base.
    #[inline]
    pub fn coordinate(&self, grid: &Grid, axis: usize, offset: u16) -> u16 {
        let n = u32::from(grid.side(axis));
        let at = u32::from(self.base[axis]) + u32::from(offset);
        (if at >= n { at - n } else { at }) as u16
    }

    /// Returns the box's coordinates on an axis as two runs, `(first, length)`. The first run
    /// starts at the base. The second run is empty unless the box extends past the end of the axis.
    #[inline]
    pub fn runs(&self, grid: &Grid, axis: usize) -> [(u16, u16); 2] {
        let (base, side, n) = (self.base[axis], self.sides[axis], grid.side(axis));
        let first = side.min(n.wrapping_sub(base));
        [(base, first), (0, side - first)]
    }

    /// Splits the box at the end of each axis that it wraps around. Returns up to eight boxes.
    #[inline]
    pub fn unwrapped(&self, grid: &Grid) -> impl Iterator<Item = Cuboid> + use<> {
        let runs: [_; 3] = std::array::from_fn(|axis| self.runs(grid, axis));
        let wraps = runs.iter().any(|[_, beyond]| beyond.1 > 0);
        let codes = if wraps { 8 } else { 1 };
        (0..codes).filter_map(move |code: usize| {
            let run = |axis: usize| runs[axis][code >> axis & 1];
            let ([x, y, z], lengths) = ([run(0), run(1), run(2)], [run(0).1, run(1).1, run(2).1]);
            lengths.iter().all(|&length| length > 0).then(|| Cuboid::new([x.0, y.0, z.0], lengths))
        })
    }
}

impl fmt::Display for Cuboid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([w, d, h], [x, y, z]) = (self.sides, self.base);
        match (h, z) {
            (1, 0) => write!(f, "{w}x{d} at {x},{y}"),
            _ => write!(f, "{w}x{d}x{h} at {x},{y},{z}"),
        }
    }
}
