//! The word-parallel base set against the definition.

use pavior_mesh::{BaseSet, Scan};
use proptest::prelude::*;

use crate::naive;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn finds_exactly_the_free_bases(
        free in naive::occupancies(),
        draws in prop::collection::vec(any::<[u16; 3]>(), 4),
        scan in prop::sample::select(vec!["xyz", "zyx", "-yx", "x-y-z"]),
    ) {
        let grid = *free.grid();
        let scan: Scan = scan.parse().unwrap();
        let mut search = BaseSet::new(grid);
        for draw in draws {
            // Small shapes mostly, and now and then the whole axis or one too many.
            let shape = std::array::from_fn(|axis| {
                let n = grid.side(axis);
                match draw[axis] % 8 {
                    0 => n,
                    1 => 1 + draw[axis] % (n + 1),
                    _ => 1 + draw[axis] / 8 % n.min(4),
                }
            });
            let expected = naive::bases(&free, shape, scan);
            prop_assert_eq!(search.find(&free, shape, scan), expected.first().copied());
            let starts = scan.bases(grid, shape).filter(|&base| search.contains(base));
            prop_assert_eq!(starts.collect::<Vec<_>>(), expected, "{} {:?}", grid, shape);
            let mut expected = naive::bases(&free, shape, Scan::default());
            expected.sort_unstable_by_key(|[x, y, z]| [*z, *y, *x]);
            prop_assert_eq!(search.row_major().collect::<Vec<_>>(), expected, "{} {:?}", grid, shape);
        }
    }
}
