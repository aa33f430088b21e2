//! Tests of the mapping of ranks to nodes for a given pattern.

use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, NodeId};
use pavior_network::{
    IterationRoutes, Layout, LinkHolds, PatternLayouts, PatternSelection, RankOrder, Settings,
    TrafficPlan,
};

/// Converts node numbers to single-node boxes.
fn parts(grid: &Grid, nodes: &[u32]) -> Vec<Cuboid> {
    nodes.iter().map(|&node| Cuboid::node(grid.point(NodeId(node)))).collect()
}

fn hops(grid: &Grid, layout: &Layout, pattern: &str) -> u64 {
    let pattern: PatternSelection = pattern.parse().unwrap();
    IterationRoutes::of(grid, layout, &pattern, &Stream::new(1, 0, "roots")).unwrap().hops
}

fn mapped(grid: &Grid, parts: &[Cuboid], sides: [u16; 3], pattern: &str) -> Layout {
    let nodes: u32 = parts.iter().map(Cuboid::volume).sum();
    let draw = Stream::new(1, 0, "roots");
    PatternLayouts::new(pattern.parse().unwrap()).layout(grid, parts, nodes, Some(sides), &draw)
}

/// Returns the minimum number of hops over all assignments of ranks to nodes.
fn least(grid: &Grid, layout: &Layout, pattern: &str) -> u64 {
    fn permute(layout: &mut Layout, from: usize, see: &mut impl FnMut(&Layout)) {
        if from == layout.nodes.len() {
            return see(layout);
        }
        for other in from..layout.nodes.len() {
            layout.nodes.swap(from, other);
            permute(layout, from + 1, see);
            layout.nodes.swap(from, other);
        }
    }
    let mut best = u64::MAX;
    let mut layout = layout.clone();
    permute(&mut layout, 0, &mut |layout| best = best.min(hops(grid, layout, pattern)));
    best
}

#[test]
fn a_turned_box_and_a_box_of_other_sides_keep_the_grid_that_was_asked_for() {
    let grid: Grid = "mesh:12x12".parse().unwrap();
    // A 4 x 3 request was granted as 3 x 4. Logical neighbors must stay one hop apart.
    let turned = mapped(&grid, &[Cuboid::new([2, 1, 0], [3, 4, 1])], [4, 3, 1], "near-neighbour");
    assert_eq!(turned.shape.sides, [4, 3, 1]);
    assert_eq!(hops(&grid, &turned, "near-neighbour"), 34);
    // On a row of nodes, ranks should be placed column by column. Then 9 pairs of neighbors are 3
    // hops apart, and 8 pairs are adjacent.
    let row = mapped(&grid, &[Cuboid::new([0, 5, 0], [12, 1, 1])], [4, 3, 1], "near-neighbour");
    assert!(hops(&grid, &row, "near-neighbour") <= 2 * (9 * 3 + 8));
    assert_eq!(row.shape.sides, [4, 3, 1]);
}

#[test]
fn a_ring_closes_on_a_box() {
    let grid: Grid = "mesh:8x8".parse().unwrap();
    let layout = mapped(&grid, &[Cuboid::new([1, 1, 0], [4, 4, 1])], [4, 4, 1], "ring");
    let by_offset = Layout::new(
        &grid,
        &[Cuboid::new([1, 1, 0], [4, 4, 1])],
        16,
        Some([4, 4, 1]),
        RankOrder::Coordinates,
    );
    assert!(hops(&grid, &layout, "ring") < hops(&grid, &by_offset, "ring"));
}

#[test]
fn no_other_order_has_fewer_hops_and_few_maps_do() {
    let mut draw = Stream::new(7, 0, "sets");
    let (mut found, mut possible) = (0, 0);
    for case in 0..60 {
        let grid: Grid = ["mesh:4x4", "torus:4x3", "grid:3x2x2w"][case % 3].parse().unwrap();
        let mut nodes: Vec<u32> = (0..grid.nodes()).collect();
        let parts = parts(&grid, draw.sample(&mut nodes, 6));
        for pattern in ["near-neighbour", "ring", "stencil", "binomial-tree"] {
            let layout = mapped(&grid, &parts, [3, 2, 1], pattern);
            let own = hops(&grid, &layout, pattern);
            for (name, order) in RankOrder::NAMED {
                let other = Layout::new(&grid, &parts, 6, Some([3, 2, 1]), order);
                assert!(own <= hops(&grid, &other, pattern), "{name}, {pattern}, {nodes:?}");
            }
            let mut ranks: Vec<_> = layout.nodes.clone();
            ranks.sort_unstable();
            let mut given = nodes[..6].to_vec();
            given.sort_unstable();
            assert_eq!(ranks.iter().map(|node| node.0).collect::<Vec<_>>(), given);
            if case < 12 {
                (found, possible) = (found + own, possible + least(&grid, &layout, pattern));
            }
        }
    }
    assert!(found as f64 <= possible as f64 * 1.03, "{found} hops, where {possible} are possible");
}

