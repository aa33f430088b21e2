//! Finds the first free base by shifting and ANDing, with one row of nodes per vector lane.
//!
//! ```text
//!   runs of c along z:  plane & plane + 1 & .. & plane + c - 1      loads of whole rows
//!   runs of a along x:  row & row >> 1, & row >> 2, ..              shifts inside lanes
//!   runs of b along y:  row & row + 1, & row + 2, ..                loads of whole rows
//! ```
//!
//! The remaining bits are the free bases. Planes are searched in scan order, a few kilobytes at a
//! time. The search stops at the first group of planes that contains a base.
//!
//! Invariant: after each pass, rows read by later passes contain the bases of the runs found so
//! far.
//!
//! Cost: O(planes * D * (log a + log b + log c) / lanes), counting only the planes up to the first
//! base. An axis that wraps costs more, because rotations (along x) or copies of rows or planes
//! beyond the end are required.

use super::region::Region;
use super::rows::{Row, Rows};
use super::vectors::Kernel;
use crate::{Coordinates, Grid, Sides};

/// The approximate size, in bytes, of the rows that are searched at a time.
const GROUP: usize = 1536;
/// The maximum length of runs along z that are computed directly from the planes.
const DIRECT: u16 = 8;
/// The number of rows per plane above which a region's rows are copied and searched separately,
/// provided that the region has at most half of all rows.
const LARGE: usize = 32;
/// Number of shifts that suffice to find runs of up to 64 nodes.
const SHIFTS: usize = 6;

#[derive(Clone, Copy)]
struct Searched<'r, R> {
    list: &'r [R],
    /// The number of rows per plane, including its row of zeros.
    plane_rows: usize,
    plane_count: usize,
    /// The region to search, relative to the first row in `list`.
    region: Region,
    /// The machine coordinates (y and z) of the first row in `list`.
    origin: [u16; 2],
}

impl<R: Row> Searched<'_, R> {
    /// Copies the region's rows, adding a row of zeros after each plane. Returns `None` if copying
    /// does not pay off (see [`LARGE`]), or if a run along y might extend past the end of a ring.
    /// (A run along z is allowed to do so.)
    #[inline(always)]
    fn part<'p, const L: usize>(
        &self,
        part: &'p mut Vec<R>,
        [b, c]: [u16; 2],
        grid: Grid,
    ) -> Option<Searched<'p, R>> {
        let Region { first, last, gap } = self.region;
        let plane_rows = usize::from(last[1] - first[1]) + usize::from(b) + 1;
        let is_small = self.plane_rows > LARGE && 2 * plane_rows <= self.plane_rows;
        if !is_small || grid.wraps(1) || gap != [0; 2] {
            return None;
        }
        let bases = last[2] - first[2] + 1;
        let plane_count = usize::from(bases) + usize::from(c) - 1;
        part.clear();
        for plane in usize::from(first[2])..usize::from(first[2]) + plane_count {
            let plane = if plane >= self.plane_count { plane - self.plane_count } else { plane };
            let from = plane * self.plane_rows + usize::from(first[1]);
            part.extend_from_slice(&self.list[from..from + plane_rows - 1]);
            part.push(R::default());
        }
        // A pass reads whole vectors, which may extend past the last row.
        part.resize(part.len() + L, R::default());
        let region = Region { first: [0; 3], last: [0, 0, bases - 1], gap: [0; 2] };
        let origin = [first[1], first[2]];
        Some(Searched { list: part, plane_rows, plane_count, region, origin })
    }

    /// Stores the bases of runs along z and x, from plane z onward, in the first scratch list.
    #[inline(always)]
    fn runs_along_z_and_x<const L: usize>(
        &self,
        scratch: &mut [Vec<R>; 2],
        z: u16,
        planes: usize,
        c: u16,
        runs: RunsAlongX<R>,
    ) {
        let Searched { list, plane_rows, plane_count, .. } = *self;
        let needed = planes + usize::from(c) - 1;
        let size = [planes * plane_rows, plane_rows];
        if c <= DIRECT && usize::from(z) + needed <= plane_count {
            let rows = &list[usize::from(z) * plane_rows..];
            runs_over_planes::<R, L>(&mut scratch[0], rows, size, c, runs);
        } else {
            gather(list, &mut scratch[0][..needed * plane_rows], [plane_count, plane_rows], z);
            runs_by_doubling::<R, L>(scratch, needed * plane_rows, usize::from(c), plane_rows);
            runs.within::<L>(&mut scratch[0], size[0]);
        }
    }
}

