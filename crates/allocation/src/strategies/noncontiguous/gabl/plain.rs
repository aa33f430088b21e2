//! GABL's plain search: one search of the busy list a shape and piece.

use std::cmp::Reverse;

use pavior_mesh::{Cuboid, Request, Sides, volume};

use super::Greedy;
use crate::Placement;
use crate::strategies::shared::turning::Turn;

impl Greedy {
    /// A free box of a shape, turned or not.
    pub(super) fn search(&mut self, shape: Sides, turn: Turn) -> Option<Cuboid> {
        let mut shapes = turn.shapes(self.grid, &Request::shape(shape));
        shapes.find_map(|shape| self.busy.first(shape))
    }

    /// Takes a piece of a shape, and says whether there was one.
    fn take_piece(&mut self, shape: Sides) -> bool {
        let Some(piece) = self.search(shape, self.parts) else { return false };
        self.busy.add(&Placement::Whole(piece));
        self.pieces.push(piece);
        true
    }

    /// The loop of the paper as it is meant: a piece of the shape, or a smaller shape.
    pub(super) fn shrink_to_fit(&mut self, nodes: u32, mut shape: Sides) {
        let mut left = u64::from(nodes);
        while left > 0 {
            if volume(shape) <= left && self.take_piece(shape) {
                left -= volume(shape);
            } else {
                assert_ne!(shape, [1; 3], "enough nodes are free, so one is");
                self.shrink(&mut shape);
            }
        }
    }

    /// Takes the largest free box within the shape until the count is reached. A shape that is too
    /// large or not free stays so. So one pass from the largest shape to the smallest is enough.
    pub(super) fn take_largest(&mut self, nodes: u32, shape: Sides) {
        let mut left = u64::from(nodes);
        let mut shapes = std::mem::take(&mut self.shapes);
        shapes.clear();
        // The whole shape was the first attempt, if it has the right count.
        let open = |&s: &Sides| volume(s) <= left && !(s == shape && volume(s) == left);
        let most = shape.map(|side| u32::from(side).min(nodes) as u16);
        for a in 1..=most[0] {
            for b in 1..=most[1] {
                shapes.extend((1..=most[2]).map(|c| [a, b, c]).filter(open));
            }
        }
        shapes.sort_unstable_by_key(|&sides| Reverse((volume(sides), sides)));
        for &shape in &shapes {
            while volume(shape) <= left && self.take_piece(shape) {
                left -= volume(shape);
            }
        }
        assert_eq!(left, 0, "enough nodes are free, and the last shape is one node");
        self.shapes = shapes;
    }
}
