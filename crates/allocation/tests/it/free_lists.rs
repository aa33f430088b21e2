//! Maintained lists of maximal free boxes: equal to a recomputation after every step of long lives.
//! (A history validates the strategy after each step; there the list is recomputed from scratch.)

use pavior_allocation::{Selection, conformance};

#[test]
fn lists_equal_a_recomputation_after_each_of_10_000_steps() {
    for (strategy, machine, seed) in
        [("kymfl", "mesh:7x6", 11), ("pmfl", "mesh:7x6", 12), ("fl", "mesh:6x5", 13)]
    {
        let selection: Selection = strategy.parse().unwrap();
        let answers = conformance::history(&selection, &machine.parse().unwrap(), seed, 10_000);
        assert!(answers.unwrap() > 4_000, "{strategy} was asked");
    }
}

#[test]
fn lists_in_space_equal_a_recomputation_after_each_step() {
    for strategy in ["kymfl", "pmfl"] {
        let selection: Selection = strategy.parse().unwrap();
        let grid = "mesh:4x3x3".parse().unwrap();
        conformance::history(&selection, &grid, 21, 3_000).unwrap();
    }
}
