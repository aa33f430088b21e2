//! Bases on the right border planes of busy boxes: the search of BL, TBL and GABL.
//!
//! Why it misses nothing, what it costs and what the paper has wrong is told in
//! [`tbl`](super::super::contiguous::tbl).

use pavior_mesh::{Cuboid, Grid, Occupancy, Sides};

use super::busy_list::BusyList;
use super::coverage::{AxisRange, covered};
use crate::{Placement, Work};

/// A rectangle of bases on a plane of constant x.
#[derive(Clone, Copy, Debug)]
struct Piece {
    y: AxisRange,
    z: AxisRange,
}

/// A busy list, searched along the right border planes of its boxes.
#[derive(Clone)]
pub(in crate::strategies) struct BorderPlanes {
    grid: Grid,
    busy: BusyList,
    /// Scratch: the pieces of the plane at hand, and those after a subtraction.
    plane: Vec<Piece>,
    rest: Vec<Piece>,
    tested: u64,
}

impl BorderPlanes {
    pub(in crate::strategies) fn new(grid: Grid) -> BorderPlanes {
        let (plane, rest) = (Vec::new(), Vec::new());
        BorderPlanes { grid, busy: BusyList::default(), plane, rest, tested: 0 }
    }

    pub(in crate::strategies) fn add(&mut self, placement: &Placement) {
        self.busy.add(placement);
    }

    pub(in crate::strategies) fn remove(&mut self, placement: &Placement) {
        self.busy.remove(placement);
    }

    /// The planes that searches have gone through, the busy boxes held against each, and the pieces of
    /// planes that regions were subtracted from.
    pub(in crate::strategies) fn work(&self) -> Work {
        Work::of_boxes(self.tested) + self.busy.work()
    }

    pub(in crate::strategies) fn validate(&self, free: &Occupancy) {
        self.busy.validate(free);
    }

    /// The first free box of a shape that fits the grid: the planes of b0 and of each busy box, in
    /// order of grant.
    pub(in crate::strategies) fn first(&mut self, shape: Sides) -> Option<Cuboid> {
        let [_, y, z] = std::array::from_fn(|axis| {
            Some(AxisRange { low: 0, high: self.grid.starts(axis, shape[axis]) - 1 })
        });
        let left_face = self.first_base(0, [y, None], [z, None], shape);
        if left_face.is_some() {
            return left_face;
        }
        (0..self.busy.boxes().len()).find_map(|index| {
            let held = self.busy.boxes()[index];
            let x = self.right_of(&held, shape[0])?;
            let [y, z] = [1, 2].map(|axis| covered(&self.grid, axis, &held, shape[axis]));
            self.first_base(x, y, z, shape)
        })
    }

    /// The most pieces that any plane is in while the search for a shape goes through it: the left
    /// face's, then each busy box's that is a base of the shape, all to the end.
    fn most_pieces(&mut self, shape: Sides) -> usize {
        let spans = [1, 2].map(|axis| {
            [Some(AxisRange { low: 0, high: self.grid.starts(axis, shape[axis]) - 1 }), None]
        });
        let mut most = self.clear_plane(0, spans[0], spans[1], shape);
        for index in 0..self.busy.boxes().len() {
            let held = self.busy.boxes()[index];
            if let Some(x) = self.right_of(&held, shape[0]) {
                let [y, z] = [1, 2].map(|axis| covered(&self.grid, axis, &held, shape[axis]));
                most = most.max(self.clear_plane(x, y, z, shape));
            }
        }
        most
    }

    /// The x of a box's right border plane, if it is a base of the side at all.
    fn right_of(&self, held: &Cuboid, side: u16) -> Option<u16> {
        let (n, starts) = (self.grid.side(0), self.grid.starts(0, side));
        let right = u32::from(held.base[0]) + u32::from(held.sides[0]);
        if !self.grid.wraps(0) {
            return (right < u32::from(starts)).then_some(right as u16);
        }
        // A side that closes the ring has the one base 0, which the left face is.
        (side < n).then_some((right % u32::from(n)) as u16)
    }

    /// The lowest base of the first piece of a plane that no busy box covers.
    fn first_base(
        &mut self,
        x: u16,
        y: [Option<AxisRange>; 2],
        z: [Option<AxisRange>; 2],
        shape: Sides,
    ) -> Option<Cuboid> {
        self.clear_plane(x, y, z, shape);
        let piece = self.plane.first()?;
        Some(Cuboid::new([x, piece.y.low, piece.z.low], shape))
    }

    /// Puts what no busy box covers of a plane into `plane`; returns the most pieces that it was in.
    fn clear_plane(
        &mut self,
        x: u16,
        y: [Option<AxisRange>; 2],
        z: [Option<AxisRange>; 2],
        shape: Sides,
    ) -> usize {
        self.plane.clear();
        for z in z.into_iter().flatten() {
            self.plane.extend(y.into_iter().flatten().map(|y| Piece { y, z }));
        }
        self.tested += 1;
        let mut most = self.plane.len();
        for held in self.busy.boxes() {
            if self.plane.is_empty() {
                break;
            }
            self.tested += 1;
            let [xs, ys, zs] =
                std::array::from_fn(|axis| covered(&self.grid, axis, held, shape[axis]));
            if !xs.into_iter().flatten().any(|span| span.contains(x)) {
                continue;
            }
            for z in zs.into_iter().flatten() {
                for y in ys.into_iter().flatten() {
                    self.tested += self.plane.len() as u64;
                    subtract(&self.plane, Piece { y, z }, &mut self.rest);
                    std::mem::swap(&mut self.plane, &mut self.rest);
                    most = most.max(self.plane.len());
                }
            }
        }
        most
    }
}

/// The most pieces that any right border plane is cut into while TBL looks for a shape, by these busy
/// boxes in order of grant; 0 if the shape does not fit the empty machine unturned.
///
/// The TBL paper says "at most four", and takes its cost from that.
///
/// ```
/// use pavior_allocation::tbl_most_pieces;
/// use pavior_mesh::{Cuboid, Grid};
/// let grid = Grid::mesh(&[2, 5, 5])?;
/// let node = |y, z| Cuboid::node([0, y, z]);
/// // The left face, without two nodes in general position.
/// assert_eq!(tbl_most_pieces(&grid, &[node(1, 1), node(3, 3)], [1, 1, 1]), 7);
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
pub fn tbl_most_pieces(grid: &Grid, busy: &[Cuboid], shape: Sides) -> usize {
    let mut planes = BorderPlanes::new(*grid);
    planes.add(&Placement::Parts(busy.to_vec()));
    if grid.fits(shape) { planes.most_pieces(shape) } else { 0 }
}

/// The pieces without a region, as up to four slabs each: below it and above it in z at full width,
/// then left and right of it in y.
fn subtract(pieces: &[Piece], region: Piece, rest: &mut Vec<Piece>) {
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
