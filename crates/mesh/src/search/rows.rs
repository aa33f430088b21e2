//! The first free base by shifts and ANDs, with a row of nodes in each lane of a vector.
//!
//! A row along x is one integer of 16, 32 or 64 bits. Bit x is set while the node is free. Each
//! plane is followed by a row of zeros, so that no run of rows goes on into the next plane:
//!
//! ```text
//!   runs of c along z:  plane & plane + 1 & .. & plane + c - 1      loads at whole rows
//!   runs of a along x:  row & row >> 1, & row >> 2, ..              shifts inside lanes
//!   runs of b along y:  row & row + 1, & row + 2, ..                loads at whole rows
//! ```
//!
//! The bits that are left are the free bases. Planes are taken in scan order, a few kilobytes at a
//! time. The search ends with the first such group that has a base.
//!
//! Invariant: bits beyond the last column, and the rows of zeros, are never set.
//!
//! Cost: O(planes * D * (log a + log b + log c) / lanes), for the planes up to the first base. An
//! axis that wraps costs more: rotations along x, and copies of rows or planes beyond the end.

use super::region::Region;
use super::vectors::Kernel;
use crate::{Coordinates, Cuboid, Grid, Sides};

/// A row of nodes.
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
    /// Ones from a bit on, at least one.
    fn ones(from: u16, count: u16) -> Self;
    /// The position of the lowest one.
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

/// The free nodes of a machine as rows. L rows fill 32 bytes.
#[derive(Clone, Debug)]
pub(super) struct Rows<R, const L: usize> {
    grid: Grid,
    /// The rows, plane by plane, each with its row of zeros; L more at the end.
    list: Vec<R>,
    /// Scratch: what the next pass reads, and where it writes.
    scratch: [Vec<R>; 2],
    /// Scratch: the rows of a small region, searched in place of all.
    near: Vec<R>,
}

/// About this many bytes of rows are searched at a time.
const GROUP: usize = 1536;
/// Runs along z of up to this length are taken from the planes directly.
const DIRECT: u16 = 8;
/// Planes of more rows are searched in part if at most half of them lie in the region.
const DEEP: usize = 32;
/// Shifts enough for a run of any length within 64 bits.
const SHIFTS: usize = 6;

impl<R: Row, const L: usize> Rows<R, L> {
    /// All nodes free, on a grid of at most as many columns as R has bits.
    pub(super) fn new(grid: Grid) -> Rows<R, L> {
        let [w, d, h] = grid.sides();
        let mut plane = vec![R::ones(0, w); usize::from(d)];
        plane.push(R::default());
        let mut list = plane.repeat(usize::from(h));
        list.resize(list.len() + L, R::default());
        Rows { grid, list, scratch: [Vec::new(), Vec::new()], near: Vec::new() }
    }

    /// The rows of a plane and the row of zeros after them.
    fn stride(&self) -> usize {
        usize::from(self.grid.side(1)) + 1
    }

    /// Flips the nodes of a box, which are all free or all busy.
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

    /// Whether a node is free.
    pub(super) fn is_free(&self, [x, y, z]: Coordinates) -> bool {
        let row = self.list[usize::from(z) * self.stride() + usize::from(y)];
        row & R::ones(x, 1) != R::default()
    }
}

/// The rows that a search goes over.
#[derive(Clone, Copy)]
struct Searched<'r, R> {
    list: &'r [R],
    /// The rows of a plane, with that of zeros.
    deep: usize,
    /// The planes.
    high: usize,
    region: Region,
}

impl<R: Row> Searched<'_, R> {
    /// The rows of the region alone, each plane followed by a row of zeros, and the region as it
    /// lies there. `None` if they are not few of many, or a run along y may go round. A run along z
    /// may.
    #[inline(always)]
    fn near<'n, const L: usize>(
        &self,
        near: &'n mut Vec<R>,
        [b, c]: [u16; 2],
        grid: Grid,
    ) -> Option<Searched<'n, R>> {
        let Region { first, last, gap } = self.region;
        let reach = usize::from(last[1] - first[1]) + usize::from(b) + 1;
        if self.deep <= DEEP || 2 * reach > self.deep || grid.wraps(1) || gap != [0; 2] {
            return None;
        }
        let planes = last[2] - first[2] + 1;
        let high = usize::from(planes) + usize::from(c) - 1;
        near.clear();
        for plane in usize::from(first[2])..usize::from(first[2]) + high {
            let plane = if plane >= self.high { plane - self.high } else { plane };
            let from = plane * self.deep + usize::from(first[1]);
            near.extend_from_slice(&self.list[from..from + reach - 1]);
            near.push(R::default());
        }
        // Passes read whole vectors.
        near.resize(near.len() + L, R::default());
        let region = Region { first: [0; 3], last: [0, 0, planes - 1], gap: [0; 2] };
        Some(Searched { list: near, deep: reach, high, region })
    }
}

