//! Tests of the lists of maximal free boxes. After every step of long histories, each list must
//! equal a list recomputed from scratch. (This comparison is part of the validation of the strategy
//! after each step.)

use pavior_allocation::{Selection, conformance};
use pavior_trials::size;

#[test]
fn lists_equal_a_recomputation_after_each_step() {
    for (strategy, machine, seed) in
        [("kymfl", "mesh:7x6", 11), ("pmfl", "mesh:7x6", 12), ("fl", "mesh:6x5", 13)]
    {
        let selection: Selection = strategy.parse().unwrap();
        let steps = size(1_000, 10_000, 10_000);
        let answers = conformance::history(&selection, &machine.parse().unwrap(), seed, steps);
        assert!(answers.unwrap() > 2 * steps / 5, "{strategy}: too few answers");
    }
}

#[test]
fn lists_in_space_equal_a_recomputation_after_each_step() {
    for strategy in ["kymfl", "pmfl"] {
        let selection: Selection = strategy.parse().unwrap();
        let grid = "mesh:4x3x3".parse().unwrap();
        conformance::history(&selection, &grid, 21, size(1_000, 3_000, 3_000)).unwrap();
    }
}
