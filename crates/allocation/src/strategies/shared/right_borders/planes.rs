//! The engine for BL, TBL and GABL in 3D. It receives the set of all bases, and chooses the base
//! that the plain search in [`planes_plain`](super::planes_plain) would find.
//!
//! The plain search subtracts every busy box from a plane. The engine keeps only the first piece
//! that has a base. The search ends when the lowest corner of that piece is a base.
//!
//! Invariant: the result is the base that the plain search would find. Any piece without a base
//! vanishes before the plain search ends, and no busy box covers a base.
//!
//! Cost: O(B) per plane for B boxes as long as the piece is large. If the piece is small, the boxes
//! around it are found through their nodes.

use pavior_mesh::{BaseSet, Cuboid, Grid};

use super::pieces::{KeptPiece, Piece, Pieces, covers_some, has_base};
use super::planes_plain::Plane;
use super::walk::{BorderWalk, List};
use crate::Work;
use crate::strategies::shared::busy_list::BusyList;

/// The busy boxes, in the order in which their planes are searched.
#[derive(Clone, Copy)]
pub(crate) struct BusyBoxes<'a> {
    /// The boxes of each [`List`].
    lists: [&'a [Cuboid]; 2],
    /// The list, if it might support looking up boxes by node.
    by_node: Option<&'a BusyList>,
}

impl<'a> BusyBoxes<'a> {
    /// Returns the boxes in a list that does not store which box contains each node.
    pub(crate) fn listed(boxes: &'a [Cuboid]) -> BusyBoxes<'a> {
        BusyBoxes { lists: [boxes, &[]], by_node: None }
    }

    /// Returns the boxes in a list, followed by the proposed ones.
    pub(crate) fn of(list: &'a BusyList) -> BusyBoxes<'a> {
        BusyBoxes { lists: [list.boxes(), list.proposed()], by_node: Some(list) }
    }

    fn count(&self) -> usize {
        self.lists[0].len() + self.lists[1].len()
    }

    /// Returns the index of the first box, from `from` onward, for which `is_one` returns true.
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

#[derive(Clone)]
pub(crate) struct BorderPlanes {
    grid: Grid,
    /// The current search's progress through the boxes.
    walk: BorderWalk,
    /// The slabs of a piece that remain after a subtraction.
    rest: Vec<Piece>,
    /// The keys of the boxes that overlap a piece's placements.
    around: Vec<u64>,
    tested: u64,
}

impl BorderPlanes {
    pub(crate) fn new(grid: Grid) -> BorderPlanes {
        let (rest, around) = (Vec::new(), Vec::new());
        BorderPlanes { grid, walk: BorderWalk::default(), rest, around, tested: 0 }
    }

    /// Returns the work done so far: boxes passed, boxes compared with a piece, and cuts.
    pub(crate) fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }

    /// Starts a search restricted to the bases of a shape.
    pub(crate) fn begin(&mut self, bases: &BaseSet, boxes: &BusyBoxes<'_>) {
        self.walk.begin(bases, boxes.by_node);
    }

    /// Returns the box that the plain search would find. Since the call to [`BorderPlanes::begin`],
    /// bases may have been removed but not added, and boxes may have been appended.
    pub(crate) fn next(&mut self, boxes: &BusyBoxes<'_>, bases: &BaseSet) -> Option<Cuboid> {
        let shape = bases.shape();
        if self.walk.has_left_face() {
            self.tested += 1;
            let found = self.base_on(boxes, bases, Plane::left_face(&self.grid, shape));
            if found.is_some() {
                return found;
            }
            self.walk.pass_left_face();
        }
        self.walk.skip_to_first(boxes.by_node, bases);
        for list in [List::Granted, List::Proposed] {
            let listed = boxes.lists[list as usize];
            let before = self.walk.passed(list);
            while let Some(stop) = self.walk.next(list, listed, boxes.by_node) {
                let pieces = Pieces::beside(&self.grid, &listed[stop.index], shape);
                let found = self.base_on(boxes, bases, Plane { x: stop.x, pieces });
                if found.is_some() {
                    self.tested += (stop.index + 1 - before) as u64;
                    return found;
                }
                self.walk.pass(list);
            }
            self.tested += (listed.len() - before) as u64;
        }
        None
    }

    /// Returns the base that the plain search would find on a plane, which is the lowest base in
    /// the first piece that contains one.
    fn base_on(&mut self, boxes: &BusyBoxes<'_>, bases: &BaseSet, plane: Plane) -> Option<Cuboid> {
        let is_kept = |piece: &Piece| has_base(bases, plane.x, *piece);
        let piece = plane.pieces.iter().find(is_kept)?;
        let mut piece = KeptPiece::new(self.grid, bases, plane.x, piece);
        let by_node = boxes.by_node.filter(|list| list.is_long());
        // Boxes before this index have been subtracted.
        let mut index = 0;
        while !piece.is_done() {
            let left = boxes.count() - index;
            // Reading a node costs more than testing a box, so look boxes up through their nodes
            // only when there are few nodes and many boxes.
            let few = left / 16;
            let finds_all = |list: &BusyList| list.within(&piece.hull(), few, &mut self.around);
            if by_node.is_some_and(finds_all) {
                return self.cut_around(piece, boxes, index);
            }
            let tests = piece.cover_tests();
            let next = boxes.position_from(index, |held| covers_some(&tests, held));
            self.tested += next.map_or(left, |next| next + 1 - index) as u64;
            let Some(next) = next else { break };
            self.tested += piece.cut(boxes.at(next), &mut self.rest)?;
            index = next + 1;
        }
        Some(piece.placement())
    }

    /// Continues with only the boxes in `around`, because no other box overlaps the piece's
    /// placements. The boxes before `from` have already been subtracted.
    fn cut_around(
        &mut self,
        mut piece: KeptPiece<'_>,
        boxes: &BusyBoxes<'_>,
        from: usize,
    ) -> Option<Cuboid> {
        self.tested += self.around.len() as u64;
        let list = boxes.by_node?;
        let mut tests = piece.cover_tests();
        for index in self.around.iter().map(|&key| list.place_of(key)) {
            if index >= from && covers_some(&tests, boxes.at(index)) {
                self.tested += piece.cut(boxes.at(index), &mut self.rest)?;
                if piece.is_done() {
                    break;
                }
                tests = piece.cover_tests();
            }
        }
        Some(piece.placement())
    }
}