/// A search in rows.
pub(super) struct InRows<'r, R, const L: usize> {
    pub(super) rows: &'r mut Rows<R, L>,
    pub(super) shape: Sides,
    pub(super) region: Region,
}

impl<R: Row, const L: usize> Kernel for InRows<'_, R, L> {
    /// The first base, and the number of rows computed.
    type Output = (Option<Coordinates>, u64);

    #[inline(always)]
    fn run(self) -> (Option<Coordinates>, u64) {
        let InRows { rows: Rows { grid, list, scratch, near }, shape: [a, b, c], region } = self;
        let deep = usize::from(grid.side(1)) + 1;
        // On a ring a run along y may go on at the first rows: they are laid out again behind the
        // last, before the row of zeros.
        let ring = grid.wraps(1) && b > 1 && b < grid.side(1);
        let mask = R::ones(region.first[0], region.last[0] - region.first[0] + 1);
        let searched = Searched { list, deep, high: usize::from(grid.side(2)), region };
        let [y, above] = [region.first[1], region.first[2]];
        let (Searched { list, deep, high, region }, [y, above]) =
            match searched.near::<L>(near, [b, c], *grid) {
                Some(near) => (near, [y, above]),
                None => (searched, [0; 2]),
            };
        let stride = if ring { deep + usize::from(b) - 1 } else { deep };
        let runs = RunsAlongX::new(*grid, a, mask);
        let most = group::<R>(stride, c);
        let (mut computed, mut z) = (0, region.first[2]);
        while let Some((from, planes)) = region.planes(z) {
            z = from;
            let planes = planes.min(most);
            let count = usize::from(planes) * stride;
            let needed = usize::from(planes) + usize::from(c) - 1;
            // Passes read and write whole vectors.
            let room = needed * stride + usize::from(b).max(usize::from(c) * stride) + L;
            if scratch[0].len() < room || scratch[1].len() < room {
                for scratch in scratch.iter_mut() {
                    scratch.resize(room, R::default());
                }
            }
            if c <= DIRECT && usize::from(z) + needed <= high {
                let size = [usize::from(planes) * deep, deep];
                direct::<R, L>(&mut scratch[0], &list[usize::from(z) * deep..], size, c, runs);
            } else {
                let set = &mut scratch[0][..needed * deep];
                gather(list, set, [high, deep], z);
                double::<R, L>(scratch, needed * deep, usize::from(c), deep);
                runs.within::<L>(&mut scratch[0], usize::from(planes) * deep);
            }
            if ring {
                let [set, other] = &mut *scratch;
                lay_around(set, &mut other[..count], [deep, stride]);
                std::mem::swap(set, other);
            }
            computed += count as u64;
            let set = double::<R, L>(scratch, count, usize::from(b), 1);
            if set
                && let Some(index) = scratch[0][..count].iter().position(|&row| row != R::default())
            {
                let base = [
                    scratch[0][index].lowest(),
                    y + (index % stride) as u16,
                    above + z + (index / stride) as u16,
                ];
                return (Some(base), computed);
            }
            z += planes;
        }
        (None, computed)
    }
}

/// The number of planes to search at a time: more where runs along z are long, since neighbouring
/// groups share `c - 1` planes.
#[inline(always)]
fn group<R: Row>(stride: usize, c: u16) -> u16 {
    let planes = (GROUP / size_of::<R>() / stride).max(1) as u16;
    if c <= DIRECT { planes } else { planes.max(c) }
}

/// The vectors that hold the first `count` rows.
#[inline(always)]
fn vectors<R: Row, const L: usize>(rows: &[R], count: usize) -> &[[R; L]] {
    rows[..count.next_multiple_of(L)].as_chunks().0
}

#[inline(always)]
fn vectors_mut<R: Row, const L: usize>(rows: &mut [R], count: usize) -> &mut [[R; L]] {
    rows[..count.next_multiple_of(L)].as_chunks_mut().0
}

#[inline(always)]
fn and<R: Row, const L: usize>(a: [R; L], b: [R; L]) -> [R; L] {
    std::array::from_fn(|lane| a[lane] & b[lane])
}

/// The shifts that leave of a row the bases of runs of a side.
#[derive(Clone, Copy)]
struct RunsAlongX<R> {
    /// 0 where fewer are needed.
    shifts: [u32; SHIFTS],
    /// On a ring the number of columns, else 0.
    around: u32,
    mask: R,
}

impl<R: Row> RunsAlongX<R> {
    #[inline(always)]
    fn new(grid: Grid, side: u16, mask: R) -> RunsAlongX<R> {
        let ring = grid.wraps(0) && side < grid.side(0);
        let around = if ring { u32::from(grid.side(0)) } else { 0 };
        let (mut shifts, mut reached) = ([0; SHIFTS], 1);
        for shift in &mut shifts {
            let step = reached.min(side - reached);
            *shift = u32::from(step);
            reached += step;
        }
        RunsAlongX { shifts, around, mask }
    }

