//! Folded rectangles: the six shapes that FlexFold and LSSA derive from a x b.
//!
//! ```text
//!   4x2   # # # #     folded   2x4   # #     and   8x1   # # # # # # # #
//!         # # # #                    # #
//!                                    # #
//!                                    # #
//! ```
//!
//! Invariant: every shape has a times b nodes, and no shape is returned twice.

use pavior_mesh::{Grid, Sides};

/// The order of the four folds, which follow S(a,b) and S(b,a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldOrder {
    /// FlexFold's order: a/2 x 2b, 2a x b/2, 2b x a/2, b/2 x 2a.
    FlexFold,
    /// LSSA's order: a/2 x 2b, 2b x a/2, 2a x b/2, b/2 x 2a.
    Lssa,
}

/// A strategy's choice of folds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folds {
    pub(crate) order: FoldOrder,
    /// True if both sides must be even, rather than only the side to be halved.
    pub(crate) both_even: bool,
    /// True if rotated shapes are tried too.
    pub(crate) turned: bool,
}

impl Folds {
    /// Returns, in order, the distinct shapes that are derived from a flat shape and fit the grid,
    /// starting with the shape itself. Returns no shapes if the given shape extends along a third
    /// axis.
    pub(crate) fn of(self, [a, b, c]: Sides, grid: Grid) -> impl Iterator<Item = Sides> + use<> {
        let fold = |half: u16, double: u16| {
            let even = half % 2 == 0 && (!self.both_even || double % 2 == 0);
            if even { double.checked_mul(2).map(|double| (half / 2, double)) } else { None }
        };
        let turn = |pair: Option<(u16, u16)>| match pair {
            Some((x, y)) if self.turned => Some((y, x)),
            _ => None,
        };
        let (tall, flat) = (fold(a, b), fold(b, a).map(|(half, double)| (double, half)));
        let folds = match self.order {
            FoldOrder::FlexFold => [tall, flat, turn(tall), turn(flat)],
            FoldOrder::Lssa => [tall, turn(tall), flat, turn(flat)],
        };
        let [third, fourth, fifth, sixth] = folds;
        let pairs = [Some((a, b)), turn(Some((a, b))), third, fourth, fifth, sixth];
        (0..pairs.len())
            .filter(move |&index| c == 1 && !pairs[..index].contains(&pairs[index]))
            .filter_map(move |index| pairs[index].map(|(x, y)| [x, y, 1]))
            .filter(move |&shape| grid.fits(shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folds(order: FoldOrder, both_even: bool, turned: bool, shape: [u16; 2]) -> Vec<[u16; 2]> {
        let grid = Grid::mesh(&[16, 16]).unwrap();
        let folds = Folds { order, both_even, turned };
        folds.of([shape[0], shape[1], 1], grid).map(|[x, y, _]| [x, y]).collect()
    }

    #[test]
    fn the_two_orders() {
        let shape = [6, 4];
        let flexfold = folds(FoldOrder::FlexFold, false, true, shape);
        assert_eq!(flexfold, [[6, 4], [4, 6], [3, 8], [12, 2], [8, 3], [2, 12]]);
        let lssa = folds(FoldOrder::Lssa, false, true, shape);
        assert_eq!(lssa, [[6, 4], [4, 6], [3, 8], [8, 3], [12, 2], [2, 12]]);
    }

    #[test]
    fn equal_shapes_are_tried_once_and_only_even_sides_are_halved() {
        // The folds of 6x3 are its rotations.
        assert_eq!(folds(FoldOrder::FlexFold, false, true, [6, 3]), [[6, 3], [3, 6]]);
        let four = folds(FoldOrder::FlexFold, false, true, [4, 2]);
        assert_eq!(four, [[4, 2], [2, 4], [8, 1], [1, 8]]);
        assert_eq!(
            folds(FoldOrder::FlexFold, false, true, [4, 3]),
            [[4, 3], [3, 4], [2, 6], [6, 2]]
        );
        assert_eq!(folds(FoldOrder::FlexFold, true, true, [4, 3]), [[4, 3], [3, 4]]);
        assert_eq!(folds(FoldOrder::FlexFold, false, false, [4, 3]), [[4, 3], [2, 6]]);
        assert_eq!(folds(FoldOrder::Lssa, false, true, [5, 3]), [[5, 3], [3, 5]]);
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        assert_eq!(
            folds(FoldOrder::Lssa, false, true, [10, 2]),
            [[10, 2], [2, 10], [5, 4], [4, 5]]
        );
    }
}
