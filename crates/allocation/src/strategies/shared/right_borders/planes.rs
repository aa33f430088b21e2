//! Bases on the right border planes of busy boxes: the search of BL, TBL and GABL.
//!
//! Why it misses nothing, what it costs and what the paper has wrong is explained in
//! [`tbl`](crate::strategies::contiguous::tbl).

use pavior_mesh::{BaseSet, Cuboid, Grid, Sides};

use crate::Work;
use crate::strategies::shared::busy_list::BusyList;
use crate::strategies::shared::coverage::AxisRange;
use crate::strategies::shared::right_borders::pieces::{
    Cut, Piece, Pieces, along, has_base, hit, subtract,
};
use crate::strategies::shared::right_borders::walk::{RightSides, Stop};

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

/// The busy boxes, in order.
#[derive(Clone, Copy)]
pub(crate) struct BusyBoxes<'a> {
    /// What is granted, and what is proposed.
    lists: [&'a [Cuboid]; 2],
    /// The list that may know the box of each node.
    by_node: Option<&'a BusyList>,
}

impl<'a> BusyBoxes<'a> {
    /// Those of a list that knows no more.
    pub(crate) fn listed(boxes: &'a [Cuboid]) -> BusyBoxes<'a> {
        BusyBoxes { lists: [boxes, &[]], by_node: None }
    }

    /// Those of a list, and what is proposed.
    pub(crate) fn of(list: &'a BusyList) -> BusyBoxes<'a> {
        BusyBoxes { lists: [list.boxes(), list.proposed()], by_node: Some(list) }
    }

    fn count(&self) -> usize {
        self.lists[0].len() + self.lists[1].len()
    }

    /// The first box from one on of which something holds.
    fn position_from(&self, from: usize, is_one: impl Fn(&Cuboid) -> bool) -> Option<usize> {
        let [granted, proposed] = self.lists;
        let rest = granted.get(from..).unwrap_or(&[]);
        if let Some(ahead) = rest.iter().position(&is_one) {
            return Some(from + ahead);
        }
        let from = from.max(granted.len());
        let ahead = proposed[from - granted.len()..].iter().position(is_one)?;
        Some(from + ahead)
    }

    fn at(&self, index: usize) -> &'a Cuboid {
        let [granted, proposed] = self.lists;
        granted.get(index).unwrap_or_else(|| &proposed[index - granted.len()])
    }
}

/// Whether a search of the busy list, O(m^2) for m boxes, is less work than one of all nodes.
pub(crate) fn is_short(grid: &Grid, boxes: usize) -> bool {
    boxes * boxes <= words(grid)
}

/// About the words of a set of nodes.
pub(crate) fn words(grid: &Grid) -> usize {
    let rows = usize::from(grid.side(1)) * usize::from(grid.side(2));
    rows * usize::from(grid.side(0)).div_ceil(64)
}

/// A search of a busy list along the right border planes of its boxes.
#[derive(Clone)]
pub(crate) struct BorderPlanes {
    grid: Grid,
    walk: RightSides,
    /// Scratch: what the busy boxes cover, the pieces of the plane at hand, and those after a
    /// subtraction.
    regions: Vec<Region>,
    plane: Vec<Piece>,
    rest: Vec<Piece>,
    /// Scratch: the boxes around a piece, by key.
    around: Vec<u64>,
    tested: u64,
}

impl BorderPlanes {
    pub(crate) fn new(grid: Grid) -> BorderPlanes {
        let (walk, regions) = (RightSides::default(), Vec::new());
        let (plane, rest, around) = (Vec::new(), Vec::new(), Vec::new());
        BorderPlanes { grid, walk, regions, plane, rest, around, tested: 0 }
    }

    /// The planes that searches have gone through, the busy boxes held against each, and the pieces
    /// of planes that regions were subtracted from.
    pub(crate) fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }

    /// The first free box of a shape that fits the grid: the planes of b0 and of each busy box, in
    /// order of grant.
    pub(crate) fn first(&mut self, busy: &[Cuboid], shape: Sides) -> Option<Cuboid> {
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

    /// Begins to ask for boxes by the set of all bases of a shape.
    pub(crate) fn begin(&mut self, bases: &BaseSet, boxes: &BusyBoxes<'_>) {
        self.walk.begin(bases, boxes.by_node);
    }

    /// What [`BorderPlanes::first`] would find: the first plane that has a base, and the base that
    /// the subtraction would come to there. Since [`BorderPlanes::begin`] bases may only have
    /// vanished, and boxes have come only to the end.
    pub(crate) fn next(&mut self, boxes: &BusyBoxes<'_>, bases: &BaseSet) -> Option<Cuboid> {
        let shape = bases.shape();
        if self.walk.has_left_face() {
            self.tested += 1;
            let found = self.base_on(boxes, bases, self.left_face(shape));
            if found.is_some() {
                return found;
            }
            self.walk.pass_left_face();
        }
        if let Some(list) = boxes.by_node {
            self.walk.skip(list, bases);
        }
        for list in 0..2 {
            let before = self.walk.passed[list];
            while let Some(stop) = self.next_stop(list, boxes) {
                let pieces = Pieces::beside(&self.grid, &boxes.lists[list][stop.index], shape);
                let found = self.base_on(boxes, bases, Plane { x: stop.x, pieces });
                if found.is_some() {
                    self.tested += (stop.index + 1 - before) as u64;
                    return found;
                }
                self.walk.passed[list] += 1;
            }
            self.tested += (boxes.lists[list].len() - before) as u64;
        }
        None
    }

    fn next_stop(&mut self, list: usize, boxes: &BusyBoxes<'_>) -> Option<Stop> {
        match boxes.by_node {
            Some(known) if list == 0 => self.walk.go_on_in(known),
            _ => self.walk.go_on(list, boxes.lists[list]),
        }
    }

    /// The lowest base of the first piece of a plane that has one. Of the pieces that a region
    /// leaves of a piece, those without a base vanish before the end: so only the first with one is
    /// kept. Once its lowest corner is a base it remains so: no region covers it, and of the pieces
    /// that a region leaves the first that has a base is the one with that corner.
    ///
    /// O(B) for B boxes while the piece is large; the boxes that meet placements of a small one are
    /// found by their nodes.
    fn base_on(&mut self, boxes: &BusyBoxes<'_>, bases: &BaseSet, plane: Plane) -> Option<Cuboid> {
        let first = |piece: &Piece| has_base(bases, plane.x, *piece);
        let piece = plane.pieces.iter().find(first)?;
        let mut cut = Cut::new(self.grid, bases, plane.x, piece);
        let by_node = boxes.by_node.filter(|list| list.is_long());
        let mut index = 0;
        while !cut.is_done() {
            let left = boxes.count() - index;
            let around = |list: &BusyList| list.within(&cut.hull(), left / 16, &mut self.around);
            if by_node.is_some_and(around) {
                return self.cut_around(cut, boxes, index);
            }
            let covers = cut.covers();
            let next = boxes.position_from(index, |held| hit(&covers, held));
            self.tested += next.map_or(left, |next| next + 1 - index) as u64;
            let Some(next) = next else { break };
            self.tested += cut.by(boxes.at(next), &mut self.rest)?;
            index = next + 1;
        }
        Some(cut.placement())
    }

    /// The same with the boxes from one on that are around the piece.
    fn cut_around(
        &mut self,
        mut cut: Cut<'_>,
        boxes: &BusyBoxes<'_>,
        from: usize,
    ) -> Option<Cuboid> {
        self.tested += self.around.len() as u64;
        let list = boxes.by_node?;
        let mut covers = cut.covers();
        for index in self.around.iter().map(|&key| list.place_of(key)) {
            if index >= from && hit(&covers, boxes.at(index)) {
                self.tested += cut.by(boxes.at(index), &mut self.rest)?;
                if cut.is_done() {
                    break;
                }
                covers = cut.covers();
            }
        }
        Some(cut.placement())
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

    /// Puts what no busy box covers of a plane into `plane`; returns the most pieces that it was
    /// in.
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

/// The most pieces that any right border plane is cut into while TBL looks for a shape, by these
/// busy boxes in order of grant; 0 if the shape does not fit the empty machine unturned.
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
