//! Tests of GABL's loop as printed in the paper (Figure 1) and of related properties. The printed
//! loop can run forever.

use pavior_allocation::Machine;
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Request};

use crate::common::busy_machine;

/// The outcome of the printed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Printed {
    TooFewFree,
    Whole,
    Pieces,
    /// The loop repeats steps 5 to 7 forever without changing anything.
    Hangs,
}

/// Runs steps 1 to 7 as printed, for up to 1,000 steps. The search is RBS without rotation.
fn printed(machine: &mut Machine, a: u16, b: u16) -> Printed {
    let size = u32::from(a) * u32::from(b);
    if machine.free().count() < size {
        return Printed::TooFewFree;
    }
    if machine.allocate(JobId(0), &Request::shape([a, b, 1])).is_ok() {
        return Printed::Whole;
    }
    let (mut alpha, mut beta, mut total, mut job) = (a, b, 0, 1);
    let shrink = |alpha: &mut u16, beta: &mut u16| {
        let longest = if alpha >= beta { alpha } else { beta };
        *longest = (*longest - 1).max(1);
    };
    shrink(&mut alpha, &mut beta);
    for _ in 0..1_000 {
        let piece = u32::from(alpha) * u32::from(beta);
        if total + piece > size {
            shrink(&mut alpha, &mut beta);
            continue;
        }
        if machine.allocate(JobId(job), &Request::shape([alpha, beta, 1])).is_ok() {
            (total, job) = (total + piece, job + 1);
        }
        if total == size {
            return Printed::Pieces;
        }
        // Step 7 returns to step 5 even when no piece was found.
    }
    Printed::Hangs
}

/// Creates a machine on which exactly the nodes in a bit mask are busy.
fn machine(strategy: &str, grid: Grid, busy: u64) -> Machine {
    let busy = (0..grid.nodes()).filter(|node| busy >> node & 1 == 1);
    busy_machine(grid, strategy, busy.map(|node| Cuboid::node(grid.point(NodeId(node)))))
}

#[test]
fn the_printed_loop_hangs_in_the_trap() {
    let grid = Grid::mesh(&[2, 3]).unwrap();
    let busy = 1 << 0 | 1 << 4;
    assert_eq!(printed(&mut machine("rbs", grid, busy), 2, 2), Printed::Hangs);
    let mut intended = machine("gabl", grid, busy);
    let placement = intended.allocate(JobId(0), &Request::shape([2, 2, 1])).unwrap();
    assert_eq!((placement.nodes(), placement.parts().len()), (4, 3));
}

#[test]
fn the_printed_loop_hangs_in_many_states_of_a_small_machine() {
    let grid = Grid::mesh(&[3, 3]).unwrap();
    let (mut hangs, mut pieces) = (0, 0);
    for busy in 0..1u64 << 9 {
        for (a, b) in (1..=3).flat_map(|a| (1..=3).map(move |b| (a, b))) {
            match printed(&mut machine("rbs", grid, busy), a, b) {
                Printed::Hangs => hangs += 1,
                Printed::Pieces => pieces += 1,
                Printed::TooFewFree | Printed::Whole => continue,
            }
            let mut intended = machine("gabl:turn=none", grid, busy);
            let placement = intended.allocate(JobId(0), &Request::shape([a, b, 1])).unwrap();
            assert_eq!(placement.nodes(), u32::from(a) * u32::from(b));
            assert!(placement.parts().len() > 1);
        }
    }
    assert_eq!((hangs, pieces), (590, 751));
}

#[test]
fn pieces_come_largest_first_and_each_within_the_shape() {
    for strategy in ["gabl", "gabl:turn=none", "gabl:tie=last", "gabl:shape=largest"] {
        let grid = Grid::mesh(&[4, 3]).unwrap();
        for busy in (0..1u64 << 12).step_by(7) {
            let mut machine = machine(strategy, grid, busy);
            let request = Request::shape([3, 2, 1]);
            let Ok(placement) = machine.probe(&request) else { continue };
            let volumes: Vec<u32> = placement.parts().iter().map(Cuboid::volume).collect();
            assert!(volumes.is_sorted_by(|a, b| a >= b), "{strategy} {placement:?}");
            for part in placement.parts() {
                assert!(part.sides.iter().all(|&side| side <= 3) && part.volume() <= 6);
            }
        }
    }
}

#[test]
fn the_true_largest_piece_is_never_smaller_than_the_chain_s_first() {
    let grid = Grid::mesh(&[4, 3]).unwrap();
    let mut larger = 0;
    for busy in 0..1u64 << 12 {
        let request = Request::shape([3, 2, 1]);
        let first = |strategy: &str| {
            let answer = machine(strategy, grid, busy).probe(&request);
            answer.ok().map(|placement| placement.parts()[0].volume())
        };
        let (chain, largest) = (first("gabl"), first("gabl:shape=largest"));
        assert!(largest >= chain, "{busy:b}");
        larger += u32::from(largest > chain);
    }
    assert_eq!(larger, 1_136);
}

#[test]
fn a_count_without_a_shape_starts_near_cubic_and_a_hint_shrinks() {
    let grid = Grid::mesh(&[8, 8]).unwrap();
    let sides = |request: &Request| -> Vec<[u16; 3]> {
        let placement = machine("gabl", grid, 0).probe(request).unwrap();
        placement.parts().iter().map(|part| part.sides).collect()
    };
    assert_eq!(sides(&Request::nodes(9)), [[3, 3, 1]]);
    // 3x3 is too large for 7 nodes, so one side shrinks by one. The last node is a separate piece.
    assert_eq!(sides(&Request::nodes(7)), [[2, 3, 1], [1, 1, 1]]);
    assert_eq!(sides(&Request::nodes(64)), [[8, 8, 1]]);
    assert_eq!(sides(&Request::hinted(7, [8, 1, 1])), [[7, 1, 1]]);
    // Shrinking starts from the requested shape, even if it fits in no orientation.
    assert_eq!(sides(&Request::shape([16, 1, 1])), [[8, 1, 1], [8, 1, 1]]);
}
