//! Orientations of a shape.

use crate::Sides;

/// Returns a shape's permutations in the order used by the TBL paper: (a,b,c), (a,c,b), (b,a,c),
/// (b,c,a), (c,a,b), (c,b,a), without duplicates.
///
/// The caller must check whether a permutation fits the machine. If the third side is 1, the
/// permutations that fit a plane are (a,b) and (b,a), in that order.
///
/// ```
/// # mod pavior { pub use pavior_mesh as boxes; }
/// use pavior::boxes::orientations;
/// let turned: Vec<_> = orientations([2, 2, 5]).collect();
/// assert_eq!(turned, [[2, 2, 5], [2, 5, 2], [5, 2, 2]]);
/// ```
#[inline]
pub fn orientations([a, b, c]: Sides) -> impl Iterator<Item = Sides> {
    let [first, second, third] = [[a, b, c], [a, c, b], [b, a, c]];
    let [fourth, fifth, sixth] = [[b, c, a], [c, a, b], [c, b, a]];
    let (turned, count) = match (a == b, b == c, a == c) {
        (true, true, _) => ([first; 6], 1),
        (true, false, _) => ([first, second, fifth, first, first, first], 3),
        (_, true, _) => ([first, third, fourth, first, first, first], 3),
        (_, _, true) => ([first, second, third, first, first, first], 3),
        _ => ([first, second, third, fourth, fifth, sixth], 6),
    };
    turned.into_iter().take(count)
}

/// Returns the sides in ascending order. The result is the same for all orientations.
///
/// ```
/// # mod pavior { pub use pavior_mesh as boxes; }
/// assert_eq!(pavior::boxes::ascending([5, 2, 4]), [2, 4, 5]);
/// ```
#[inline]
pub fn ascending([a, b, c]: Sides) -> Sides {
    let (low, high) = (a.min(b), a.max(b));
    [low.min(c), high.min(c).max(low), high.max(c)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_distinct_permutation_comes_once_and_in_order() {
        for [a, b, c] in (0..27u16).map(|code| [code % 3, code / 3 % 3, code / 9]) {
            let all = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]];
            let mut expected = Vec::new();
            for turned in all {
                if !expected.contains(&turned) {
                    expected.push(turned);
                }
            }
            assert_eq!(orientations([a, b, c]).collect::<Vec<_>>(), expected);
            let mut sorted = [a, b, c];
            sorted.sort_unstable();
            assert_eq!(ascending([a, b, c]), sorted);
        }
    }
}
