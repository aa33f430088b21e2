//! Bases on the right border planes of busy boxes: the search of BL, TBL and GABL.
//!
//! Why it misses nothing, what it costs and what the paper has wrong is explained in
//! [`tbl`](super::super::contiguous::tbl).

use pavior_mesh::{BaseSet, Cuboid, Grid, Sides};

use super::busy_list::BusyList;
use super::coverage::{AxisRange, Cover, covered};
use super::right_sides::RightSides;
use crate::Work;

/// A rectangle of bases on a plane of constant x.
#[derive(Clone, Copy, Debug)]
struct Piece {
    y: AxisRange,
    z: AxisRange,
}

impl Piece {
    fn meets(self, other: Piece) -> bool {
        let meet = |a: AxisRange, b: AxisRange| a.low <= b.high && b.low <= a.high;
        meet(self.y, other.y) && meet(self.z, other.z)
    }
}

/// Bases in a plane of constant x, each axis in up to two intervals: cut where a ring is passed at 0.
#[derive(Clone, Copy, Debug)]
struct Pieces {
    y: [AxisRange; 2],
    z: [AxisRange; 2],
}

impl Pieces {
    /// The bases beside a box, along y and z: those that would hit it if they were not beside it.
    fn beside(grid: &Grid, held: &Cuboid, shape: Sides) -> Pieces {
        Pieces { y: along(grid, held, shape, 1), z: along(grid, held, shape, 2) }
    }

    fn iter(self) -> impl Iterator<Item = Piece> {
        let some = |range: &AxisRange| range.low <= range.high;
        let along_y = move |z| self.y.into_iter().filter(some).map(move |y| Piece { y, z });
        self.z.into_iter().filter(some).flat_map(along_y)
    }
}

fn along(grid: &Grid, held: &Cuboid, shape: Sides, axis: usize) -> [AxisRange; 2] {
    covered(grid, axis, held, shape[axis]).map(|range| range.unwrap_or(AxisRange::EMPTY))
}

/// A plane of bases.
#[derive(Clone, Copy, Debug)]
struct Plane {
    x: u16,
    pieces: Pieces,
}

/// The bases at which a busy box would be hit.
#[derive(Clone, Copy, Debug)]
struct Region {
    x: [AxisRange; 2],
    pieces: Pieces,
}

impl Region {
    fn new(grid: &Grid, held: &Cuboid, shape: Sides) -> Region {
        Region { x: along(grid, held, shape, 0), pieces: Pieces::beside(grid, held, shape) }
    }

    fn covers(&self, x: u16) -> bool {
        self.x[0].contains(x) || self.x[1].contains(x)
    }
}

/// Whether a search of the busy list, O(m^2) for m boxes, is less work than one of all nodes.
pub(in crate::strategies) fn is_short(grid: &Grid, boxes: usize) -> bool {
    let rows = usize::from(grid.side(1)) * usize::from(grid.side(2));
    boxes * boxes <= rows * usize::from(grid.side(0)).div_ceil(64)
}

/// A search of a busy list along the right border planes of its boxes.
#[derive(Clone)]
pub(in crate::strategies) struct BorderPlanes {
    grid: Grid,
    walk: RightSides,
    /// Scratch: what the busy boxes cover, the pieces of the plane at hand, and those after a subtraction.
    regions: Vec<Region>,
    plane: Vec<Piece>,
    rest: Vec<Piece>,
    tested: u64,
}

impl BorderPlanes {
    pub(in crate::strategies) fn new(grid: Grid) -> BorderPlanes {
        let (walk, regions) = (RightSides::default(), Vec::new());
        BorderPlanes { grid, walk, regions, plane: Vec::new(), rest: Vec::new(), tested: 0 }
    }

