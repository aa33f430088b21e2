//! The plain search for BL, TBL and GABL, which subtracts every busy box from every right border
//! plane.
//!
//! Invariant: a plane's pieces contain exactly the bases not covered by any box processed so far.
//!
//! Cost: O(B) planes for B boxes and, in practice, O(B) pieces per plane. In the worst case, a
//! plane has O(B^2) pieces.

use pavior_mesh::{Cuboid, Grid, Sides};

use super::pieces::{Piece, Pieces, covered_on, right_border, subtract};
use crate::Work;
use crate::strategies::shared::coverage::AxisRange;

/// A plane of bases: the bases that share one x coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    pub(super) x: u16,
    pub(super) pieces: Pieces,
}

impl Plane {
    /// Returns the machine's left face (the right border plane of the hypothetical box b0).
    pub(super) fn left_face(grid: &Grid, shape: Sides) -> Plane {
        let [y, z] = [1, 2].map(|axis| {
            let high = grid.starts(axis, shape[axis]) - 1;
            [AxisRange { low: 0, high }, AxisRange::EMPTY]
        });
        Plane { x: 0, pieces: Pieces { y, z } }
    }

    /// Returns a box's right border plane, or `None` if it cannot contain bases of the shape.
    fn right_of(grid: &Grid, held: &Cuboid, shape: Sides) -> Option<Plane> {
        let x = right_border(grid, held, shape[0])?;
        Some(Plane { x, pieces: Pieces::beside(grid, held, shape) })
    }
}

/// The bases at which a shape would overlap a busy box.
#[derive(Clone, Copy, Debug)]
struct Region {
    x: [AxisRange; 2],
    pieces: Pieces,
}

impl Region {
    fn new(grid: &Grid, held: &Cuboid, shape: Sides) -> Region {
        Region { x: covered_on(grid, held, shape, 0), pieces: Pieces::beside(grid, held, shape) }
    }

    fn covers(&self, x: u16) -> bool {
        self.x[0].contains(x) || self.x[1].contains(x)
    }
}

#[derive(Clone)]
pub(crate) struct PlaneSubtraction {
    grid: Grid,
    /// The coverages of the busy boxes for the current shape. They are the same on every plane.
    regions: Vec<Region>,
    /// The pieces of the current plane before and after a subtraction.
    plane: Vec<Piece>,
    rest: Vec<Piece>,
    tested: u64,
}

impl PlaneSubtraction {
    pub(crate) fn new(grid: Grid) -> PlaneSubtraction {
        let (regions, plane, rest) = (Vec::new(), Vec::new(), Vec::new());
        PlaneSubtraction { grid, regions, plane, rest, tested: 0 }
    }

    /// Returns the work done so far: planes searched, busy boxes compared with planes, and pieces
    /// from which a box was subtracted.
    pub(crate) fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }

    /// Finds the first free box of a shape that fits the grid. Searches the machine's left face
    /// first, and then the right border plane of each busy box, in order.
    pub(crate) fn first(&mut self, busy: &[Cuboid], shape: Sides) -> Option<Cuboid> {
        self.load(busy, shape);
        let left_face = self.first_base(Plane::left_face(&self.grid, shape), shape);
        left_face.or_else(|| {
            busy.iter().find_map(|held| {
                let plane = Plane::right_of(&self.grid, held, shape)?;
                self.first_base(plane, shape)
            })
        })
    }

    fn load(&mut self, busy: &[Cuboid], shape: Sides) {
        self.regions.clear();
        self.regions.extend(busy.iter().map(|held| Region::new(&self.grid, held, shape)));
    }

    /// Returns the maximum number of pieces that any plane would have if a search for the shape
    /// processed every plane completely.
    pub(crate) fn most_pieces(&mut self, busy: &[Cuboid], shape: Sides) -> usize {
        self.load(busy, shape);
        let mut most = self.clear_plane(Plane::left_face(&self.grid, shape));
        for held in busy {
            if let Some(plane) = Plane::right_of(&self.grid, held, shape) {
                most = most.max(self.clear_plane(plane));
            }
        }
        most
    }

    /// Returns the lowest base in a plane's first uncovered piece.
    fn first_base(&mut self, plane: Plane, shape: Sides) -> Option<Cuboid> {
        self.clear_plane(plane);
        let piece = self.plane.first()?;
        Some(Cuboid::new([plane.x, piece.y.low, piece.z.low], shape))
    }

    /// Sets the field `plane` to the part of a plane that no busy box covers. Returns the maximum
    /// number of pieces at any point in the process.
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
