//! Tests that run every engine in lockstep with the plain search of the same strategy and require
//! the same placement for every request. They do not name individual strategies.

use pavior_allocation::{Selection, StrategyKind, conformance};
use pavior_kernel::Family;
use pavior_mesh::Grid;
use pavior_trials::size;

use crate::common::in_two_threads;

#[test]
fn engines_and_plain_searches_answer_alike() {
    let engines = StrategyKind::builtin().iter().flat_map(Selection::variants);
    let pairs = engines.filter_map(|engine| Some((conformance::plain_of(&engine)?, engine)));
    let pairs: Vec<(Selection, Selection)> = pairs.collect();
    let work: Vec<(&Selection, &Selection, Grid, u16)> = pairs
        .iter()
        .flat_map(|(plain, engine)| {
            conformance::walks(engine).map(move |(grid, longest)| (engine, plain, grid, longest))
        })
        .collect();
    let steps = size(40_000, 250_000, 1_000_000) / work.len() as u64 + 1;
    in_two_threads(&work, |(engine, plain, grid, longest)| {
        let walked = conformance::lock_step([engine, plain], grid, *longest, 1, steps);
        walked.unwrap_or_else(|difference| panic!("{difference}"));
    });
}
