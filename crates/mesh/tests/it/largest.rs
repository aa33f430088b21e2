//! Tests that compare the largest free box with a brute-force search.

use pavior_mesh::{Cuboid, Occupancy, Scan, Sides};
use pavior_trials::size;
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
    #![proptest_config(ProptestConfig::with_cases(size(66, 400, 400)))]

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

/// Creates an occupancy with pseudo-randomly chosen busy nodes.
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

/// Finds the largest free box by scanning every set of rows for runs, which is fast on wide grids.
fn by_rows(free: &Occupancy, most: Sides) -> Option<Cuboid> {
    let grid = *free.grid();
    let [w, d, h] = grid.sides();
    let lies = |axis: usize, from: u16, side: u16| {
        grid.wraps(axis) || u32::from(from) + u32::from(side) <= u32::from(grid.side(axis))
    };
    let node = |x: u16, y: u16, z: u16| free.is_node_free(grid.id([x, y % d, z % h]));
    let rank = |at: &Cuboid| {
        (at.volume(), at.sides, std::cmp::Reverse([at.base[2], at.base[1], at.base[0]]))
    };
    let mut best: Option<Cuboid> = None;
    for (z, y) in (0..h).flat_map(|z| (0..d).map(move |y| (z, y))) {
        for c in (1..=most[2]).filter(|&c| lies(2, z, c)) {
            let mut line = vec![true; usize::from(w)];
            for b in (1..=most[1]).filter(|&b| lies(1, y, b)) {
                for x in 0..w {
                    line[usize::from(x)] &= (z..z + c).all(|z| node(x, y + b - 1, z));
                }
                let twice = if grid.wraps(0) { [&line[..], &line].concat() } else { line.clone() };
                for x in (0..w).filter(|&x| x == 0 || !line[usize::from(x) - 1]) {
                    let run = twice[usize::from(x)..].iter().take_while(|free| **free).count();
                    let a = run.min(usize::from(most[0])) as u16;
                    let found = Cuboid::new([x, y, z], [a, b, c]).canonical(&grid);
                    if a > 0 && best.is_none_or(|best| rank(&found) > rank(&best)) {
                        best = Some(found);
                    }
                }
            }
        }
    }
    best
}

/// Draws pseudo-random boxes and takes those that are free. Returns the resulting occupancy.
fn with_boxes(machine: &str, boxes: u64, side: u16) -> Occupancy {
    let grid: pavior_mesh::Grid = machine.parse().unwrap();
    let mut free = Occupancy::all_free(grid);
    let mut state = boxes;
    let mut draw = |below: u16| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below)) as u16
    };
    for _ in 0..boxes {
        let base = grid.sides().map(&mut draw);
        let sides = grid.sides().map(|most| 1 + draw(most.min(side)));
        let _ = free.take(&Cuboid::new(base, sides));
    }
    free
}

#[test]
fn machines_of_several_words_a_row_are_searched_as_row_by_row() {
    let machines = [
        "mesh:200x24",
        "torus:200x24",
        "mesh:24x200",
        "torus:24x200",
        "grid:130wx20",
        "grid:20x130w",
        "mesh:64x64",
        "torus:64x65",
        "mesh:256x9",
        "torus:128x6x5",
        "mesh:5x70x9",
        "torus:6x5x66",
        "grid:66wx7x8w",
    ];
    for machine in machines.into_iter().step_by(size(3, 1, 1)) {
        let with = [1, 9, 60, 300].map(|holes| with_holes(machine, holes));
        let boxed =
            [(6, 40), (60, 12), (900, 4)].map(|(boxes, side)| with_boxes(machine, boxes, side));
        for (index, free) in with.iter().chain(&boxed).enumerate() {
            let sides = free.grid().sides();
            let largest = by_rows(free, sides);
            assert_eq!(free.largest_free(), largest, "{machine} {index}");
            let volume = largest.map_or(0, |largest| largest.volume());
            assert_eq!(free.largest_free_above(volume), None, "{machine} {index}");
            for most in [[9, 9, 9], [70, 2, 3], [3, 70, 1], [100, 100, 100]] {
                let most = std::array::from_fn(|axis| sides[axis].min(most[axis]));
                let (found, best) = (free.largest_free_within(most), by_rows(free, most));
                assert!(found.is_none_or(|found| free.is_free(&found)));
                let sides = |at: Option<Cuboid>| at.map(|at| at.sides);
                assert_eq!(sides(found), sides(best), "{machine} {index} within {most:?}");
            }
        }
    }
}

/// Regression test: searching any one of these machines used to take at least 15 seconds and block
/// the live allocator.
#[test]
fn large_machines_with_failed_nodes_are_searched_at_once() {
    let machines = [("mesh:65535x1", 99), ("mesh:128x128x128", 2000), ("torus:1x65535x256", 2000)];
    for (machine, holes) in machines.into_iter().take(size(2, 3, 3)) {
        let free = with_holes(machine, holes);
        let found = free.largest_free().unwrap();
        assert!(free.is_free(&found), "{machine}");
    }
}
