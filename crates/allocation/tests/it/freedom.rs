//! Tests of requests with a freedom, which all strategies must honor in the same way.

use pavior_allocation::{
    AllocateError, Cuboid, Freedom, Grid, JobId, Machine, Placement, Refusal, Request, Selection,
    StrategyKind, conformance,
};
use pavior_kernel::{Family, Stream};

use crate::common::busy_machine;

/// Creates a machine with the given strategy and busy nodes.
fn machine(name: &str, strategy: &str, busy: &[[u16; 2]]) -> Machine {
    let busy = busy.iter().map(|&node| Cuboid::new(node, [1, 1]));
    busy_machine(name.parse().unwrap(), strategy, busy)
}

#[test]
fn every_strategy_honours_every_freedom() {
    let mut answers = 0;
    for grid in ["mesh:3x2", "torus:3x2", "torus:5", "mesh:2x2x2"] {
        let grid: Grid = grid.parse().unwrap();
        for entry in StrategyKind::builtin() {
            let selection = Selection::defaults(entry);
            if selection.supports(&grid).is_ok() {
                answers += conformance::freedoms(&selection, &grid).unwrap();
            }
        }
    }
    assert!(answers > 500_000, "{answers}");
}

#[test]
fn each_level_allows_what_the_one_before_does_not() {
    // # . . .     Free: a row of three, a column of three and a corner. Only the row is a 3x1.
    // # . # .
    // . # . .
    let busy = [[0, 2], [0, 1], [2, 1], [1, 0]];
    let granted = |strategy: &str, request: Request, freedom| {
        machine("mesh:4x3", strategy, &busy)
            .allocate(JobId(1), &request.with_freedom(freedom))
            .cloned()
    };
    for strategy in ["ff", "tff", "bf:turn=best", "mbs", "naive", "random"] {
        let column = Request::shape([1, 3]);
        assert_eq!(
            granted(strategy, column, Freedom::Box),
            Ok(Placement::Whole(Cuboid::new([3, 0], [1, 3])))
        );
        let row_of_four = Request::shape([4, 1]);
        let turned = granted(strategy, row_of_four, Freedom::Turned);
        assert_eq!(turned, Err(AllocateError::Refused(Refusal::NoFreeSubmesh)), "{strategy}");
        let connected = granted(strategy, row_of_four, Freedom::Connected).unwrap();
        assert_eq!(connected.nodes(), 4);
        // Seven free nodes are connected; the eighth is alone in the corner.
        let eight = Request::nodes(8);
        assert!(granted(strategy, eight, Freedom::Connected).is_err(), "{strategy}");
        assert_eq!(granted(strategy, eight, Freedom::Any).unwrap().nodes(), 8);
    }
    // A strategy that rotates requests must not rotate this one.
    let mut turning = machine("mesh:3x1", "tff", &[]);
    let upright = Request::shape([1, 3]);
    assert!(turning.probe(&upright).is_ok());
    assert_eq!(turning.probe(&upright.with_freedom(Freedom::Box)), Err(Refusal::LargerThanMachine));
    let bare = Request::nodes(2).with_freedom(Freedom::Turned);
    assert_eq!(turning.probe(&bare), Err(Refusal::NoShape));
    assert!(turning.probe(&bare.with_freedom(Freedom::AnyBox)).is_ok());
}

#[test]
fn a_strategy_places_the_box_by_its_own_rule() {
    // Best Fit puts two nodes into the remaining corner, and First Fit puts them at the first base.
    let busy = [[0, 0], [1, 0], [2, 0], [5, 1], [4, 3], [5, 3]];
    for (strategy, freedom) in
        [("bf", Freedom::Box), ("ff", Freedom::Box), ("tbl", Freedom::Turned)]
    {
        let mut machine = machine("mesh:6x4", strategy, &busy);
        let request = Request::shape([2, 1]);
        let own = machine.probe(&request);
        assert_eq!(machine.probe(&request.with_freedom(freedom)), own, "{strategy}");
    }
}

#[test]
fn forks_and_failures_know_freedoms() {
    let mut machine = machine("mesh:4x1", "ff", &[[1, 0]]);
    let request = Request::shape([2, 1]).with_freedom(Freedom::Any);
    let mut fork = machine.fork();
    assert_eq!(fork.find(&request), machine.probe(&request));
    machine.fail(pavior_allocation::NodeId(3)).unwrap();
    assert!(machine.probe(&request).is_ok());
    assert_eq!(
        machine.probe(&Request::nodes(3).with_freedom(Freedom::Any)),
        Err(Refusal::TooFewFreeNodes)
    );
    machine.allocate(JobId(1), &request).unwrap();
    machine.validate();
}

/// No grant may exceed the maximum that quotas rely on.
#[test]
fn no_grant_has_more_nodes_than_the_most() {
    let mut dice = Stream::new(8, 0, "most");
    let (mut grants, mut more) = (0, 0);
    for grid in ["mesh:8x8", "mesh:7x5", "torus:3x5x2", "mesh:4x4x8", "mesh:11"] {
        let grid: Grid = grid.parse().unwrap();
        for selection in StrategyKind::builtin().iter().flat_map(Selection::variants) {
            if selection.supports(&grid).is_err() {
                continue;
            }
            let mut machine = Machine::with_seed(grid, &selection, 1).unwrap();
            for job in 0..60 {
                let side = |dice: &mut Stream, axis: usize| {
                    1 + dice.below(u64::from(grid.side(axis)).min(4)) as u16
                };
                let sides: [u16; 3] = std::array::from_fn(|axis| side(&mut dice, axis));
                let request = match dice.below(3) {
                    0 => Request::nodes(1 + dice.below(9) as u32),
                    1 => Request::hinted(1 + dice.below(9) as u32, sides),
                    _ => Request::shape(sides),
                };
                let freedom = Freedom::ALL.get(dice.below(10) as usize).copied();
                let request = request.with_freedom(freedom);
                let most = machine.most(&request);
                if let Ok(placement) = machine.allocate(JobId(job), &request) {
                    let nodes = u64::from(placement.nodes());
                    assert!(
                        nodes <= most,
                        "{selection} on {grid}: {nodes} nodes, at most {most} allowed: {request:?}"
                    );
                    grants += 1;
                    more += u64::from(nodes > u64::from(request.nodes));
                }
                if dice.below(3) > 0 {
                    let held = machine.grants();
                    let index = dice.below(held.len().max(1) as u64) as usize;
                    if let Some(&(old, _)) = held.get(index) {
                        machine.release(old).unwrap();
                    }
                }
            }
        }
    }
    assert!(grants > 5_000 && more > 200, "{grants} grants, {more} larger than requested");
}