    /// The planes that searches have gone through, the busy boxes held against each, and the pieces of
    /// planes that regions were subtracted from.
    pub(in crate::strategies) fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }

    /// The first free box of a shape that fits the grid: the planes of b0 and of each busy box, in
    /// order of grant.
    pub(in crate::strategies) fn first(&mut self, busy: &[Cuboid], shape: Sides) -> Option<Cuboid> {
        self.load(busy, shape);
        let left_face = self.first_base(self.left_face(shape), shape);
        if left_face.is_some() {
            return left_face;
        }
        busy.iter().enumerate().find_map(|(index, held)| {
            let x = self.right_of(held, shape[0])?;
            self.first_base(Plane { x, pieces: self.regions[index].pieces }, shape)
        })
    }

    /// What the busy boxes cover for a shape: the same on every plane.
    fn load(&mut self, busy: &[Cuboid], shape: Sides) {
        self.regions.clear();
        self.regions.extend(busy.iter().map(|held| Region::new(&self.grid, held, shape)));
    }

    /// Begins to ask for boxes by the set of all bases of a shape; of a list that knows the box of each
    /// node, if it is given.
    pub(in crate::strategies) fn begin(&mut self, bases: &BaseSet, list: Option<&BusyList>) {
        self.walk.begin(bases, list);
    }

    /// Passes the boxes of that list that [`BorderPlanes::next`] need not look at.
    pub(in crate::strategies) fn skip(&mut self, list: &BusyList, bases: &BaseSet) {
        self.walk.skip(list, bases);
    }

    /// What [`BorderPlanes::first`] would find with what is busy and what is proposed besides: the first
    /// plane that has a base, and the base that the subtraction would come to there. Since
    /// [`BorderPlanes::begin`] bases may only have vanished, and boxes have come only to the end.
    pub(in crate::strategies) fn next(
        &mut self,
        lists: [&[Cuboid]; 2],
        bases: &BaseSet,
    ) -> Option<Cuboid> {
        let shape = bases.shape();
        if self.walk.has_left_face() {
            self.tested += 1;
            let found = self.base_on(lists, bases, self.left_face(shape));
            if found.is_some() {
                return found;
            }
            self.walk.pass_left_face();
        }
        for (list, boxes) in lists.into_iter().enumerate() {
            let before = self.walk.passed[list];
            while let Some(stop) = self.walk.go_on(list, boxes) {
                let pieces = Pieces::beside(&self.grid, &boxes[stop.index], shape);
                let found = self.base_on(lists, bases, Plane { x: stop.x, pieces });
                if found.is_some() {
                    self.tested += (stop.index + 1 - before) as u64;
                    return found;
                }
                self.walk.passed[list] += 1;
            }
            self.tested += (boxes.len() - before) as u64;
        }
        None
    }

    /// The lowest base of the first piece of a plane that has one. Of the pieces that a region leaves
    /// of a piece, those without a base vanish before the end: so only the first with one is kept. Once
    /// its lowest corner is a base it remains so: no region covers it, and of the pieces that a region
    /// leaves the first that has a base is the one with that corner.
    fn base_on(&mut self, lists: [&[Cuboid]; 2], bases: &BaseSet, plane: Plane) -> Option<Cuboid> {
        let (grid, x, shape) = (self.grid, plane.x, bases.shape());
        let has_base = |piece: &Piece| {
            let sides = [1, piece.y.high - piece.y.low + 1, piece.z.high - piece.z.low + 1];
            bases.any_in(&Cuboid::new([x, piece.y.low, piece.z.low], sides))
        };
        let corner = |piece: &Piece| [x, piece.y.low, piece.z.low];
        let covers = |piece: &Piece| {
            [
                Cover::new(&grid, 0, shape[0], AxisRange { low: x, high: x }),
                Cover::new(&grid, 1, shape[1], piece.y),
                Cover::new(&grid, 2, shape[2], piece.z),
            ]
        };
        let mut piece = plane.pieces.iter().find(has_base)?;
        if bases.contains(corner(&piece)) {
            return Some(Cuboid::new(corner(&piece), shape));
        }
        let mut hits = covers(&piece);
        for boxes in lists {
            for (index, held) in boxes.iter().enumerate() {
                if !hits.iter().all(|hit| hit.by(held)) {
                    continue;
                }
                for region in Pieces::beside(&grid, held, shape).iter() {
                    if piece.meets(region) {
                        self.tested += 1;
                        subtract(&[piece], region, &mut self.rest);
                        piece = *self.rest.iter().find(|piece| has_base(piece))?;
                    }
                }
                if bases.contains(corner(&piece)) {
                    self.tested += index as u64;
                    return Some(Cuboid::new(corner(&piece), shape));
                }
                hits = covers(&piece);
            }
            self.tested += boxes.len() as u64;
        }
        Some(Cuboid::new(corner(&piece), shape))
    }

    /// The plane of the hypothetical box b0.
    fn left_face(&self, shape: Sides) -> Plane {
        let [y, z] = [1, 2].map(|axis| {
            let high = self.grid.starts(axis, shape[axis]) - 1;
            [AxisRange { low: 0, high }, AxisRange::EMPTY]
        });
        Plane { x: 0, pieces: Pieces { y, z } }
    }

    /// A box's right border plane, if it has bases of the shape at all.
    fn plane_of(&self, held: &Cuboid, shape: Sides) -> Option<Plane> {
        let x = self.right_of(held, shape[0])?;
        Some(Plane { x, pieces: Pieces::beside(&self.grid, held, shape) })
    }

    /// The most pieces that any plane is in while the search for a shape goes through it: the left
    /// face's, then each busy box's that is a base of the shape, all to the end.
    fn most_pieces(&mut self, busy: &[Cuboid], shape: Sides) -> usize {
        self.load(busy, shape);
        let mut most = self.clear_plane(self.left_face(shape));
        for held in busy {
            if let Some(plane) = self.plane_of(held, shape) {
                most = most.max(self.clear_plane(plane));
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
    fn first_base(&mut self, plane: Plane, shape: Sides) -> Option<Cuboid> {
        self.clear_plane(plane);
        let piece = self.plane.first()?;
        Some(Cuboid::new([plane.x, piece.y.low, piece.z.low], shape))
    }

    /// Puts what no busy box covers of a plane into `plane`; returns the most pieces that it was in.
    fn clear_plane(&mut self, plane: Plane) -> usize {
        self.plane.clear();
        self.plane.extend(plane.pieces.iter());
        self.tested += 1;
        let mut most = self.plane.len();
        for region in &self.regions {
            if self.plane.is_empty() {
                break;
            }
            self.tested += 1;
            if !region.covers(plane.x) {
                continue;
            }
            for region in region.pieces.iter() {
                self.tested += self.plane.len() as u64;
                if self.plane.iter().any(|piece| piece.meets(region)) {
                    subtract(&self.plane, region, &mut self.rest);
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
    if grid.fits(shape) { planes.most_pieces(busy, shape) } else { 0 }
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