pub(super) struct InRows<'r, R, const L: usize> {
    pub(super) rows: &'r mut Rows<R, L>,
    pub(super) shape: Sides,
    pub(super) region: Region,
}

impl<R: Row, const L: usize> Kernel for InRows<'_, R, L> {
    /// The first base and the number of rows computed.
    type Output = (Option<Coordinates>, u64);

    #[inline(always)]
    fn run(self) -> (Option<Coordinates>, u64) {
        let InRows { rows, shape: [a, b, c], region } = self;
        let plane_rows = rows.stride();
        let Rows { grid, list, scratch, part } = rows;
        // On a ring, a run along y may continue at the first row. The first rows are therefore
        // repeated after the last one, ahead of the row of zeros.
        let is_ring = grid.wraps(1) && b > 1 && b < grid.side(1);
        let runs = RunsAlongX::new(*grid, a, &region);
        let plane_count = usize::from(grid.side(2));
        let whole = Searched { list, plane_rows, plane_count, region, origin: [0; 2] };
        let searched = whole.part::<L>(part, [b, c], *grid).unwrap_or(whole);
        let Searched { plane_rows, region, origin, .. } = searched;
        // The number of rows per plane, including repeated rows.
        let stride = if is_ring { plane_rows + usize::from(b) - 1 } else { plane_rows };
        let most_planes = planes_at_a_time::<R>(stride, c);
        let (mut computed, mut z) = (0, region.first[2]);
        while let Some((from, planes)) = region.planes(z) {
            z = from;
            let planes = planes.min(most_planes);
            let count = usize::from(planes) * stride;
            // Runs along z read c - 1 more planes. Passes read whole vectors, which extend past the
            // rows that they write.
            let needed = (usize::from(planes) + usize::from(c) - 1) * stride;
            let room = needed + usize::from(b).max(usize::from(c) * stride) + L;
            if scratch[0].len() < room || scratch[1].len() < room {
                for scratch in scratch.iter_mut() {
                    scratch.resize(room, R::default());
                }
            }
            searched.runs_along_z_and_x::<L>(scratch, z, usize::from(planes), c, runs);
            if is_ring {
                let [set, other] = &mut *scratch;
                lay_around(set, &mut other[..count], [plane_rows, stride]);
                std::mem::swap(set, other);
            }
            computed += count as u64;
            let any = runs_by_doubling::<R, L>(scratch, count, usize::from(b), 1);
            let has_base = |row: &R| *row != R::default();
            if any && let Some(index) = scratch[0][..count].iter().position(has_base) {
                let x = scratch[0][index].lowest();
                let [y, plane] = [index % stride, index / stride].map(|offset| offset as u16);
                return (Some([x, origin[0] + y, origin[1] + z + plane]), computed);
            }
            z += planes;
        }
        (None, computed)
    }
}

/// Returns the number of planes to search at a time. For long runs along z, this is at least `c`,
/// because neighboring groups share `c - 1` planes.
#[inline(always)]
fn planes_at_a_time<R: Row>(stride: usize, c: u16) -> u16 {
    let planes = (GROUP / size_of::<R>() / stride).max(1) as u16;
    if c <= DIRECT { planes } else { planes.max(c) }
}

/// Returns the vectors that contain the first `count` rows.
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

/// The shifts that reduce a row to the bases of runs of a given length.
#[derive(Clone, Copy)]
struct RunsAlongX<R> {
    /// The shifts, padded with 0.
    shifts: [u32; SHIFTS],
    /// The number of columns if x is a ring, or 0.
    around: u32,
    /// The columns in the region.
    mask: R,
}

