//! Tests of MC, MC1x1 and Gen-Alg against their definitions, in every occupancy of small machines.

use pavior_allocation::Placement;
use pavior_kernel::Stream;
use pavior_mesh::{Coordinates, Grid, NodeId, Occupancy, Request, Sides};

use crate::common::strategy;

/// Calls a function with every occupancy of a grid in which at least one node is free.
fn every_state(grid: &Grid, mut check: impl FnMut(&Occupancy)) {
    for code in 0u32..(1 << grid.nodes()) - 1 {
        let mut free = Occupancy::all_free(*grid);
        for node in (0..grid.nodes()).filter(|node| code >> node & 1 == 1) {
            free.take_node(NodeId(node));
        }
        check(&free);
    }
}

fn nodes(grid: &Grid, placement: &Placement) -> Vec<NodeId> {
    let mut nodes: Vec<NodeId> = placement.parts().iter().flat_map(|p| p.nodes(grid)).collect();
    nodes.sort();
    nodes
}

/// Scores, for each center, the set of the `count` nodes nearest to it, and returns the first set
/// with the lowest score. Among equally near nodes, lower-numbered ones are chosen.
fn cheapest(
    free: &Occupancy,
    centres: &[Coordinates],
    count: u32,
    distance: impl Fn(Coordinates, Coordinates) -> u32,
    score: impl Fn(&[NodeId], Coordinates) -> u64,
) -> Vec<NodeId> {
    let grid = free.grid();
    let mut best: Option<(u64, Vec<NodeId>)> = None;
    for &centre in centres {
        let mut nearest: Vec<NodeId> = free.iter().collect();
        nearest.sort_by_key(|&node| (distance(centre, grid.point(node)), node));
        nearest.truncate(count as usize);
        nearest.sort();
        let value = score(&nearest, centre);
        if best.as_ref().is_none_or(|(least, _)| value < *least) {
            best = Some((value, nearest));
        }
    }
    best.unwrap().1
}

/// Returns the number of the shell that contains a node, which is the node's largest coordinate
/// distance from the box around `centre`. The box may extend past the border.
fn shell(grid: &Grid, shape: Sides, centre: Coordinates, point: Coordinates) -> u32 {
    let apart = |axis: usize| {
        let (n, side) = (i32::from(grid.side(axis)), i32::from(shape[axis].min(grid.side(axis))));
        let first = i32::from(centre[axis]) - (side - 1) / 2;
        let to = |at: i32| {
            let direct = (i32::from(point[axis]) - at).abs();
            let around = (i32::from(point[axis]) - at).rem_euclid(n);
            if grid.wraps(axis) { around.min(n - around) } else { direct }
        };
        (first..first + side).map(to).min().unwrap()
    };
    (0..3).map(apart).max().unwrap() as u32
}

#[test]
fn mc_takes_the_cheapest_shells() {
    for name in ["mesh:4x3", "torus:5x2", "grid:2x3wx2", "mesh:9", "mesh:1x9", "torus:8", "torus:9"]
    {
        let grid: Grid = name.parse().unwrap();
        let mut mc = strategy("mc", &grid);
        let mut single = strategy("mc1x1", &grid);
        let mut dice = Stream::new(1, 0, "shapes");
        every_state(&grid, |free| {
            let mut side = |axis: usize| dice.between(1, u64::from(grid.side(axis)) + 1) as u16;
            let shape = [side(0), side(1), side(2)];
            let count = dice.between(1, u64::from(free.count())) as u32;
            let centres: Vec<Coordinates> = free.iter().map(|node| grid.point(node)).collect();
            for (strategy, shape) in [(&mut mc, shape), (&mut single, [1; 3])] {
                let distance = |centre, point| shell(&grid, shape, centre, point);
                let score = |chosen: &[NodeId], centre| {
                    chosen.iter().map(|&node| u64::from(distance(centre, grid.point(node)))).sum()
                };
                let expected = cheapest(free, &centres, count, distance, score);
                let request = Request::hinted(count, shape);
                let given = strategy.find(free, &request, &mut Stream::new(1, 0, "")).unwrap();
                assert_eq!(nodes(&grid, &given), expected, "{name} {shape:?}");
            }
        });
    }
}

fn pairwise(grid: &Grid, chosen: &[NodeId]) -> u64 {
    let hops = |a: &NodeId, b: &NodeId| u64::from(grid.distance(grid.point(*a), grid.point(*b)));
    let pairs =
        chosen.iter().enumerate().flat_map(|(i, a)| chosen[..i].iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| hops(a, b)).sum()
}

#[test]
fn gen_alg_takes_the_set_with_the_least_pairwise_distance() {
    for name in ["mesh:4x3", "torus:5x2", "grid:2x3wx2", "mesh:9x1", "torus:8", "torus:9"] {
        let grid: Grid = name.parse().unwrap();
        let mut gen_alg = strategy("gen-alg", &grid);
        let mut mm = strategy("gen-alg:mm", &grid);
        let mut dice = Stream::new(1, 0, "counts");
        every_state(&grid, |free| {
            let count = dice.between(1, u64::from(free.count())) as u32;
            let points: Vec<Coordinates> = free.iter().map(|node| grid.point(node)).collect();
            let shared =
                |p: &Coordinates| (0..3).all(|axis| points.iter().any(|q| q[axis] == p[axis]));
            let all = (0..grid.nodes()).map(|node| grid.point(NodeId(node)));
            let crossings: Vec<Coordinates> = all.filter(shared).collect();
            for (strategy, centres) in [(&mut gen_alg, &points), (&mut mm, &crossings)] {
                let distance = |a, b| grid.distance(a, b);
                let score = |chosen: &[NodeId], _| pairwise(&grid, chosen);
                let expected = cheapest(free, centres, count, distance, score);
                let request = Request::nodes(count);
                let given = strategy.find(free, &request, &mut Stream::new(1, 0, "")).unwrap();
                assert_eq!(nodes(&grid, &given), expected, "{name}");
            }
        });
    }
}

/// Returns the smallest sum of pairwise distances between any `count` free nodes.
fn optimum(free: &Occupancy, count: u32) -> u64 {
    let all: Vec<NodeId> = free.iter().collect();
    (0u32..1 << all.len())
        .filter(|set| set.count_ones() == count)
        .map(|set| {
            let chosen = all.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
            pairwise(free.grid(), &chosen.map(|(_, &node)| node).collect::<Vec<_>>())
        })
        .min()
        .unwrap()
}

#[test]
fn the_bounds_hold_on_meshes() {
    for (name, d) in [("mesh:3x3", 2), ("mesh:9", 1), ("mesh:2x2x2", 3)] {
        let grid: Grid = name.parse().unwrap();
        let mut gen_alg = strategy("gen-alg", &grid);
        let mut mm = strategy("gen-alg:mm", &grid);
        every_state(&grid, |free| {
            for count in 2..=free.count() {
                let request = Request::nodes(count);
                let sum = |strategy: &mut Box<dyn pavior_allocation::Strategy>| {
                    let given = strategy.find(free, &request, &mut Stream::new(1, 0, "")).unwrap();
                    pairwise(&grid, &nodes(&grid, &given))
                };
                let least = optimum(free, count);
                let n = u64::from(count);
                // The approximation factors are 2 - 2/n and 2 - 1/(2d), scaled to whole numbers.
                assert!(sum(&mut gen_alg) * n <= (2 * n - 2) * least, "{name}, {count} nodes");
                assert!(sum(&mut mm) * 2 * d <= (4 * d - 1) * least, "{name}, {count} nodes");
            }
        });
    }
}
