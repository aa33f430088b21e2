//! The largest free box against trying every box.

use pavior_mesh::{Cuboid, Occupancy, Scan, Sides};
use proptest::prelude::*;

use crate::naive;

fn by_trying_every_box(free: &Occupancy, [w, d, h]: Sides) -> Option<Cuboid> {
    let mut best: Option<Cuboid> = None;
    for a in 1..=w {
        for b in 1..=d {
            for c in 1..=h {
                let better = |best: &Cuboid| {
                    let volume = u32::from(a) * u32::from(b) * u32::from(c);
                    (volume, [a, b, c]) > (best.volume(), best.sides)
                };
                if best.as_ref().is_none_or(better) {
                    let found = naive::bases(free, [a, b, c], Scan::default()).first().copied();
                    best = found.map(|base| Cuboid::new(base, [a, b, c])).or(best);
                }
            }
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn is_the_best_of_all_boxes(free in naive::occupancies()) {
        prop_assume!(free.grid().nodes() <= 220);
        let largest = by_trying_every_box(&free, free.grid().sides());
        prop_assert_eq!(free.largest_free(), largest);
        let volume = largest.map_or(0, |cuboid| cuboid.volume());
        prop_assert_eq!(free.largest_free_above(volume.saturating_sub(1)), largest);
        prop_assert_eq!(free.largest_free_above(volume), None);
    }

    #[test]
    fn within_sides_it_is_the_best_of_those(
        free in naive::occupancies(),
        most in proptest::array::uniform3(1u16..6),
    ) {
        prop_assume!(free.grid().nodes() <= 220);
        let sides = free.grid().sides();
        let most = std::array::from_fn(|axis| most[axis].min(sides[axis]));
        let found = free.largest_free_within(most);
        prop_assert!(found.is_none_or(|cuboid| free.is_free(&cuboid)));
        let best = by_trying_every_box(&free, most);
        prop_assert_eq!(found.map(|cuboid| cuboid.sides), best.map(|cuboid| cuboid.sides));
    }
}
