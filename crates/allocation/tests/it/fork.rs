//! Tests of forks: copies for trying out plans without changing the machine.

use pavior_allocation::{Change, Placement, Refusal, Selection};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, JobId, NodeId, Occupancy, Request};

use crate::common::{busy_nodes, machine};

#[test]
fn failed_nodes_do_not_come_back_with_their_holder() {
    for strategy in ["tff", "tbl", "naive", "mbs"] {
        let mut machine = machine("mesh:4x4", strategy);
        let whole = Request::shape([4, 4, 1]);
        let held = machine.allocate(JobId(1), &whole).unwrap().clone();
        machine.fail(NodeId(5)).unwrap();
        let mut fork = machine.fork();
        fork.give(&held).unwrap();
        assert_eq!(fork.find(&whole), Err(Refusal::TooFewFreeNodes), "{strategy}");
        assert_eq!(fork.free().count(), 15);
        assert_eq!(machine.fork_empty().free().count(), 15);
        machine.validate();
    }
}

#[test]
fn a_reservation_takes_what_is_free_of_it() {
    let mut machine = machine("mesh:6x2", "tbl");
    machine.allocate(JobId(1), &Request::shape([2, 2, 1])).unwrap();
    let mut fork = machine.fork();
    fork.take_free(&Placement::Whole(Cuboid::new([0, 0, 0], [4, 1, 1])));
    assert_eq!(fork.free().count(), 6);
    let beside = fork.find(&Request::shape([2, 2, 1])).unwrap();
    assert_eq!(beside.parts(), [Cuboid::new([4, 0, 0], [2, 2, 1])]);
    assert_eq!(machine.free().count(), 8);
}

#[test]
fn asking_within_some_nodes_changes_nothing() {
    let machine = machine("mesh:4x2", "tbl");
    let mut fork = machine.fork_empty();
    let mut free = Occupancy::all_free(*machine.grid());
    free.take(&Cuboid::new([1, 0, 0], [1, 1, 1])).unwrap();
    let request = Request::shape([4, 1, 1]);
    let found = fork.find_within(&free, &request).unwrap();
    assert_eq!(found.parts(), [Cuboid::new([0, 1, 0], [4, 1, 1])]);
    assert_eq!(fork.free().count(), 8);
    assert!(fork.find_within(&free, &Request::shape([4, 2, 1])).is_err());
}

/// Resetting a strategy to a set of free nodes must be equivalent to taking all other nodes.
#[test]
fn asking_within_some_nodes_is_asking_with_the_others_taken() {
    let grids = ["mesh:16x16", "mesh:13x7", "mesh:65x3", "mesh:1x70", "mesh:5x4x6", "torus:9x8x9"];
    // Strategies whose answers depend only on the free nodes, except `bf`, which cannot be reset.
    let strategies = [
        "mbs",
        "granular-mbs",
        "ff",
        "tff",
        "asff",
        "flexfold",
        "lssa",
        "mip",
        "nas",
        "anca",
        "connected",
        "mc",
        "bf",
    ];
    for (grid, strategy) in
        grids.into_iter().flat_map(|grid| strategies.map(|strategy| (grid, strategy)))
    {
        let selection: Selection = strategy.parse().unwrap();
        if selection.supports(&grid.parse().unwrap()).is_ok() {
            ask_within_as_beside(grid, strategy);
        }
    }
}

fn ask_within_as_beside(grid: &str, strategy: &str) {
    let machine = machine(grid, strategy);
    let sides = machine.grid().sides();
    let mut draw = Stream::new(1, 0, "free nodes");
    let mut fork = machine.fork_empty();
    for round in 0..60 {
        let mut free = Occupancy::all_free(*machine.grid());
        for node in 0..machine.grid().nodes() {
            // The machines range from nearly empty to nearly full.
            if draw.below(60) < round {
                free.take_node(NodeId(node));
            }
        }
        let mut beside = machine.fork_empty();
        beside.take_free(&Placement::Parts(busy_nodes(&free).collect()));
        let count = Request::nodes(1 + draw.below(u64::from(free.count())) as u32);
        let shape = sides.map(|side| 1 + draw.below(u64::from(side.min(4))) as u16);
        for request in [count, Request::shape(shape)] {
            let found = fork.find_within(&free, &request);
            assert_eq!(found, beside.find(&request), "{strategy}, {grid}, {request:?}");
        }
    }
    assert_eq!(fork.free().count(), machine.grid().nodes());
    // The next query uses the fork's own free nodes again.
    let request = Request::shape([2, 1, 1]);
    assert_eq!(fork.find(&request), machine.fork_empty().find(&request));
    let corner = Placement::Whole(Cuboid::node([0; 3]));
    let mut other = machine.fork_empty();
    drop(fork.find_within(&Occupancy::all_busy(*machine.grid()), &request));
    fork.take(&corner).unwrap();
    other.take(&corner).unwrap();
    assert_eq!(fork.find(&request), other.find(&request), "{strategy}, {grid}");
}

#[test]
fn every_change_of_a_machine_changes_its_state() {
    let mut machine = machine("mesh:4x2", "random");
    let mut states = vec![machine.state()];
    machine.allocate(JobId(1), &Request::nodes(3)).unwrap();
    states.push(machine.state());
    let node = Placement::Whole(Cuboid::node([0, 0, 0]));
    machine.release(JobId(1)).unwrap();
    states.push(machine.state());
    machine.allocate_at(JobId(2), node).unwrap();
    states.push(machine.state());
    assert_eq!(states, [0, 1, 2, 3]);
    machine.fail(NodeId(0)).unwrap();
    machine.fail(NodeId(0)).unwrap();
    machine.repair(NodeId(0)).unwrap();
    machine.repair(NodeId(0)).unwrap();
    assert_eq!((machine.state(), machine.health()), (5, 2));
    machine.probe(&Request::nodes(1)).unwrap();
    drop(machine.fork().find(&Request::nodes(1)));
    assert_eq!(machine.state(), 5);
}

