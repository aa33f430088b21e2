//! Sorting shapes by a given rank, shared by all rules.
//!
//! A sort compiled separately for each rule would be as much code as a strategy. Most lists of
//! shapes are short, so calling the rank through a pointer costs no more.

use std::cmp::Reverse;

use pavior_mesh::Sides;

/// Sorts shapes, lower ranks first; for equal ranks, lexicographically larger sides first. Calls
/// the rank O(k log k) times for k shapes.
pub(crate) fn sort_shapes(shapes: &mut [Sides], rank: &dyn Fn(Sides) -> u64) {
    shapes.sort_unstable_by_key(|&shape| (rank(shape), Reverse(shape)));
}
