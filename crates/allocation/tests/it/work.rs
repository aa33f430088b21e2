//! Tests that every strategy counts its work, and that some counts match known values.

use pavior_allocation::{Machine, Registry, Selection, Work, tbl_most_pieces};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, Request};

use crate::common::{BUSY, busy_machine};

fn machine(strategy: &str, grid: &str, busy: &[Cuboid]) -> Machine {
    busy_machine(grid.parse().unwrap(), strategy, busy.iter().copied())
}

/// Returns the work done by one query.
fn asked(machine: &mut Machine, sides: [u16; 3]) -> Work {
    let before = machine.work();
    let _ = machine.probe(&Request::shape(sides));
    machine.work() - before
}

#[test]
fn every_strategy_counts_every_answer_that_it_searches_for() {
    for selection in Registry::new().entries().flat_map(Selection::variants) {
        for name in ["mesh:8x8", "torus:6x5", "mesh:4x4x8", "torus:4x4x4"] {
            let grid: Grid = name.parse().unwrap();
            let Ok(mut machine) = Machine::with_seed(grid, &selection, 1) else { continue };
            let mut dice = Stream::new(4, 0, "work");
            for job in 0..60 {
                let sides = grid.sides().map(|n| 1 << dice.below(u64::from(n.ilog2()) + 1));
                let request = Request::shape(sides);
                let before = machine.work();
                let answer = machine.probe(&request);
                let asked = machine.work() - before;
                if answer.is_ok() {
                    assert!(asked.boxes + asked.words > 0, "{selection} on {name}: {asked:?}");
                }
                // The answer is cached. A query on a copy does not count toward the original.
                let before = machine.work();
                let _ = machine.probe(&request);
                assert_eq!(machine.work().boxes, before.boxes, "{selection}");
                if answer.is_ok() {
                    machine.clone().allocate(JobId(job), &request).unwrap();
                    assert_eq!(machine.work(), before, "{selection}");
                    machine.allocate(JobId(job), &request).unwrap();
                } else {
                    let _ = machine.release(JobId(dice.below(job + 1)));
                }
            }
        }
    }
}

#[test]
fn the_plain_search_tests_bases_up_to_the_first() {
    let busy = [Cuboid::new([0, 0, 0], [8, 3, 1])];
    let found = asked(&mut machine("ff:plain", "mesh:8x8", &busy), [2, 2, 1]);
    // The search tests three rows of seven bases and the first base of the fourth. There are 8 x 8
    // cells of prefix sums.
    assert_eq!(found, Work { boxes: 22, words: 64, upkeep: 0 });
}

#[test]
fn the_engine_counts_boxes_leapt_over_and_rows_computed() {
    let busy = [Cuboid::new([0, 0, 0], [9, 3, 1])];
    // No box covers the plane, but one covers row 0, so the search jumps to the row just past that
    // box. No box covers that row or its first base.
    let found = asked(&mut machine("ff", "mesh:9x8", &busy), [2, 2, 1]);
    assert_eq!(found, Work { boxes: 4, words: 0, upkeep: 0 });
    // The search reads eight rows and the row of zeros after them.
    let found = asked(&mut machine("ff:rows", "mesh:9x8", &busy), [2, 2, 1]);
    assert_eq!(found, Work { boxes: 0, words: 9, upkeep: 0 });
    // The two words of the set of all bases are copied, and then processed for a side of 2 along x
    // and for one along y. One more word is read to find the first base, starting at the top.
    let found = asked(&mut machine("ff:scan=x-y", "mesh:9x8", &busy), [2, 2, 1]);
    assert_eq!(found, Work { boxes: 0, words: 3 * 2 + 1, upkeep: 0 });
    // On machines of up to 8x8x8 nodes, a search for any shape reads eight words.
    let found = asked(&mut machine("tff", "mesh:8x8x4", &[]), [2, 3, 1]);
    assert_eq!(found, Work { boxes: 0, words: 8, upkeep: 0 });
}

#[test]
fn the_engine_remembers_a_refusal() {
    let busy = [Cuboid::new([0, 3, 0], [8, 2, 1]), Cuboid::new([3, 0, 0], [2, 1, 1])];
    let mut machine = machine("tff", "mesh:8x8", &busy);
    assert!(asked(&mut machine, [8, 4, 1]).words > 0);
    // The rotated request and a larger one are refused for the same reason, without a search.
    machine.allocate(JobId(1), &Request::shape([1, 1, 1])).unwrap();
    assert_eq!(asked(&mut machine, [4, 8, 1]), Work::default());
    assert_eq!(asked(&mut machine, [8, 5, 1]), Work::default());
    // The request cannot fit on the nodes just released, so it is still refused.
    machine.release(JobId(BUSY + 1)).unwrap();
    assert!(machine.probe(&Request::shape([8, 4, 1])).is_err());
    machine.release(JobId(BUSY)).unwrap();
    assert!(machine.probe(&Request::shape([8, 4, 1])).is_ok());
}

#[test]
fn busy_lists_cost_what_their_boxes_cost() {
    let rows: Vec<Cuboid> = (0..4).map(|y| Cuboid::new([0, 2 * y, 0], [8, 1, 1])).collect();
    // There is no base next to any of the four rows. Each line is compared with rows until the rows
    // cover it completely. With a 1x1 shape, the rows would not cover the line.
    let found = asked(&mut machine("rbs:plain", "mesh:8x8", &rows), [1, 2, 1]);
    assert!((4..=5 * 4).contains(&found.boxes), "{found:?}");
    // Adding or removing a box costs one unit, because an index stores the box's position.
    let mut held = machine("tbl:plain", "mesh:8x8", &rows);
    assert_eq!(held.work().upkeep, 4);
    held.release(JobId(BUSY + 1)).unwrap();
    assert_eq!(held.work().upkeep, 5);
}

/// The TBL paper's limit of four pieces per plane does not hold for boxes in general position on a
/// plane.
#[test]
fn a_plane_falls_into_more_than_four_pieces() {
    let diagonal = |m: u16| -> Vec<Cuboid> {
        (0..m).map(|i| Cuboid::node([0, 2 * i + 1, 2 * i + 1])).collect()
    };
    for m in [1, 2, 4, 8, 16, 32] {
        let grid = Grid::mesh(&[2, 2 * m + 1, 2 * m + 1]).unwrap();
        let pieces = tbl_most_pieces(&grid, &diagonal(m), [1, 1, 1]);
        assert_eq!(pieces, 3 * usize::from(m) + 1);
    }
    // The shape is longer than the machine, so there are no planes.
    assert_eq!(tbl_most_pieces(&Grid::mesh(&[2, 2, 2]).unwrap(), &[], [3, 1, 1]), 0);
}
