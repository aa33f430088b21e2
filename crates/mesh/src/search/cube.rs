//! Searches for the first free base on a machine of up to 8x8x8, using eight words that stay in
//! registers.
//!
//! Bit `x + 8 y` of word z is set if the node is free. For an a x b x c shape:
//!
//! ```text
//!   runs along z:  words[z] & words[z + 1] & ..        computed once, for all c
//!   runs along x:  word & word >> 1, & word >> 2, ..   each shift doubles the runs
//!   runs along y:  the same, with shifts of eight times as many bits
//! ```
//!
//! Every side takes three shifts, some of which may be by 0, so that no branch depends on the
//! shape. A shift along x moves bits across the end of a row into columns that cannot contain
//! bases. On a ring, bits from the other end of the row replace these bits. A final mask clears all
//! bits that are not bases.
//!
//! Invariant: the last plane is followed by a copy of all planes if z wraps, and by zeros
//! otherwise.
//!
//! Cost: about forty vector operations per shape, with no branch that depends on the state.

use super::SearchWork;
use super::lanes::U64x2;
use super::vectors::{Kernel, Vectors};
use crate::{Coordinates, Cuboid, Grid, Sides};

/// The longest side that this search supports.
const SIDE: usize = 8;

/// The free nodes of a small machine.
#[derive(Clone, Debug)]
pub(super) struct Cube {
    grid: Grid,
    /// The planes, followed by a copy of them if z wraps.
    planes: [u64; 2 * SIDE],
    tables: Tables,
    vectors: Vectors,
    pub(super) work: SearchWork,
}

/// Shifts and masks, indexed by side minus one.
#[derive(Clone, Copy, Debug)]
struct Tables {
    /// The shifts that reduce a word to the bases of runs along x.
    along_x: [[Shift; 3]; SIDE],
    /// The shifts that reduce a word to the bases of runs along y.
    along_y: [[Shift; 3]; SIDE],
    /// The positions in a plane that can be bases, indexed by the shape's x and y sides.
    bases: [[u64; SIDE]; SIDE],
}

/// A shift of a word along an axis: `word >> ahead & ahead_mask | word << back & back_mask`. On an
/// axis that does not wrap, only `ahead` is used.
#[derive(Clone, Copy, Debug, Default)]
struct Shift {
    ahead: u32,
    back: u32,
    ahead_mask: u64,
    back_mask: u64,
}

/// Returns a mask of the first `columns` columns of the first `rows` rows.
fn corner(columns: u16, rows: u16) -> u64 {
    let row = (1u64 << columns) - 1;
    (0..rows).fold(0, |mask, y| mask | row << (8 * y))
}

impl Shift {
    /// Creates a shift by `step` coordinates along an axis.
    fn by(step: u16, grid: &Grid, axis: usize) -> Shift {
        // Neighboring nodes along the axis are `scale` bits apart.
        let (n, scale) = (grid.side(axis), if axis == 0 { 1 } else { 8 });
        let ahead = u32::from(step) * scale;
        if step == 0 || !grid.wraps(axis) {
            return Shift { ahead, back: 0, ahead_mask: u64::MAX, back_mask: 0 };
        }
        let first = |count: u16| if axis == 0 { corner(count, 8) } else { corner(8, count) };
        let ahead_mask = first(n - step);
        Shift {
            ahead,
            back: u32::from(n - step) * scale,
            ahead_mask,
            back_mask: first(n) & !ahead_mask,
        }
    }

    /// Returns the shifts that reduce a word to the bases of runs of a given length. Each shift at
    /// most doubles the run length, up to the given length.
    fn runs(side: u16, grid: &Grid, axis: usize) -> [Shift; 3] {
        let mut reached = 1;
        [(); 3].map(|()| {
            let step = reached.min(side - reached);
            reached += step;
            Shift::by(step, grid, axis)
        })
    }
}

impl Cube {
    /// Creates a machine with all nodes free. Returns `None` if the grid is too large.
    pub(super) fn new(grid: Grid, vectors: Vectors) -> Option<Cube> {
        let [w, d, h] = grid.sides();
        if [w, d, h].iter().any(|&side| usize::from(side) > SIDE) {
            return None;
        }
        let runs = |axis: usize| {
            std::array::from_fn(|index| {
                // A side that does not fit has no bases, so any shifts are acceptable.
                Shift::runs((index as u16 + 1).min(grid.side(axis)), &grid, axis)
            })
        };
        let bases = |a: usize, b: usize| {
            let starts = |axis: usize, side: usize| grid.starts(axis, side as u16 + 1);
            corner(starts(0, a), starts(1, b))
        };
        let tables = Tables {
            along_x: runs(0),
            along_y: runs(1),
            bases: std::array::from_fn(|a| std::array::from_fn(|b| bases(a, b))),
        };
        let work = SearchWork::default();
        let mut cube = Cube { grid, planes: [0; 2 * SIDE], tables, vectors, work };
        cube.flip(&Cuboid::whole(&grid));
        Some(cube)
    }

