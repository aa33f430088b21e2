//! Tests that check the word-parallel base set against the naive search.

use pavior_mesh::{BaseSet, Cuboid, Scan};
use pavior_trials::size;
use proptest::prelude::*;

use crate::naive;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(100, 600, 600)))]

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
            // Most shapes are small, but some span a whole axis or exceed it by one node.
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
            let bases: Vec<_> = search.row_major().collect();
            prop_assert_eq!(bases, expected, "{} {:?}", grid, shape);
        }
    }

    #[test]
    fn finds_in_a_box_what_lies_in_it(
        free in naive::occupancies(),
        draws in prop::collection::vec(any::<[[u16; 3]; 3]>(), 4),
    ) {
        let grid = *free.grid();
        for [base, sides, shape] in draws {
            let side = |axis: usize, draw: u16| 1 + draw % grid.side(axis).min(5);
            let shape = std::array::from_fn(|axis| side(axis, shape[axis]));
            let sides: [u16; 3] = std::array::from_fn(|axis| side(axis, sides[axis]));
            let base: [u16; 3] =
                std::array::from_fn(|axis| base[axis] % grid.starts(axis, sides[axis]));
            let part = Cuboid::new(base, sides);
            let around = part.around(&grid, shape);
            prop_assert!(around.lies_on(&grid), "{grid} {part:?} {shape:?} {around:?}");
            let inside = |base: &[u16; 3]| {
                let mut nodes = Cuboid::new(*base, shape).nodes(&grid);
                nodes.all(|node| around.contains(&grid, grid.point(node)))
            };
            let all = naive::bases(&free, shape, Scan::default());
            let meets = |base: &[u16; 3]| Cuboid::new(*base, shape).intersects(&grid, &part);
            prop_assert!(all.iter().filter(|base| meets(base)).all(inside));
            let open = (0..3).all(|axis| !grid.wraps(axis) || around.sides[axis] < grid.side(axis));
            prop_assert!(!open || all.iter().filter(|base| inside(base)).all(meets));
            let mut expected: Vec<_> = all.into_iter().filter(inside).collect();
            let mut search = BaseSet::within(&free, &around);
            prop_assert!(search.compute_loaded(shape));
            let absolute = |base: [u16; 3]| {
                std::array::from_fn(|axis| around.coordinate(&grid, axis, base[axis]))
            };
            let mut found: Vec<[u16; 3]> = search.row_major().map(absolute).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected, "{} {:?} {:?}", grid, around, shape);
        }
    }
}
