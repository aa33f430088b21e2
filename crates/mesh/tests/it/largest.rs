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

/// An occupancy in which nodes drawn by a congruence are taken.
fn with_holes(machine: &str, holes: u64) -> Occupancy {
    let grid: pavior_mesh::Grid = machine.parse().unwrap();
    let mut free = Occupancy::all_free(grid);
    let mut state = 1u64;
    for _ in 0..holes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let node = pavior_mesh::NodeId(((state >> 33) % u64::from(grid.nodes())) as u32);
        let cuboid = Cuboid::new(grid.point(node), [1; 3]);
        if free.is_free(&cuboid) {
            free.take(&cuboid).unwrap();
        }
    }
    free
}

#[test]
fn rows_of_several_words_are_searched_along_any_axis() {
    for machine in ["torus:70x2", "torus:2x70", "mesh:2x129", "grid:2x70w"] {
        for holes in [0, 1, 5, 40] {
            let free = with_holes(machine, holes);
            let sides = free.grid().sides();
            assert_eq!(
                free.largest_free(),
                by_trying_every_box(&free, sides),
                "{machine}, {holes} holes"
            );
        }
    }
}

/// Each of these once took a quarter of a minute or more, while the live allocator answered
/// nothing.
#[test]
fn large_machines_with_failed_nodes_are_searched_at_once() {
    for (machine, holes) in
        [("mesh:128x128x128", 2000), ("torus:1x65535x256", 2000), ("mesh:65535x1", 99)]
    {
        let free = with_holes(machine, holes);
        let found = free.largest_free().unwrap();
        assert!(free.is_free(&found), "{machine}");
    }
}
