//! Tests that compare an occupancy with a plain set of nodes as boxes are taken and released.

use std::collections::BTreeSet;

use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, order};
use proptest::prelude::*;

use crate::naive;

fn free_set(free: &Occupancy) -> BTreeSet<NodeId> {
    free.iter().collect()
}

/// Creates a box on the grid from arbitrary numbers.
fn cuboid(grid: &Grid, draw: [u16; 6]) -> Cuboid {
    let base: [u16; 3] = std::array::from_fn(|axis| draw[axis] % grid.side(axis));
    let sides: [u16; 3] = std::array::from_fn(|axis| {
        let most = if grid.wraps(axis) { grid.side(axis) } else { grid.side(axis) - base[axis] };
        1 + draw[axis + 3] % most
    });
    Cuboid::new(base, sides)
}

proptest! {
    #[test]
    fn a_history_of_boxes_agrees_with_sets(
        grid in naive::grids(),
        draws in prop::collection::vec(any::<[u16; 6]>(), 0..30),
    ) {
        let mut free = Occupancy::all_free(grid);
        let mut model: BTreeSet<NodeId> = order::row_major(&grid).into_iter().collect();
        let mut held: Vec<Cuboid> = Vec::new();
        for draw in draws {
            let cuboid = cuboid(&grid, draw);
            let nodes: BTreeSet<NodeId> = cuboid.nodes(&grid).collect();
            prop_assert_eq!(nodes.len(), cuboid.volume() as usize);
            let fits = nodes.is_subset(&model);
            prop_assert_eq!(free.is_free(&cuboid), fits);
            prop_assert_eq!(naive::is_free(&free, &cuboid), fits);
            prop_assert_eq!(held.iter().any(|h| h.intersects(&grid, &cuboid)), !fits);
            let cut: BTreeSet<NodeId> =
                cuboid.unwrapped(&grid).flat_map(|part| part.nodes(&grid)).collect();
            prop_assert_eq!(&cut, &nodes);
            if fits {
                free.take(&cuboid).unwrap();
                model = &model - &nodes;
                held.push(cuboid);
            } else if let Some(old) = held.pop() {
                free.give(&old).unwrap();
                model.extend(old.nodes(&grid));
            }
            prop_assert_eq!(free_set(&free), model.clone());
            prop_assert_eq!(free.count() as usize, model.len());
        }
    }

    #[test]
    fn intersection_is_symmetric_and_by_nodes(
        grid in naive::grids(), a in any::<[u16; 6]>(), b in any::<[u16; 6]>()
    ) {
        let (a, b) = (cuboid(&grid, a), cuboid(&grid, b));
        let shared = a.nodes(&grid).any(|node| b.contains(&grid, grid.point(node)));
        prop_assert_eq!(a.intersects(&grid, &b), shared);
        prop_assert_eq!(b.intersects(&grid, &a), shared);
    }
}

#[test]
fn taking_twice_is_refused_and_changes_nothing() {
    let mut free = Occupancy::all_free(Grid::mesh(&[4, 4]).unwrap());
    free.take(&Cuboid::new([0, 0, 0], [2, 2, 1])).unwrap();
    let before = free.clone();
    assert!(free.take(&Cuboid::new([1, 1, 0], [2, 2, 1])).is_err());
    assert_eq!(free, before);
}
