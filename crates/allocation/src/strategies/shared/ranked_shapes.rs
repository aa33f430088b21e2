//! The one sort of shapes by a rule's own rank.
//!
//! A sort that is compiled for one rule is as much code as a strategy. Most lists of shapes are
//! short, so that this one, which calls the rank, costs no more than a sort of its own.

use std::cmp::Reverse;

use pavior_mesh::Sides;

/// Sorts shapes: lower ranks first, of equals lexicographically greater sides first. O(k log k)
/// ranks for k shapes.
pub(crate) fn sort_shapes(shapes: &mut [Sides], rank: &dyn Fn(Sides) -> u64) {
    shapes.sort_unstable_by_key(|&shape| (rank(shape), Reverse(shape)));
}
