//! Tests that compare shape rules with brute force.

use std::collections::BTreeSet;
use std::fmt::Debug;

use pavior_mesh::{Grid, Sides, volume};
use pavior_workload::{Family, Selection, ShapeRule, Shaper};
use proptest::prelude::*;

fn shaper(rule: &str, grid: &Grid) -> Shaper {
    Shaper::new(&rule.parse::<Selection<ShapeRule>>().unwrap(), grid, 1, 0)
}

/// Returns every box that fits without rotation and whose longer sides are on longer axes.
fn boxes(grid: &Grid) -> Vec<Sides> {
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| grid.side(b).cmp(&grid.side(a)).then(a.cmp(&b)));
    let [w, d, h] = grid.sides();
    let mut all = Vec::new();
    for x in 1..=w {
        for y in 1..=d {
            for z in 1..=h {
                let sides = [x, y, z];
                if sides[axes[0]] >= sides[axes[1]] && sides[axes[1]] >= sides[axes[2]] {
                    all.push(sides);
                }
            }
        }
    }
    all
}

/// Returns the number of node faces on a box's surface, ignoring axes of length 1.
fn surface(grid: &Grid, sides: Sides) -> u64 {
    (0..3)
        .filter(|&axis| grid.side(axis) > 1)
        .map(|axis| 2 * volume(sides) / u64::from(sides[axis]))
        .sum()
}

fn grids() -> impl Strategy<Value = Grid> {
    prop::collection::vec(1u16..=9, 1..=3).prop_map(|sides| Grid::mesh(&sides).unwrap())
}

/// Checks that a rule returns the box with the smallest key among those with `nodes` to `most`
/// nodes.
fn is_least<K: Ord + Debug>(
    rule: &str,
    grid: &Grid,
    nodes: u32,
    most: u64,
    key: impl Fn(Sides) -> K,
) -> Result<(), TestCaseError> {
    let all = boxes(grid);
    let large = |sides: &Sides| (u64::from(nodes)..=most).contains(&volume(*sides));
    let best = all.iter().copied().filter(large).map(&key).min();
    let found = shaper(rule, grid).shape(nodes);
    prop_assert_eq!(found.map(&key), best);
    prop_assert!(found.is_none_or(|sides| all.contains(&sides)), "{:?}", found);
    Ok(())
}

proptest! {
    #[test]
    fn compact_is_the_least_volume_then_the_least_surface(grid in grids(), nodes in 1u32..800) {
        let key = |sides| (volume(sides), surface(&grid, sides));
        is_least("compact", &grid, nodes, u64::MAX, key)?;
    }

    #[test]
    fn slack_is_the_least_surface_then_the_least_volume(
        grid in grids(), nodes in 1u32..800, percent in 0u64..60,
    ) {
        let most = u64::from(nodes) * (100 + percent) / 100;
        let rule = format!("compact:slack={}", percent as f64 / 100.0);
        is_least(&rule, &grid, nodes, most, |sides| (surface(&grid, sides), volume(sides)))?;
    }

    #[test]
    fn exact_is_the_least_surface_of_that_volume(grid in grids(), nodes in 1u32..800) {
        let key = |sides| (volume(sides), surface(&grid, sides));
        is_least("exact", &grid, nodes, nodes.into(), key)?;
    }

    #[test]
    fn random_draws_every_box_of_that_volume(grid in grids(), nodes in 1u32..100) {
        let all: BTreeSet<Sides> = boxes(&grid)
            .into_iter()
            .filter(|&sides| volume(sides) == u64::from(nodes))
            .collect();
        let mut rule = shaper("random", &grid);
        let drawn: BTreeSet<Sides> = (0..200).filter_map(|_| rule.shape(nodes)).collect();
        prop_assert_eq!(drawn, all);
    }

    #[test]
    fn pow2_rounds_the_compact_box(grid in grids(), nodes in 1u32..800) {
        let rounded = shaper("compact", &grid)
            .shape(nodes)
            .map(|sides| sides.map(u16::next_power_of_two))
            .filter(|&sides| grid.fits(sides));
        prop_assert_eq!(shaper("pow2", &grid).shape(nodes), rounded);
    }
}

#[test]
fn worked_cases() {
    for (rule, machine, nodes, expected) in [
        ("compact", "mesh:12x12", 13, Some([7, 2, 1])),
        ("compact:slack=0.2", "mesh:12x12", 13, Some([5, 3, 1])),
        ("compact:slack=0", "mesh:12x12", 13, None),
        ("compact:slack=0.15", "mesh:30x30", 20, Some([5, 4, 1])),
        // 20 * 1.15 must be 23, although 1.15 cannot be represented exactly in binary.
        ("compact:slack=0.15", "mesh:1x23", 20, Some([1, 20, 1])),
        ("compact", "torus:48x48x41", 79_920, Some([48, 45, 37])),
        ("compact", "mesh:4x6", 7, Some([2, 4, 1])),
        ("compact", "mesh:4x8x2", 11, Some([2, 3, 2])),
        ("exact", "mesh:16x16", 17, None),
        ("exact", "mesh:16x16", 34, None),
        ("exact", "mesh:16x17", 34, Some([2, 17, 1])),
        ("pow2", "mesh:12x12", 100, None),
        ("pow2", "mesh:16x16", 100, Some([16, 16, 1])),
        ("compact", "mesh:7", 5, Some([5, 1, 1])),
        ("compact", "mesh:7", 8, None),
    ] {
        let grid: Grid = machine.parse().unwrap();
        assert_eq!(shaper(rule, &grid).shape(nodes), expected, "{rule} {machine} {nodes}");
    }
}

#[test]
fn every_count_of_a_large_machine_has_a_compact_box() {
    let grid = Grid::torus(&[48, 48, 41]).unwrap();
    let mut rule = shaper("compact", &grid);
    for nodes in 1..=grid.nodes() {
        let sides = rule.shape(nodes).unwrap();
        assert!(grid.fits(sides) && volume(sides) >= u64::from(nodes));
    }
    assert_eq!(rule.shape(grid.nodes() + 1), None);
}

#[test]
fn only_random_says_that_it_draws() {
    for spec in ShapeRule::builtin() {
        let grid = Grid::mesh(&[8, 8, 8]).unwrap();
        let shapes = |seed| {
            let mut rule = Shaper::new(&Selection::defaults(spec), &grid, seed, 0);
            (0..60).map(|i| rule.shape(8 + i % 8 * 8)).collect::<Vec<_>>()
        };
        assert_eq!(shapes(1), shapes(1));
        assert_eq!(shapes(1) != shapes(2), spec.does.draws, "{}", spec.name);
    }
}
