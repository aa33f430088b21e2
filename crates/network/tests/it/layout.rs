//! Tests of the assignment of ranks to nodes.

use pavior_mesh::{Cuboid, Grid};
use pavior_network::{Layout, RankOrder};

fn nodes(layout: &Layout) -> Vec<u32> {
    layout.nodes.iter().map(|node| node.0).collect()
}

fn boxed(base: [u16; 3], sides: [u16; 3]) -> Cuboid {
    Cuboid::new(base, sides)
}

#[test]
fn a_box_ranks_from_its_base_through_the_wrap() {
    let grid: Grid = "torus:5x4".parse().unwrap();
    let part = [boxed([4, 3, 0], [2, 2, 1])];
    for order in [RankOrder::Coordinates, RankOrder::Parts] {
        let layout = Layout::new(&grid, &part, 4, Some([2, 2, 1]), order);
        assert_eq!(nodes(&layout), [19, 15, 4, 0]);
        assert_eq!((layout.shape.ranks, layout.shape.sides), (4, [2, 2, 1]));
    }
}

#[test]
fn parts_are_ranked_by_coordinates_or_one_after_the_other() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    let parts = [boxed([2, 2, 0], [2, 1, 1]), boxed([0, 1, 0], [3, 1, 1])];
    let by = |order| nodes(&Layout::new(&grid, &parts, 5, Some([5, 1, 1]), order));
    assert_eq!(by(RankOrder::Coordinates), [4, 5, 6, 10, 11]);
    assert_eq!(by(RankOrder::Parts), [10, 11, 4, 5, 6]);
    // The job uses only as many nodes as requested, and its logical grid has the requested sides.
    let few = Layout::new(&grid, &parts, 3, Some([3, 1, 1]), RankOrder::Parts);
    assert_eq!((nodes(&few), few.shape.sides), (vec![10, 11, 4], [3, 1, 1]));
}

#[test]
fn an_over_sized_box_uses_the_requested_sides() {
    let grid: Grid = "mesh:8x8".parse().unwrap();
    let granted = [boxed([0, 0, 0], [4, 4, 1])];
    let layout = |n, sides| Layout::new(&grid, &granted, n, sides, RankOrder::Coordinates);
    let fits = layout(6, Some([2, 3, 1]));
    assert_eq!((nodes(&fits), fits.shape.sides), (vec![0, 1, 8, 9, 16, 17], [2, 3, 1]));
    // A job with five processors in a 2 x 3 box must use the first five nodes of that box.
    assert_eq!(nodes(&layout(5, Some([2, 3, 1]))), [0, 1, 8, 9, 16]);
    // The requested box does not fit in the granted one, so the job uses the first nodes.
    let long = layout(6, Some([6, 1, 1]));
    assert_eq!((nodes(&long), long.shape.sides), (vec![0, 1, 2, 3, 8, 9], [4, 4, 1]));
    assert_eq!(nodes(&layout(3, None)), [0, 1, 2]);
    // The requested box fits only after a rotation.
    let flat = [boxed([0, 0, 0], [4, 2, 1])];
    let turned = Layout::new(&grid, &flat, 3, Some([1, 3, 1]), RankOrder::Coordinates);
    assert_eq!((nodes(&turned), turned.shape.sides), (vec![0, 1, 2], [3, 1, 1]));
    // The granted box is a rotation of the requested one, so the granted orientation is used.
    let exact = Layout::new(&grid, &flat, 8, Some([2, 4, 1]), RankOrder::Coordinates);
    assert_eq!((nodes(&exact).len(), exact.shape.sides), (8, [4, 2, 1]));
}
