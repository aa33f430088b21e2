//! Tests of caller mistakes. Each must result in a typed error and change nothing.

use pavior_allocation::{
    AllocateError, BuildError, Cuboid, JobId, Machine, NodeId, Placement, PlacementError, Refusal,
    Request, UnknownNode,
};

use crate::common::machine;

/// Requests a placement that cannot be granted, and asserts that nothing has changed.
fn refused_at(machine: &mut Machine, job: u64, parts: &[Cuboid]) -> PlacementError {
    let (free, state, jobs) = (machine.free().clone(), machine.state(), machine.jobs());
    let error = machine.allocate_at(JobId(job), Placement::Parts(parts.to_vec())).unwrap_err();
    assert_eq!((machine.free(), machine.state(), machine.jobs()), (&free, state, jobs));
    machine.validate();
    error
}

#[test]
fn placements_that_cannot_be_granted_are_refused() {
    for strategy in ["tff", "tbl", "mbs", "fl", "random"] {
        let mut machine = machine("mesh:8x8", strategy);
        let beyond = Cuboid::new([6, 6], [4, 4]);
        assert_eq!(refused_at(&mut machine, 1, &[beyond]), PlacementError::Outside(beyond));
        let far = Cuboid::new([60000, 3], [3, 3]);
        assert_eq!(refused_at(&mut machine, 1, &[far]), PlacementError::Outside(far));
        let flat = Cuboid::new([1, 1], [0, 2]);
        assert_eq!(refused_at(&mut machine, 1, &[flat]), PlacementError::Outside(flat));
        assert_eq!(refused_at(&mut machine, 1, &[]), PlacementError::Empty);

        let (first, second) = (Cuboid::new([0, 0], [2, 2]), Cuboid::new([1, 1], [2, 2]));
        let overlapping = refused_at(&mut machine, 1, &[first, second]);
        assert_eq!(overlapping, PlacementError::Overlapping(second));

        machine.allocate_at(JobId(1), Placement::Whole(first)).unwrap();
        assert_eq!(refused_at(&mut machine, 2, &[second]), PlacementError::NotFree(second));
        let elsewhere = Cuboid::new([4, 4], [1, 1]);
        let repeated = refused_at(&mut machine, 1, &[elsewhere]);
        assert_eq!(repeated, PlacementError::RepeatedJob(JobId(1)));
    }
}

#[test]
fn a_job_is_granted_nodes_once() {
    let mut machine = machine("mesh:4x4", "tff");
    let request = Request::shape([2, 2]);
    machine.allocate(JobId(1), &request).unwrap();
    let free = machine.free().clone();
    let again = machine.allocate(JobId(1), &request);
    assert_eq!(again, Err(AllocateError::RepeatedJob(JobId(1))));
    assert_eq!(machine.free(), &free);
    machine.validate();
}

#[test]
fn a_count_is_no_box() {
    for strategy in ["tff", "tbl", "bf", "fl", "mfa", "2db"] {
        let mut machine = machine("mesh:8x8", strategy);
        assert_eq!(machine.probe(&Request::nodes(2)), Err(Refusal::NoShape), "{strategy}");
        assert_eq!(machine.could_ever_fit(&Request::nodes(2)), Err(Refusal::NoShape));
        let many = Request::nodes(machine.grid().nodes() + 1);
        assert_eq!(machine.probe(&many), Err(Refusal::LargerThanMachine), "{strategy}");
        assert_eq!(machine.fork().find(&Request::nodes(2)), Err(Refusal::NoShape));
    }
    assert_eq!(machine("mesh:8x8", "naive").probe(&Request::nodes(2)).unwrap().nodes(), 2);
    assert!(Refusal::NoShape.is_permanent());
}

#[test]
fn empty_requests_are_refused() {
    let empty = [
        Request::nodes(0),
        Request::shape([0, 3]),
        Request::hinted(0, [2, 2]),
        Request::hinted(3, [2, 2, 0]),
    ];
    for strategy in ["tff", "mbs", "gabl", "naive", "nas", "bluegene"] {
        let grid = if strategy == "bluegene" { "torus:4x4x4" } else { "mesh:8x8" };
        let mut machine = machine(grid, strategy);
        for request in &empty {
            assert!(request.is_empty());
            assert_eq!(machine.probe(request), Err(Refusal::EmptyRequest), "{strategy}");
            let granted = machine.allocate(JobId(1), request);
            assert_eq!(granted, Err(AllocateError::Refused(Refusal::EmptyRequest)));
            assert_eq!(machine.fork().find(request), Err(Refusal::EmptyRequest));
        }
        assert_eq!(machine.jobs(), 0);
    }
}

#[test]
fn requests_of_any_size_are_refused_without_a_panic() {
    for strategy in ["tff", "tbl", "gabl", "mbs", "paging", "mc", "naive"] {
        let mut machine = machine("torus:4x4x4", strategy);
        for request in [
            Request::shape([u16::MAX; 3]),
            Request::nodes(u32::MAX),
            Request::hinted(u32::MAX, [u16::MAX; 3]),
            Request::hinted(65, [5, 13]),
        ] {
            assert!(machine.probe(&request).unwrap_err().is_permanent(), "{strategy} {request:?}");
        }
    }
}

#[test]
fn nodes_outside_neither_fail_nor_are_repaired() {
    let mut machine = machine("mesh:8x8", "tff");
    for node in [NodeId(64), NodeId(u32::MAX)] {
        assert_eq!(machine.fail(node), Err(UnknownNode(node)));
        assert_eq!(machine.repair(node), Err(UnknownNode(node)));
        assert_eq!(machine.holder(node), None);
    }
    assert_eq!((machine.state(), machine.health()), (0, 0));
}

#[test]
fn names_that_cannot_be_read_are_errors() {
    let build = |name: &str| Machine::new("mesh:3x3x3".parse().unwrap(), name).err().unwrap();
    assert!(matches!(build("tfff"), BuildError::Name(_)));
    assert!(matches!(build("tff:turn=half"), BuildError::Name(_)));
    assert!(matches!(build("2db"), BuildError::Unsupported { .. }));
}

#[test]
fn forks_check_what_they_take_and_give() {
    let machine = machine("mesh:4x4", "tbl");
    let mut fork = machine.fork();
    let (held, more) = (Cuboid::new([0, 0], [2, 2]), Cuboid::new([3, 3], [2, 1]));
    fork.take(&Placement::Whole(held)).unwrap();
    assert_eq!(fork.take(&Placement::Whole(held)), Err(PlacementError::NotFree(held)));
    assert_eq!(fork.take(&Placement::Parts(vec![])), Err(PlacementError::Empty));
    assert_eq!(fork.give(&Placement::Parts(vec![])), Err(PlacementError::Empty));
    let both = Placement::Parts(vec![held, more]);
    assert_eq!(fork.give(&both), Err(PlacementError::Outside(more)));
    let twice = Placement::Parts(vec![held, held]);
    assert_eq!(fork.give(&twice), Err(PlacementError::NotTaken(held)));
    assert_eq!(fork.free().count(), 12);
    // A reservation's boxes may overlap each other, contain taken nodes, or extend past the end of
    // an axis. Only their free nodes are taken.
    fork.take_free(&Placement::Parts(vec![Cuboid::new([1, 1], [2, 2]), held, more]));
    fork.take_free(&Placement::Parts(vec![
        Cuboid::new([1, 1], [3, 2]),
        Cuboid::new([2, 2], [2, 2]),
    ]));
    assert!(!fork.free().is_free(&Cuboid::new([3, 3], [1, 1])));
    assert_eq!(machine.free().count(), 16);
}
