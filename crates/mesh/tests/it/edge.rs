//! Tests that invalid boxes, nodes and grids yield an error or a well-defined result, but never a
//! panic.

use pavior_mesh::{
    BaseSet, Cuboid, Grid, GridError, NodeId, Occupancy, OccupancyError, Scan, tile,
};

#[test]
fn grids_need_a_wrap_flag_an_axis() {
    let error = Grid::new(&[4, 4], &[true]).unwrap_err();
    assert_eq!(error, GridError::WrapFlags { axes: 2, wraps: 1 });
    assert_eq!(Grid::new(&[], &[]).unwrap_err(), GridError::Axes(0));
}

#[test]
fn boxes_that_leave_the_grid_are_neither_free_nor_taken() {
    for grid in ["mesh:8x8", "torus:8x8", "grid:8wx8", "mesh:5x3x2", "torus:70x3"] {
        let grid: Grid = grid.parse().unwrap();
        let mut free = Occupancy::all_free(grid);
        for outside in [
            Cuboid::new([6, 6, 1], [4, 4, 4]),
            Cuboid::new([9, 0], [1, 9]),
            Cuboid::new([u16::MAX; 3], [u16::MAX; 3]),
            Cuboid::new([0, 0], [0, 1]),
            Cuboid::new([0, u16::MAX], [1, 1]),
        ] {
            assert!(!outside.lies_on(&grid), "{outside:?} {grid}");
            assert!(!free.is_free(&outside) && !free.is_taken(&outside));
            assert_eq!(free.take(&outside), Err(OccupancyError::Outside(outside)));
            assert_eq!(free.give(&outside), Err(OccupancyError::Outside(outside)));
            assert!(tile(&grid, &outside, |_| true).is_empty());
            outside.contains(&grid, [3, 3, 3]);
            outside.intersects(&grid, &Cuboid::new([1, 1], [2, 2]));
            outside.canonical(&grid);
        }
        assert_eq!(free, Occupancy::all_free(grid));
    }
}

#[test]
fn several_boxes_are_taken_or_none() {
    let grid = Grid::mesh(&[4, 4]).unwrap();
    let mut free = Occupancy::all_free(grid);
    let (one, other) = (Cuboid::new([0, 0], [2, 2]), Cuboid::new([1, 1], [2, 2]));
    assert_eq!(free.take_all(&[one, other]), Err(OccupancyError::NotFree(other)));
    assert_eq!(free.count(), 16);
    free.take(&one).unwrap();
    assert_eq!(free.give_all(&[one, one]), Err(OccupancyError::NotTaken(one)));
    assert_eq!(free.count(), 12);
}

#[test]
fn nodes_that_do_not_exist_are_not_free() {
    let mut free = Occupancy::all_free(Grid::mesh(&[5, 5]).unwrap());
    for node in [NodeId(25), NodeId(63), NodeId(64), NodeId(u32::MAX)] {
        assert!(!free.is_node_free(node));
        assert!(!free.take_node(node));
    }
    assert_eq!(free.count(), 25);
}

#[test]
fn occupancies_of_different_grids_do_not_mix() {
    let (small, large) = (Grid::mesh(&[4, 4]).unwrap(), Grid::mesh(&[40, 40]).unwrap());
    let mut free = Occupancy::all_free(small);
    assert_eq!(free.keep(&Occupancy::all_busy(large)), Err(OccupancyError::OtherGrid));
    assert_eq!(free.count(), 16);
    let mut bases = BaseSet::new(small);
    assert!(!bases.compute(&Occupancy::all_free(large), [2, 2, 1]));
    assert_eq!(bases.find(&Occupancy::all_free(large), [2, 2, 1], Scan::default()), None);
    assert!(!bases.contains([60, 60, 60]));
    for outside in
        [Cuboid::new([2, 2], [3, 1]), Cuboid::new([9, 9], [1, 1]), Cuboid::new([0, 0], [0, 4])]
    {
        assert_eq!(BaseSet::within(&free, &outside).find_loaded([1, 1, 1]), None);
        let _ = outside.around(&small, [2, 2, 1]);
    }
    free.copy_from(&Occupancy::all_free(large));
    assert_eq!(free, Occupancy::all_free(large));
}

#[test]
fn sets_are_taken_and_given_whole_or_not_at_all() {
    let grid: Grid = "mesh:13x7".parse().unwrap();
    let node = |x, y| Cuboid::node([x, y, 0]);
    let all = Occupancy::all_free(grid);
    let (mut free, mut some) = (all.clone(), Occupancy::all_busy(grid));
    some.give_all(&[node(0, 0), node(12, 6), Cuboid::new([3, 1], [8, 5])]).unwrap();
    free.take_set(&some).unwrap();
    assert_eq!(free.iter().count() as u32, free.count());
    assert_eq!(free.iter().chain(some.iter()).count(), 91);
    assert!(free.iter().all(|node| !some.is_node_free(node)));
    let before = free.clone();
    assert_eq!(free.take_set(&some), Err(OccupancyError::NotFree(node(0, 0))));
    let mut others = before.clone();
    others.give(&node(12, 6)).unwrap();
    assert_eq!(free.take_set(&others), Err(OccupancyError::NotFree(node(12, 6))));
    assert_eq!(free.give_set(&others), Err(OccupancyError::NotTaken(node(1, 0))));
    assert_eq!(
        free.give_set(&Occupancy::all_busy("mesh:7x13".parse().unwrap())),
        Err(OccupancyError::OtherGrid)
    );
    assert_eq!(free, before);
    free.give_set(&some).unwrap();
    assert_eq!(free, all);
    let mut common = Occupancy::all_busy(grid);
    common.set_common(&others, &all).unwrap();
    assert_eq!(common, others);
    assert_eq!(
        common.set_common(&others, &Occupancy::all_free("mesh:8x8".parse().unwrap())),
        Err(OccupancyError::OtherGrid)
    );
    free.keep(&others).unwrap();
    assert_eq!(free, others);
}
