//! Slow but simple reference implementations of the searches in this crate.

use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Occupancy, Scan, Sides};
use proptest::prelude::*;

/// Returns true if every node in a box is free, checking the nodes one by one.
pub(crate) fn is_free(free: &Occupancy, cuboid: &Cuboid) -> bool {
    let grid = *free.grid();
    (0..grid.nodes())
        .map(NodeId)
        .all(|node| !cuboid.contains(&grid, grid.point(node)) || free.is_node_free(node))
}

/// Returns all bases where a shape is free, in scan order.
pub(crate) fn bases(free: &Occupancy, shape: Sides, scan: Scan) -> Vec<Coordinates> {
    scan.bases(*free.grid(), shape)
        .filter(|&base| is_free(free, &Cuboid::new(base, shape)))
        .collect()
}

/// Generates grids of every kind, with up to 1,800 nodes.
pub(crate) fn grids() -> impl Strategy<Value = Grid> {
    let side = prop_oneof![4 => 1u16..7, 1 => Just(8u16)];
    let long = prop_oneof![Just(63u16), Just(64), Just(65), Just(130), Just(300)];
    let sides = prop_oneof![
        (side.clone(), side.clone(), side.clone()).prop_map(|(a, b, c)| [a, b, c]),
        (long, 1u16..4, 1u16..3).prop_map(|(a, b, c)| [a, b, c]),
    ];
    (sides, any::<[bool; 3]>()).prop_map(|(sides, wraps)| Grid::new(&sides, &wraps).unwrap())
}

/// Generates occupancies with up to about 7/8 of the nodes taken.
pub(crate) fn occupancies() -> impl Strategy<Value = Occupancy> {
    (grids(), 0u8..8)
        .prop_flat_map(|(grid, busy)| {
            let nodes = grid.nodes() as usize;
            (Just(grid), prop::collection::vec((0u8..8).prop_map(move |draw| draw < busy), nodes))
        })
        .prop_map(|(grid, busy)| {
            let mut free = Occupancy::all_free(grid);
            for (index, _) in busy.iter().enumerate().filter(|(_, busy)| **busy) {
                free.take_node(NodeId(index as u32));
            }
            free
        })
}
