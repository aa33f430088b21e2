//! Tests of the machine: grants, refusals, failures and repairs.

use pavior_allocation::{Placement, PlacementError, Refusal};
use pavior_mesh::{Cuboid, JobId, NodeId, Request};

use crate::common::machine;

#[test]
fn a_failed_node_stays_with_its_job_and_is_withheld_after() {
    let mut machine = machine("mesh:4x4", "tbl");
    machine.allocate(JobId(1), &Request::shape([4, 4, 1])).unwrap();
    assert_eq!(machine.fail(NodeId(5)), Ok(Some(JobId(1))));
    assert_eq!((machine.busy_nodes(), machine.failed_nodes()), (16, 0));
    machine.release(JobId(1)).unwrap();
    machine.validate();
    assert_eq!((machine.free().count(), machine.failed_nodes()), (15, 1));
    let refused = machine.allocate(JobId(2), &Request::shape([4, 4, 1])).cloned();
    assert_eq!(refused, Err(Refusal::TooFewFreeNodes.into()));
    machine.repair(NodeId(5)).unwrap();
    machine.validate();
    assert!(machine.allocate(JobId(2), &Request::shape([4, 4, 1])).is_ok());
}

#[test]
fn failing_twice_and_repairing_the_healthy_change_nothing() {
    let mut machine = machine("torus:4x4", "tff");
    machine.repair(NodeId(3)).unwrap();
    assert_eq!(machine.fail(NodeId(3)), Ok(None));
    assert_eq!(machine.fail(NodeId(3)), Ok(None));
    assert_eq!(machine.failed_nodes(), 1);
    machine.repair(NodeId(3)).unwrap();
    machine.repair(NodeId(3)).unwrap();
    assert_eq!(machine.failed_nodes(), 0);
    machine.validate();
}

#[test]
fn repairing_a_node_under_a_job_gives_it_back_with_the_job() {
    let mut machine = machine("mesh:4x4", "tbl");
    machine.allocate(JobId(1), &Request::shape([2, 2, 1])).unwrap();
    machine.fail(NodeId(0)).unwrap();
    machine.repair(NodeId(0)).unwrap();
    machine.release(JobId(1)).unwrap();
    assert_eq!(machine.free().count(), 16);
    machine.validate();
}

#[test]
fn a_given_placement_is_granted_only_where_it_is_free() {
    let mut machine = machine("mesh:4x4", "bl");
    let part = Cuboid::new([1, 1, 0], [2, 2, 1]);
    machine.allocate_at(JobId(1), Placement::Whole(part)).unwrap();
    let error = machine.allocate_at(JobId(2), Placement::Whole(part)).unwrap_err();
    assert_eq!(error, PlacementError::NotFree(part));
    assert_eq!(machine.holder(NodeId(5)), Some(JobId(1)));
    assert_eq!(machine.holder(NodeId(0)), None);
}

#[test]
fn a_job_that_cannot_move_keeps_its_nodes_failed_ones_too() {
    let mut machine = machine("mesh:4x1", "ff");
    let on = |x, w| Placement::Whole(Cuboid::new([x, 0, 0], [w, 1, 1]));
    machine.allocate_at(JobId(1), on(0, 2)).unwrap();
    machine.allocate_at(JobId(2), on(2, 1)).unwrap();
    machine.fail(NodeId(1)).unwrap();
    let before = machine.state();
    for taken in [on(2, 2), on(1, 1), on(3, 2)] {
        assert!(machine.relocate(JobId(1), taken).is_err());
    }
    assert_eq!((machine.state(), machine.placement(JobId(1))), (before, Some(&on(0, 2))));
    assert_eq!(machine.relocate(JobId(1), on(3, 1)), Ok(on(0, 2)));
    machine.validate();
}

#[test]
fn releasing_an_unknown_job_is_an_error() {
    assert!(machine("mesh:2", "ff").release(JobId(9)).is_err());
}