#[test]
fn patterns_that_no_map_helps_keep_the_order_of_coordinates() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    let parts = parts(&grid, &[3, 0, 9, 14]);
    for pattern in ["all-to-all", "random"] {
        let layout = mapped(&grid, &parts, [2, 2, 1], pattern);
        assert_eq!(layout.nodes, [0, 3, 9, 14].map(NodeId));
    }
    let one = mapped(&grid, &parts[..1], [1, 1, 1], "ring");
    assert_eq!(one.nodes, [NodeId(3)]);
}

#[test]
fn links_are_counted_once_in_each_direction() {
    // Ranks 0, 1 and 2 are on nodes 0, 1 and 3 of a line. The ring sends 0 > 1, 1 > 2 and 2 > 0.
    let grid: Grid = "mesh:4".parse().unwrap();
    let layout =
        Layout::new(&grid, &parts(&grid, &[0, 1, 3]), 3, Some([3, 1, 1]), RankOrder::Coordinates);
    let (pattern, draw) = ("ring".parse().unwrap(), Stream::new(1, 0, "roots"));
    let routes = IterationRoutes::of(&grid, &layout, &pattern, &draw).unwrap();
    assert_eq!((routes.messages, routes.hops, routes.link_load), (3, 6, 1));
    let one_to_all: PatternSelection = "one-to-all:from-zero".parse().unwrap();
    let routes = IterationRoutes::of(&grid, &layout, &one_to_all, &draw).unwrap();
    assert_eq!(routes.messages, 2);

    // A message over two hops holds the first link for (3 + 1)(1 + 1) + 7 - 1 cycles. It holds the
    // second link, which is followed only by the ejection channel, for 3 + 1 + 7 cycles.
    let plan = TrafficPlan { pattern, sending: None, rounds: None, flits: 8 };
    let holds = LinkHolds::of(&grid, &layout, &plan, &Settings::default(), &draw);
    let cycles: Vec<u64> = holds.iter().map(|hold| hold.cycles).collect();
    assert_eq!(holds.iter().map(|hold| hold.messages).sum::<u64>(), 6);
    assert_eq!(cycles.iter().filter(|&&cycles| cycles == 11).count(), 3);
    assert!(cycles.contains(&14) && cycles.contains(&17));
    assert!(holds.iter().all(|hold| hold.squares == hold.cycles * hold.cycles));
}

#[test]
fn the_box_asked_for_is_laid_alike_wherever_it_lies() {
    for (machine, asked) in
        [("mesh:8x7", [5, 3, 1]), ("torus:8x7", [5, 3, 1]), ("torus:5x4x3", [3, 2, 2])]
    {
        let grid: Grid = machine.parse().unwrap();
        let sides = grid.sides();
        let bases = (0..3).map(|axis| grid.starts(axis, asked[axis])).collect::<Vec<_>>();
        for pattern in ["ring", "n-body", "recursive-doubling", "all-reduce", "near-neighbour"] {
            let own = mapped(&grid, &[Cuboid::new([0; 3], asked)], asked, pattern);
            for base in (0..bases[0] * bases[1] * bases[2]).map(|number| {
                [number % bases[0], number / bases[0] % bases[1], number / bases[0] / bases[1]]
            }) {
                let moved = mapped(&grid, &[Cuboid::new(base, asked)], asked, pattern);
                let expected = own.nodes.iter().map(|&node| {
                    let at = grid.point(node);
                    grid.id([0, 1, 2].map(|axis| (at[axis] + base[axis]) % sides[axis]))
                });
                assert!(moved.nodes.iter().copied().eq(expected), "{machine} {pattern} {base:?}");
            }
        }
    }
}

#[test]
fn a_remembered_layout_is_the_one_that_is_made_anew() {
    // Grants the same boxes repeatedly: at different positions, in different orientations, and on
    // two machines. One of the patterns draws a random root.
    let mut draw = Stream::new(3, 0, "boxes");
    for name in ["near-neighbour", "ring", "one-to-all"] {
        let pattern: PatternSelection = name.parse().unwrap();
        let mut layouts = PatternLayouts::new(pattern.clone());
        for case in 0..200 {
            let grid: Grid = ["mesh:12x10", "torus:12x10"][case % 2].parse().unwrap();
            let sides = [[4, 3, 1], [2, 5, 1], [5, 2, 1]][draw.below(3) as usize];
            let granted = if draw.below(2) == 0 { sides } else { [sides[1], sides[0], 1] };
            let base = [0, 1].map(|axis| draw.below(1 + 10 - u64::from(granted[axis])) as u16);
            let parts = [Cuboid::new([base[0], base[1], 0], granted)];
            let nodes = 10 - draw.below(2) as u32;
            let root = Stream::new(draw.below(5), 0, "roots");
            let found = layouts.layout(&grid, &parts, nodes, Some(sides), &root);
            let anew = PatternLayouts::new(pattern.clone()).layout(
                &grid,
                &parts,
                nodes,
                Some(sides),
                &root,
            );
            assert_eq!(found, anew, "{grid} {name} {parts:?} {sides:?}");
        }
    }
}
