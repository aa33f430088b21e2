//! Sorts shapes by a given rank. All rules share this code.
//!
//! A separately compiled sort for each rule would take up as much code as a strategy. Most lists of
//! shapes are short, so calling the rank function through a pointer costs no more.

use std::cmp::Reverse;

use pavior_mesh::Sides;

/// Sorts shapes by rank, ascending. Shapes of equal rank are sorted by their sides in descending
/// lexicographic order. Calls `rank` O(k log k) times for k shapes.
pub(crate) fn sort_shapes(shapes: &mut [Sides], rank: &dyn Fn(Sides) -> u64) {
    shapes.sort_unstable_by_key(|&shape| (rank(shape), Reverse(shape)));
}