    #[inline(always)]
    fn of<const L: usize>(self, rows: [R; L]) -> [R; L] {
        let mut runs = rows;
        // No run in 16 bits needs more than four shifts, none in 32 more than five.
        let enough = 4 + size_of::<R>() / 4;
        if self.around == 0 {
            for &shift in &self.shifts[..enough] {
                runs = std::array::from_fn(|lane| runs[lane] & runs[lane] >> shift);
            }
        } else {
            for &shift in self.shifts[..enough].iter().take_while(|&&shift| shift > 0) {
                let back = self.around - shift;
                runs = std::array::from_fn(|lane| {
                    runs[lane] & (runs[lane] >> shift | runs[lane] << back)
                });
            }
        }
        std::array::from_fn(|lane| runs[lane] & self.mask)
    }

    /// Leaves the bases in place.
    #[inline(always)]
    fn within<const L: usize>(self, set: &mut [R], count: usize) {
        for rows in vectors_mut::<R, L>(set, count) {
            *rows = self.of(*rows);
        }
    }
}

/// Runs along z and x of `count` rows: `rows[i] & rows[i + deep] & ..` over c planes.
#[inline(always)]
fn direct<R: Row, const L: usize>(
    set: &mut [R],
    rows: &[R],
    [count, deep]: [usize; 2],
    c: u16,
    runs: RunsAlongX<R>,
) {
    match c {
        1 => planes::<R, L, 1>(set, rows, [count, deep], runs),
        2 => planes::<R, L, 2>(set, rows, [count, deep], runs),
        3 => planes::<R, L, 3>(set, rows, [count, deep], runs),
        4 => planes::<R, L, 4>(set, rows, [count, deep], runs),
        5 => planes::<R, L, 5>(set, rows, [count, deep], runs),
        6 => planes::<R, L, 6>(set, rows, [count, deep], runs),
        7 => planes::<R, L, 7>(set, rows, [count, deep], runs),
        _ => planes::<R, L, 8>(set, rows, [count, deep], runs),
    }
}

#[inline(always)]
fn planes<R: Row, const L: usize, const C: usize>(
    set: &mut [R],
    rows: &[R],
    [count, deep]: [usize; 2],
    runs: RunsAlongX<R>,
) {
    let set = vectors_mut::<R, L>(set, count);
    let planes: [&[[R; L]]; C] =
        std::array::from_fn(|plane| &vectors(&rows[plane * deep..], count)[..set.len()]);
    for (index, vector) in set.iter_mut().enumerate() {
        let mut all = planes[0][index];
        for plane in &planes[1..] {
            all = and(all, plane[index]);
        }
        *vector = runs.of(all);
    }
}

/// Copies planes from z on, and after the last one from the first. Copies at most two pieces, since
/// planes may be small.
#[inline(always)]
fn gather<R: Row>(list: &[R], set: &mut [R], [planes, deep]: [usize; 2], z: u16) {
    let from = usize::from(z) * deep;
    let (ahead, around) = set.split_at_mut(set.len().min(planes * deep - from));
    ahead.copy_from_slice(&list[from..from + ahead.len()]);
    around.copy_from_slice(&list[..around.len()]);
}

/// Copies planes whose y axis wraps. The first rows of each plane follow again behind its last, as
/// many as the stride has room for; then a row of zeros.
#[inline(always)]
fn lay_around<R: Row>(planes: &[R], set: &mut [R], [deep, stride]: [usize; 2]) {
    let (around, d) = (stride - deep, deep - 1);
    for (rows, plane) in set.chunks_exact_mut(stride).zip(planes.chunks_exact(deep)) {
        rows[..d].copy_from_slice(&plane[..d]);
        rows[d..d + around].copy_from_slice(&plane[..around]);
        rows[d + around] = R::default();
    }
}

/// Runs of `length` at multiples of `stride`: `set[i] & set[i + stride] & ..`, for `count` rows.
/// Returns whether any is left. The rows of the last `length - 1` strides have no meaning
/// afterwards. Along y they have: their last row is zeros, and no run goes beyond it.
#[inline(always)]
fn double<R: Row, const L: usize>(
    [set, other]: &mut [Vec<R>; 2],
    count: usize,
    length: usize,
    stride: usize,
) -> bool {
    let mut reached = 1;
    while reached < length {
        let step = reached.min(length - reached);
        let rows = vectors::<R, L>(set, count);
        let ahead = vectors::<R, L>(&set[step * stride..], count);
        for ((runs, &rows), &ahead) in vectors_mut(other, count).iter_mut().zip(rows).zip(ahead) {
            *runs = and(rows, ahead);
        }
        std::mem::swap(set, other);
        reached += step;
    }
    let mut any = [R::default(); L];
    for rows in vectors::<R, L>(set, count) {
        any = std::array::from_fn(|lane| any[lane] | rows[lane]);
    }
    any != [R::default(); L]
}
