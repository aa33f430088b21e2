//! The ways to turn a shape.

use crate::Sides;

/// The distinct permutations of a shape, in the order of the TBL paper: (a,b,c), (a,c,b), (b,a,c),
/// (b,c,a), (c,a,b), (c,b,a), equal triples left out after the first.
///
/// Whether a permutation fits the machine is the caller's question; with a third side of 1 those
/// that fit a plane are (a,b) and (b,a), in this order.
///
/// ```
/// use pavior_mesh::orientations;
/// let turned: Vec<_> = orientations([2, 2, 5]).collect();
/// assert_eq!(turned, [[2, 2, 5], [2, 5, 2], [5, 2, 2]]);
/// ```
pub fn orientations([a, b, c]: Sides) -> impl Iterator<Item = Sides> {
    let all = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]];
    (0..6).filter(move |&index| !all[..index].contains(&all[index])).map(move |index| all[index])
}