    /// Flips the nodes in a box, which must be all free or all busy.
    pub(super) fn flip(&mut self, cuboid: &Cuboid) {
        let h = self.grid.side(2);
        for piece in cuboid.unwrapped(&self.grid) {
            let ([x, y, z], [a, b, c]) = (piece.base, piece.sides);
            let mask = corner(a, b) << (x + 8 * y);
            for plane in z..z + c {
                self.planes[usize::from(plane)] ^= mask;
                if self.grid.wraps(2) {
                    self.planes[usize::from(plane + h)] ^= mask;
                }
            }
        }
    }

    /// Returns the first free box, in row-major order, of the first shape that fits.
    pub(super) fn first(&mut self, shapes: &[Sides]) -> Option<Cuboid> {
        let (found, tried) = self.vectors.run(InCube { cube: self, shapes });
        self.work.words += tried * SIDE as u64;
        found
    }

    pub(super) fn is_free(&self, [x, y, z]: Coordinates) -> bool {
        self.planes[usize::from(z)] >> (x + 8 * y) & 1 == 1
    }
}

/// A search for the first free box that has one of several shapes.
struct InCube<'c> {
    cube: &'c Cube,
    shapes: &'c [Sides],
}

impl Kernel for InCube<'_> {
    /// The first free box, and the number of shapes tried.
    type Output = (Option<Cuboid>, u64);

    #[inline(always)]
    fn run(self) -> (Option<Cuboid>, u64) {
        let Cube { grid, planes, tables, .. } = self.cube;
        let runs_along_z = runs_along_z(planes);
        for (index, &shape) in self.shapes.iter().enumerate() {
            if !grid.fits(shape) {
                continue;
            }
            let [a, b, c] = shape.map(|side| usize::from(side) - 1);
            let set = if grid.wraps(0) || grid.wraps(1) {
                rings(runs_along_z[c], &tables.along_x[a], &tables.along_y[b])
            } else {
                meshes(runs_along_z[c], &tables.along_x[a], &tables.along_y[b])
            };
            let mask = tables.bases[a][b];
            let starts = usize::from(grid.starts(2, shape[2]));
            if let Some(base) = first(set, mask, starts) {
                return (Some(Cuboid::new(base, shape)), index as u64 + 1);
            }
        }
        (None, self.shapes.len() as u64)
    }
}

/// Eight words, in pairs.
type Words = [U64x2; SIDE / 2];

/// Applies a function to each vector, which holds a pair of words.
#[inline(always)]
fn each([a, b, c, d]: Words, of: impl Fn(U64x2) -> U64x2) -> Words {
    [of(a), of(b), of(c), of(d)]
}

/// Computes the bases of runs along z, indexed by length minus one.
#[inline(always)]
fn runs_along_z(planes: &[u64; 2 * SIDE]) -> [Words; SIDE] {
    let two = |from: usize| U64x2::new([planes[from], planes[from + 1]]);
    let mut runs = [[two(0), two(2), two(4), two(6)]; SIDE];
    for ahead in 1..SIDE {
        for pair in 0..SIDE / 2 {
            runs[ahead][pair] = runs[ahead - 1][pair] & two(ahead + 2 * pair);
        }
    }
    runs
}

/// Computes the bases of runs along x and y when neither axis wraps.
#[inline(always)]
fn meshes(mut set: Words, along_x: &[Shift; 3], along_y: &[Shift; 3]) -> Words {
    for shifts in [along_x, along_y] {
        for shift in shifts {
            set = each(set, |words| words & words.shifted_right(shift.ahead));
        }
    }
    set
}

/// Computes the bases of runs along x and y when one or both axes wrap.
#[inline(always)]
fn rings(mut set: Words, along_x: &[Shift; 3], along_y: &[Shift; 3]) -> Words {
    for shifts in [along_x, along_y] {
        for shift in shifts {
            let (ahead_mask, back_mask) =
                (U64x2::splat(shift.ahead_mask), U64x2::splat(shift.back_mask));
            set = each(set, |words| {
                let ahead = words.shifted_right(shift.ahead) & ahead_mask;
                words & (ahead | (words.shifted_left(shift.back) & back_mask))
            });
        }
    }
    set
}

/// Finds the first set bit that is within a mask and in the first `planes` planes.
#[inline(always)]
fn first(set: Words, mask: u64, planes: usize) -> Option<Coordinates> {
    let [even, odd] = (set[0] | set[1] | set[2] | set[3]).to_array();
    if (even | odd) & mask == 0 {
        return None;
    }
    let words = [set[0].to_array(), set[1].to_array(), set[2].to_array(), set[3].to_array()];
    let words = words.as_flattened();
    let z = words[..planes].iter().position(|&word| word & mask != 0)?;
    let bit = (words[z] & mask).trailing_zeros() as u16;
    Some([bit % 8, bit / 8, z as u16])
}
