//! Tests of requests that are restricted to a subset of the nodes.

use pavior_allocation::{
    Freedom, Grid, JobId, Machine, Pool, Refusal, Request, Selection, StrategyKind,
};
use pavior_kernel::{Family, Stream};
use pavior_mesh::{NodeId, Occupancy};

/// A pool must behave like a machine on which all other nodes have failed, for every strategy and
/// in random states.
#[test]
fn a_pool_is_a_machine_whose_other_nodes_have_failed() {
    let mut granted = 0;
    for grid in ["mesh:6x5", "torus:8x4", "torus:4x4x3"] {
        let grid: Grid = grid.parse().unwrap();
        for entry in StrategyKind::builtin() {
            let selection = Selection::defaults(entry);
            if selection.supports(&grid).is_ok() {
                granted += compare(grid, &selection);
            }
        }
    }
    assert!(granted > 800, "{granted}");
}

fn compare(grid: Grid, selection: &Selection) -> usize {
    let mut draw = Stream::new(1, 0, "pools");
    let mut granted = 0;
    for _ in 0..20 {
        let mut machine = Machine::with_seed(grid, selection, 1).unwrap();
        let mut nodes = Occupancy::all_free(grid);
        for node in (0..grid.nodes()).map(NodeId) {
            if draw.below(4) == 0 {
                nodes.take_node(node);
            }
            if draw.below(6) == 0 {
                machine.fail(node).unwrap();
            }
        }
        let pool = machine.add_pool(nodes.clone()).unwrap();
        let mut other = machine.clone();
        for node in (0..grid.nodes()).map(NodeId).filter(|&node| !nodes.is_node_free(node)) {
            other.fail(node).unwrap();
        }
        let shape = grid.sides().map(|side| 1 + draw.below(u64::from(side.min(3))) as u16);
        let count = Request::nodes(1 + draw.below(6) as u32);
        for request in [Request::shape(shape), count, count.with_freedom(Freedom::Any)] {
            let before = machine.probe(&request);
            let inside = machine.probe(&request.within(pool));
            let forked = machine.fork().find(&request.within(pool));
            if machine.is_determined() {
                assert_eq!(inside.as_ref().ok(), other.probe(&request).as_ref().ok());
                assert_eq!(forked.ok(), inside.ok());
            } else {
                assert_eq!(inside.is_ok(), other.probe(&request).is_ok(), "{selection}");
            }
            // The query has not changed the state.
            assert_eq!(machine.probe(&request), before, "{selection}");
            machine.validate();
        }
        if let Ok(placement) = machine.allocate(JobId(1), &count.within(pool)) {
            let mut left = nodes.clone();
            left.take_all(placement.parts()).unwrap();
            granted += 1;
        }
        machine.validate();
    }
    granted
}

#[test]
fn a_request_that_no_node_of_its_pool_serves_is_refused_for_good() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    let mut machine = Machine::new(grid, "tff").unwrap();
    let pool = machine.add_pool(Occupancy::all_busy(grid)).unwrap();
    let node = Request::shape([1, 1]);
    assert_eq!(machine.probe(&node.within(pool)), Err(Refusal::UnsupportedShape));
    assert_eq!(machine.probe(&node.within(Pool(7))), Err(Refusal::UnsupportedShape));
    assert!(machine.probe(&node).is_ok());
    let other = "mesh:2x2".parse().unwrap();
    assert!(machine.add_pool(Occupancy::all_free(other)).is_err());
}