impl<R: Row> RunsAlongX<R> {
    #[inline(always)]
    fn new(grid: Grid, side: u16, region: &Region) -> RunsAlongX<R> {
        let mask = R::ones(region.first[0], region.last[0] - region.first[0] + 1);
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
        // A run within 16 bits needs at most four shifts, and a run within 32 bits at most five.
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

    /// Replaces each row with the bases of the runs in it.
    #[inline(always)]
    fn within<const L: usize>(self, set: &mut [R], count: usize) {
        for rows in vectors_mut::<R, L>(set, count) {
            *rows = self.of(*rows);
        }
    }
}

/// Computes the bases of runs along z and x for `count` rows. Runs along z are
/// `rows[i] & rows[i + plane_rows] & ..` over c planes. The same pass then computes runs along x
/// from them. The pass is compiled separately for each c.
#[inline(always)]
fn runs_over_planes<R: Row, const L: usize>(
    set: &mut [R],
    rows: &[R],
    [count, plane_rows]: [usize; 2],
    c: u16,
    runs: RunsAlongX<R>,
) {
    match c {
        1 => runs_over::<R, L, 1>(set, rows, [count, plane_rows], runs),
        2 => runs_over::<R, L, 2>(set, rows, [count, plane_rows], runs),
        3 => runs_over::<R, L, 3>(set, rows, [count, plane_rows], runs),
        4 => runs_over::<R, L, 4>(set, rows, [count, plane_rows], runs),
        5 => runs_over::<R, L, 5>(set, rows, [count, plane_rows], runs),
        6 => runs_over::<R, L, 6>(set, rows, [count, plane_rows], runs),
        7 => runs_over::<R, L, 7>(set, rows, [count, plane_rows], runs),
        _ => runs_over::<R, L, 8>(set, rows, [count, plane_rows], runs),
    }
}

/// Implements [`runs_over_planes`] for a constant number of planes, C.
#[inline(always)]
fn runs_over<R: Row, const L: usize, const C: usize>(
    set: &mut [R],
    rows: &[R],
    [count, plane_rows]: [usize; 2],
    runs: RunsAlongX<R>,
) {
    let set = vectors_mut::<R, L>(set, count);
    let planes: [&[[R; L]]; C] =
        std::array::from_fn(|plane| &vectors(&rows[plane * plane_rows..], count)[..set.len()]);
    for (index, vector) in set.iter_mut().enumerate() {
        let mut all = planes[0][index];
        for plane in &planes[1..] {
            all = and(all, plane[index]);
        }
        *vector = runs.of(all);
    }
}

/// Copies planes, starting with plane z and wrapping around after the last plane. Because planes
/// may be small, makes at most two bulk copies instead of one copy per plane.
#[inline(always)]
fn gather<R: Row>(list: &[R], set: &mut [R], [planes, plane_rows]: [usize; 2], z: u16) {
    let from = usize::from(z) * plane_rows;
    let (ahead, around) = set.split_at_mut(set.len().min(planes * plane_rows - from));
    ahead.copy_from_slice(&list[from..from + ahead.len()]);
    around.copy_from_slice(&list[..around.len()]);
}

/// Copies planes whose y axis wraps. In each plane, the last row is followed by copies of the first
/// rows, as many as the stride allows, and then by a row of zeros.
#[inline(always)]
fn lay_around<R: Row>(planes: &[R], set: &mut [R], [plane_rows, stride]: [usize; 2]) {
    let (around, d) = (stride - plane_rows, plane_rows - 1);
    for (rows, plane) in set.chunks_exact_mut(stride).zip(planes.chunks_exact(plane_rows)) {
        rows[..d].copy_from_slice(&plane[..d]);
        rows[d..d + around].copy_from_slice(&plane[..around]);
        rows[d + around] = R::default();
    }
}

/// Computes runs of `length` rows spaced `stride` apart, `set[i] & set[i + stride] & ..`, for
/// `count` rows. Returns true if any run remains. Afterward, the rows in the last `length - 1`
/// strides are meaningless, except along y, where the last row is all zeros and ends every run.
#[inline(always)]
fn runs_by_doubling<R: Row, const L: usize>(
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