/// A fork releases a running job that overlaps a reservation. The result must be the same as if all
/// of the reserved nodes had been free when they were reserved.
#[test]
fn reserved_nodes_stay_taken_whatever_is_given_back() {
    let cover = Placement::Whole(Cuboid::new([3, 2, 0], [8, 8, 1]));
    for grid in ["mesh:20x12", "torus:20x12"] {
        for strategy in ["tff", "tff:leaps", "tff:rows", "tff:corners", "tff:plain", "tbl", "bf"] {
            let mut machine = machine(grid, strategy);
            let held = machine.allocate(JobId(1), &Request::shape([6, 5, 1])).unwrap().clone();
            let mut fork = machine.fork();
            fork.take_free(&cover);
            assert_eq!(fork.free().count(), 240 - 30 - 64 + 9);
            fork.give(&held).unwrap();
            assert_eq!(fork.free().count(), 240 - 64, "{strategy}");
            let mut plain = machine.fork_empty();
            plain.take(&cover).unwrap();
            for (a, b) in (1..=12).flat_map(|a| (1..=12).map(move |b| (a, b))) {
                let request = Request::shape([a, b, 1]);
                let (found, expected) = (fork.find(&request), plain.find(&request));
                // For other strategies, the answers depend on how the taken nodes are divided into
                // boxes.
                if machine.is_determined() {
                    assert_eq!(found, expected, "{strategy} {grid} {a}x{b}");
                }
                assert_eq!(found.is_ok(), expected.is_ok(), "{strategy} {grid} {a}x{b}");
            }
        }
    }
}

#[test]
fn changes_are_known_until_a_node_fails() {
    let mut machine = machine("mesh:4x4", "tff");
    assert!(machine.changes_since(machine.state()).is_none(), "changes are not recorded yet");
    machine.remember_changes();
    let first = machine.state();
    let placement = machine.allocate(JobId(7), &Request::shape([2, 1, 1])).unwrap().clone();
    let changes: Vec<Change> = machine.changes_since(first).unwrap().cloned().collect();
    assert_eq!(changes, [Change { job: JobId(7), placement, granted: true }]);
    machine.fail(NodeId(15)).unwrap();
    assert!(machine.changes_since(first).is_none());
    machine.release(JobId(7)).unwrap();
    assert!(machine.changes_since(first).is_none());
    assert_eq!(machine.changes_since(machine.state() - 1).unwrap().count(), 1);
    // Make many more changes than the machine records.
    let before = machine.state();
    for job in 0..2000 {
        machine.allocate(JobId(job), &Request::shape([1, 1, 1])).unwrap();
        machine.release(JobId(job)).unwrap();
    }
    assert!(machine.changes_since(before).is_none());
    assert_eq!(machine.changes_since(machine.state() - 1000).unwrap().count(), 1000);
}

/// Jobs start and end on and next to reserved nodes, in random order. A fork that follows these
/// changes must agree with a fork newly created from the machine.
#[test]
fn a_fork_follows_jobs_that_start_on_reserved_nodes() {
    for (grid, base) in
        [("mesh:20x12", [9, 2, 0]), ("torus:20x12", [15, 9, 0]), ("torus:9x8x9", [7, 6, 5])]
    {
        for strategy in ["ff", "tff", "tff:leaps", "tff:rows", "tff:corners", "tff:plain"] {
            follow(grid, strategy, base);
        }
    }
}

fn follow(grid: &str, strategy: &str, base: [u16; 3]) {
    let mut machine = machine(grid, strategy);
    let sides = machine.grid().sides().map(|side| side.min(6));
    let cover = Placement::Whole(Cuboid::new(base, sides));
    let mut draw = Stream::new(7, 0, grid);
    let mut fork = machine.fork();
    fork.take_free(&cover);
    let (mut held, mut followed) = (Vec::new(), 0);
    for job in 0..400 {
        let side = |most: u16| 1 + (job as u16 * 7 + most) % most.min(5);
        let request = Request::shape(sides.map(side));
        let grants = held.len() < 6 && draw.below(2) == 0;
        if grants && machine.allocate(JobId(job), &request).is_ok() {
            held.push(JobId(job));
            let placement = machine.placement(JobId(job)).unwrap();
            if fork.take_over(placement) {
                followed += 1;
            } else {
                fork = machine.fork();
                fork.take_free(&cover);
            }
        } else if !held.is_empty() {
            let job = held.swap_remove(draw.below(held.len() as u64) as usize);
            let placement = machine.placement(job).unwrap().clone();
            machine.release(job).unwrap();
            fork.give(&placement).unwrap();
        }
        let mut fresh = machine.fork();
        fresh.take_free(&cover);
        assert_eq!(fork.free(), fresh.free(), "{grid} {strategy} {job}");
        let asked = Request::shape(sides.map(|most| side(most.saturating_sub(1).max(1))));
        assert_eq!(fork.find(&asked), fresh.find(&asked), "{grid} {strategy} {job}");
    }
    assert!(followed > 20, "{grid} {strategy}: {followed}");
}
